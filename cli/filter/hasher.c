/* SPDX-License-Identifier: MIT */
#include "filter/hasher.h"

#include "base/error.h"

umbel_filter *cli_hasher_new(const cli_settings *s) {
    umbel_filter *hasher = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 32};
    umbel_opts opts = {.secret = s->secret};
    umbel_diag diag = {0};
    umbel_err e = umbel_create(&params, &opts, &hasher, &diag);
    if (e) cli_die_err(s->command->name, e, &diag, NULL);
    return hasher;
}
