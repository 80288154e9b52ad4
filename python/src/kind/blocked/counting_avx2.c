/* SPDX-License-Identifier: MIT
 *
 * counting_avx2.c - the counters of a key with 256-bit registers: two lanes of a block in each
 */
#include "core/cpu.h"
#include "kind/blocked/counting.h"

#if UMBELI_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINED __attribute__((always_inline, target("avx2")))

enum { PAIRS = UMBELI_BLOCK_LANES / 2, PAIR_BYTES = 2 * UMBELI_COUNTING_LANE };

/* For each lane, in all four bytes of a word: which byte of the lane has the counter, and 0xff if
 * it is in the upper half of that byte. */
typedef struct selection {
    __m256i byte, upper;
} selection;

static inline INLINED selection select_counters(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)(const void *)umbeli_block_salts);
    __m256i bit = _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts), 27);
    return (selection){
        .byte = _mm256_mullo_epi32(_mm256_srli_epi32(bit, 1), _mm256_set1_epi32(0x01010101)),
        .upper = _mm256_srai_epi32(_mm256_slli_epi32(bit, 31), 31),
    };
}

/* One of the four pairs of lanes: 0xff in the byte of each counter, and there its four bits and the
 * lowest of them; elsewhere 0. */
typedef struct pair {
    __m256i old, here, bits, one;
} pair;

static inline INLINED pair load_pair(const uint8_t *block, selection s, int i) {
    const __m256i places = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
                                            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i lanes =
        _mm256_add_epi32(_mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), _mm256_set1_epi32(2 * i));
    __m256i here = _mm256_cmpeq_epi8(_mm256_permutevar8x32_epi32(s.byte, lanes), places);
    __m256i upper = _mm256_permutevar8x32_epi32(s.upper, lanes);
    __m256i bits = _mm256_xor_si256(_mm256_set1_epi8(0x0f), upper); /* or 0xf0 */
    bits = _mm256_and_si256(bits, here);
    return (pair){
        .old = _mm256_loadu_si256((const __m256i *)(const void *)(block + PAIR_BYTES * i)),
        .here = here,
        .bits = bits,
        .one = _mm256_and_si256(bits, _mm256_set1_epi8(0x11)),
    };
}

/* 0xff where the counter, whose bits are in `bits`, is 0. */
static inline INLINED __m256i are_zero(pair p) {
    __m256i empty = _mm256_cmpeq_epi8(_mm256_and_si256(p.old, p.bits), _mm256_setzero_si256());
    return _mm256_and_si256(empty, p.here);
}

static inline INLINED __m256i are_full(pair p) {
    return _mm256_cmpeq_epi8(_mm256_and_si256(p.old, p.bits), p.bits); /* also outside `here` */
}

static inline INLINED bool any(__m256i x) {
    return !_mm256_testz_si256(x, x);
}

static inline INLINED __m256i zeros_among(const pair *p) {
    __m256i zero = are_zero(p[0]);
    for (int i = 1; i < PAIRS; i++) zero = _mm256_or_si256(zero, are_zero(p[i]));
    return zero;
}

TARGET static bool has(const uint8_t *block, uint32_t x) {
    selection s = select_counters(x);
    pair p[PAIRS];
    for (int i = 0; i < PAIRS; i++) p[i] = load_pair(block, s, i);
    return !any(zeros_among(p));
}

/* Adds or subtracts one where a counter is not full. */
static inline INLINED bool change(uint8_t *block, const pair *p, bool up) {
    __m256i changed = _mm256_setzero_si256();
    for (int i = 0; i < PAIRS; i++) {
        __m256i by = _mm256_andnot_si256(are_full(p[i]), p[i].one);
        __m256i now = up ? _mm256_add_epi8(p[i].old, by) : _mm256_sub_epi8(p[i].old, by);
        _mm256_storeu_si256((__m256i *)(void *)(block + PAIR_BYTES * i), now);
        changed = _mm256_or_si256(changed, by);
    }
    return any(changed);
}

TARGET static umbeli_counted put(uint8_t *block, uint32_t x) {
    selection s = select_counters(x);
    pair p[PAIRS];
    for (int i = 0; i < PAIRS; i++) p[i] = load_pair(block, s, i);
    bool had_zero = any(zeros_among(p));
    return (umbeli_counted){.changed = change(block, p, true), .had_zero = had_zero};
}

TARGET static umbeli_counted take(uint8_t *block, uint32_t x) {
    selection s = select_counters(x);
    pair p[PAIRS];
    for (int i = 0; i < PAIRS; i++) p[i] = load_pair(block, s, i);
    if (any(zeros_among(p))) return (umbeli_counted){.had_zero = true};
    return (umbeli_counted){.changed = change(block, p, false)};
}

const umbeli_counting_kernel umbeli_counting_avx2 = {"avx2", has, put, take};

#endif
