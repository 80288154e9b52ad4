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
#include "hash/hasher.h"
#include "kind/classic.h"
#include "kind/kind.h"

enum { SCHEME_NATIVE = 1 };

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

static umbel_err create(const umbel_params *params, const umbeli_memory *memory, umbel_filter **out,
                        umbel_diag *diag) {
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
                         const umbeli_memory *memory, umbel_filter **out, umbel_diag *diag) {
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
