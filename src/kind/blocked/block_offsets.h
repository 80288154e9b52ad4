/* SPDX-License-Identifier: MIT
 *
 * block_offsets.h - where the blocks of eight hashes begin, in bytes
 *
 * Blocks are 2^log2_bytes bytes, a constant wherever these are called.  Finding the block costs a
 * look-up in cache as much as testing the bits does if it is done for one hash at a time; AVX2 has
 * four of the products in one instruction.
 */
#ifndef UMBELI_BLOCK_OFFSETS_H
#define UMBELI_BLOCK_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#include "core/cpu.h"

enum { UMBELI_OFFSETS = 8 }; /* are computed at once */

/* nblocks is below 2^32, so the product fits; what is below the block number becomes zeros. */
static inline uint64_t umbeli_block_offset(uint64_t hash, uint64_t nblocks, unsigned log2_bytes) {
    uint64_t within = (UINT64_C(1) << log2_bytes) - 1;
    return (((hash >> 32) * nblocks) >> (32 - log2_bytes)) & ~within;
}

static inline void umbeli_block_offsets(const uint64_t *hashes, uint64_t nblocks,
                                        unsigned log2_bytes, uint64_t *offsets) {
    for (size_t i = 0; i < UMBELI_OFFSETS; i++) {
        offsets[i] = umbeli_block_offset(hashes[i], nblocks, log2_bytes);
    }
}

#if UMBELI_X86
#include <immintrin.h>

__attribute__((target("avx2"))) static inline void umbeli_block_offsets_avx2(const uint64_t *hashes,
                                                                             uint64_t nblocks,
                                                                             unsigned log2_bytes,
                                                                             uint64_t *offsets) {
    __m256i blocks = _mm256_set1_epi64x((long long)nblocks);
    __m256i whole = _mm256_set1_epi64x(-(1LL << log2_bytes));
    for (size_t i = 0; i < UMBELI_OFFSETS; i += 4) {
        __m256i upper = _mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)(hashes + i)), 32);
        __m256i products = _mm256_mul_epu32(upper, blocks);
        __m256i starts = _mm256_srli_epi64(products, 32 - (int)log2_bytes);
        _mm256_storeu_si256((__m256i *)(offsets + i), _mm256_and_si256(starts, whole));
    }
}
#endif

#endif
