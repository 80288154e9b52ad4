/* SPDX-License-Identifier: MIT
 *
 * classic_native.c - umbel's own scheme for the classic kind
 *
 * 128 bits of hash of the key (XXH3, or SipHash-1-3 where there is a secret) give a start and an odd step.  Probe i is where the i-th value of the
 * sequence
 *     x = low;  x = x * M + step;  x = x * M + step; ...        (mod 2^64, step = high | 1)
 * falls when [0, 2^64) is scaled to [0, bits).  All 128 bits take part, so nothing wears thin above
 * 2^32 bits; scaling needs no division; and because of the multiplier the probes of one key do not
 * form an arithmetic progression, which would cost small filters some of their rate.
 */
#include "core/diag.h"
#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "kind/kind.h"

enum { SCHEME_NATIVE = 1, FIRST_PROBES = 2, GROUP = 32, PLAIN_BELOW = 256 * 1024 };

/* 2^64 divided by the golden ratio.  It is 5 mod 8, so with an odd step the sequence visits all 2^64
 * values before it repeats, and no key has all its probes on a few bits. */
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
    .id = SCHEME_NATIVE,
    .layout = "classic/xxh3-128",
    .keyed = "classic/siphash13-128",
    .format = UMBEL_FMT_NATIVE,
    .positions = positions,
    .folds = true,
};

/* ---- Hash once, ask many ---- */

bool umbeli_classic_is_native(const umbel_filter *f) {
    return f->ops == &umbeli_classic_ops && umbeli_classic_of(f)->scheme == &umbeli_scheme_native;
}

/* Fetches or tests the probes `from` to `to` of a key; true if all tested ones are set. */
static inline bool walk(const umbel_filter *f, umbeli_hash128 h, uint32_t from, uint32_t to,
                        bool fetch) {
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < to; i++, x = x * multiplier + step) {
        uint64_t pos = umbeli_mul_high(x, f->shape.bits);
        if (i < from) continue;
        if (fetch) {
            __builtin_prefetch(f->data + (pos >> 3));
        } else if (!umbeli_bit_test(f->data, pos)) {
            return false;
        }
    }
    return true;
}

/* As contains_group in classic.c: the lines of the first probes, then those of the keys that these
 * leave open. */
static void contains_group(const umbel_filter *f, const umbeli_hash128 *h, size_t n, uint8_t *hit) {
    uint32_t k = f->shape.hashes, first = k < FIRST_PROBES ? k : FIRST_PROBES;
    for (size_t i = 0; i < n; i++) walk(f, h[i], 0, first, true);
    for (size_t i = 0; i < n; i++) {
        hit[i] = walk(f, h[i], 0, first, false);
        if (hit[i]) walk(f, h[i], first, k, true);
    }
    for (size_t i = 0; i < n; i++) {
        if (hit[i]) hit[i] = walk(f, h[i], first, k, false);
    }
}

void umbeli_classic_contains_hashed(const umbel_filter *f, const umbeli_hash128 *hashes, size_t n,
                                    uint8_t *hit) {
    if (f->data_len <= PLAIN_BELOW) {
        for (size_t i = 0; i < n; i++) hit[i] = walk(f, hashes[i], 0, f->shape.hashes, false);
        return;
    }
    for (size_t from = 0; from < n; from += GROUP) {
        contains_group(f, hashes + from, n - from < GROUP ? n - from : GROUP, hit + from);
    }
}

/* ---- Making ---- */

static umbel_err create(const umbel_params *params, const umbeli_settings *memory,
                        umbel_filter **out, umbel_diag *diag) {
    if (params->concurrent) {
        return umbeli_fail(diag, UMBEL_EINVAL, "concurrent: only blocked filters can be");
    }
    umbeli_shape shape = umbeli_kind_shape(params);
    shape.hashes = params->hashes;
    if (umbeli_bytes_alone(params)) {
        if (params->bytes > INT64_MAX / 8) {
            return umbeli_fail(diag, UMBEL_EINVAL, "bytes: a classic filter has at most 2^60-1");
        }
        if (params->hashes == 0) {
            return umbeli_fail(diag, UMBEL_EINVAL, "hashes: needed when only bytes is given");
        }
        shape.bits = params->bytes * 8;
    } else {
        umbel_plan plan;
        umbel_err e = umbeli_kind_plan(UMBEL_CLASSIC, params, &plan, diag);
        if (e) return e;
        shape.bits = plan.bits;
        shape.hashes = plan.hashes;
        shape.capacity = plan.keys;
        shape.fpr = plan.fpr;
    }
    return umbeli_classic_new(&umbeli_scheme_native, shape, NULL, memory, out, diag);
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_settings *memory, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, SCHEME_NATIVE, diag);
    if (e) return e;
    if (shape->hashes == 0) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a classic filter has at least 1");
    }
    if (shape->bits / 8 + (shape->bits % 8 != 0) != data_len) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits and payload size disagree");
    }
    e = umbeli_classic_new(&umbeli_scheme_native, *shape, borrow, memory, out, diag);
    return e == UMBEL_EINVAL ? UMBEL_ECORRUPT : e;
}

const umbeli_kind umbeli_kind_classic = {
    .id = UMBEL_CLASSIC,
    .name = "classic",
    .create = create,
    .restore = restore,
};
