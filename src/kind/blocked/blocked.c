/* SPDX-License-Identifier: MIT */
#include "kind/blocked/blocked.h"

#include <math.h>

#include "core/bits.h"
#include "core/cpu.h"
#include "core/diag.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum { BLOCK_BITS = 8 * UMBELI_BLOCK_BYTES, LANE_BITS = 32 };

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

const umbeli_blocked_kernel *umbeli_blocked_best(void) {
    const umbeli_blocked_kernel *const *kernel = kernels;
    while ((*kernel)->needs & ~umbeli_cpu()) kernel++;
    return *kernel;
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
    const umbeli_blocked_kernel *kernel =
        settings->concurrent && !borrow ? &umbeli_blocked_atomic : umbeli_blocked_best();
    umbel_filter *f = NULL;
    const char *layout = umbeli_kind_layout(&shape, scheme->layout, scheme->keyed);
    e = umbeli_filter_new(kernel->ops, layout, &shape, shape.bits / 8, borrow, settings, &f, diag);
    if (e) return e;
    umbeli_blocked *b = (umbeli_blocked *)f;
    b->nblocks = shape.bits / BLOCK_BITS;
    b->hasher = scheme->hasher ? scheme->hasher : umbeli_native_hasher(&shape);
    b->kernel = kernel;
    *out = f;
    return UMBEL_OK;
}

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape = umbeli_kind_shape(params);
    if (umbeli_bytes_alone(params)) {
        if (params->hashes && params->hashes != UMBELI_BLOCK_LANES) {
            return umbeli_fail(diag, UMBEL_EINVAL, "hashes: a blocked filter always has 8");
        }
        if (params->bytes > (uint64_t)UINT32_MAX * UMBELI_BLOCK_BYTES) {
            return umbeli_fail(diag, UMBEL_EINVAL, "bytes: a blocked filter must be below 128 GiB");
        }
        shape.bits = params->bytes / UMBELI_BLOCK_BYTES * BLOCK_BITS;
    } else {
        umbel_plan plan;
        umbel_err e = umbeli_kind_plan(UMBEL_KIND_BLOCKED, params, &plan, diag);
        if (e) return e;
        shape.bits = plan.bits;
        shape.capacity = plan.capacity;
        shape.fpr = plan.fpr;
    }
    return umbeli_blocked_new(&umbeli_blocked_native, shape, NULL, settings, out, diag);
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
    .create = create,
    .restore = restore,
};

size_t umbeli_blocked_probes(const umbel_filter *f, const void *key, size_t len, uint64_t *bits,
                             size_t cap) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t hash = b->hasher->one(&f->shape, key, len);
    uint64_t block = BLOCK_BITS * umbeli_block_of(hash, b->nblocks);
    for (size_t lane = 0; lane < UMBELI_BLOCK_LANES && lane < cap; lane++) {
        bits[lane] = block + LANE_BITS * lane + umbeli_block_bit(hash, lane);
    }
    return UMBELI_BLOCK_LANES;
}

/* In one block the rate is the product of the lanes' shares of set bits: 32^8 at most. */
static double rate_of_products(uint64_t products) {
    return ldexp((double)products, -40);
}

/* Adds up the rates of the blocks, and returns their set bits. */
static uint64_t add_rates(double *sum, const uint8_t *blocks, uint64_t nblocks) {
    enum { AT_ONCE = 1 << 16 };
    uint64_t set = 0;
    for (uint64_t first = 0; first < nblocks; first += AT_ONCE) {
        uint64_t some = nblocks - first < AT_ONCE ? nblocks - first : AT_ONCE;
        umbeli_lane_counts now = umbeli_bits_count_lanes(blocks + UMBELI_BLOCK_BYTES * first, some);
        *sum += rate_of_products(now.products);
        set += now.set;
    }
    return set;
}

/* The same with every `group` neighbours merged into one. */
static double merged_rates(const uint8_t *blocks, uint64_t nblocks, uint64_t group) {
    double sum = 0;
    for (uint64_t first = 0; first < nblocks; first += group) {
        uint8_t merged[UMBELI_BLOCK_BYTES] = {0};
        for (uint64_t i = first; i < first + group; i++) {
            umbeli_bits_or(merged, blocks + UMBELI_BLOCK_BYTES * i, sizeof merged);
        }
        sum += rate_of_products(umbeli_bits_count_lanes(merged, 1).products);
    }
    return sum;
}

double umbeli_blocked_live_rate(const uint8_t *blocks, uint64_t nblocks, uint64_t group) {
    double sum = 0;
    if (group == 1) {
        add_rates(&sum, blocks, nblocks);
    } else {
        sum = merged_rates(blocks, nblocks, group);
    }
    return sum / (double)(nblocks / group);
}

static double live_rate(const umbel_filter *f, uint64_t group) {
    return umbeli_blocked_live_rate(f->data, umbeli_blocked_of(f)->nblocks, group);
}

double umbeli_blocked_estimate(uint64_t nblocks, uint64_t bits_set) {
    /* Each key hits a given bit with probability 1 / (32 nblocks). */
    if (bits_set >= BLOCK_BITS * nblocks) return INFINITY;
    return log1p(-(double)bits_set / ((double)BLOCK_BITS * (double)nblocks)) /
           log1p(-1 / ((double)LANE_BITS * (double)nblocks));
}

double umbeli_blocked_with_twins(double rate, uint64_t nblocks, uint64_t bits_set) {
    double keys = umbeli_blocked_estimate(nblocks, bits_set);
    return isfinite(keys) ? rate + (1 - rate) * ldexp(keys / (double)nblocks, -32) : rate;
}

void umbeli_blocked_measure(const umbel_filter *f, umbel_measurement *now) {
    uint64_t nblocks = umbeli_blocked_of(f)->nblocks, len = 0;
    uint8_t room[UMBELI_PEEK];
    const uint8_t *bytes;
    double sum = 0;
    for (uint64_t at = 0; (bytes = umbeli_filter_peek(f, at, room, &len)) != NULL; at += len) {
        now->bits_set += add_rates(&sum, bytes, len / UMBELI_BLOCK_BYTES);
    }
    now->rate = umbeli_blocked_with_twins(sum / (double)nblocks, nblocks, now->bits_set);
}

/* Keys that share a block collide in all its lanes at once, so its load matters: the variance of
 * its set bits given the load, and that of their mean around a line, because the loads add up. */
double umbeli_blocked_keys(uint64_t nblocks, uint64_t bits_set, double *error) {
    double keys = umbeli_blocked_estimate(nblocks, bits_set), z = (double)nblocks, load = keys / z;
    const double lane = LANE_BITS, one = 1 / lane; /* the share of a lane that a key sets */
    *error = INFINITY;
    if (!isfinite(keys)) return keys;
    double clear = exp(-load * one), both = exp(-load * 2 * one);
    double square = exp(-load * one * (2 - one));
    double within =
        UMBELI_BLOCK_LANES * (lane * clear + lane * (lane - 1) * both - lane * lane * square);
    double between = BLOCK_BITS * BLOCK_BITS * (square - clear * clear * (1 + load * one * one));
    *error = sqrt(fmax(z * (within + between), 0)) / (UMBELI_BLOCK_LANES * clear);
    return keys;
}

double umbeli_blocked_keys_of_bits(const umbel_filter *f, uint64_t bits_set, double *error) {
    return umbeli_blocked_keys(umbeli_blocked_of(f)->nblocks, bits_set, error);
}

double umbeli_blocked_rate_after(const umbel_filter *f, uint64_t keys) {
    return umbeli_blocked_rate(umbeli_blocked_of(f)->nblocks, keys);
}

umbel_err umbeli_blocked_fold(umbel_filter *f, double fpr, umbel_diag *diag) {
    umbeli_blocked *b = (umbeli_blocked *)f;
    if (live_rate(f, 1) > fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: the live rate is already above it");
    }
    uint64_t group = 1;
    while (b->nblocks % (2 * group) == 0 && live_rate(f, 2 * group) <= fpr) group *= 2;
    if (group == 1) return UMBEL_OK;

    uint64_t bits = f->shape.bits / group;
    umbel_plan promise = {.kind = UMBEL_KIND_BLOCKED, .fpr = fpr, .bytes = bits / 8};
    umbeli_array work;
    umbel_err e = umbeli_array_new(&f->settings, bits / 8, &work, diag);
    if (e) return e;
    /* Block i of z is hash * z >> 32, so its keys go to block i / group of z / group. */
    for (uint64_t i = 0; i < b->nblocks; i++) {
        umbeli_bits_or(work.data + UMBELI_BLOCK_BYTES * (i / group),
                       f->data + UMBELI_BLOCK_BYTES * i, UMBELI_BLOCK_BYTES);
    }
    e = umbeli_filter_shrink(f, work.data, bits, fpr, diag);
    umbeli_array_delete(&f->settings, &work);
    if (e) return e;
    b->nblocks /= group;
    f->shape.capacity = umbeli_plan_solve(&promise) ? 0 : promise.capacity;
    return UMBEL_OK;
}
