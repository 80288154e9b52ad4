/* SPDX-License-Identifier: MIT
 *
 * window_make.c - windows from parameters and from native files
 *
 * The kind's own parameters in a file:
 *   offset  size  field                        offset  size  field
 *   0       4     filters F: generations + 1   12      4     0
 *   4       4     the newest, from 0           16      8     keys of a generation
 *   8       4     1: manual                    24+8i   8     keys in filter i
 */
#include "core/diag.h"
#include "core/size.h"
#include "kind/chain/window.h"
#include "kind/kind.h"

enum { OWN_FIXED = 24, OWN_LAYER = 8, MANUAL = 1 };

static umbel_err make(umbeli_shape shape, const uint8_t *borrow, const umbeli_settings *memory,
                      umbel_filter **out, umbel_diag *diag) {
    shape.kind = UMBEL_WINDOW;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_WINDOW;
    shape.hashes = UMBELI_BLOCK_LANES;
    umbel_err e = umbeli_filter_new(&umbeli_window_ops,
                                    umbeli_is_keyed(&shape) ? "window/siphash13" : "window/xxh3",
                                    &shape, shape.bits / 8, borrow, memory, out, diag);
    if (!e) ((umbeli_window *)*out)->kernel = umbeli_blocked_best();
    return e;
}

static umbel_err lay_out(umbeli_window *w, uint32_t nlayers, uint64_t capacity, umbel_diag *diag) {
    uint64_t each = w->base.data_len / nlayers;
    w->nlayers = nlayers;
    w->layers = umbeli_new(&w->base.memory, nlayers * sizeof *w->layers);
    if (!w->layers) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    for (uint32_t i = 0; i < nlayers; i++) {
        w->layers[i].at = each * i;
        w->layers[i].nblocks = each / UMBELI_BLOCK_BYTES;
        w->layers[i].capacity = capacity;
    }
    return UMBEL_OK;
}

static umbel_err create(const umbel_params *params, const umbeli_settings *memory,
                        umbel_filter **out, umbel_diag *diag) {
    if (params->concurrent) {
        return umbeli_fail(diag, UMBEL_EINVAL, "concurrent: only blocked filters can be");
    }
    umbel_plan plan;
    umbel_err e = umbeli_kind_plan(UMBEL_WINDOW, params, &plan, diag);
    if (e) return e;
    umbeli_shape shape = umbeli_kind_shape(params);
    shape.bits = plan.bits;
    shape.capacity = plan.keys;
    shape.fpr = plan.fpr;
    umbel_filter *f = NULL;
    e = make(shape, NULL, memory, &f, diag);
    if (e) return e;
    umbeli_window *w = (umbeli_window *)f;
    w->manual = params->manual;
    e = lay_out(w, plan.generations + 1, umbeli_ceil_div(plan.keys, plan.generations), diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *memory, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_WINDOW, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a window always has 8");
    }
    if (shape->bits % 8 || shape->bits / 8 != data_len) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits and payload size disagree");
    }
    return make(*shape, borrow, memory, out, diag);
}

static uint64_t own_len(const umbel_filter *f) {
    return OWN_FIXED + OWN_LAYER * (uint64_t)umbeli_window_of(f)->nlayers;
}

static void put_own(const umbel_filter *f, umbeli_writer *out) {
    const umbeli_window *w = umbeli_window_of(f);
    umbeli_put_u32le(out, w->nlayers);
    umbeli_put_u32le(out, w->newest);
    umbeli_put_u32le(out, w->manual ? MANUAL : 0);
    umbeli_put_u32le(out, 0);
    umbeli_put_u64le(out, w->layers[0].capacity);
    for (uint32_t i = 0; i < w->nlayers; i++) umbeli_put_u64le(out, w->layers[i].keys);
}

/* What the shape says must be what the generations can keep. */
static const char *wrong(const umbeli_window *w) {
    const umbeli_shape *shape = &w->base.shape;
    uint64_t each = w->layers[0].capacity;
    if (each == 0 || each != umbeli_ceil_div(shape->capacity, w->nlayers - 1)) {
        return "keys of a generation: disagree with the window";
    }
    double one = umbeli_layer_rate(w->layers[0].nblocks, each), rate = 0;
    for (uint32_t i = 0; i < w->nlayers; i++) {
        rate = umbeli_either(rate, one);
        if (!w->manual && w->layers[i].keys > each) return "generation: too many keys";
    }
    return rate > 1.01 * shape->fpr ? "generations: they cannot keep the rate" : NULL;
}

static umbel_err take_own(umbel_filter *f, umbeli_reader *own, umbel_diag *diag) {
    umbeli_window *w = (umbeli_window *)f;
    uint32_t nlayers = umbeli_take_u32le(own);
    w->newest = umbeli_take_u32le(own);
    uint32_t flags = umbeli_take_u32le(own), zero = umbeli_take_u32le(own);
    uint64_t capacity = umbeli_take_u64le(own);
    const char *what = NULL;
    if (flags & ~(uint32_t)MANUAL) {
        return umbeli_fail(diag, UMBEL_EVERSION, "parameters: an unknown flag");
    }
    if (zero) what = "parameters: bytes 12 to 15 are not 0";
    if (nlayers < 2 || nlayers > UMBELI_WINDOW_MOST + 1) what = "filters: not 2 to 256";
    if (!what && w->newest >= nlayers) what = "newest: no such filter";
    if (!what && umbeli_left(own) != OWN_LAYER * nlayers) what = "parameters: wrong length";
    uint64_t blocks = f->data_len / UMBELI_BLOCK_BYTES;
    if (!what && (f->data_len % UMBELI_BLOCK_BYTES || blocks % nlayers || blocks == 0 ||
                  blocks / nlayers > UINT32_MAX)) {
        what = "filters and payload size disagree";
    }
    if (what) return umbeli_fail(diag, UMBEL_ECORRUPT, what);
    w->manual = flags & MANUAL;
    umbel_err e = lay_out(w, nlayers, capacity, diag);
    if (e) return e;
    for (uint32_t i = 0; i < nlayers; i++) w->layers[i].keys = umbeli_take_u64le(own);
    what = wrong(w);
    return what ? umbeli_fail(diag, UMBEL_ECORRUPT, what) : UMBEL_OK;
}

const umbeli_kind umbeli_kind_window = {
    .id = UMBEL_WINDOW,
    .name = "window",
    .create = create,
    .restore = restore,
    .own_len = own_len,
    .put_own = put_own,
    .take_own = take_own,
};
