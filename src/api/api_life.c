/* SPDX-License-Identifier: MIT
 *
 * api_life.c - creating, copying, ending and describing filters
 */
#include "core/diag.h"
#include "format/codecs.h"
#include "hash/native_hash.h"
#include "kind/kind.h"
#include "plan/plan.h"

static umbel_err check_params(const umbel_params *p, umbel_diag *diag) {
    if (p->reserved32) return umbeli_fail(diag, UMBEL_EINVAL, "params.reserved32 is not 0");
    if (!umbeli_reserved_zero(p->reserved, sizeof p->reserved)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "params.reserved is not 0");
    }
    if (!(p->fpr >= 0 && p->fpr < 1)) { /* also when it is no number */
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: not between 0 and 1");
    }
    return UMBEL_OK;
}

/* The kind for AUTO: the planner's choice where a promise is given, else blocked. */
static umbel_err choose_kind(const umbel_params *params, umbel_kind *kind, umbel_diag *diag) {
    *kind = params->kind;
    if (*kind != UMBEL_AUTO) return UMBEL_OK;
    *kind = UMBEL_BLOCKED;
    if (params->concurrent || umbeli_bytes_alone(params)) return UMBEL_OK;
    umbel_plan plan;
    umbel_err e = umbeli_kind_plan(UMBEL_AUTO, params, &plan, diag);
    if (!e) *kind = plan.kind;
    return e;
}

umbel_err umbel_create(const umbel_params *params, const umbel_opts *opts, umbel_filter **out,
                       umbel_diag *diag) {
    umbeli_settings memory;
    umbel_err e = umbeli_settings_from(opts, &memory, diag);
    if (!e) e = check_params(params, diag);
    if (e) return e;
    if (params->format != UMBEL_FMT_ANY && params->format != UMBEL_FMT_NATIVE) {
        const umbeli_codec *codec = umbeli_codec_by_id(params->format);
        if (!codec) return umbeli_fail(diag, UMBEL_EINVAL, "format: no such format");
        if (params->key) return umbeli_fail(diag, UMBEL_EINVAL, "key: this format hashes without");
        return codec->create(params, &memory, out, diag);
    }
    umbel_params native = *params;
    e = choose_kind(params, &native.kind, diag);
    if (e) return e;
    const umbeli_kind *kind = umbeli_kind_by_id(native.kind);
    if (!kind) return umbeli_fail(diag, UMBEL_EINVAL, "kind: no such kind");
    return kind->create(&native, &memory, out, diag);
}

umbel_err umbel_copy(const umbel_filter *filter, umbel_filter **out) {
    return umbeli_filter_copy(filter, out);
}

void umbel_free(umbel_filter *filter) {
    umbeli_filter_free(filter);
}

uint64_t umbel_keys_added(const umbel_filter *filter) {
    return umbeli_keys_added(filter);
}

void umbel_describe(const umbel_filter *f, umbel_info *info) {
    *info = (umbel_info){
        .kind = f->shape.kind,
        .format = f->shape.format,
        .layout = f->layout,
        .kernel = f->ops->kernel,
        .seed = f->shape.seed,
        .fingerprint = umbeli_is_keyed(&f->shape) ? umbeli_fingerprint(f->shape.secret) : 0,
        .hashes = f->shape.hashes,
        .parts = 1,
        .frozen = f->frozen,
        .concurrent = f->concurrent,
        .bits = f->shape.bits,
        .bytes = umbeli_filter_bytes(f),
        .capacity = f->shape.capacity,
        .fpr = f->shape.fpr,
        .keys_added = umbeli_keys_added(f),
    };
    f->ops->measure(f, info);
}
