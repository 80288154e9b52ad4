/* SPDX-License-Identifier: MIT
 *
 * blocked_avx2.c - the split-block kernel with 256-bit registers: a block is one register
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "kind/blocked/block_offsets_avx2.h"
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_NEEDS UMBELI_CPU_AVX2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_CONCURRENT false

typedef __m256i block_mask;

KERNEL_TARGET static inline block_mask mask_of(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)umbeli_block_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(products, 27));
}

KERNEL_TARGET static inline bool block_has(const uint8_t *block, block_mask m) {
    return _mm256_testc_si256(_mm256_loadu_si256((const __m256i *)block), m);
}

KERNEL_TARGET static inline bool block_put(uint8_t *block, block_mask m) {
    __m256i old = _mm256_loadu_si256((const __m256i *)block);
    _mm256_storeu_si256((__m256i *)block, _mm256_or_si256(old, m));
    return !_mm256_testc_si256(old, m);
}

KERNEL_TARGET static inline void offsets_of(const uint64_t *hashes, uint64_t nblocks,
                                            uint64_t *offsets) {
    umbeli_block_offsets_avx2(hashes, nblocks, UMBELI_BLOCK_LOG2, offsets);
}

/* Bypasses the caches: the line is not read again before the whole batch is sorted. */
KERNEL_TARGET static inline void store_line(uint64_t *to, const uint64_t *from) {
    __m256i low = _mm256_load_si256((const __m256i *)from);
    __m256i high = _mm256_load_si256((const __m256i *)(from + 4));
    _mm256_stream_si256((__m256i *)to, low);
    _mm256_stream_si256((__m256i *)(to + 4), high);
}

KERNEL_TARGET static inline void store_fence(void) {
    _mm_sfence();
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_avx2; /* a translation unit is never empty in ISO C */
#endif
