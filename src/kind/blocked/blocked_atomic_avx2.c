/* SPDX-License-Identifier: MIT
 *
 * blocked_atomic_avx2.c - the kernel for concurrent writers with 256-bit registers
 *
 * Blocks are read while another thread sets bits in them.  It does not matter how the processor
 * divides a load or a store of 32 bytes: in whichever order its parts are seen, bits that were set
 * stay set.  In C such an access would be a race, whatever the processor says; in assembly it is
 * what it is.
 */
#include "core/cpu.h"

#if UMBELI_X86

#include "hash/xxh3_inline.h"
#include "kind/blocked/block_avx2.h"

#define KERNEL umbeli_blocked_atomic_avx2
#define KERNEL_NAME "atomic-avx2"
#define KERNEL_NEEDS UMBELI_CPU_AVX2
#define KERNEL_TARGET UMBELI_AVX2
#define KERNEL_CONCURRENT true
#define KERNEL_OFFSETS umbeli_block_offsets_avx2
#define KERNEL_HASHES
#define BLOCK_LOG2 UMBELI_BLOCK_LOG2

typedef __m256i block_mask;

KERNEL_TARGET static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    (void)lanes; /* always 8 */
    return umbeli_block_mask_avx2(x);
}

KERNEL_TARGET static inline __m256i bits_of(const uint8_t *block) {
    __m256i bits;
    __asm__ volatile("vmovdqu %1, %0" : "=x"(bits) : "m"(*(const __m256i *)(const void *)block));
    return bits;
}

KERNEL_TARGET static inline bool block_has(const uint8_t *block, block_mask m) {
    return _mm256_testc_si256(bits_of(block), m);
}

KERNEL_TARGET static inline bool block_put(uint8_t *block, block_mask m) {
    __m256i old = bits_of(block), bits = _mm256_or_si256(old, m);
    __asm__ volatile("vmovdqu %1, %0" : "=m"(*(__m256i *)(void *)block) : "x"(bits));
    return !_mm256_testc_si256(old, m);
}

#include "kind/blocked/blocked_loops.h"

#else
typedef int umbeli_no_atomic_avx2; /* a translation unit is never empty in ISO C */
#endif
