/* SPDX-License-Identifier: MIT */
#include "filter/health.h"

#include <math.h>

bool cli_is_overfull(const umbel_info *info, const umbel_measurement *now) {
    const double beyond_doubt = 3;
    if (info->fpr > 0 && now->rate > info->fpr) return true;
    return info->capacity && !info->grows && info->kind != UMBEL_KIND_WINDOW &&
           !(now->keys - beyond_doubt * now->keys_error < (double)info->capacity + 0.5);
}

uint64_t cli_room(const umbel_info *info, const umbel_measurement *now) {
    if (!(now->keys < 1.8e19) || cli_is_overfull(info, now)) return 0;
    uint64_t keys = (uint64_t)llround(now->keys);
    return keys < info->capacity ? info->capacity - keys : 0;
}
