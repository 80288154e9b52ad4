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
#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "kind/kind.h"

/* Keys whose lines are fetched while those of the group before are tested. */
enum { GROUP = 16 };

static const uint64_t multiplier = UMBELI_CLASSIC_MULTIPLIER;

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    const umbeli_shape *shape = &c->base.shape;
    umbeli_hash128 h = umbeli_native_hash128(shape, key, len);
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < shape->hashes; i++) {
        pos[i] = umbeli_mul_high(x, shape->bits);
        x = x * multiplier + step;
    }
}

/* ---- Batches ----
 *
 * Cache misses overlap: the lines of one group of keys are fetched while the group before is
 * tested.  Half of the bits of a full filter are set, so a branch on a bit is a coin toss; the
 * first two probes of a key are therefore tested without one.  They decide three of four absent
 * keys.  The other lines of the rest are fetched, and tested one group later. */

/* Where the batch comes from: keys to hash, or hashes. */
typedef struct source {
    const umbeli_shape *shape;
    const umbel_key *keys;
    const umbeli_hash128 *hashes;
} source;

/* Those of up to GROUP keys; `room` is for those that have to be computed. */
static inline const umbeli_hash128 *hashes_at(const source *s, size_t from, size_t n,
                                              umbeli_hash128 *room) {
    if (!s->keys) return s->hashes + from;
    umbeli_native_hashes128(s->shape, s->keys + from, n, room);
    return room;
}

/* The first two probes of a key, and from where its sequence goes on. */
typedef struct start {
    uint64_t first, second, x, step;
} start;

static inline void begin(umbeli_classic_bits b, const source *s, size_t from, size_t n,
                         start *group) {
    umbeli_hash128 room[GROUP];
    const umbeli_hash128 *h = hashes_at(s, from, n, room);
    for (size_t i = 0; i < n; i++) {
        uint64_t step = h[i].high | 1, x = h[i].low * multiplier + step;
        uint64_t first = umbeli_mul_high(h[i].low, b.bits), second = umbeli_mul_high(x, b.bits);
        if (b.hashes == 1) second = first;
        if (!umbeli_classic_is_near(b.bits)) {
            __builtin_prefetch(b.data + (first >> 3));
            __builtin_prefetch(b.data + (second >> 3));
        }
        group[i] = (start){first, second, x * multiplier + step, step};
    }
}

/* Keys of a group that passed the first two probes. */
typedef struct rest {
    size_t n;
    uint8_t of[GROUP];
} rest;

static inline void test_first(umbeli_classic_bits b, const start *group, size_t n, rest *left,
                              uint8_t *hit) {
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned both = umbeli_bit_test(b.data, group[i].first); /* no branch */
        both &= umbeli_bit_test(b.data, group[i].second);
        hit[i] = (uint8_t)both;
        left->of[passed] = (uint8_t)i;
        passed += both;
    }
    left->n = passed;
    for (size_t i = 0; i < passed && !umbeli_classic_is_near(b.bits); i++) {
        uint64_t x = group[left->of[i]].x, step = group[left->of[i]].step;
        for (uint32_t p = 2; p < b.hashes; p++, x = x * multiplier + step) {
            __builtin_prefetch(b.data + (umbeli_mul_high(x, b.bits) >> 3));
        }
    }
}

static inline void test_rest(umbeli_classic_bits b, const start *group, const rest *left,
                             uint8_t *hit) {
    for (size_t i = 0; i < left->n; i++) {
        uint64_t x = group[left->of[i]].x, step = group[left->of[i]].step;
        unsigned all = 1;
        for (uint32_t p = 2; p < b.hashes; p++, x = x * multiplier + step) {
            all &= umbeli_bit_test(b.data, umbeli_mul_high(x, b.bits));
        }
        hit[left->of[i]] = (uint8_t)all;
    }
}

static inline void contains_all(umbeli_classic_bits b, const source *s, size_t n, uint8_t *hit) {
    start groups[3][GROUP]; /* being fetched, at its first probes, at the others */
    rest rests[3];
    size_t turn = 0;
    begin(b, s, 0, n < GROUP ? n : GROUP, groups[0]);
    for (size_t from = 0; from < n; from += GROUP) {
        size_t left = n - from, some = left < GROUP ? left : GROUP, next = left - some;
        size_t fetched = turn < 2 ? turn + 1 : 0, before = turn > 0 ? turn - 1 : 2;
        begin(b, s, from + some, next < GROUP ? next : GROUP, groups[fetched]);
        test_first(b, groups[turn], some, &rests[turn], hit + from);
        if (from > 0) test_rest(b, groups[before], &rests[before], hit + from - GROUP);
        turn = fetched;
    }
    if (n == 0) return;
    size_t last = turn > 0 ? turn - 1 : 2;
    test_rest(b, groups[last], &rests[last], hit + (n - 1) / GROUP * GROUP);
}

/* ---- Adds ----
 *
 * A ring holds the positions of the next keys, whose lines are being fetched: a key is added, and
 * a later one takes its place. */

enum {
    HASHED_AT_ONCE = 1024,
    AHEAD = 16, /* keys in the ring, or as many as have ... */
    POSITIONS = UMBELI_CLASSIC_MAX_HASHES,
};

static inline void fetch(umbeli_classic_bits b, umbeli_hash128 h, uint64_t *pos) {
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t p = 0; p < b.hashes; p++, x = x * multiplier + step) {
        pos[p] = umbeli_mul_high(x, b.bits);
        if (!umbeli_classic_is_near(b.bits)) __builtin_prefetch(b.data + (pos[p] >> 3));
    }
}

static inline bool set_bits(umbeli_classic_bits b, const uint64_t *pos) {
    bool changed = false;
    for (uint32_t p = 0; p < b.hashes; p++) changed |= umbeli_bit_set(b.data, pos[p]);
    return changed;
}

static uint64_t add_ring(umbeli_classic_bits b, const umbeli_hash128 *h, size_t n,
                         uint8_t *was_new) {
    size_t ahead = POSITIONS / b.hashes < AHEAD ? POSITIONS / b.hashes : AHEAD;
    uint64_t ring[POSITIONS], *end = ring + ahead * b.hashes, *pos = ring, added = 0;
    for (size_t i = 0; i < ahead && i < n; i++) fetch(b, h[i], ring + i * b.hashes);
    for (size_t i = 0; i < n; i++) {
        bool changed = set_bits(b, pos);
        added += changed;
        if (was_new) was_new[i] = changed;
        if (n - i > ahead) fetch(b, h[i + ahead], pos);
        pos += b.hashes;
        if (pos == end) pos = ring;
    }
    return added;
}

uint64_t umbeli_classic_add_hashed(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                                   uint8_t *was_new) {
    uint64_t added = 0;
    size_t i = 0;
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) {
        i = umbeli_classic_add_avx2(into, h, n, was_new, &added);
    }
#endif
    return added + add_ring(into, h + i, n - i, was_new ? was_new + i : NULL);
}

void umbeli_classic_contains_hashed(umbeli_classic_bits in, const umbeli_hash128 *h, size_t n,
                                    uint8_t *hit) {
    contains_all(in, &(source){.hashes = h}, n, hit);
}

static umbeli_classic_bits bits_of(const umbel_filter *f) {
    return (umbeli_classic_bits){f->data, f->shape.bits, f->shape.hashes};
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    contains_all(bits_of(f), &(source){.shape = &f->shape, .keys = keys}, n, hit);
}

static uint64_t add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new) {
    umbeli_hash128 hashes[HASHED_AT_ONCE];
    uint64_t added = 0;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < HASHED_AT_ONCE ? n - i : HASHED_AT_ONCE;
        umbeli_native_hashes128(&f->shape, keys + i, some, hashes);
        added += umbeli_classic_add_hashed(bits_of(f), hashes, some, was_new ? was_new + i : NULL);
    }
    return added;
}

const umbeli_scheme umbeli_scheme_native = {
    .id = UMBELI_SCHEME_CLASSIC,
    .layout = "classic/xxh3-128",
    .keyed = "classic/siphash13-128",
    .format = UMBEL_FMT_NATIVE,
    .positions = positions,
    .contains_many = contains_many,
    .add_many = add_many,
    .folds = true,
};

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
