/* SPDX-License-Identifier: MIT
 *
 * api_build.c - filters built from all their keys
 */
#include "api/native_params.h"
#include "core/diag.h"
#include "kind/static/static.h"

/* Static and tight filters have a builder of their own; the others are simply added to. */
struct umbel_builder {
    umbeli_settings settings;
    umbeli_static_builder *fixed;
    umbel_filter *growing;
    bool failed, finished;
};

umbel_err umbel_builder_new(const umbel_params *given, const umbel_opts *opts, umbel_builder **out,
                            umbel_diag *diag) {
    umbel_params params;
    umbeli_settings settings;
    umbel_err e = umbeli_native_params(given, opts, &params, &settings, diag);
    if (e) return e;
    umbel_builder *b = umbeli_new(&settings, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    b->settings = settings;
    e = params.kind == UMBEL_KIND_STATIC || params.kind == UMBEL_KIND_TIGHT
            ? umbeli_static_builder_new(&params, opts ? opts->tmp : NULL, &b->settings, &b->fixed,
                                        diag)
            : umbel_create(given, opts, &b->growing, diag);
    if (e) {
        umbel_builder_free(b);
        return e;
    }
    *out = b;
    return UMBEL_OK;
}

umbel_err umbel_builder_add(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag) {
    if (b->failed || b->finished) {
        return umbeli_fail(diag, UMBEL_EINVAL, "the builder has already failed or finished");
    }
    umbel_err e = b->fixed ? umbeli_static_builder_add(b->fixed, keys, n, diag)
                           : umbel_add_many(b->growing, keys, n, NULL, NULL, diag);
    b->failed = e != UMBEL_OK;
    return e;
}

umbel_err umbel_builder_finish(umbel_builder *b, umbel_filter **out, umbel_diag *diag) {
    if (b->failed || b->finished) {
        return umbeli_fail(diag, UMBEL_EINVAL, "the builder has already failed or finished");
    }
    umbel_err e = UMBEL_OK;
    if (b->fixed) {
        e = umbeli_static_builder_finish(b->fixed, out, diag);
    } else {
        *out = b->growing;
        b->growing = NULL;
    }
    b->failed = e != UMBEL_OK;
    b->finished = !e;
    return e;
}

void umbel_builder_free(umbel_builder *b) {
    if (!b) return;
    umbeli_settings settings = b->settings;
    umbeli_static_builder_delete(b->fixed);
    umbeli_filter_free(b->growing);
    umbeli_delete(&settings, b);
}
