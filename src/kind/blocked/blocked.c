/* SPDX-License-Identifier: MIT */
#include "kind/blocked/blocked.h"

#include <math.h>

#include "core/bits.h"
#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "kind/blocked/line.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { BLOCK_BITS = 8 * UMBELI_BLOCK_BYTES };

/* From the Apache Parquet specification. */
const uint32_t umbeli_block_salts[UMBELI_BLOCK_LANES] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

const umbeli_blocked_scheme umbeli_blocked_native = {
    .id = UMBELI_SCHEME_BLOCKED,
    .layout = "blocked/xxh3",
    .keyed = "blocked/siphash13",
    .format = UMBEL_FMT_NATIVE,
};

/* Best first; the last one runs everywhere. */
static const umbeli_blocked_kernel *const kernels[] = {
#if UMBELI_X86
    &umbeli_blocked_avx2,
#endif
    &umbeli_blocked_generic,
};
static const umbeli_blocked_kernel *const concurrent_kernels[] = {
#if UMBELI_X86
    &umbeli_blocked_avx2,
#endif
    &umbeli_blocked_atomic,
};

const umbeli_blocked_kernel *umbeli_kernel_of(const umbeli_blocked_kernel *const *kernel) {
    while ((*kernel)->needs & ~umbeli_cpu()) kernel++;
    return *kernel;
}

const umbeli_blocked_kernel *umbeli_blocked_best(void) {
    return umbeli_kernel_of(kernels);
}

umbeli_settings umbeli_blocked_settings(const umbeli_settings *settings) {
    umbeli_settings own = *settings;
    if (!UMBELI_HAVE_ATOMICS) own.concurrent = false;
    return own;
}

static umbel_err check_bits(uint64_t bits, umbel_diag *diag) {
    uint64_t nblocks = bits / BLOCK_BITS;
    if (nblocks > 0 && nblocks <= UINT32_MAX && bits % BLOCK_BITS == 0) return UMBEL_OK;
    return umbeli_fail(diag, UMBEL_EINVAL,
                       "bits: a blocked filter has 1 to 2^32-1 blocks of 256 bits");
}

umbel_err umbeli_blocked_new(const umbeli_blocked_scheme *scheme, umbeli_shape shape,
                             const uint8_t *borrow, const umbeli_settings *settings,
                             umbel_filter **out, umbel_diag *diag) {
    umbel_err e = check_bits(shape.bits, diag);
    if (e) return e;
    shape.kind = UMBEL_KIND_BLOCKED;
    shape.format = scheme->format;
    shape.scheme = scheme->id;
    if (scheme->hash) shape.hash = scheme->hash;
    shape.hashes = UMBELI_BLOCK_LANES;
    const umbeli_blocked_kernel *kernel = umbeli_blocked_best();
    umbeli_settings own = umbeli_blocked_settings(settings);
    if (own.concurrent && !borrow) kernel = umbeli_kernel_of(concurrent_kernels);
    umbel_filter *f = NULL;
    const char *layout = umbeli_kind_layout(&shape, scheme->layout, scheme->keyed);
    e = umbeli_filter_new(kernel->ops, layout, &shape, shape.bits / 8, borrow, &own, &f, diag);
    if (e) return e;
    umbeli_blocked *b = (umbeli_blocked *)f;
    b->nblocks = shape.bits / BLOCK_BITS;
    b->hasher = scheme->hasher ? scheme->hasher : umbeli_native_hasher(&shape);
    b->kernel = kernel;
    e = umbeli_shards_new(f, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

static const umbeli_units units = {
    .bytes = UMBELI_BLOCK_BYTES,
    .max = UINT32_MAX,
    .hashes = UMBELI_BLOCK_LANES,
    .fixed = "hashes: a blocked filter always has 8",
    .large = "bytes: a blocked filter must be below 128 GiB",
};

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = umbeli_kind_new_shape(UMBEL_KIND_BLOCKED, &units, params, settings, &shape, diag);
    return e ? e : umbeli_blocked_new(&umbeli_blocked_native, shape, NULL, settings, out, diag);
}

umbel_err umbeli_blocked_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_BLOCKED, data_len, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a blocked filter always has 8");
    }
    return check_bits(shape->bits, diag) ? UMBEL_ECORRUPT : UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_blocked_check(shape, data_len, diag);
    if (e) return e;
    return umbeli_blocked_new(&umbeli_blocked_native, *shape, borrow, settings, out, diag);
}

const umbeli_kind umbeli_kind_blocked = {
    .id = UMBEL_KIND_BLOCKED,
    .name = "blocked",
    .traits = {.purpose = "fast and general",
               .adds = true,
               .merges = true,
               .folds = true,
               .concurrent = true,
               .hashes = true},
    .create = create,
    .restore = restore,
};

umbeli_block_form umbeli_block_form_of(const umbeli_shape *shape) {
    if (shape->kind == UMBEL_KIND_LINE) {
        return (umbeli_block_form){UMBELI_LINE_BYTES, shape->hashes};
    }
    return (umbeli_block_form){UMBELI_BLOCK_BYTES, UMBELI_BLOCK_LANES};
}

size_t umbeli_blocked_probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                             size_t cap) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    umbeli_block_form form = umbeli_block_form_of(&f->shape);
    (void)key;
    uint64_t block = 8 * form.bytes * umbeli_block_of(hash, b->nblocks);
    for (uint32_t lane = 0; lane < form.lanes && lane < cap; lane++) {
        uint32_t bit = f->shape.kind == UMBEL_KIND_LINE ? umbeli_line_bit(hash, form.lanes, lane)
                                                        : umbeli_block_bit(hash, lane);
        bits[lane] = block + umbeli_lane_bits(form) * lane + bit;
    }
    return form.lanes;
}

/* Set bits of a lane of `bytes` bytes, with the lanes of a group of blocks merged. */
static uint32_t lane_count(const uint8_t *lane, uint32_t bytes, uint32_t stride, uint64_t group) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < bytes; at += 4) {
        uint32_t word = 0;
        for (uint64_t i = 0; i < group; i++) word |= umbeli_load_le32(lane + at + stride * i);
        count += (uint32_t)__builtin_popcount(word);
    }
    return count;
}

/* 1 / the product of all lanes' bits. */
static double scale_of(umbeli_block_form form) {
    return ldexp(1, -(int)form.lanes * __builtin_ctz(umbeli_lane_bits(form)));
}

/* In one block the rate is the product of the lanes' shares of set bits. */
static double rate_of_block(umbeli_block_form form, const uint8_t *block, uint64_t group,
                            uint64_t *set) {
    uint32_t lane_bytes = form.bytes / form.lanes, half = form.lanes / 2;
    uint64_t product[2] = {1, 1}; /* of half the lanes: at most 32^8 = 2^40 */
    for (uint32_t lane = 0; lane < form.lanes; lane++) {
        uint32_t count = lane_count(block + lane_bytes * lane, lane_bytes, form.bytes, group);
        product[lane >= half] *= count;
        *set += count;
    }
    return (double)product[0] * (double)product[1] * scale_of(form);
}

/* Adds up the rates of the blocks, with each group of them merged; returns their set bits.  Single
 * ones have a kernel. */
static uint64_t add_rates(double *sum, umbeli_block_form form, const uint8_t *blocks,
                          uint64_t nblocks, uint64_t group) {
    enum { AT_ONCE = 1 << 16 };
    uint64_t set = 0, n;
    for (uint64_t first = 0; first < nblocks; first += n, blocks += form.bytes * n) {
        n = nblocks - first < AT_ONCE ? nblocks - first : AT_ONCE;
        if (group > 1) {
            n = group;
            *sum += rate_of_block(form, blocks, group, &set);
        } else if (form.bytes == UMBELI_BLOCK_BYTES) {
            umbeli_lane_counts now = umbeli_bits_count_lanes(blocks, n);
            *sum += ldexp((double)now.products, -40);
            set += now.set;
        } else {
            double products = *sum / scale_of(form); /* exact: powers of two */
            set += umbeli_bits_count_lines(blocks, n, form.lanes, &products);
            *sum = products * scale_of(form);
        }
    }
    return set;
}

double umbeli_blocked_live_rate(umbeli_block_form form, const uint8_t *blocks, uint64_t nblocks) {
    double sum = 0;
    add_rates(&sum, form, blocks, nblocks, 1);
    return sum / (double)nblocks;
}

double umbeli_blocked_estimate(umbeli_block_form form, uint64_t nblocks, uint64_t bits_set) {
    /* Each key hits a given bit with probability 1 / (lane bits * nblocks). */
    double bits = 8.0 * form.bytes * (double)nblocks;
    if ((double)bits_set >= bits) return INFINITY;
    return log1p(-(double)bits_set / bits) /
           log1p(-1 / ((double)umbeli_lane_bits(form) * (double)nblocks));
}

/* Keys that agree in the 32 bits that the lanes use are found in whichever block they share. */
double umbeli_blocked_with_collisions(umbeli_block_form form, double rate, uint64_t nblocks,
                                      uint64_t bits_set) {
    double keys = umbeli_blocked_estimate(form, nblocks, bits_set);
    return isfinite(keys) ? rate + (1 - rate) * ldexp(keys / (double)nblocks, -32) : rate;
}

/* The live rate with every `group` neighbours merged into one, as measured afterwards. */
static double live_rate(const umbel_filter *f, uint64_t group) {
    umbeli_block_form form = umbeli_block_form_of(&f->shape);
    uint64_t nblocks = umbeli_blocked_of(f)->nblocks, left = nblocks / group;
    double sum = 0;
    uint64_t bits_set = add_rates(&sum, form, f->data, nblocks, group);
    return umbeli_blocked_with_collisions(form, sum / (double)left, left, bits_set);
}

void umbeli_blocked_measure(const umbel_filter *f, umbel_measurement *now) {
    umbeli_block_form form = umbeli_block_form_of(&f->shape);
    uint64_t nblocks = umbeli_blocked_of(f)->nblocks, len = 0;
    uint8_t room[UMBELI_PEEK];
    const uint8_t *bytes;
    double sum = 0;
    for (uint64_t at = 0; (bytes = umbeli_filter_peek(f, at, room, &len)) != NULL; at += len) {
        now->bits_set += add_rates(&sum, form, bytes, len / form.bytes, 1);
    }
    now->rate = umbeli_blocked_with_collisions(form, sum / (double)nblocks, nblocks, now->bits_set);
}

/* Keys that share a block collide in all its lanes together, so its load matters: the variance of
 * its set bits given the load, and that of their mean around a line, because the loads add up. */
double umbeli_blocked_keys(umbeli_block_form form, uint64_t nblocks, uint64_t bits_set,
                           double *error) {
    double keys = umbeli_blocked_estimate(form, nblocks, bits_set), z = (double)nblocks;
    double load = keys / z, lane = umbeli_lane_bits(form), lanes = form.lanes;
    double one = 1 / lane, bits = lane * lanes; /* one: the share of a lane that a key sets */
    *error = INFINITY;
    if (!isfinite(keys)) return keys;
    double clear = exp(-load * one), both = exp(-load * 2 * one);
    double square = exp(-load * one * (2 - one));
    double within = lanes * (lane * clear + lane * (lane - 1) * both - lane * lane * square);
    double between = bits * bits * (square - clear * clear * (1 + load * one * one));
    *error = sqrt(fmax(z * (within + between), 0)) / (lanes * clear);
    return keys;
}

double umbeli_blocked_keys_of_bits(const umbel_filter *f, uint64_t bits_set, double *error) {
    return umbeli_blocked_keys(umbeli_block_form_of(&f->shape), umbeli_blocked_of(f)->nblocks,
                               bits_set, error);
}

double umbeli_blocked_rate_after(const umbel_filter *f, uint64_t keys) {
    uint64_t nblocks = umbeli_blocked_of(f)->nblocks;
    return f->shape.kind == UMBEL_KIND_LINE ? umbeli_line_rate(nblocks, f->shape.hashes, keys)
                                            : umbeli_blocked_rate(nblocks, keys);
}

typedef struct fold_goal {
    const umbel_filter *filter;
    double fpr;
} fold_goal;

static bool fold_fits(void *ctx, uint64_t group) {
    const fold_goal *g = ctx;
    return live_rate(g->filter, group) <= g->fpr;
}

umbel_err umbeli_blocked_fold(umbel_filter *f, double fpr, umbel_diag *diag) {
    umbeli_blocked *b = (umbeli_blocked *)f;
    size_t bytes = umbeli_block_form_of(&f->shape).bytes;
    if (live_rate(f, 1) > fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: the live rate is already above it");
    }
    uint64_t group = umbeli_fold_factor(b->nblocks, fold_fits, &(fold_goal){f, fpr});
    if (group == 1) return UMBEL_OK;

    uint64_t bits = f->shape.bits / group;
    umbel_plan promise = {
        .kind = f->shape.kind, .hashes = f->shape.hashes, .fpr = fpr, .bytes = bits / 8};
    umbeli_array work;
    umbel_err e = umbeli_array_new(&f->settings, bits / 8, &work, diag);
    if (e) return e;
    /* Block i of z is hash * z >> 32, so its keys go to block i / group of z / group. */
    for (uint64_t i = 0; i < b->nblocks; i++) {
        umbeli_bits_or(work.data + bytes * (i / group), f->data + bytes * i, bytes);
    }
    e = umbeli_filter_shrink(f, work.data, bits, fpr, diag);
    umbeli_array_delete(&f->settings, &work);
    if (e) return e;
    b->nblocks /= group;
    f->shape.capacity = umbeli_plan_solve(&promise) ? 0 : promise.capacity;
    return UMBEL_OK;
}
