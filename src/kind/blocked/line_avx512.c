/* SPDX-License-Identifier: MIT
 *
 * line_avx512.c - the kernel over whole lines with 512-bit registers: a line is one register
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>

#include "kind/blocked/block_avx2.h"
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_avx512
#define KERNEL_NAME "avx512"
#define KERNEL_NEEDS UMBELI_CPU_AVX512
#define KERNEL_TARGET __attribute__((target("avx2,avx512f")))
#define KERNEL_CONCURRENT false
#define KERNEL_OF_LINES
#define BLOCK_LOG2 UMBELI_LINE_LOG2

typedef __m512i block_mask;

/* Eight lanes of 64 bits: one multiplication of 256 bits for all of them. */
KERNEL_TARGET static inline block_mask mask_of_8(uint32_t x) {
    __m256i salts = _mm256_loadu_si256((const __m256i *)umbeli_line_salts);
    __m256i products = _mm256_mullo_epi32(_mm256_set1_epi32((int)x), salts);
    __m512i bits = _mm512_cvtepu32_epi64(_mm256_srli_epi32(products, 26));
    return _mm512_sllv_epi64(_mm512_set1_epi64(1), bits);
}

/* A word gets a bit if the key's bit of its lane is in it: shifts by a negative amount, or by 32
 * and more, give 0. */
KERNEL_TARGET static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    if (lanes == 8) return mask_of_8(x);
    const umbeli_line_words *w = lanes == 4 ? &umbeli_line_words_4 : &umbeli_line_words_16;
    __m512i products = _mm512_mullo_epi32(_mm512_set1_epi32((int)x), _mm512_loadu_si512(w->salt));
    __m512i bits = _mm512_srli_epi32(products, umbeli_line_shift(lanes));
    bits = _mm512_sub_epi32(bits, _mm512_loadu_si512(w->below));
    return _mm512_sllv_epi32(_mm512_set1_epi32(1), bits);
}

KERNEL_TARGET static inline bool block_has(const uint8_t *line, block_mask m) {
    __m512i missing = _mm512_andnot_si512(_mm512_loadu_si512(line), m);
    return _mm512_test_epi32_mask(missing, missing) == 0;
}

KERNEL_TARGET static inline bool block_put(uint8_t *line, block_mask m) {
    __m512i old = _mm512_loadu_si512(line), missing = _mm512_andnot_si512(old, m);
    _mm512_storeu_si512(line, _mm512_or_si512(old, m));
    return _mm512_test_epi32_mask(missing, missing) != 0;
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_line_avx512; /* a translation unit is never empty in ISO C */
#endif
