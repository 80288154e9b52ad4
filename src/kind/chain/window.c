/* SPDX-License-Identifier: MIT
 *
 * window.c - the latest keys of a stream: a ring of split-block filters, one per generation
 *
 * A window of g generations is g + 1 equal layers.  Keys go into the newest; when it is full (or,
 * in a manual window, when the caller says so) the oldest is cleared and becomes the newest.  So at
 * any time g whole generations and part of one more are remembered.
 *
 * A key that is added again goes into the newest generation again and is remembered as long as any
 * other key added now.
 *
 * The kind's own parameters in a native file:
 *   offset  size  field                        offset  size  field
 *   0       4     filters F: generations + 1   12      4     0
 *   4       4     the newest, from 0           16      8     capacity of a generation
 *   8       4     1: manual                    24+8i   8     keys in filter i
 */
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/chain.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { SCHEME = 1, LAYERS_MAX = UMBELI_WINDOW_MAX + 1 };
enum { PARAMS_FIXED = 24, PARAMS_LAYER = 8, MANUAL = 1 };

/* ---- Advancing ---------------------------------------------------------------------------- */

static umbel_err advance(umbel_filter *f) {
    umbeli_chain *c = (umbeli_chain *)f;
    c->newest = (c->newest + 1) % c->count;
    umbeli_layer *oldest = &c->layers[c->newest];
    memset(oldest->bits, 0, (size_t)oldest->bytes);
    oldest->keys = 0;
    return UMBEL_OK;
}

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    (void)max_bytes; /* a window never allocates after creation */
    return advance(&c->base);
}

static void clear(umbel_filter *f) {
    umbeli_chain *c = (umbeli_chain *)f;
    c->newest = 0;
    for (uint32_t i = 0; i < c->count; i++) c->layers[i].keys = 0;
}

static void describe(const umbel_filter *f, umbel_info *info) {
    umbeli_chain_describe(f, info);
    info->generations = umbeli_chain_of(f)->count - 1;
    info->manual = umbeli_chain_of(f)->never_full;
}

static const umbeli_chain_policy policy = {.refreshes = true, .next = next};

static const umbeli_ops ops = {
    .size = sizeof(umbeli_chain),
    .kind = &umbeli_kind_window,
    .policy = &policy,
    .kernel = "blocked",
    UMBELI_NARROW_CHAIN_OPS,
    .no_sets = "windows remember the order of their keys, and two of them have no common order",
    .no_fold = "a window has exactly the size its generations need, so there is nothing to fold",
    .advance = advance,
    .clear = clear,
    .describe = describe,
};

uint32_t umbeli_window_generations(const umbel_filter *f) {
    return f->ops->policy == &policy ? umbeli_chain_of(f)->count - 1 : 0;
}

/* ---- Making ------------------------------------------------------------------------------- */

static umbel_err make(const umbeli_shape *shape, const uint8_t *borrow,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    const char *layout = umbeli_kind_layout(shape, "window/xxh3", "window/siphash13");
    return umbeli_chain_new_native(&ops, layout, shape, SCHEME, borrow, settings, out, diag);
}

/* Equal layers; keys, if not NULL, are the key counts of each. */
static umbel_err lay_out(umbeli_chain *c, uint32_t count, uint64_t capacity, const uint64_t *keys,
                         umbel_diag *diag) {
    umbeli_layer layers[LAYERS_MAX];
    uint64_t each = c->base.data_len / count;
    for (uint32_t i = 0; i < count; i++) {
        layers[i] = (umbeli_layer){
            .probes = &umbeli_probes_blocked,
            .bytes = each,
            .nbits = 8 * each,
            .hashes = UMBELI_BLOCK_LANES,
            .capacity = capacity,
            .keys = keys ? keys[i] : 0,
        };
    }
    umbel_err e = umbeli_chain_lay_out(c, layers, count, diag);
    c->newest = 0;
    return e;
}

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbel_plan plan;
    umbel_err e = umbeli_kind_plan(UMBEL_KIND_WINDOW, params, &plan, diag);
    if (e) return e;
    umbeli_shape shape = umbeli_kind_shape(params, settings);
    shape.bits = plan.bits;
    shape.capacity = plan.capacity;
    shape.fpr = plan.fpr;
    umbel_filter *f = NULL;
    e = make(&shape, NULL, settings, &f, diag);
    if (e) return e;
    umbeli_chain *c = (umbeli_chain *)f;
    c->never_full = params->window.manual;
    uint64_t each = umbeli_ceil_div(plan.capacity, plan.generations);
    e = lay_out(c, plan.generations + 1, each, NULL, diag);
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
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a window always has 8");
    }
    return make(shape, borrow, settings, out, diag);
}

/* ---- Parameters in native files ----------------------------------------------------------- */

static uint64_t kind_params_len(const umbel_filter *f) {
    return PARAMS_FIXED + PARAMS_LAYER * (uint64_t)umbeli_chain_of(f)->count;
}

static void put_kind_params(const umbel_filter *f, umbeli_writer *out) {
    const umbeli_chain *c = umbeli_chain_of(f);
    umbeli_put_u32le(out, c->count);
    umbeli_put_u32le(out, c->newest);
    umbeli_put_u32le(out, c->never_full ? MANUAL : 0);
    umbeli_put_u32le(out, 0);
    umbeli_put_u64le(out, c->layers[0].capacity);
    for (uint32_t i = 0; i < c->count; i++) umbeli_put_u64le(out, c->layers[i].keys);
}

/* The shape's capacity and rate must match what the generations can keep. */
static const char *wrong(const umbeli_chain *c) {
    const umbeli_shape *shape = &c->base.shape;
    uint64_t each = c->layers[0].capacity;
    if (each == 0 || each != umbeli_ceil_div(shape->capacity, c->count - 1)) {
        return "generation capacity: disagrees with that of the window";
    }
    double one = umbeli_layer_rate(c->layers[0].bytes / UMBELI_BLOCK_BYTES, each), rate = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        rate = umbeli_rate_of_union(rate, one);
        if (!c->never_full && c->layers[i].keys > each) return "generation: too many keys";
    }
    /* 1% tolerance: other implementations' libm may round differently. */
    return rate > 1.01 * shape->fpr ? "generations: they cannot keep the rate" : NULL;
}

static umbel_err take_kind_params(umbel_filter *f, umbeli_reader *params, umbel_diag *diag) {
    umbeli_chain *c = (umbeli_chain *)f;
    uint32_t count = umbeli_take_u32le(params), newest = umbeli_take_u32le(params);
    uint32_t flags = umbeli_take_u32le(params), zero = umbeli_take_u32le(params);
    uint64_t capacity = umbeli_take_u64le(params), keys[LAYERS_MAX];
    const char *what = NULL;
    if (flags & ~(uint32_t)MANUAL) {
        return umbeli_fail(diag, UMBEL_EVERSION, "parameters: unknown flag");
    }
    if (zero) what = "parameters: bytes 12 to 15 are not 0";
    if (count < 2 || count > LAYERS_MAX) what = "filters: not 2 to 256";
    if (!what && newest >= count) what = "newest: no such filter";
    if (!what && umbeli_left(params) != PARAMS_LAYER * count) what = "parameters: wrong length";
    uint64_t blocks = f->data_len / UMBELI_BLOCK_BYTES;
    if (!what && (f->data_len % UMBELI_BLOCK_BYTES || blocks % count || blocks == 0 ||
                  blocks / count > UINT32_MAX)) {
        what = "filters and payload size disagree";
    }
    if (what) return umbeli_fail(diag, UMBEL_ECORRUPT, what);
    for (uint32_t i = 0; i < count; i++) keys[i] = umbeli_take_u64le(params);
    umbel_err e = lay_out(c, count, capacity, keys, diag);
    if (e) return e;
    c->newest = newest;
    c->never_full = flags & MANUAL;
    what = wrong(c);
    return what ? umbeli_fail(diag, UMBEL_ECORRUPT, what) : UMBEL_OK;
}

const umbeli_kind umbeli_kind_window = {
    .id = UMBEL_KIND_WINDOW,
    .name = "window",
    .traits = {.purpose = "forgets old keys", .adds = true, .forgets = true, .hashes = true},
    .create = create,
    .restore = restore,
    .kind_params_len = kind_params_len,
    .put_kind_params = put_kind_params,
    .take_kind_params = take_kind_params,
};
