/* SPDX-License-Identifier: MIT
 *
 * umbel_inline.h - lookups by hash without a call, for loops that cannot collect keys into batches
 *
 *   umbel_reader in;
 *   if (umbel_reader_of(filter, &in)) {
 *       while (next(&hash)) found += umbel_reader_contains_hash(&in, hash);
 *   }
 *
 * A reader is a few words taken from a blocked or line filter.  It is valid as long as the filter
 * exists and is not changed in any way.  Hashes come from umbel_hash; the answers are those
 * of umbel_contains_hash.
 *
 * Compile with -mavx2 or -march=native: then a lookup takes about ten instructions.  Without AVX2,
 * umbel_contains_hash is faster, because it finds out at run time what the processor can do.
 * Batches (umbel_contains_hashes) of sixteen hashes or more are faster than either.
 */
#ifndef UMBEL_INLINE_H
#define UMBEL_INLINE_H

#include "umbel.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct umbel_reader {
    const uint8_t *blocks;
    uint64_t nblocks;
    uint32_t block_bytes; /* 32: blocked; 64: line */
    uint32_t lanes;
} umbel_reader;

/* Takes a reader from a blocked or line filter.  Returns false, and writes nothing, for other
 * kinds, filters with concurrent writers and filters with exceptions (umbel_never). */
UMBEL_API bool umbel_reader_of(const umbel_filter *filter, umbel_reader *reader);

/* Each key has one bit in lane i of its block: the upper bits of the product of the hash's lower
 * half and salt i. */
static const uint32_t umbel_block_salts[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                              0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
static const uint32_t umbel_line_salts[16] = {0xe220a839u, 0x6e789e6bu, 0x06c45d19u, 0xf88bb8a9u,
                                              0x1b39896bu, 0x53cb9f0du, 0x2c829abfu, 0xc584133bu,
                                              0x3ee57891u, 0xf3b8488du, 0x657eecddu, 0xc2d326e1u,
                                              0x8621a03fu, 0x8e1f7555u, 0xb54e0f17u, 0x84bb3f97u};

/* The answer of umbel_contains_hash for the filter that the reader was taken from. */
static inline bool umbel_reader_contains_hash(const umbel_reader *reader, uint64_t hash) {
    const uint32_t x = (uint32_t)hash, lanes = reader->lanes;
    const bool line = reader->block_bytes == 64;
    const uint64_t block_at = ((hash >> 32) * reader->nblocks) >> 32;
    const uint8_t *block = reader->blocks + (line ? block_at << 6 : block_at << 5);
#ifdef __AVX2__
    const __m256i *at = (const __m256i *)(const void *)block;
    const __m256i low = _mm256_loadu_si256(at), all = _mm256_set1_epi32((int)x);
    const __m256i *salts =
        (const __m256i *)(const void *)(line ? umbel_line_salts : umbel_block_salts);
    const __m256i product = _mm256_mullo_epi32(all, _mm256_loadu_si256(salts));
    const __m256i one = _mm256_set1_epi32(1);
    if (!line || lanes == 16) { /* lanes of 32 bits */
        if (!_mm256_testc_si256(low, _mm256_sllv_epi32(one, _mm256_srli_epi32(product, 27)))) {
            return false;
        }
        if (!line) return true;
        const __m256i more = _mm256_mullo_epi32(all, _mm256_loadu_si256(salts + 1));
        return _mm256_testc_si256(_mm256_loadu_si256(at + 1),
                                  _mm256_sllv_epi32(one, _mm256_srli_epi32(more, 27)));
    }
    if (lanes == 8) { /* lanes of 64 */
        const __m256i bits = _mm256_srli_epi32(product, 26), one_64 = _mm256_set1_epi64x(1);
        const __m256i first = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(bits));
        const __m256i last = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(bits, 1));
        return _mm256_testc_si256(low, _mm256_sllv_epi64(one_64, first)) &
               _mm256_testc_si256(_mm256_loadu_si256(at + 1), _mm256_sllv_epi64(one_64, last));
    }
#endif
    const uint32_t *salt = line ? umbel_line_salts : umbel_block_salts;
    const uint32_t lane_bits = 8 * reader->block_bytes / lanes;
    const unsigned shift = lane_bits == 128 ? 25 : lane_bits == 64 ? 26 : 27;
    unsigned has = 1;
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t bit = lane_bits * i + ((x * salt[i]) >> shift);
        has &= (unsigned)block[bit / 8] >> bit % 8;
    }
    return (has & 1) != 0;
}

#ifdef __cplusplus
}
#endif
#endif
