/* SPDX-License-Identifier: MIT
 *
 * split_avx2.c - line ends, 64 bytes per step
 */
#include "lines/split.h"

#if defined(__x86_64__) && !defined(UMBEL_GENERIC)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt")))

/* Writes the set bits of `mask` as offsets from `base`.  Most 64 bytes of text have at
 * most two line ends: writing two unconditionally costs less than a branch that is mispredicted
 * every other time.  Both go in one store from general registers; the compiler would use vector
 * registers, at twice the cost. */
TARGET static inline size_t flatten(uint64_t mask, uint32_t base, uint32_t *ends) {
    size_t count = (size_t)_mm_popcnt_u64(mask);
    uint64_t first = base + _tzcnt_u64(mask);
    mask = _blsr_u64(mask);
    uint64_t both = first | (base + _tzcnt_u64(mask)) << 32;
    memcpy(ends, &both, sizeof both);
    for (size_t i = 2; i < count; i++) {
        mask = _blsr_u64(mask);
        ends[i] = base + (uint32_t)_tzcnt_u64(mask);
    }
    return count;
}

TARGET size_t cli_split_avx2(const uint8_t *text, size_t len, uint8_t sep, uint32_t *ends) {
    const __m256i seps = _mm256_set1_epi8((char)sep);
    size_t i = 0, n = 0;
    for (; i + 64 <= len; i += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(text + i));
        __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + i + 32));
        uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, seps));
        uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, seps));
        n += flatten(low | high << 32, (uint32_t)i, ends + n);
    }
    return n + cli_split_tail(text, i, len, sep, ends + n);
}

#else

size_t cli_split_avx2(const uint8_t *text, size_t len, uint8_t sep, uint32_t *ends) {
    return cli_split_generic(text, len, sep, ends);
}

#endif
