/* SPDX-License-Identifier: MIT
 *
 * packed_avx512.c - packed hashes where the eight words of a line are counted together
 */
#include "core/cpu.h"

#if UMBELI_X86

#include <immintrin.h>
#include <stdint.h>

#define KERNEL umbeli_packed_avx512
#define KERNEL_TARGET __attribute__((target("avx2,avx512f,avx512vpopcntdq,popcnt,bmi,bmi2")))

#if defined(__x86_64__) /* depositing bits takes registers of 64 */
/* As packed_zeros_of_line.  Processors with these instructions deposit bits fast. */
static inline KERNEL_TARGET __attribute__((always_inline)) uint32_t
zeros_of_line(const uint8_t *chunk, uint32_t n) {
    const __m512i none = _mm512_setzero_si512();
    const __m512i head = _mm512_maskz_set1_epi64(1, 0xffff);
    __m512i line = _mm512_or_si512(_mm512_loadu_si512(chunk), head);
    __m512i sums = _mm512_popcnt_epi64(_mm512_andnot_si512(line, _mm512_set1_epi64(-1)));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 7));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 6));
    sums = _mm512_add_epi64(sums, _mm512_alignr_epi64(sums, none, 4));
    __mmask8 before = _mm512_cmplt_epu64_mask(sums, _mm512_set1_epi64(n));
    uint64_t word = (uint64_t)__builtin_popcount(before & 0x7f);
    __m512i least = _mm512_alignr_epi64(sums, none, 7); /* zeros before each word */
    uint64_t less = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(
        _mm512_permutexvar_epi64(_mm512_set1_epi64((long long)word), least)));
    uint64_t ones;
    __builtin_memcpy(&ones, chunk + 8 * word, sizeof ones);
    ones |= word ? 0 : 0xffff;
    uint64_t nth = _pdep_u64(UINT64_C(1) << ((n - less - 1) & 63), ~ones);
    uint32_t after = (uint32_t)(64 * word + _tzcnt_u64(nth)) + 1 - 16;
    return n ? after : 0;
}

#define KERNEL_ZEROS zeros_of_line
#endif
#include "kind/chain/packed_loops.h"

#endif
