/* SPDX-License-Identifier: MIT */
#include "core/bits.h"

#include "core/cpu.h"

#if UMBELI_X86
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2"))) /* which brings the popcnt instruction with it */
#endif
#define INLINE static inline __attribute__((always_inline))

/* None of these depends on byte order, so words are loaded as they are. */
static uint64_t word_at(const uint8_t *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* Bytes up to the next whole word; at most len. */
static uint64_t before_word(const uint8_t *p, uint64_t len) {
    uint64_t n = -(uintptr_t)p % sizeof(size_t);
    return n < len ? n : len;
}

/* size_t, as in blocked_atomic.c: the widest word that every machine loads and updates without a
 * lock. */
void umbeli_bits_take(uint8_t *into, const uint8_t *from, uint64_t len) {
    uint64_t i = 0, head = before_word(from, len);
    for (; i < head; i++) into[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
    for (; i + sizeof(size_t) <= len; i += sizeof(size_t)) {
        size_t word = __atomic_load_n((const size_t *)(const void *)(from + i), __ATOMIC_RELAXED);
        memcpy(into + i, &word, sizeof word);
    }
    for (; i < len; i++) into[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void umbeli_bits_or_shared(uint8_t *into, const uint8_t *from, uint64_t len) {
    uint64_t i = 0, head = before_word(into, len);
    for (; i < head; i++) __atomic_fetch_or(into + i, from[i], __ATOMIC_RELAXED);
    for (; i + sizeof(size_t) <= len; i += sizeof(size_t)) {
        size_t word;
        memcpy(&word, from + i, sizeof word);
        if (word) __atomic_fetch_or((size_t *)(void *)(into + i), word, __ATOMIC_RELAXED);
    }
    for (; i < len; i++) __atomic_fetch_or(into + i, from[i], __ATOMIC_RELAXED);
}

/* ---- counting ------------------------------------------------------------------------------ */

/* Inlined once for each kernel: the same words, counted with or without the instruction. */
INLINE uint64_t count_words(const uint8_t *bits, uint64_t len) {
    uint64_t even = 0, odd = 0, i = 0;
    for (; i + 16 <= len; i += 16) {
        even += (uint64_t)__builtin_popcountll(word_at(bits + i));
        odd += (uint64_t)__builtin_popcountll(word_at(bits + i + 8));
    }
    for (; i < len; i++) even += (uint64_t)__builtin_popcount(bits[i]);
    return even + odd;
}

static uint64_t count_generic(const uint8_t *bits, uint64_t len) {
    return count_words(bits, len);
}

enum { LANES = 8, LANES_BYTES = 4 * LANES };

/* At most 2^40 for each group: a sum of 2^24 groups fits. */
static umbeli_lane_counts lanes_generic(const uint8_t *bits, uint64_t groups) {
    umbeli_lane_counts sums = {0, 0};
    for (uint64_t i = 0; i < groups; i++, bits += LANES_BYTES) {
        uint64_t product = 1;
        for (size_t lane = 0; lane < LANES; lane++) {
            unsigned set = (unsigned)__builtin_popcount(umbeli_load_le32(bits + 4 * lane));
            product *= set;
            sums.set += set;
        }
        sums.products += product;
    }
    return sums;
}

#if UMBELI_X86
AVX2 static uint64_t count_avx2(const uint8_t *bits, uint64_t len) {
    return count_words(bits, len);
}

/* The set bits of each of the eight lanes. */
AVX2 INLINE __m256i lane_counts(const uint8_t *bits) {
    const __m256i of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                                               1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)bits);
    __m256i bytes = _mm256_add_epi8(
        _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(x, low)),
        _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
    __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* Two groups at a time: from here on the lower half of a register is one, the upper the other. */
AVX2 static umbeli_lane_counts lanes_avx2(const uint8_t *bits, uint64_t groups) {
    __m256i set = _mm256_setzero_si256(), products = set;
    uint64_t i = 0;
    for (; i + 2 <= groups; i += 2, bits += 2 * LANES_BYTES) {
        __m256i a = lane_counts(bits), b = lane_counts(bits + LANES_BYTES);
        __m256i both = _mm256_add_epi32(a, b);
        set = _mm256_add_epi64(
            set, _mm256_add_epi64(_mm256_srli_epi64(both, 32),
                                  _mm256_blend_epi32(both, _mm256_setzero_si256(), 0xaa)));
        __m256i fours = _mm256_mullo_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                                           _mm256_permute2x128_si256(a, b, 0x31));
        __m256i twos = _mm256_mul_epu32(fours, _mm256_srli_epi64(fours, 32));
        products =
            _mm256_add_epi64(products, _mm256_mul_epu32(twos, _mm256_unpackhi_epi64(twos, twos)));
    }
    uint64_t s[4], p[4];
    _mm256_storeu_si256((__m256i *)(void *)s, set);
    _mm256_storeu_si256((__m256i *)(void *)p, products);
    umbeli_lane_counts last = lanes_generic(bits, groups - i);
    return (umbeli_lane_counts){
        .set = s[0] + s[1] + s[2] + s[3] + last.set,
        .products = p[0] + p[2] + last.products,
    };
}
#endif

uint64_t umbeli_bits_count(const uint8_t *bits, uint64_t len) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return count_avx2(bits, len);
#endif
    return count_generic(bits, len);
}

umbeli_lane_counts umbeli_bits_count_lanes(const uint8_t *bits, uint64_t groups) {
#if UMBELI_X86
    if (umbeli_cpu() & UMBELI_CPU_AVX2) return lanes_avx2(bits, groups);
#endif
    return lanes_generic(bits, groups);
}

uint64_t umbeli_bits_count_first(const uint8_t *bits, uint64_t n) {
    uint64_t set = umbeli_bits_count(bits, n / 8);
    unsigned rest = n % 8 ? bits[n / 8] & ((1u << n % 8) - 1) : 0;
    return set + (uint64_t)__builtin_popcount(rest);
}

/* ---- sets ---------------------------------------------------------------------------------- */

void umbeli_bits_or(uint8_t *into, const uint8_t *from, uint64_t len) {
    for (uint64_t i = 0; i < len; i++) into[i] = (uint8_t)(into[i] | from[i]);
}

void umbeli_bits_and(uint8_t *into, const uint8_t *from, uint64_t len) {
    for (uint64_t i = 0; i < len; i++) into[i] = (uint8_t)(into[i] & from[i]);
}

bool umbeli_bits_subset(const uint8_t *part, const uint8_t *whole, uint64_t len) {
    uint64_t i = 0;
    for (; i + 8 <= len; i += 8) {
        if (word_at(part + i) & ~word_at(whole + i)) return false;
    }
    for (; i < len; i++) {
        if (part[i] & ~whole[i]) return false;
    }
    return true;
}

bool umbeli_bits_none(const uint8_t *bits, uint64_t len) {
    uint64_t i = 0;
    for (; i + 8 <= len; i += 8) {
        if (word_at(bits + i)) return false;
    }
    for (; i < len; i++) {
        if (bits[i]) return false;
    }
    return true;
}
