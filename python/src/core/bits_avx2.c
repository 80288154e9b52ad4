/* SPDX-License-Identifier: MIT
 *
 * bits_avx2.c - counts of set bits on processors with AVX2, which have the popcnt instruction too
 */
#include "core/bits.h"
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))

TARGET uint64_t umbeli_bits_count_avx2(const uint8_t *bits, uint64_t len) {
    uint64_t even = 0, odd = 0, i = 0;
    for (; i + 16 <= len; i += 16) {
        even += (uint64_t)__builtin_popcountll(umbeli_load_le64(bits + i));
        odd += (uint64_t)__builtin_popcountll(umbeli_load_le64(bits + i + 8));
    }
    for (; i < len; i++) even += (uint64_t)__builtin_popcount(bits[i]);
    return even + odd;
}

/* The set bits of each of the eight lanes. */
TARGET static inline __m256i lane_counts(const uint8_t *bits) {
    const __m256i of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1,
                                               1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)bits);
    __m256i lower = _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(x, low));
    __m256i upper = _mm256_shuffle_epi8(of_nibble, _mm256_and_si256(_mm256_srli_epi16(x, 4), low));
    __m256i pairs = _mm256_maddubs_epi16(_mm256_add_epi8(lower, upper), _mm256_set1_epi8(1));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* Two groups at a time, one in each half of a register.  A product is at most 2^40, and 2^20 before
 * the last multiplication. */
TARGET umbeli_lane_counts umbeli_bits_count_lanes_avx2(const uint8_t *bits, uint64_t groups) {
    const __m256i even = _mm256_set1_epi64x(UINT32_MAX);
    __m256i set = _mm256_setzero_si256(), products = set;
    for (uint64_t i = 0; i + 2 <= groups; i += 2) {
        __m256i a = lane_counts(bits + UMBELI_LANES_BYTES * i);
        __m256i b = lane_counts(bits + UMBELI_LANES_BYTES * (i + 1));
        __m256i both = _mm256_add_epi32(a, b);
        both = _mm256_add_epi64(_mm256_srli_epi64(both, 32), _mm256_and_si256(both, even));
        set = _mm256_add_epi64(set, both);
        __m256i two = _mm256_mullo_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                                         _mm256_permute2x128_si256(a, b, 0x31));
        __m256i four = _mm256_mul_epu32(two, _mm256_srli_epi64(two, 32));
        __m256i eight = _mm256_mul_epu32(four, _mm256_unpackhi_epi64(four, four));
        products = _mm256_add_epi64(products, eight);
    }
    if (groups % 2) { /* with an empty partner, whose product is 0 */
        uint8_t last[2 * UMBELI_LANES_BYTES] = {0};
        memcpy(last, bits + UMBELI_LANES_BYTES * (groups - 1), UMBELI_LANES_BYTES);
        umbeli_lane_counts rest = umbeli_bits_count_lanes_avx2(last, 2);
        set = _mm256_add_epi64(set, _mm256_set_epi64x(0, 0, 0, (long long)rest.set));
        products = _mm256_add_epi64(products, _mm256_set_epi64x(0, 0, 0, (long long)rest.products));
    }
    uint64_t s[4], p[4];
    _mm256_storeu_si256((__m256i *)(void *)s, set);
    _mm256_storeu_si256((__m256i *)(void *)p, products);
    return (umbeli_lane_counts){s[0] + s[1] + s[2] + s[3], p[0] + p[2]};
}

#else
typedef int umbeli_no_bits_avx2; /* a translation unit is never empty in ISO C */
#endif
