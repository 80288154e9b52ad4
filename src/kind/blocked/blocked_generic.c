/* SPDX-License-Identifier: MIT
 *
 * blocked_generic.c - the split-block kernel in plain C; the others must match it bit for bit
 */
#include "core/bits.h"
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_generic
#define KERNEL_NAME "generic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_CONCURRENT false
#define BLOCK_LOG2 UMBELI_BLOCK_LOG2

typedef struct block_mask {
    uint32_t lane[UMBELI_BLOCK_LANES];
} block_mask;

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    block_mask m;
    for (uint32_t i = 0; i < lanes; i++) {
        m.lane[i] = UINT32_C(1) << umbeli_block_bit(x, i);
    }
    return m;
}

static inline bool block_has(const uint8_t *block, block_mask m) {
    uint32_t missing = 0;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        missing |= m.lane[i] & ~umbeli_load_le32(block + 4 * i);
    }
    return missing == 0;
}

static inline bool block_put(uint8_t *block, block_mask m) {
    uint32_t missing = 0;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        uint32_t lane = umbeli_load_le32(block + 4 * i);
        missing |= m.lane[i] & ~lane;
        umbeli_store_le32(block + 4 * i, lane | m.lane[i]);
    }
    return missing != 0;
}

#include "kind/blocked/blocked_loops.h"
