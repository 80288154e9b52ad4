/* SPDX-License-Identifier: MIT
 *
 * api_describe.c - what is known about a filter, and whether it keeps its promise
 */
#include <math.h>

#include "hash/native_hash.h"
#include "kind/key_count.h"
#include "kind/kind.h"

bool umbel_kind_traits(umbel_kind kind, umbel_traits *traits) {
    const umbeli_kind *found = umbeli_kind_by_id(kind);
    *traits = found ? found->traits : (umbel_traits){0};
    return found != NULL;
}

void umbel_describe(const umbel_filter *f, umbel_info *info) {
    *info = (umbel_info){
        .kind = f->shape.kind,
        .format = f->shape.format,
        .hash = (umbel_hash_function)f->shape.hash,
        .layout = f->layout,
        .kernel = f->ops->kernel,
        .seed = f->shape.seed,
        .fingerprint = umbeli_is_keyed(&f->shape) ? umbeli_fingerprint(f->shape.secret) : 0,
        .capacity = f->shape.capacity,
        .fpr = f->shape.fpr,
        .bits = f->shape.bits,
        .bytes = umbeli_filter_bytes(f),
        .keys_added = umbeli_keys_added(f),
        .hashes = f->shape.hashes,
        .layers = 1,
        .frozen = f->frozen,
        .concurrent = f->concurrent,
        .takes_hashes = f->ops->hash_many != NULL,
    };
    if (f->exceptions) {
        info->exceptions = f->exceptions->count;
        info->outdated = f->exceptions->outdated;
    }
    if (f->ops->describe) f->ops->describe(f, info);
}

void umbel_measure(const umbel_filter *f, umbel_measurement *now) {
    *now = (umbel_measurement){.bits = f->shape.bits};
    f->ops->measure(f, now);
    if (f->ops->keys_of_bits) umbeli_measure_keys(f, now);
}

/* An estimate counts as certain when it is three standard errors away. */
static bool is_beyond_plan(const umbel_info *info, const umbel_measurement *now) {
    const double doubt = 3 * now->keys_error;
    return info->capacity &&
           !(now->keys - doubt < (double)info->capacity + 0.5); /* also for infinitely many */
}

void umbel_judge(const umbel_info *info, const umbel_measurement *now, umbel_health *health) {
    const double countable = 1.8e19;
    bool known = isfinite(now->keys) && now->keys < countable;
    umbel_traits traits;
    umbel_kind_traits(info->kind, &traits);
    bool fills = !info->grows && !traits.forgets;
    /* Other systems size by rules of thumb, some of which give a higher rate than was asked for:
     * what they plan is the number of keys. */
    bool by_keys = info->format != UMBEL_FMT_NATIVE && info->capacity && fills;
    bool seen = !(now->rate_below > 0);
    bool broken = info->fpr > 0 && now->rate > info->fpr && !by_keys && seen;
    bool beyond = fills && is_beyond_plan(info, now);
    *health = (umbel_health){
        .overfull = broken || beyond,
        .keys_known = known,
        .beyond_plan = beyond,
        .keys = known ? now->keys : 0,
        .keys_error = known ? now->keys_error : 0,
        .rate = now->rate,
        .promised = info->fpr,
        .rate_below = now->rate_below,
    };
    uint64_t keys = (uint64_t)llround(health->keys);
    bool has_room = known && fills && !health->overfull && keys < info->capacity;
    if (has_room) health->room = info->capacity - keys;
}
