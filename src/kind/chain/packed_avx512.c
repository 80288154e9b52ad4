/* SPDX-License-Identifier: MIT
 *
 * packed_avx512.c - packed hashes where the eight words of a line are counted together
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>
#include <stdint.h>

#define KERNEL umbeli_packed_avx512
#define KERNEL_TARGET \
    __attribute__((target("avx2,avx512f,avx512dq,avx512vpopcntdq,popcnt,bmi,bmi2")))

#if defined(__x86_64__) /* depositing bits takes registers of 64 */
/* As packed_zeros_of_line.  Of the words with fewer than n zeros before them, the last has the
 * n-th: there n less those, as a number without sign, is least.  The head counts as zeros, so the
 * n-th is one even where n is 0.  Processors with these instructions deposit bits fast. */
static inline KERNEL_TARGET __attribute__((always_inline)) uint32_t
zeros_of_line(const uint8_t *chunk, uint32_t n) {
    static const uint64_t no_head[8] = {0xffff, 0, 0, 0, 0, 0, 0, 0};
    __m512i line = _mm512_andnot_si512(_mm512_loadu_si512(no_head), _mm512_loadu_si512(chunk));
    __m128i ones = _mm512_cvtepi64_epi16(_mm512_popcnt_epi64(line));
    ones = _mm_slli_si128(_mm_slli_epi16(ones, 3), 2); /* before each word, 8 times */
    ones = _mm_add_epi16(ones, _mm_slli_si128(ones, 2));
    ones = _mm_add_epi16(ones, _mm_slli_si128(ones, 4));
    ones = _mm_add_epi16(ones, _mm_slli_si128(ones, 8));
    /* 8 (n + 15 - zeros), and the words numbered from the end, since of equals the last counts. */
#define WORD(j) 8 * (15 - 64 * (j)) + 7 - (j)
    const __m128i words =
        _mm_setr_epi16(WORD(0), WORD(1), WORD(2), WORD(3), WORD(4), WORD(5), WORD(6), WORD(7));
#undef WORD
    __m128i left = _mm_add_epi16(_mm_add_epi16(ones, words), _mm_set1_epi16((short)(8 * n)));
    uint32_t least = (uint32_t)_mm_cvtsi128_si32(_mm_minpos_epu16(left)), word = ~least & 7;
    uint64_t here;
    __builtin_memcpy(&here, chunk + 8 * word, sizeof here);
    uint64_t nth = _pdep_u64(UINT64_C(1) << (least >> 3 & 63), ~(here & ~no_head[word]));
    return (uint32_t)(64 * word + _tzcnt_u64(nth)) + 1 - 16;
}

#define KERNEL_ZEROS zeros_of_line
#endif
#include "kind/chain/packed_loops.h"

#endif
