/* SPDX-License-Identifier: MIT
 *
 * block_avx2.h - the parts that kernels for AVX2 and above share
 *
 * One multiplication finds four blocks.  One at a time, finding the block would take as long as
 * testing its bits once both are in cache.
 */
#ifndef UMBELI_BLOCK_AVX2_H
#define UMBELI_BLOCK_AVX2_H

#include <immintrin.h>

#include "kind/blocked/blocked.h"

#define UMBELI_AVX2 __attribute__((target("avx2")))

/* umbeli_block_offsets for AVX2. */
UMBELI_AVX2 static inline void umbeli_block_offsets_avx2(const uint64_t *hashes, uint64_t nblocks,
                                                         unsigned log2_bytes, uint64_t *offsets) {
    __m256i blocks = _mm256_set1_epi64x((long long)nblocks);
    __m256i whole = _mm256_set1_epi64x(-(1LL << log2_bytes));
    for (size_t i = 0; i < UMBELI_OFFSETS; i += 4) {
        __m256i upper = _mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)(hashes + i)), 32);
        __m256i products = _mm256_mul_epu32(upper, blocks);
        __m256i starts = _mm256_srli_epi64(products, 32 - (int)log2_bytes);
        _mm256_storeu_si256((__m256i *)(offsets + i), _mm256_and_si256(starts, whole));
    }
}

/* The bits of a key in a block of eight lanes. */
UMBELI_AVX2 static inline __m256i umbeli_block_mask_avx2(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)umbeli_block_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
}

#endif
