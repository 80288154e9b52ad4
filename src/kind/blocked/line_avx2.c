/* SPDX-License-Identifier: MIT
 *
 * line_avx2.c - the kernel over whole lines with 256-bit registers: a line is two of them
 */
#include "core/cpu.h"

#if UMBELI_X86

#include "hash/xxh3_avx2.h"
#include "kind/blocked/block_avx2.h"
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_NEEDS UMBELI_CPU_AVX2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_OF_LINES
#define KERNEL_HASHES
#define BLOCK_LOG2 UMBELI_LINE_LOG2

typedef umbeli_line_halves block_mask;

KERNEL_TARGET static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    return umbeli_line_mask_avx2(lanes, x);
}

KERNEL_TARGET static inline umbeli_line_halves bits_of(const uint8_t *line) {
    return (umbeli_line_halves){umbeli_load_shared_avx2(line), umbeli_load_shared_avx2(line + 32)};
}

KERNEL_TARGET static inline bool block_has(const uint8_t *line, block_mask m) {
    return !umbeli_line_misses_avx2(bits_of(line), m);
}

KERNEL_TARGET static inline bool block_put(uint8_t *line, block_mask m) {
    umbeli_line_halves old = bits_of(line);
    umbeli_store_shared_avx2(line, _mm256_or_si256(old.low, m.low));
    umbeli_store_shared_avx2(line + 32, _mm256_or_si256(old.high, m.high));
    return umbeli_line_misses_avx2(old, m);
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_line_avx2; /* a translation unit is never empty in ISO C */
#endif
