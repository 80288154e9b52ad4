/* SPDX-License-Identifier: MIT
 *
 * api_life.c - creating, building, copying, freeing and describing filters
 */
#include "core/diag.h"
#include "format/codec.h"
#include "hash/native_hash.h"
#include "kind/key_count.h"
#include "kind/kind.h"
#include "kind/static/static.h"
#include "plan/plan.h"
#include "umbel_foreign.h"

/* ---- creating ------------------------------------------------------------------------------ */

/* The kind for AUTO: the planner's choice where a rate is promised, else blocked. */
static umbel_err choose_kind(umbel_params *params, umbel_diag *diag) {
    if (params->kind != UMBEL_KIND_AUTO) return UMBEL_OK;
    params->kind = UMBEL_KIND_BLOCKED;
    if (umbeli_bytes_alone(params)) return UMBEL_OK;
    umbel_plan plan;
    umbel_err e = umbeli_kind_plan(UMBEL_KIND_AUTO, params, &plan, diag);
    if (!e) params->kind = plan.kind;
    return e;
}

/* Checks given and opts; *params gets a kind that exists, *settings what both specify. */
static umbel_err check_params(const umbel_params *given, const umbel_opts *opts,
                              umbel_params *params, umbeli_settings *settings, umbel_diag *diag) {
    *params = *given;
    umbel_err e = umbeli_settings_from(opts, settings, diag);
    if (e) return e;
    if (given->reserved32) return umbeli_fail(diag, UMBEL_EINVAL, "params.reserved32: must be 0");
    if (!umbeli_reserved_zero(given->reserved, sizeof given->reserved)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "params.reserved: must be 0");
    }
    if (!(given->fpr >= 0 && given->fpr < 1)) { /* also NaN */
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: must be between 0 and 1");
    }
    if (settings->keyed) {
        return umbeli_fail(diag, UMBEL_EINVAL, "opts.secret: only for opening; give params.secret");
    }
    if (settings->concurrent) params->concurrent = 1;
    settings->concurrent = params->concurrent != 0;
    e = choose_kind(params, diag);
    return e ? e : umbeli_kind_params(params, diag);
}

umbel_err umbel_create(const umbel_params *params, const umbel_opts *opts, umbel_filter **out,
                       umbel_diag *diag) {
    umbel_params native;
    umbeli_settings settings;
    umbel_err e = check_params(params, opts, &native, &settings, diag);
    return e ? e : umbeli_kind_by_id(native.kind)->create(&native, &settings, out, diag);
}

umbel_filter *umbel_new(uint64_t capacity, double fpr) {
    umbel_filter *f = NULL;
    umbel_params params = {.capacity = capacity, .fpr = fpr};
    return umbel_create(&params, NULL, &f, NULL) ? NULL : f;
}

umbel_err umbel_create_foreign(const umbel_foreign *foreign, const umbel_opts *opts,
                               umbel_filter **out, umbel_diag *diag) {
    umbeli_settings settings;
    const umbeli_codec *codec = NULL;
    umbel_err e = umbeli_codec_making(foreign, &codec, diag);
    if (!e) e = umbeli_settings_from(opts, &settings, diag);
    if (e) return e;
    if (settings.keyed) {
        return umbeli_fail(diag, UMBEL_EINVAL, "opts.secret: this format has none");
    }
    return codec->create(foreign, &settings, out, diag);
}

/* ---- building ------------------------------------------------------------------------------ */

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
    umbel_err e = check_params(given, opts, &params, &settings, diag);
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

/* ---- copying, freeing, describing ---------------------------------------------------------- */

umbel_err umbel_copy(const umbel_filter *filter, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_filter_copy(filter, out);
    if (e == UMBEL_ELIMIT) {
        return umbeli_fail_limit(diag, umbeli_filter_bytes(filter),
                                 "a copy needs more than opts.max_bytes");
    }
    return e ? umbeli_fail(diag, e, "no memory for a copy") : UMBEL_OK;
}

void umbel_free(umbel_filter *filter) {
    umbeli_filter_free(filter);
}

void umbel_describe(const umbel_filter *f, umbel_info *info) {
    *info = (umbel_info){
        .kind = f->shape.kind,
        .format = f->shape.format,
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
    };
    if (f->ops->describe) f->ops->describe(f, info);
}

void umbel_measure(const umbel_filter *f, umbel_measurement *now) {
    *now = (umbel_measurement){.bits = f->shape.bits};
    f->ops->measure(f, now);
    if (f->ops->keys_of_bits) umbeli_measure_keys(f, now);
}
