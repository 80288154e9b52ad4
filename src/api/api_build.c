/* SPDX-License-Identifier: MIT
 *
 * api_build.c - filters from all their keys at once
 */
#include "core/diag.h"
#include "kind/static/static.h"

enum { KEYS_AT_ONCE = 1024 };

/* Static filters have a builder of their own; all others are simply added to. */
struct umbel_builder {
    umbeli_settings memory;
    umbeli_static_builder *fixed;
    umbel_filter *growing;
    bool failed, finished;
};

static umbel_err begin(umbel_builder *b, const umbel_params *params, const umbel_opts *opts,
                       umbel_diag *diag) {
    bool native = params->format == UMBEL_FMT_ANY || params->format == UMBEL_FMT_NATIVE;
    if (params->kind != UMBEL_STATIC || !native) {
        return umbel_create(params, opts, &b->growing, diag);
    }
    /* Everything that umbel_create checks for all kinds, too. */
    umbel_filter *none = NULL;
    umbel_err e = umbel_create(params, opts, &none, diag);
    if (e != UMBEL_ENOTSUP) return e;
    return umbeli_static_builder_new(params, opts ? opts->tmp : NULL, &b->memory, &b->fixed, diag);
}

umbel_err umbel_builder_new(const umbel_params *params, const umbel_opts *opts, umbel_builder **out,
                            umbel_diag *diag) {
    umbeli_settings memory;
    umbel_err e = umbeli_settings_from(opts, &memory, diag);
    if (e) return e;
    umbel_builder *b = umbeli_new(&memory, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    b->memory = memory;
    e = begin(b, params, opts, diag);
    if (e) {
        umbel_builder_free(b);
        return e;
    }
    *out = b;
    return UMBEL_OK;
}

umbel_err umbel_builder_add(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag) {
    if (b->failed || b->finished) {
        return umbeli_fail(diag, UMBEL_EINVAL, "the builder has failed or finished before");
    }
    umbel_err e = b->fixed ? umbeli_static_builder_add(b->fixed, keys, n, diag)
                           : umbel_add_many(b->growing, keys, n, NULL);
    b->failed = e != UMBEL_OK;
    if (e && !b->fixed) umbeli_fail(diag, e, "keys: the filter took no more");
    return e;
}

umbel_err umbel_builder_finish(umbel_builder *b, umbel_filter **out, umbel_diag *diag) {
    if (b->failed || b->finished) {
        return umbeli_fail(diag, UMBEL_EINVAL, "the builder has failed or finished before");
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
    umbeli_settings memory = b->memory;
    umbeli_static_builder_delete(b->fixed);
    umbeli_filter_free(b->growing);
    umbeli_delete(&memory, b);
}

umbel_err umbel_build(const umbel_params *params, const umbel_opts *opts, umbel_source next,
                      void *ctx, umbel_filter **out, umbel_diag *diag) {
    umbel_builder *b = NULL;
    umbel_err e = umbel_builder_new(params, opts, &b, diag);
    if (e) return e;
    for (size_t n = 1; n > 0 && !e;) {
        umbel_key keys[KEYS_AT_ONCE];
        n = 0;
        e = next(ctx, keys, KEYS_AT_ONCE, &n);
        if (e) umbeli_fail(diag, e, "the source of keys failed");
        if (!e && n > 0) e = umbel_builder_add(b, keys, n, diag);
    }
    if (!e) e = umbel_builder_finish(b, out, diag);
    umbel_builder_free(b);
    return e;
}
