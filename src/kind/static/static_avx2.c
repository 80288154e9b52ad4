/* SPDX-License-Identifier: MIT
 *
 * static_avx2.c - batched lookups in static filters with 256-bit registers: four keys in parallel
 *
 * From hash to slots takes about fifty instructions, more than the memory accesses cost while the
 * tables are in a cache.  Here each instruction serves four keys.  A ring of such fours is placed
 * ahead of the one that is compared, and prefetched one line at a time between the comparisons:
 * prefetches in a row would wait for each other.
 */
#include "core/cpu.h"
#include "kind/static/static.h"

#if UMBELI_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINED __attribute__((always_inline, target("avx2")))

/* Keys and fours: far enough ahead that lines arrive from memory, few enough to stay in L1. */
enum { LANES = 4, AHEAD = 4, RING = 8 };

/* Filters up to this many bytes are in the second-level cache, where prefetching costs more than it
 * gains. */
enum { NEAR = 1024 * 1024 };

/* Four keys: for each of their slots the address of the byte where it begins, and the bit in it. */
typedef struct four {
    uint64_t byte[UMBELI_STATIC_MAX_ARITY][LANES];
    __m256i bit[UMBELI_STATIC_MAX_ARITY], print, mask;
} four;

/* What all keys have in common.  `bytes` is 1 where every fingerprint is one byte, else 0; like the
 * arity it is a constant where it matters. */
typedef struct shared {
    const umbeli_static *s;
    uint32_t arity, bytes;
    bool is_far;
} shared;

static inline INLINED __m256i all(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}

/* x * m mod 2^64; `upper` has the upper half of x in its lower one. */
static inline INLINED __m256i times(__m256i x, __m256i upper, uint64_t m) {
    __m256i cross =
        _mm256_add_epi64(_mm256_mul_epu32(upper, all(m)), _mm256_mul_epu32(x, all(m >> 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(x, all(m)), _mm256_slli_epi64(cross, 32));
}

/* A round of the mixing in umbeli_static_place_of. */
static inline INLINED __m256i mix(__m256i x) {
    __m256i upper = _mm256_srli_epi64(x, 32); /* the same before and after the XOR */
    return times(_mm256_xor_si256(x, upper), upper, UINT64_C(0xd6e8feb86659fd93));
}

/* The seeds of four shards. */
static inline INLINED __m256i seeds_of(const uint8_t *seeds, const uint64_t *hashes,
                                       uint32_t shift) {
    uint32_t packed = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        packed |= (uint32_t)seeds[(hashes[i] >> 1) >> shift] << (8 * i);
    }
    return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int)packed));
}

static inline INLINED void put_slot(shared c, four *q, uint32_t i, __m256i table, __m256i slot,
                                    __m256i width) {
    __m256i byte = slot;
    if (!c.bytes) {
        __m256i bit = _mm256_mul_epu32(slot, width);
        byte = _mm256_srli_epi64(bit, 3);
        q->bit[i] = _mm256_and_si256(bit, all(7));
    }
    _mm256_storeu_si256((__m256i *)(void *)q->byte[i], _mm256_add_epi64(table, byte));
}

/* umbeli_static_place_of, with the shards' tables and widths. */
static inline INLINED void place(shared c, const uint64_t *hashes, four *q) {
    const umbeli_static *s = c.s;
    const umbeli_static_layout *l = &s->layout;
    uint32_t shift = s->grid.shard_shift;
    uint64_t step = s->grid.step;
    __m256i hash = _mm256_loadu_si256((const __m256i *)(const void *)hashes);
    __m256i shard = _mm256_srl_epi64(_mm256_srli_epi64(hash, 1), _mm_cvtsi32_si128((int)shift));
    __m256i seed = seeds_of(s->base.data, hashes, shift);
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    __m256i x = _mm256_add_epi64(hash, times(seed, _mm256_setzero_si256(), golden));
    x = mix(mix(x));
    __m256i upper = _mm256_srli_epi64(x, 32);
    x = _mm256_xor_si256(x, upper);

    __m256i table = _mm256_mul_epu32(shard, all(s->narrow_len)), width = all(l->width);
    table = _mm256_add_epi64(table, all((uintptr_t)s->base.data + s->tables_at));
    if (!c.bytes) {
        __m256i before = _mm256_min_epu32(shard, all(l->wide));
        table = _mm256_add_epi64(table, _mm256_mul_epu32(before, all(s->wide_len - s->narrow_len)));
        width = _mm256_sub_epi64(width, _mm256_cmpgt_epi64(all(l->wide), shard)); /* -1 or 0 */
    }

    __m256i inner = _mm256_sll_epi64(hash, _mm_cvtsi32_si128((int)l->shard_bits));
    __m256i range = all(s->grid.range), mask = all(step - 1);
    __m256i low = _mm256_srli_epi64(_mm256_mul_epu32(inner, range), 32);
    __m256i first = _mm256_mul_epu32(_mm256_srli_epi64(inner, 32), range);
    first = _mm256_srli_epi64(_mm256_add_epi64(first, low), 32);
    put_slot(c, q, 0, table, first, width);
    for (uint32_t i = 1; i < c.arity; i++) {
        __m256i own = _mm256_and_si256(_mm256_srli_epi64(x, 21 * ((int)i - 1)), mask);
        first = _mm256_add_epi64(first, all(step));
        put_slot(c, q, i, table, _mm256_xor_si256(first, own), width);
    }
    q->print = _mm256_srli_epi64(times(x, upper, UINT64_C(0xa0761d6478bd642f)), 32);
    q->mask = _mm256_sub_epi64(_mm256_sllv_epi64(all(1), width), all(1));
}

static inline INLINED const uint8_t *address(const four *q, uint32_t i, uint32_t k) {
    return (const uint8_t *)(uintptr_t)q->byte[i][k];
}

static inline INLINED __m128i load_two(const uint8_t *a, const uint8_t *b) {
    __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)a));
    return _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(const void *)b));
}

/* Both ways of comparing prefetch what `later` needs, unless it is NULL.  This one reads up to 7
 * bytes after a table, as in static.c. */
static inline INLINED uint32_t match_bits(shared c, const four *q, const four *later) {
    __m256i sum = q->print;
    for (uint32_t i = 0; i < c.arity; i++) {
        __m256i words = _mm256_set_m128i(load_two(address(q, i, 2), address(q, i, 3)),
                                         load_two(address(q, i, 0), address(q, i, 1)));
        sum = _mm256_xor_si256(sum, _mm256_srlv_epi64(words, q->bit[i]));
        for (uint32_t k = 0; k < LANES && later; k++) umbeli_fetch(address(later, i, k), c.is_far);
    }
    __m256i equal = _mm256_cmpeq_epi64(_mm256_and_si256(sum, q->mask), _mm256_setzero_si256());
    uint32_t bits = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
    return (bits * UINT32_C(0x204081)) & UINT32_C(0x01010101);
}

static inline INLINED uint32_t match_bytes(shared c, const four *q, const four *later) {
    uint64_t print[LANES];
    uint32_t answers = 0;
    memcpy(print, &q->print, sizeof print);
    for (uint32_t k = 0; k < LANES; k++) {
        uint32_t sum = (uint32_t)print[k];
        for (uint32_t i = 0; i < c.arity; i++) {
            sum ^= *address(q, i, k);
            if (later) umbeli_fetch(address(later, i, k), c.is_far);
        }
        answers |= (uint32_t)((uint8_t)sum == 0) << (8 * k);
    }
    return answers;
}

/* Four answers, one in each byte. */
static inline INLINED void match(shared c, const four *q, const four *later, uint8_t *hit) {
    uint32_t answers = c.bytes ? match_bytes(c, q, later) : match_bits(c, q, later);
    memcpy(hit, &answers, sizeof answers);
}

static inline INLINED void contains_near(shared c, const uint64_t *hashes, size_t n, uint8_t *hit) {
    four one, other; /* in turns: placed while the one before is compared */
    size_t i = 0;
    if (n == 0) return;
    place(c, hashes, &one);
    for (; i + 2 * LANES < n; i += 2 * LANES) {
        place(c, hashes + i + LANES, &other);
        match(c, &one, NULL, hit + i);
        place(c, hashes + i + 2 * LANES, &one);
        match(c, &other, NULL, hit + i + LANES);
    }
    match(c, &one, NULL, hit + i);
    if (i + LANES == n) return;
    place(c, hashes + i + LANES, &other);
    match(c, &other, NULL, hit + i + LANES);
}

static inline INLINED void contains_ahead(shared c, const uint64_t *hashes, size_t n,
                                          uint8_t *hit) {
    four ring[RING];
    size_t fours = n / LANES;
    for (size_t i = 0; i < AHEAD && i < fours; i++) {
        place(c, hashes + LANES * i, &ring[i]);
        for (uint32_t slot = 0; slot < c.arity; slot++) {
            for (uint32_t k = 0; k < LANES; k++) umbeli_fetch(address(&ring[i], slot, k), c.is_far);
        }
    }
    for (size_t i = 0; i < fours; i++) {
        four *now = &ring[i % RING], *later = &ring[(i + AHEAD) % RING];
        if (i + AHEAD < fours) {
            place(c, hashes + LANES * (i + AHEAD), later);
        } else {
            later = now;
        }
        match(c, now, later, hit + LANES * i);
    }
}

/* n is a multiple of four. */
static inline INLINED void contains_fours(shared c, const uint64_t *hashes, size_t n,
                                          uint8_t *hit) {
    if (c.s->base.data_len <= NEAR) {
        contains_near(c, hashes, n, hit);
    } else if (umbeli_is_far(c.s->base.data_len / 2)) { /* with three or four lines per key */
        c.is_far = true;
        contains_ahead(c, hashes, n, hit);
    } else {
        contains_ahead(c, hashes, n, hit);
    }
}

TARGET static void contains_three(const umbeli_static *s, const uint64_t *hashes, size_t n,
                                  uint8_t *hit) {
    contains_fours((shared){s, 3, 0, false}, hashes, n, hit);
}

TARGET static void contains_four(const umbeli_static *s, const uint64_t *hashes, size_t n,
                                 uint8_t *hit) {
    contains_fours((shared){s, 4, 0, false}, hashes, n, hit);
}

TARGET static void contains_bytes(const umbeli_static *s, const uint64_t *hashes, size_t n,
                                  uint8_t *hit) {
    contains_fours((shared){s, 4, 1, false}, hashes, n, hit);
}

void umbeli_static_contains_avx2(const umbeli_static *s, const uint64_t *hashes, size_t n,
                                 uint8_t *hit) {
    size_t whole = n & ~(size_t)(LANES - 1), rest = n - whole;
    uint64_t last[LANES] = {0};
    uint8_t last_hit[LANES];
    void (*run)(const umbeli_static *, const uint64_t *, size_t, uint8_t *) =
        s->bytes               ? contains_bytes
        : s->layout.arity == 3 ? contains_three
                               : contains_four;
    run(s, hashes, whole, hit);
    if (rest == 0) return;
    memcpy(last, hashes + whole, rest * sizeof *last);
    run(s, last, LANES, last_hit);
    memcpy(hit + whole, last_hit, rest);
}

#endif
