/* SPDX-License-Identifier: MIT
 *
 * scalable.c - a split-block filter that is followed by what it has no room for
 *
 * Scheme 2: by layers of packed hashes, each of which moves into more memory while it fills; the
 * next one begins when more of them would find too much.  Scheme 1, of filters for very low rates
 * and of those whose expansion was chosen: by split-block filters, each for `expansion` times the
 * keys of the one before.  What each layer gets of the promised rate is in plan/plan_scalable.c.
 *
 * The kind's own parameters in a native file:
 *   offset  size  field                        offset    size  field
 *   0       4     expansion, 0 in scheme 2     16 + 24i  8     layer i: blocks
 *   4       4     maximum layers               24 + 24i  8     layer i: capacity
 *   8       4     layers L                     32 + 24i  8     layer i: keys added
 *   12      4     0
 * and in scheme 2, where layers take 32 bytes, for each of them its bytes, its capacity, its keys,
 * and in 4 bytes each how many bits it keeps of a hash (0 of the first), and 0.
 */
#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/chain.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { OF_FILTERS = 1, OF_HASHES = 2, LAYERS_MAX = 64, EXPANSION_MAX = 1024 };
enum { PARAMS_FIXED = 16, PARAMS_FILTER = 24, PARAMS_LAYER = 32 };
enum { PACKED_UNIT = 256, PACKED_FIRST = 4096, BITS_MIN = 12, BITS_MAX = 60 };

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

static umbeli_layer packed_of(uint64_t bytes, uint32_t bits, uint64_t capacity, uint64_t keys) {
    return (umbeli_layer){
        .probes = &umbeli_probes_packed,
        .short_chunks = true,
        .bytes = bytes,
        .nbits = 8 * bytes,
        .hashes = bits,
        .capacity = capacity,
        .keys = keys,
    };
}

static umbeli_layer kept_of(uint64_t bytes, uint32_t bits, uint64_t capacity, uint64_t keys) {
    umbeli_layer l = layer_of(bytes / UMBELI_BLOCK_BYTES, capacity, keys);
    l.known_bits = bits;
    return l;
}

static bool of_hashes(const umbeli_chain *c) {
    return c->base.shape.scheme == OF_HASHES;
}

/* ---- Growing ------------------------------------------------------------------------------ */

/* When full.  Of hashes, `bits` are kept. */
static double rate_of(const umbeli_layer *l) {
    if (umbeli_is_packed(l)) return umbeli_packed_rate(l->capacity, l->hashes);
    double rate = umbeli_layer_rate(umbeli_layer_blocks(l), l->capacity);
    return l->known_bits ? rate + umbeli_packed_rate(l->capacity, l->known_bits) : rate;
}

/* What the first `count` layers leave of the rate. */
static double left_after(const umbeli_chain *c, uint32_t count) {
    double left = c->base.shape.fpr;
    for (uint32_t i = 0; i < count; i++) left -= rate_of(&c->layers[i]);
    return left;
}

static umbel_err next_filter(umbeli_chain *c, uint64_t max_bytes) {
    const scalable *s = (const scalable *)c;
    if (c->count >= s->max_layers) return UMBEL_EFULL;
    umbel_plan plan = {
        .kind = UMBEL_KIND_BLOCKED,
        .fpr = left_after(c, 1) * umbeli_scalable_share(c->count - 1),
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

/* A quarter of an octave more for the hashes of the newest layer; UMBEL_EFULL when they are out of
 * proportion to it: keys that were made to share a chunk. */
static umbel_err make_room(umbeli_chain *c, uint64_t max_bytes) {
    enum { BYTES_MAX = 8 }; /* per key */
    const umbeli_layer *l = &c->layers[c->newest];
    umbeli_layer larger = packed_of(l->bytes, l->hashes, l->capacity, l->keys);
    umbel_err e = UMBEL_EFULL;
    while (e == UMBEL_EFULL && larger.bytes / BYTES_MAX < l->keys + PACKED_FIRST) {
        uint64_t octave = PACKED_FIRST;
        while (2 * octave <= larger.bytes) octave *= 2;
        larger.bytes += octave / 4;
        larger.nbits = 8 * larger.bytes;
        e = umbeli_chain_replace(c, c->newest, &larger, max_bytes);
    }
    return e;
}

/* The layer before the newest takes no more, and holds few of all keys: a filter in its place is
 * larger, but faster.  Where that fails it stays as it is. */
static void make_filter(umbeli_chain *c, uint64_t max_bytes) {
    if (c->newest == 0 || !umbeli_is_packed(&c->layers[c->newest - 1])) return;
    const umbeli_layer *l = &c->layers[c->newest - 1];
    umbel_plan plan = {.kind = UMBEL_KIND_BLOCKED, .capacity = l->capacity};
    if (c->layers[c->newest].keys / 4 < l->capacity) return;
    plan.fpr = left_after(c, c->count) * umbeli_scalable_filter_share(l->capacity);
    if (umbeli_plan_solve(&plan)) return;
    umbeli_layer filter = kept_of(plan.bytes, l->hashes, l->capacity, l->keys);
    (void)umbeli_chain_replace(c, c->newest - 1, &filter, max_bytes);
}

static umbel_err next_hashes(umbeli_chain *c, uint64_t max_bytes) {
    umbeli_layer *l = &c->layers[c->newest];
    if (umbeli_is_packed(l)) {
        if (c->newest < c->shared) { /* as it came from a file */
            if (!l->probes->check(l, l->bits)) return UMBEL_EFULL;
            l->probes->recount(l);
            if (l->packed.room > 0 && l->keys < l->capacity) return UMBEL_OK;
        }
        umbel_err e = l->keys < l->capacity ? make_room(c, max_bytes) : UMBEL_EFULL;
        if (!e) make_filter(c, max_bytes);
        if (e != UMBEL_EFULL) return e == UMBEL_ELIMIT ? UMBEL_EFULL : e;
    }
    if (c->count >= ((const scalable *)c)->max_layers) return UMBEL_EFULL;
    uint32_t bits;
    uint64_t before = 0, capacity;
    for (uint32_t i = 0; i < c->count; i++) before += c->layers[i].keys;
    if (!umbeli_scalable_stage(before, left_after(c, c->count), &bits, &capacity)) {
        return UMBEL_EFULL;
    }
    uint64_t bytes = c->layers[c->newest].bytes / 16 / PACKED_UNIT * PACKED_UNIT;
    umbeli_layer layer = packed_of(bytes < PACKED_FIRST ? PACKED_FIRST : bytes, bits, capacity, 0);
    umbel_err e = umbeli_chain_append(c, &layer, max_bytes);
    return e == UMBEL_ELIMIT ? UMBEL_EFULL : e;
}

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    umbel_err e = (of_hashes(c) ? next_hashes : next_filter)(c, max_bytes);
    c->base.shape.hashes = UMBELI_BLOCK_LANES;
    return e;
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
    .describe = umbeli_chain_describe,
};

/* ---- Making ------------------------------------------------------------------------------- */

static umbel_err make(const umbeli_shape *shape, const uint8_t *borrow,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    const char *layout = umbeli_kind_layout(shape, "scalable/xxh3", "scalable/siphash13");
    return umbeli_chain_new_native(&ops, layout, shape, shape->scheme, borrow, settings, out, diag);
}

static umbel_err check(const umbel_params *params, umbel_diag *diag) {
    if (params->fpr == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: a scalable filter needs one");
    }
    if (params->scalable.expansion > EXPANSION_MAX) {
        return umbeli_fail(diag, UMBEL_EINVAL, "expansion: must be 1 to 1024; 0 means 2");
    }
    if (params->scalable.max_layers > LAYERS_MAX) {
        return umbeli_fail(diag, UMBEL_EINVAL, "max_layers: must be at most 64");
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
    umbel_plan room = {
        .kind = UMBEL_KIND_BLOCKED, .bytes = plan.bytes, .fpr = plan.fpr / UMBELI_SCALABLE_SHARES};
    if (umbeli_plan_solve(&room)) return umbeli_fail(diag, UMBEL_EINVAL, room.why);

    umbeli_shape shape = umbeli_kind_shape(params, settings);
    shape.bits = plan.bits;
    shape.fpr = plan.fpr;
    bool filters = params->scalable.expansion || params->scalable.max_layers ||
                   umbeli_scalable_of_filters(plan.fpr);
    shape.scheme = filters ? OF_FILTERS : OF_HASHES;
    umbel_filter *f = NULL;
    e = make(&shape, NULL, settings, &f, diag);
    if (e) return e;
    umbeli_chain *c = (umbeli_chain *)f;
    scalable *s = (scalable *)c;
    if (filters) s->expansion = params->scalable.expansion ? params->scalable.expansion : 2;
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
    uint32_t scheme = shape->scheme == OF_HASHES ? OF_HASHES : OF_FILTERS;
    umbel_err e = umbeli_kind_check(shape, scheme, data_len, diag);
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
    const umbeli_chain *c = umbeli_chain_of(f);
    return PARAMS_FIXED + (of_hashes(c) ? PARAMS_LAYER : PARAMS_FILTER) * (uint64_t)c->count;
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *w) {
    const umbeli_chain *c = umbeli_chain_of(f);
    umbeli_put_u32le(w, ((const scalable *)c)->expansion);
    umbeli_put_u32le(w, ((const scalable *)c)->max_layers);
    umbeli_put_u32le(w, c->count);
    umbeli_put_u32le(w, 0);
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        umbeli_put_u64le(w, of_hashes(c) ? l->bytes : umbeli_layer_blocks(l));
        umbeli_put_u64le(w, l->capacity);
        umbeli_put_u64le(w, l->keys);
        if (!of_hashes(c)) continue;
        umbeli_put_u32le(w, umbeli_is_packed(l) ? l->hashes : l->known_bits);
        umbeli_put_u32le(w, l->known_bits > 0);
    }
}

static umbel_err bad(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_ECORRUPT, what);
}

static umbel_err take_layer(bool hashes, bool first, umbeli_reader *params, umbeli_layer *out,
                            umbel_diag *diag) {
    uint64_t size = umbeli_take_u64le(params), capacity = umbeli_take_u64le(params);
    uint64_t keys = umbeli_take_u64le(params), nblocks = size;
    uint32_t bits = hashes ? umbeli_take_u32le(params) : 0;
    uint32_t kept = hashes ? umbeli_take_u32le(params) : 0;
    bool packed = bits && !kept;
    if (kept > (bits != 0)) return bad(diag, "layer: neither hashes nor a filter");
    if (hashes && first != (bits == 0)) return bad(diag, "layer: the first is of whole hashes");
    if (bits && (bits < BITS_MIN || bits > BITS_MAX)) return bad(diag, "layer: bits of a hash");
    if (hashes) nblocks = size % UMBELI_BLOCK_BYTES ? 0 : size / UMBELI_BLOCK_BYTES;
    uint64_t chunks = size / PACKED_UNIT;
    bool sound = packed ? size % PACKED_UNIT == 0 && size >= PACKED_FIRST && chunks <= UINT32_MAX &&
                              chunks < UINT64_C(1) << (bits - 4)
                        : nblocks > 0 && nblocks <= UINT32_MAX;
    if (!sound) return bad(diag, "layer: invalid size");
    if (capacity == 0 || keys > capacity) return bad(diag, "layer: too many keys");
    *out = packed ? packed_of(size, bits, capacity, keys)
           : kept ? kept_of(size, bits, capacity, keys)
                  : layer_of(nblocks, capacity, keys);
    return UMBEL_OK;
}

static umbel_err take_layers(umbeli_chain *c, uint32_t count, umbeli_reader *params,
                             umbel_diag *diag) {
    umbeli_layer layers[LAYERS_MAX];
    uint64_t bytes = 0; /* at most 64 times 2^50 */
    double rate = 0;    /* of all layers when full */
    for (uint32_t i = 0; i < count; i++) {
        umbel_err e = take_layer(of_hashes(c), i == 0, params, &layers[i], diag);
        if (e) return e;
        bytes += layers[i].bytes;
        rate = umbeli_rate_of_union(rate, rate_of(&layers[i]));
    }
    if (params->failed || umbeli_left(params)) return bad(diag, "parameters: wrong length");
    if (bytes != c->base.data_len) return bad(diag, "layers and payload size disagree");
    /* 1% tolerance: other implementations' libm may round differently. */
    if (rate > 1.01 * c->base.shape.fpr) return bad(diag, "layers: they cannot keep the rate");
    umbel_err e = umbeli_chain_lay_out(c, layers, count, diag);
    c->base.shape.hashes = UMBELI_BLOCK_LANES;
    for (uint32_t i = 0; i < count && !e; i++) {
        if (!umbeli_is_packed(&c->layers[i])) continue;
        if (c->layers[i].packed.slots == 0) return bad(diag, "layer: invalid size");
        c->layers[i].packed.room = 0; /* what is in it is not known yet */
    }
    return e;
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    scalable *s = (scalable *)f;
    s->chain.from_file = true;
    s->expansion = umbeli_take_u32le(params);
    s->max_layers = umbeli_take_u32le(params);
    uint32_t count = umbeli_take_u32le(params);
    if (umbeli_take_u32le(params)) return bad(diag, "parameters: bytes 12 to 15 are not 0");
    if (of_hashes(&s->chain) ? s->expansion != 0
                             : s->expansion == 0 || s->expansion > EXPANSION_MAX) {
        return bad(diag, "expansion: not in 1 to 1024");
    }
    if (count == 0 || count > s->max_layers || s->max_layers > LAYERS_MAX) {
        return bad(diag, "layers: out of range");
    }
    return take_layers(&s->chain, count, params, diag);
}

static umbel_err check_bits(const umbel_filter *f, umbel_diag *diag) {
    const umbeli_chain *c = umbeli_chain_of(f);
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        if (umbeli_is_packed(l) && !l->probes->check(l, l->bits)) {
            return bad(diag, "layer: its hashes are not in order");
        }
    }
    return UMBEL_OK;
}

const umbeli_kind umbeli_kind_scalable = {
    .id = UMBEL_KIND_SCALABLE,
    .name = "scalable",
    .traits = {.purpose = "grows", .adds = true, .grows = true, .hashes = true},
    .create = create,
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
    .check_bits = check_bits,
};
