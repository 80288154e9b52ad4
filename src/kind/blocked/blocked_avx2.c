/* SPDX-License-Identifier: MIT
 *
 * blocked_avx2.c - the split-block kernel with 256-bit registers: a block is one register
 */
#include "core/cpu.h"

#if UMBELI_X86

#include "hash/xxh3_avx2.h"
#include "kind/blocked/block_avx2.h"
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_NEEDS UMBELI_CPU_AVX2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_OFFSETS umbeli_block_offsets_avx2
#define KERNEL_HASHES
#define KERNEL_KEYS
#define BLOCK_LOG2 UMBELI_BLOCK_LOG2

typedef __m256i block_mask;

KERNEL_TARGET static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    (void)lanes; /* always 8 */
    return umbeli_block_mask_avx2(x);
}

KERNEL_TARGET static inline bool block_has(const uint8_t *block, block_mask m) {
    return _mm256_testc_si256(umbeli_load_shared_avx2(block), m);
}

KERNEL_TARGET static inline bool block_put(uint8_t *block, block_mask m) {
    __m256i old = umbeli_load_shared_avx2(block);
    umbeli_store_shared_avx2(block, _mm256_or_si256(old, m));
    return !_mm256_testc_si256(old, m);
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_avx2; /* a translation unit is never empty in ISO C */
#endif
