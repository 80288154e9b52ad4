/* SPDX-License-Identifier: MIT
 *
 * siphash13_avx2.c - SipHash-1-3 of eight keys in parallel: four lanes per register, and two
 * registers
 *                    to hide latency, because each step depends on the one before
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "hash/native_hash.h"
#include "hash/siphash13.h"

#define TARGET __attribute__((target("avx2")))

enum { LANES = 4, REGISTERS = 2, KEYS = LANES * REGISTERS, BLOCK = 256, CLASSES = 64 };

typedef struct row {
    __m256i reg[REGISTERS];
} row;

typedef struct state {
    row v0, v1, v2, v3;
} state;

TARGET static inline void add64(row *a, const row *b) {
    for (int i = 0; i < REGISTERS; i++) a->reg[i] = _mm256_add_epi64(a->reg[i], b->reg[i]);
}

TARGET static inline void xor64(row *a, const row *b) {
    for (int i = 0; i < REGISTERS; i++) a->reg[i] = _mm256_xor_si256(a->reg[i], b->reg[i]);
}

TARGET static inline void rotl(row *a, int by) {
    for (int i = 0; i < REGISTERS; i++) {
        __m256i x = a->reg[i];
        a->reg[i] = _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - by));
    }
}

TARGET static inline void rotl16(row *a) {
    const __m256i order = _mm256_set_epi64x(0x0d0c0b0a09080f0e, 0x0504030201000706,
                                            0x0d0c0b0a09080f0e, 0x0504030201000706);
    for (int i = 0; i < REGISTERS; i++) a->reg[i] = _mm256_shuffle_epi8(a->reg[i], order);
}

TARGET static inline void rotl32(row *a) {
    for (int i = 0; i < REGISTERS; i++) a->reg[i] = _mm256_shuffle_epi32(a->reg[i], 0xb1);
}

TARGET static inline void sip_round(state *s) {
    add64(&s->v0, &s->v1);
    add64(&s->v2, &s->v3);
    rotl(&s->v1, 13);
    rotl16(&s->v3);
    xor64(&s->v1, &s->v0);
    xor64(&s->v3, &s->v2);
    rotl32(&s->v0);
    add64(&s->v2, &s->v1);
    add64(&s->v0, &s->v3);
    rotl(&s->v1, 17);
    rotl(&s->v3, 21);
    xor64(&s->v1, &s->v2);
    xor64(&s->v3, &s->v0);
    rotl32(&s->v2);
}

TARGET static inline row broadcast(uint64_t x) {
    row r;
    for (int i = 0; i < REGISTERS; i++) r.reg[i] = _mm256_set1_epi64x((long long)x);
    return r;
}

TARGET static inline row load(const uint64_t *x) {
    row r;
    for (int i = 0; i < REGISTERS; i++) {
        const uint64_t *w = x + LANES * i;
        r.reg[i] =
            _mm256_set_epi64x((long long)w[3], (long long)w[2], (long long)w[1], (long long)w[0]);
    }
    return r;
}

TARGET static inline row greater(const row *a, const row *b) {
    row r;
    for (int i = 0; i < REGISTERS; i++) r.reg[i] = _mm256_cmpgt_epi64(a->reg[i], b->reg[i]);
    return r;
}

/* Takes `other` where `mask` is all ones. */
TARGET static inline void blend(row *a, const row *other, const row *mask) {
    for (int i = 0; i < REGISTERS; i++) {
        a->reg[i] = _mm256_blendv_epi8(a->reg[i], other->reg[i], mask->reg[i]);
    }
}

TARGET static inline void absorb(state *s, const row *words) {
    xor64(&s->v3, words);
    sip_round(s);
    xor64(&s->v0, words);
}

/* Word `at` of all keys, none of which ends there. */
TARGET static inline void absorb_inner(state *s, const umbel_key *keys, size_t at) {
    uint64_t x[KEYS];
    for (int i = 0; i < KEYS; i++) {
        x[i] = umbeli_load_le64((const uint8_t *)keys[i].data + 8 * at);
    }
    row words = load(x);
    absorb(s, &words);
}

/* Like absorb_inner, where some keys end with this word, and some ended before and keep their
 * states.  Branch-free in the key lengths: they are unpredictable. */
TARGET static inline void absorb_ends(state *s, const umbel_key *keys, size_t at, const row *ends,
                                      const row *last) {
    static const uint8_t nothing[8];
    uint64_t x[KEYS];
    for (int i = 0; i < KEYS; i++) {
        bool more = at < keys[i].len / 8;
        const uint8_t *p = more ? keys[i].data : nothing;
        x[i] = umbeli_load_le64(p + (more ? 8 * at : 0));
    }
    row words = load(x), now = broadcast(at), ended = greater(&now, ends),
        inner = greater(ends, &now);
    row own = *last;
    state old = *s;
    blend(&own, &words, &inner);
    absorb(s, &own);
    blend(&s->v0, &old.v0, &ended);
    blend(&s->v1, &old.v1, &ended);
    blend(&s->v2, &old.v2, &ended);
    blend(&s->v3, &old.v3, &ended);
}

TARGET static inline row last_words(const umbel_key *keys) {
    uint64_t x[KEYS];
    for (int i = 0; i < KEYS; i++) x[i] = umbeli_sip_last(keys[i].data, keys[i].len);
    return load(x);
}

/* The minimum and maximum number of words before the last. */
typedef struct range {
    size_t min, max;
} range;

static inline range range_of(const umbel_key *keys) {
    range r = {SIZE_MAX, 0};
    for (int i = 0; i < KEYS; i++) {
        size_t n = keys[i].len / 8;
        if (n < r.min) r.min = n;
        if (n > r.max) r.max = n;
    }
    return r;
}

TARGET static inline void absorb_all(state *s, const umbel_key *keys, range r) {
    row last = last_words(keys);
    size_t at = 0;
    for (; at < r.min; at++) absorb_inner(s, keys, at);
    if (r.min == r.max) {
        absorb(s, &last);
        return;
    }
    uint64_t inner[KEYS];
    for (int i = 0; i < KEYS; i++) inner[i] = keys[i].len / 8;
    row ends = load(inner);
    for (; at <= r.max; at++) absorb_ends(s, keys, at, &ends, &last);
}

TARGET static inline void hash_together(umbeli_secret secret, const umbel_key *keys, range r,
                                        uint64_t *hashes) {
    uint64_t k0 = secret.word[0], k1 = secret.word[1];
    state s = {
        .v0 = broadcast(k0 ^ UMBELI_SIP_V0),
        .v1 = broadcast(k1 ^ UMBELI_SIP_V1),
        .v2 = broadcast(k0 ^ UMBELI_SIP_V2),
        .v3 = broadcast(k1 ^ UMBELI_SIP_V3),
    };
    absorb_all(&s, keys, r);
    row mark = broadcast(0xff);
    xor64(&s.v2, &mark);
    for (int i = 0; i < 3; i++) sip_round(&s);
    xor64(&s.v0, &s.v1);
    xor64(&s.v2, &s.v3);
    xor64(&s.v0, &s.v2);
    for (int i = 0; i < REGISTERS; i++) {
        _mm256_storeu_si256((__m256i *)(hashes + LANES * i), s.v0.reg[i]);
    }
}

static inline size_t class_of(const umbel_key *key) {
    size_t words = key->len / 8;
    return words < CLASSES ? words : CLASSES - 1;
}

static void hash_each(umbeli_secret secret, const umbel_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) {
        hashes[i] = umbeli_siphash13(keys[i].data, keys[i].len, secret);
    }
}

TARGET static void hash_in_order(umbeli_secret secret, const umbel_key *keys, size_t n,
                                 uint64_t *hashes) {
    size_t i = 0;
    for (; n - i >= KEYS; i += KEYS) {
        range r = range_of(keys + i);
        if (r.max - r.min < CLASSES) {
            hash_together(secret, keys + i, r, hashes + i);
        } else { /* a very long key would stall seven others */
            hash_each(secret, keys + i, KEYS, hashes + i);
        }
    }
    hash_each(secret, keys + i, n - i, hashes + i);
}

/* Groups keys of similar length, so that lanes do not idle. */
TARGET static void hash_sorted(umbeli_secret secret, const umbel_key *keys, size_t n,
                               uint64_t *hashes) {
    umbel_key sorted[BLOCK];
    if (n == 0) __builtin_unreachable(); /* callers pass at least one */
    uint64_t found[BLOCK];
    uint16_t next[CLASSES + 1] = {0}, from[BLOCK];
    for (size_t i = 0; i < n; i++) next[class_of(&keys[i]) + 1]++;
    for (size_t c = 1; c < CLASSES; c++) next[c] = (uint16_t)(next[c] + next[c - 1]);
    for (size_t i = 0; i < n; i++) {
        size_t to = next[class_of(&keys[i])]++;
        sorted[to] = keys[i];
        from[to] = (uint16_t)i;
    }
    hash_in_order(secret, sorted, n, found);
    for (size_t i = 0; i < n; i++) hashes[from[i]] = found[i];
}

/* Judged by the first few: a wrong guess only costs time. */
static bool are_worth_sorting(const umbel_key *keys) {
    range r = range_of(keys);
    return r.max - r.min > 2;
}

static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes) {
    umbeli_secret secret = umbeli_seeded(shape);
    for (size_t at = 0, chunk; at < n; at += chunk) {
        chunk = n - at < BLOCK ? n - at : BLOCK;
        if (chunk > KEYS && are_worth_sorting(keys + at)) {
            hash_sorted(secret, keys + at, chunk, hashes + at);
        } else {
            hash_in_order(secret, keys + at, chunk, hashes + at);
        }
    }
}

const umbeli_hasher umbeli_hasher_siphash13_avx2 = {.one = umbeli_siphash13_one, .many = many};

#else
typedef int umbeli_no_siphash13_avx2; /* a translation unit is never empty in ISO C */
#endif
