/* SPDX-License-Identifier: MIT
 *
 * scalable.c - a chain of split-block filters, each larger than the one before
 *
 * Keys go into the newest layer; when that reaches its capacity, a layer of `expansion` times the
 * capacity is appended.  The share of the promised rate that each layer gets is in
 * plan/plan_scalable.c.
 *
 * The kind's own parameters in a native file:
 *   offset  size  field                        offset    size  field
 *   0       4     expansion                    16 + 24i  8     layer i: blocks
 *   4       4     maximum layers               24 + 24i  8     layer i: capacity
 *   8       4     layers L                     32 + 24i  8     layer i: keys added
 *   12      4     0
 */
#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/chain.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { SCHEME = 1, LAYERS_MAX = 64, EXPANSION_MAX = 1024 };
enum { PARAMS_FIXED = 16, PARAMS_LAYER = 24 };

typedef struct scalable {
    umbeli_chain chain; /* base.shape.fpr is never 0 */
    uint32_t expansion, max_layers;
} scalable;

static umbeli_layer layer_of(uint64_t nblocks, uint64_t capacity, uint64_t keys) {
    return (umbeli_layer){
        .probes = &umbeli_probes_blocked,
        .bytes = UMBELI_BLOCK_BYTES * nblocks,
        .nbits = 8 * UMBELI_BLOCK_BYTES * nblocks,
        .hashes = UMBELI_BLOCK_LANES,
        .capacity = capacity,
        .keys = keys,
    };
}

/* ---- Growing ------------------------------------------------------------------------------ */

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    const scalable *s = (const scalable *)c;
    if (c->count >= s->max_layers) return UMBEL_EFULL;
    umbel_plan plan = {
        .kind = UMBEL_KIND_BLOCKED,
        .fpr = c->base.shape.fpr * umbeli_scalable_share(c->count),
    };
    uint64_t keys = c->layers[c->newest].capacity;
    if (!umbeli_size_mul(keys, s->expansion, &plan.capacity)) return UMBEL_EFULL;
    if (umbeli_plan_solve(&plan)) return UMBEL_EFULL;
    umbel_err e = umbeli_chain_may_append(c, plan.bytes, s->expansion, max_bytes);
    if (e) return e;
    umbeli_layer layer = layer_of(plan.bytes / UMBELI_BLOCK_BYTES, plan.capacity, 0);
    e = umbeli_chain_append(c, &layer, max_bytes);
    return e == UMBEL_ELIMIT ? UMBEL_EFULL : e;
}

static bool grows(const umbeli_chain *c) {
    (void)c;
    return true;
}

static const umbeli_chain_policy policy = {.next = next, .grows = grows};

static const umbeli_ops ops = {
    .size = sizeof(scalable),
    .kind = &umbeli_kind_scalable,
    .policy = &policy,
    .kernel = "blocked",
    UMBELI_NARROW_CHAIN_OPS,
    .no_sets = "scalable filters of the same keys can differ in their layers; add the keys of one "
               "to the other",
    .no_fold = "a scalable filter is never larger than needed, so there is nothing to fold",
    .clear = umbeli_chain_clear,
};

/* ---- Making ------------------------------------------------------------------------------- */

static umbel_err make(const umbeli_shape *shape, const uint8_t *borrow,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    const char *layout = umbeli_kind_layout(shape, "scalable/xxh3", "scalable/siphash13");
    return umbeli_chain_new_native(&ops, layout, shape, SCHEME, borrow, settings, out, diag);
}

static umbel_err check(const umbel_params *params, umbel_diag *diag) {
    if (params->fpr == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: a scalable filter needs one");
    }
    if (params->scalable.expansion > EXPANSION_MAX) {
        return umbeli_fail(diag, UMBEL_EINVAL, "scalable.expansion: must be 1 to 1024; 0 means 2");
    }
    if (params->scalable.max_layers > LAYERS_MAX) {
        return umbeli_fail(diag, UMBEL_EINVAL, "scalable.max_layers: must be at most 64");
    }
    return UMBEL_OK;
}

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbel_err e = check(params, diag);
    if (e) return e;
    umbel_params first = *params;
    if (first.capacity == 0 && first.bytes == 0) first.capacity = UMBELI_SCALABLE_FIRST;
    umbel_plan plan;
    e = umbeli_kind_plan(UMBEL_KIND_SCALABLE, &first, &plan, diag);
    if (e) return e;
    /* The smallest size that keeps the rate has room for a few more keys than requested. */
    umbel_plan room = {.kind = UMBEL_KIND_BLOCKED,
                       .bytes = plan.bytes,
                       .fpr = plan.fpr * umbeli_scalable_share(0)};
    if (umbeli_plan_solve(&room)) return umbeli_fail(diag, UMBEL_EINVAL, room.why);

    umbeli_shape shape = umbeli_kind_shape(params);
    shape.bits = plan.bits;
    shape.fpr = plan.fpr;
    umbel_filter *f = NULL;
    e = make(&shape, NULL, settings, &f, diag);
    if (e) return e;
    umbeli_chain *c = (umbeli_chain *)f;
    scalable *s = (scalable *)c;
    s->expansion = params->scalable.expansion ? params->scalable.expansion : 2;
    s->max_layers = params->scalable.max_layers ? params->scalable.max_layers : LAYERS_MAX;
    umbeli_layer layer = layer_of(room.bytes / UMBELI_BLOCK_BYTES, room.capacity, 0);
    e = umbeli_chain_lay_out(c, &layer, 1, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, SCHEME, data_len, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a scalable filter always has 8");
    }
    if (shape->fpr == 0) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "rate: a scalable filter needs one");
    }
    return make(shape, borrow, settings, out, diag);
}

/* ---- Parameters in native files ----------------------------------------------------------- */

static uint64_t kind_params_len(const umbel_filter *f) {
    return PARAMS_FIXED + PARAMS_LAYER * (uint64_t)umbeli_chain_of(f)->count;
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_chain *c = umbeli_chain_of(f);
    umbeli_put_u32le(w, ((const scalable *)c)->expansion);
    umbeli_put_u32le(w, ((const scalable *)c)->max_layers);
    umbeli_put_u32le(w, c->count);
    umbeli_put_u32le(w, 0);
    for (uint32_t i = 0; i < c->count; i++) {
        umbeli_put_u64le(w, c->layers[i].bytes / UMBELI_BLOCK_BYTES);
        umbeli_put_u64le(w, c->layers[i].capacity);
        umbeli_put_u64le(w, c->layers[i].keys);
    }
}

static umbel_err bad(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_ECORRUPT, what);
}

static umbel_err take_layers(umbeli_chain *c, uint32_t count, umbeli_reader *params,
                             umbel_diag *diag) {
    umbeli_layer layers[LAYERS_MAX];
    uint64_t bytes = 0; /* at most 64 times 2^37 */
    double rate = 0;    /* of all layers when full */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t nblocks = umbeli_take_u64le(params), capacity = umbeli_take_u64le(params);
        layers[i] = layer_of(nblocks, capacity, umbeli_take_u64le(params));
        if (nblocks == 0 || nblocks > UINT32_MAX) return bad(diag, "layer: invalid size");
        if (capacity == 0 || layers[i].keys > capacity) return bad(diag, "layer: too many keys");
        bytes += layers[i].bytes;
        rate = umbeli_rate_of_union(rate, umbeli_layer_rate(nblocks, capacity));
    }
    if (params->failed || umbeli_left(params)) return bad(diag, "parameters: wrong length");
    if (bytes != c->base.data_len) return bad(diag, "layers and payload size disagree");
    /* 1% tolerance: other implementations' libm may round differently. */
    if (rate > 1.01 * c->base.shape.fpr) return bad(diag, "layers: they cannot keep the rate");
    return umbeli_chain_lay_out(c, layers, count, diag);
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    scalable *s = (scalable *)f;
    s->chain.from_file = true;
    s->expansion = umbeli_take_u32le(params);
    s->max_layers = umbeli_take_u32le(params);
    uint32_t count = umbeli_take_u32le(params);
    if (umbeli_take_u32le(params)) return bad(diag, "parameters: bytes 12 to 15 are not 0");
    if (s->expansion == 0 || s->expansion > EXPANSION_MAX) {
        return bad(diag, "expansion: not in 1 to 1024");
    }
    if (count == 0 || count > s->max_layers || s->max_layers > LAYERS_MAX) {
        return bad(diag, "layers: out of range");
    }
    return take_layers(&s->chain, count, params, diag);
}

const umbeli_kind umbeli_kind_scalable = {
    .id = UMBEL_KIND_SCALABLE,
    .name = "scalable",
    .create = create,
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
};
