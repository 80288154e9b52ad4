/* SPDX-License-Identifier: MIT */
#include "core/settings.h"

#include "core/diag.h"

enum { MAX_THREADS = 1024 };

umbel_err umbeli_settings_from(const umbel_opts *opts, umbeli_settings *out, umbel_diag *diag) {
    umbeli_settings m = {.threads = 1};
    if (opts) {
        if (!umbeli_reserved_zero(opts->reserved, sizeof opts->reserved)) {
            return umbeli_fail(diag, UMBEL_EINVAL, "opts.reserved: must be 0");
        }
        if (opts->alloc) {
            m.hook = *opts->alloc;
            if (!m.hook.alloc || !m.hook.free) {
                return umbeli_fail(diag, UMBEL_EINVAL, "opts.alloc: lacks alloc or free");
            }
        }
        m.max_bytes = opts->max_bytes;
        if (opts->threads > MAX_THREADS) {
            return umbeli_fail(diag, UMBEL_EINVAL, "opts.threads: must be at most 1024");
        }
        if (opts->threads > 1) m.threads = opts->threads;
        m.concurrent = opts->concurrent;
        m.keyed = opts->secret != NULL;
        if (m.keyed) m.secret = umbeli_secret_from(opts->secret);
    }
    *out = m;
    return UMBEL_OK;
}
