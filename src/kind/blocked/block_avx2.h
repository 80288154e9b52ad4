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

#include "kind/blocked/line.h"

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

/* ---- bits that one thread sets while others read them ----
 *
 * Blocks of a concurrent filter are read while another thread sets bits in them.  It does not
 * matter how the processor divides a load or a store of 32 bytes: in whichever order its parts are
 * seen, bits that were set stay set.  In C such an access would be a race, whatever the processor
 * says; in assembly it is what it is.  It costs other filters nothing. */

UMBELI_AVX2 static inline __m256i umbeli_load_shared_avx2(const uint8_t *p) {
    __m256i bits;
    __asm__("vmovdqu %1, %0" : "=x"(bits) : "m"(*(const __m256i *)(const void *)p));
    return bits;
}

UMBELI_AVX2 static inline void umbeli_store_shared_avx2(uint8_t *p, __m256i bits) {
    __asm__("vmovdqu %1, %0" : "=m"(*(__m256i *)(void *)p) : "x"(bits));
}

/* ---- lines of two registers ---- */

typedef struct umbeli_line_halves {
    __m256i low, high;
} umbeli_line_halves;

/* A word gets a bit if the key's bit of its lane is in it: shifts by a negative amount, or by 32
 * and more, give 0. */
UMBELI_AVX2 static inline __m256i umbeli_line_half_avx2(__m256i x, const uint32_t *salt,
                                                        const uint32_t *below, int shift) {
    __m256i products = _mm256_mullo_epi32(x, _mm256_loadu_si256((const __m256i *)salt));
    __m256i bits = _mm256_sub_epi32(_mm256_srli_epi32(products, shift),
                                    _mm256_loadu_si256((const __m256i *)below));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), bits);
}

/* Eight lanes of 64 bits: one multiplication for all of them. */
UMBELI_AVX2 static inline umbeli_line_halves umbeli_line_mask_8_avx2(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)umbeli_line_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts);
    __m256i bits = _mm256_srli_epi32(products, 26), one = _mm256_set1_epi64x(1);
    __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(bits));
    __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(bits, 1));
    return (umbeli_line_halves){_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

UMBELI_AVX2 static inline umbeli_line_halves umbeli_line_mask_avx2(uint32_t lanes, uint32_t x) {
    if (lanes == 8) return umbeli_line_mask_8_avx2(x);
    const umbeli_line_words *w = lanes == 4 ? &umbeli_line_words_4 : &umbeli_line_words_16;
    __m256i all = _mm256_set1_epi32((int)x);
    int shift = (int)umbeli_line_shift(lanes);
    return (umbeli_line_halves){umbeli_line_half_avx2(all, w->salt, w->below, shift),
                                umbeli_line_half_avx2(all, w->salt + 8, w->below + 8, shift)};
}

UMBELI_AVX2 static inline bool umbeli_line_misses_avx2(umbeli_line_halves line,
                                                       umbeli_line_halves m) {
    __m256i missing = _mm256_or_si256(_mm256_andnot_si256(line.low, m.low),
                                      _mm256_andnot_si256(line.high, m.high));
    return !_mm256_testz_si256(missing, missing);
}

#endif
