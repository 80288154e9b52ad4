/* SPDX-License-Identifier: MIT
 *
 * blocked_atomic.c - the split-block kernel for filters with concurrent writers
 */
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_atomic
#define KERNEL_NAME "atomic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define BLOCK_LOG2 UMBELI_BLOCK_LOG2

#include "kind/blocked/block_atomic.h"

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    uint64_t words[BLOCK_BYTES / 8];
    for (uint32_t i = 0; i < lanes; i += 2) {
        words[i / 2] = UINT64_C(1) << umbeli_block_bit(x, i) |
                       UINT64_C(1) << (32 + umbeli_block_bit(x, i + 1));
    }
    return mask_of_words(words);
}

#include "kind/blocked/blocked_loops.h"
