/* SPDX-License-Identifier: MIT
 *
 * scalable_make.c - scalable filters from parameters and from native files
 *
 * The kind's own parameters in a file:
 *   offset  size  field                        offset    size  field
 *   0       4     expansion                    16 + 24i  8     layer i: blocks
 *   4       4     layers at most               24 + 24i  8     layer i: keys planned for
 *   8       4     layers L                     32 + 24i  8     layer i: keys in it
 *   12      4     0
 */
#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/scalable.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { OWN_FIXED = 16, OWN_LAYER = 24 };

static umbel_err make(umbeli_shape shape, const uint8_t *borrow, const umbeli_settings *memory,
                      umbel_filter **out, umbel_diag *diag) {
    shape.kind = UMBEL_SCALABLE;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_SCALABLE;
    shape.hashes = UMBELI_BLOCK_LANES;
    umbel_err e = umbeli_filter_new(
        &umbeli_scalable_ops, umbeli_is_keyed(&shape) ? "scalable/siphash13" : "scalable/xxh3",
        &shape, shape.bits / 8, borrow, memory, out, diag);
    if (!e) ((umbeli_scalable *)*out)->kernel = umbeli_blocked_best();
    return e;
}

static umbel_err check(const umbel_params *params, umbel_diag *diag) {
    if (params->concurrent) {
        return umbeli_fail(diag, UMBEL_EINVAL, "concurrent: only blocked filters can be");
    }
    if (params->fpr == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: a scalable filter needs one to keep");
    }
    if (params->expansion > UMBELI_SCALABLE_EXPANSION) {
        return umbeli_fail(diag, UMBEL_EINVAL, "expansion: 1 to 1024; 0 means 2");
    }
    if (params->layers > UMBELI_SCALABLE_LAYERS) {
        return umbeli_fail(diag, UMBEL_EINVAL, "layers: a scalable filter has at most 64");
    }
    return UMBEL_OK;
}

static umbel_err create(const umbel_params *params, const umbeli_settings *memory,
                        umbel_filter **out, umbel_diag *diag) {
    umbel_err e = check(params, diag);
    if (e) return e;
    umbel_params first = *params;
    if (first.keys == 0 && first.bytes == 0) first.keys = UMBELI_SCALABLE_FIRST;
    umbel_plan plan;
    e = umbeli_kind_plan(UMBEL_SCALABLE, &first, &plan, diag);
    if (e) return e;
    /* The least size has room for some more keys than were asked for. */
    umbel_plan layer = {
        .kind = UMBEL_BLOCKED, .bytes = plan.bytes, .fpr = plan.fpr * umbeli_scalable_share(0)};
    if (umbeli_plan_solve(&layer)) return umbeli_fail(diag, UMBEL_EINVAL, layer.why);

    umbeli_shape shape = umbeli_kind_shape(params);
    shape.bits = plan.bits;
    shape.fpr = plan.fpr;
    e = make(shape, NULL, memory, out, diag);
    if (e) return e;
    umbeli_scalable *s = (umbeli_scalable *)*out;
    s->expansion = params->expansion ? params->expansion : 2;
    s->layers_most = params->layers ? params->layers : UMBELI_SCALABLE_LAYERS;
    s->nlayers = 1;
    s->layers[0] = (umbeli_layer){
        .nblocks = layer.bytes / UMBELI_BLOCK_BYTES,
        .capacity = layer.keys,
    };
    return UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *memory, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_SCALABLE, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a scalable filter always has 8");
    }
    if (shape->fpr == 0) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "rate: a scalable filter has one");
    }
    if (shape->bits % 8 || shape->bits / 8 != data_len) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits and payload size disagree");
    }
    return make(*shape, borrow, memory, out, diag);
}

static uint64_t own_len(const umbel_filter *f) {
    return OWN_FIXED + OWN_LAYER * (uint64_t)umbeli_scalable_of(f)->nlayers;
}

static void put_own(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_scalable *s = umbeli_scalable_of(f);
    umbeli_put_u32le(w, s->expansion);
    umbeli_put_u32le(w, s->layers_most);
    umbeli_put_u32le(w, s->nlayers);
    umbeli_put_u32le(w, 0);
    for (uint32_t i = 0; i < s->nlayers; i++) {
        umbeli_put_u64le(w, s->layers[i].nblocks);
        umbeli_put_u64le(w, s->layers[i].capacity);
        umbeli_put_u64le(w, s->layers[i].keys);
    }
}

static umbel_err bad(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_ECORRUPT, what);
}

static umbel_err take_own(umbel_filter *f, umbeli_reader *own, umbel_diag *diag) {
    umbeli_scalable *s = (umbeli_scalable *)f;
    s->expansion = umbeli_take_u32le(own);
    s->layers_most = umbeli_take_u32le(own);
    s->nlayers = umbeli_take_u32le(own);
    if (umbeli_take_u32le(own)) return bad(diag, "parameters: bytes 12 to 15 are not 0");
    if (s->expansion == 0 || s->expansion > UMBELI_SCALABLE_EXPANSION) {
        return bad(diag, "expansion: not in 1 to 1024");
    }
    if (s->nlayers == 0 || s->nlayers > s->layers_most || s->layers_most > UMBELI_SCALABLE_LAYERS) {
        return bad(diag, "layers: out of range");
    }
    uint64_t at = 0;
    double rate = 0; /* of all layers once they are full */
    for (uint32_t i = 0; i < s->nlayers; i++) {
        umbeli_layer *l = &s->layers[i];
        l->at = at;
        l->nblocks = umbeli_take_u64le(own);
        l->capacity = umbeli_take_u64le(own);
        l->keys = umbeli_take_u64le(own);
        if (l->nblocks == 0 || l->nblocks > UINT32_MAX) return bad(diag, "layer: no such size");
        if (l->capacity == 0 || l->keys > l->capacity) return bad(diag, "layer: too many keys");
        at += UMBELI_BLOCK_BYTES * l->nblocks; /* at most 64 times 2^37 */
        rate = umbeli_either(rate, umbeli_layer_rate(l->nblocks, l->capacity));
    }
    if (own->failed || umbeli_left(own)) return bad(diag, "parameters: wrong length");
    if (at != f->data_len) return bad(diag, "layers and payload size disagree");
    /* Some room for other people's mathematics. */
    if (rate > 1.01 * f->shape.fpr) return bad(diag, "layers: they cannot keep the rate");
    return UMBEL_OK;
}

const umbeli_kind umbeli_kind_scalable = {
    .id = UMBEL_SCALABLE,
    .name = "scalable",
    .create = create,
    .restore = restore,
    .own_len = own_len,
    .put_own = put_own,
    .take_own = take_own,
};
