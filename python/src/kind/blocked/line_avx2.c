/* SPDX-License-Identifier: MIT
 *
 * line_avx2.c - the kernel over whole lines with 256-bit registers: a line is two of them
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "kind/blocked/block_avx2.h"
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_NEEDS UMBELI_CPU_AVX2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_CONCURRENT false
#define KERNEL_OF_LINES
#define KERNEL_STREAMS
#define BLOCK_LOG2 UMBELI_LINE_LOG2

typedef struct block_mask {
    __m256i low, high;
} block_mask;

/* A word gets a bit if the key's bit of its lane is in it: shifts by a negative amount, or by 32
 * and more, give 0. */
KERNEL_TARGET static inline __m256i half_mask(__m256i x, const uint32_t *salt,
                                              const uint32_t *below, int shift) {
    __m256i products = _mm256_mullo_epi32(x, _mm256_loadu_si256((const __m256i *)salt));
    __m256i bits = _mm256_sub_epi32(_mm256_srli_epi32(products, shift),
                                    _mm256_loadu_si256((const __m256i *)below));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), bits);
}

/* Eight lanes of 64 bits: one multiplication for all of them. */
KERNEL_TARGET static inline block_mask mask_of_8(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)umbeli_line_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts);
    __m256i bits = _mm256_srli_epi32(products, 26), one = _mm256_set1_epi64x(1);
    __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(bits));
    __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(bits, 1));
    return (block_mask){_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

KERNEL_TARGET static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    if (lanes == 8) return mask_of_8(x);
    const umbeli_line_words *w = lanes == 4 ? &umbeli_line_words_4 : &umbeli_line_words_16;
    __m256i all = _mm256_set1_epi32((int)x);
    int shift = (int)umbeli_line_shift(lanes);
    return (block_mask){half_mask(all, w->salt, w->below, shift),
                        half_mask(all, w->salt + 8, w->below + 8, shift)};
}

KERNEL_TARGET static inline bool block_has(const uint8_t *line, block_mask m) {
    __m256i low = _mm256_loadu_si256((const __m256i *)line);
    __m256i high = _mm256_loadu_si256((const __m256i *)(line + 32));
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(low, m.low), _mm256_andnot_si256(high, m.high));
    return _mm256_testz_si256(missing, missing);
}

KERNEL_TARGET static inline bool block_put(uint8_t *line, block_mask m) {
    __m256i low = _mm256_loadu_si256((const __m256i *)line);
    __m256i high = _mm256_loadu_si256((const __m256i *)(line + 32));
    __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(low, m.low), _mm256_andnot_si256(high, m.high));
    _mm256_storeu_si256((__m256i *)line, _mm256_or_si256(low, m.low));
    _mm256_storeu_si256((__m256i *)(line + 32), _mm256_or_si256(high, m.high));
    return !_mm256_testz_si256(missing, missing);
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_line_avx2; /* a translation unit is never empty in ISO C */
#endif
