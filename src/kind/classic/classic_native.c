/* SPDX-License-Identifier: MIT
 *
 * classic_native.c - umbel's own scheme for the classic kind
 *
 * A 128-bit hash of the key (XXH3, or SipHash-1-3 with a secret) gives a start and an odd step.
 * Probe i is where the i-th value of the sequence
 *     x = low;  x = x * M + step;  x = x * M + step; ...        (mod 2^64, step = high | 1)
 * falls when [0, 2^64) is scaled to [0, bits).  All 128 bits take part, so quality does not drop
 * above 2^32 bits; scaling needs no division; and thanks to the multiplier the probes of one key do
 * not form an arithmetic progression, which would worsen the rate of small filters.
 */
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/blocked/blocked.h"
#include "kind/classic/classic.h"
#include "kind/kind.h"

enum { FIRST_PROBES = 2, GROUP = 32 };

/* 2^64 divided by the golden ratio.  It is 5 mod 8, so with an odd step the sequence visits all
 * 2^64 values before it repeats, and no key has all its probes on a few bits. */
static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    const umbeli_shape *shape = &c->base.shape;
    umbeli_hash128 h = umbeli_native_hash128(shape, key, len);
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < shape->hashes; i++) {
        pos[i] = umbeli_mul_high(x, shape->bits);
        x = x * multiplier + step;
    }
}

const umbeli_scheme umbeli_scheme_native = {
    .id = UMBELI_SCHEME_CLASSIC,
    .layout = "classic/xxh3-128",
    .keyed = "classic/siphash13-128",
    .format = UMBEL_FMT_NATIVE,
    .positions = positions,
    .folds = true,
};

/* ---- Hash once, look up many times ---- */

/* Prefetches or tests the probes `from` to `to` of a key; true if all tested ones are set. */
static inline bool walk(umbeli_classic_bits b, umbeli_hash128 h, uint32_t from, uint32_t to,
                        bool fetch) {
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < to; i++, x = x * multiplier + step) {
        uint64_t pos = umbeli_mul_high(x, b.bits);
        if (i < from) continue;
        if (fetch) {
            __builtin_prefetch(b.data + (pos >> 3));
        } else if (!umbeli_bit_test(b.data, pos)) {
            return false;
        }
    }
    return true;
}

/* Like contains_group in classic.c: fetches the lines of the first probes, then the others of keys
 * still undecided. */
static void contains_group(umbeli_classic_bits b, const umbeli_hash128 *h, size_t n, uint8_t *hit) {
    uint32_t k = b.hashes, first = k < FIRST_PROBES ? k : FIRST_PROBES;
    for (size_t i = 0; i < n; i++) walk(b, h[i], 0, first, true);
    for (size_t i = 0; i < n; i++) {
        hit[i] = walk(b, h[i], 0, first, false);
        if (hit[i]) walk(b, h[i], first, k, true);
    }
    for (size_t i = 0; i < n; i++) {
        if (hit[i]) hit[i] = walk(b, h[i], first, k, false);
    }
}

static bool is_small(umbeli_classic_bits b) {
    return b.bits / 8 <= UMBELI_PLAIN_BELOW;
}

void umbeli_classic_contains_hashed(umbeli_classic_bits in, const umbeli_hash128 *h, size_t n,
                                    uint8_t *hit) {
    if (is_small(in)) {
        for (size_t i = 0; i < n; i++) hit[i] = walk(in, h[i], 0, in.hashes, false);
        return;
    }
    for (size_t from = 0; from < n; from += GROUP) {
        contains_group(in, h + from, n - from < GROUP ? n - from : GROUP, hit + from);
    }
}

static bool mark(umbeli_classic_bits b, umbeli_hash128 h) {
    uint64_t x = h.low, step = h.high | 1;
    bool changed = false;
    for (uint32_t i = 0; i < b.hashes; i++, x = x * multiplier + step) {
        changed |= umbeli_bit_set(b.data, umbeli_mul_high(x, b.bits));
    }
    return changed;
}

uint64_t umbeli_classic_add_hashed(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                                   uint8_t *was_new) {
    uint64_t added = 0;
    bool small = is_small(into) || n == 1;
    for (size_t from = 0; from < n; from += GROUP) {
        size_t to = n - from < GROUP ? n : from + GROUP;
        for (size_t i = from; !small && i < to; i++) walk(into, h[i], 0, into.hashes, true);
        for (size_t i = from; i < to; i++) {
            was_new[i] = mark(into, h[i]);
            added += was_new[i];
        }
    }
    return added;
}

uint64_t umbeli_classic_bit(uint64_t bits, umbeli_hash128 hash, uint32_t i) {
    uint64_t x = hash.low, step = hash.high | 1;
    while (i-- > 0) x = x * multiplier + step;
    return umbeli_mul_high(x, bits);
}

/* ---- Making ---- */

static umbel_err create(const umbel_params *params, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_shape shape = umbeli_kind_shape(params);
    shape.hashes = params->hashes;
    if (umbeli_bytes_alone(params)) {
        if (params->bytes > INT64_MAX / 8) {
            return umbeli_fail(diag, UMBEL_EINVAL, "bytes: must be at most 2^60-1");
        }
        if (params->hashes == 0) {
            return umbeli_fail(diag, UMBEL_EINVAL, "hashes: required when only bytes is given");
        }
        shape.bits = params->bytes * 8;
    } else {
        umbel_plan plan;
        umbel_err e = umbeli_kind_plan(UMBEL_KIND_CLASSIC, params, &plan, diag);
        if (e) return e;
        shape.bits = plan.bits;
        shape.hashes = plan.hashes;
        shape.capacity = plan.capacity;
        shape.fpr = plan.fpr;
    }
    return umbeli_classic_new(&umbeli_scheme_native, shape, NULL, settings, out, diag);
}

umbel_err umbeli_classic_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_CLASSIC, data_len, diag);
    if (e) return e;
    if (shape->hashes == 0 || shape->hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: must be 1 to 1024");
    }
    if (shape->bits == 0 || shape->bits > INT64_MAX) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits: must be 1 to 2^63-1");
    }
    return UMBEL_OK;
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_classic_check(shape, data_len, diag);
    return e ? e : umbeli_classic_new(&umbeli_scheme_native, *shape, borrow, settings, out, diag);
}

const umbeli_kind umbeli_kind_classic = {
    .id = UMBEL_KIND_CLASSIC,
    .name = "classic",
    .create = create,
    .restore = restore,
};
