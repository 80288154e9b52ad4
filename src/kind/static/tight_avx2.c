/* SPDX-License-Identifier: MIT
 *
 * tight_avx2.c - the kernel of tight filters for AVX2: four columns in parallel
 */
#include "core/cpu.h"
#include "kind/static/tight.h"

#if UMBELI_X86

#include <immintrin.h>

#define TIGHT_TARGET __attribute__((target("avx2")))

/* Leaves the parity of each word in its highest bit. */
static inline TIGHT_TARGET __m256i fold(__m256i x) {
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 32));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 2));
    return _mm256_xor_si256(x, _mm256_slli_epi64(x, 1));
}

/* Words beyond the last column are not read. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET __m256i columns_at(const uint8_t *block, __m256i which) {
    return _mm256_maskload_epi64((const long long *)(const void *)block, which);
}

static UMBELI_TIGHT_INLINE TIGHT_TARGET uint32_t column_sums(uint32_t window,
                                                             const uint8_t *const *block,
                                                             uint64_t first, const uint64_t *row,
                                                             uint32_t from, uint32_t to) {
    const __m256i in_first = _mm256_set1_epi64x((long long)first);
    const __m256i lanes = _mm256_set_epi64x(3, 2, 1, 0);
    uint32_t sums = 0;
    for (uint32_t i = from; i < to; i += 4) {
        __m256i left = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)(to - i)), lanes);
        __m256i a = columns_at(block[0] + 8 * i, left), sum = _mm256_setzero_si256();
        for (uint32_t j = 0; j < window; j++) {
            __m256i b = columns_at(block[j + 1] + 8 * i, left);
            __m256i slots = _mm256_xor_si256(b, _mm256_and_si256(_mm256_xor_si256(a, b), in_first));
            const __m256i in_row = _mm256_set1_epi64x((long long)row[j]);
            sum = _mm256_xor_si256(sum, _mm256_and_si256(slots, in_row));
            a = b;
        }
        sums |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(fold(sum))) << i;
    }
    return sums;
}

/* A nonzero row has bit 0 set, which brings the print into the sum.  Columns up to the next
 * multiple of four are computed as well but never read. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET void
solve_block(uint32_t window, const uint64_t *restrict rows, const uint32_t *restrict prints,
            uint32_t width, uint64_t (*restrict later)[UMBELI_TIGHT_MAX_WIDTH]) {
    const __m256i one = _mm256_set1_epi64x(1), four = _mm256_set1_epi64x(4);
    __m256i *near = (__m256i *)(void *)later[0], *far = (__m256i *)(void *)later[1];
    for (uint32_t slot = UMBELI_TIGHT_BLOCK; slot-- > 0;) {
        const uint64_t *row = rows + (size_t)window * slot;
        const __m256i row0 = _mm256_set1_epi64x((long long)row[0]);
        const __m256i print = _mm256_set1_epi64x((long long)prints[slot]);
        __m256i which = _mm256_set_epi64x(3, 2, 1, 0);
        for (uint32_t i = 0; i < (width + 3) / 4; i++) {
            __m256i before = _mm256_loadu_si256(&near[i]), column = _mm256_slli_epi64(before, 1);
            __m256i bits = _mm256_and_si256(_mm256_srlv_epi64(print, which), one);
            __m256i sum = _mm256_and_si256(_mm256_or_si256(column, bits), row0);
            if (window == 2) {
                const __m256i row1 = _mm256_set1_epi64x((long long)row[1]);
                __m256i second = _mm256_slli_epi64(_mm256_loadu_si256(&far[i]), 1);
                second = _mm256_or_si256(second, _mm256_srli_epi64(before, 63));
                sum = _mm256_xor_si256(sum, _mm256_and_si256(second, row1));
                _mm256_storeu_si256(&far[i], second);
            }
            column = _mm256_or_si256(column, _mm256_srli_epi64(fold(sum), 63));
            _mm256_storeu_si256(&near[i], column);
            which = _mm256_add_epi64(which, four);
        }
    }
}

#include "kind/static/tight_kernel.h"

TIGHT_KERNEL(avx2);

#endif
