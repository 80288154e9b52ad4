/* SPDX-License-Identifier: MIT
 *
 * floor_avx2.c - the least floor, and a lookup as a header-only library has it
 */
#include "bench.h"
#include "core/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { AHEAD = 64 };

__attribute__((target("avx2"))) static void four_offsets(const uint64_t *hashes, __m256i nlines,
                                                         uint64_t *offsets) {
    __m256i upper = _mm256_srli_epi64(_mm256_loadu_si256((const __m256i *)hashes), 32);
    __m256i line = _mm256_srli_epi64(_mm256_mul_epu32(upper, nlines), 32);
    _mm256_storeu_si256((__m256i *)offsets, _mm256_slli_epi64(line, 5));
}

__attribute__((target("avx2"))) uint64_t floor_avx2(const uint8_t *lines, uint64_t nlines,
                                                    const uint64_t *hashes, size_t n) {
    const bool is_far = umbeli_is_far(32 * nlines);
    uint64_t ring[AHEAD], sum = 0;
    __m256i all = _mm256_set1_epi64x((long long)nlines);
    size_t i = 0;
    for (; i + 4 <= n && i < AHEAD; i += 4) four_offsets(hashes + i, all, ring + i);
    for (i = 0; i + AHEAD + 4 <= n; i += 4) {
        uint64_t *at = ring + i % AHEAD;
        for (size_t j = 0; j < 4; j++) sum += lines[at[j]];
        four_offsets(hashes + i + AHEAD, all, at);
        for (size_t j = 0; j < 4; j++) umbeli_fetch(lines + at[j], is_far);
    }
    for (; i < n; i++) sum += lines[32 * (((hashes[i] >> 32) * nlines) >> 32)];
    return sum;
}

__attribute__((target("avx2"))) uint64_t inlined_avx2(const uint8_t *blocks, uint64_t nblocks,
                                                      const uint64_t *hashes, size_t n) {
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        __m256i x = _mm256_set1_epi32((int)(uint32_t)hashes[i]);
        __m256i product = _mm256_mullo_epi32(x, _mm256_loadu_si256((const __m256i *)block_salts));
        __m256i mask = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
        const uint8_t *block = blocks + 32 * (((hashes[i] >> 32) * nblocks) >> 32);
        found += (uint64_t)_mm256_testc_si256(_mm256_loadu_si256((const __m256i *)block), mask);
    }
    return found;
}

#else
typedef int no_avx2; /* a translation unit is never empty in ISO C */
#endif
