/* SPDX-License-Identifier: MIT
 *
 * line_atomic.c - the kernel over whole lines for filters with concurrent writers
 */
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_atomic
#define KERNEL_NAME "atomic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_OF_LINES
#define BLOCK_LOG2 UMBELI_LINE_LOG2

#include "kind/blocked/block_atomic.h"

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    uint64_t words[BLOCK_BYTES / 8] = {0};
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t bit = 512 / lanes * i + umbeli_line_bit(x, lanes, i);
        words[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return mask_of_words(words);
}

#include "kind/blocked/blocked_loops.h"
