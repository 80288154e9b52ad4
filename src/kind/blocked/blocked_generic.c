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

typedef struct block_mask {
    uint32_t lane[UMBELI_BLOCK_LANES];
} block_mask;

static inline block_mask mask_of(uint32_t x) {
    block_mask m;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        m.lane[i] = UINT32_C(1) << ((x * umbeli_block_salts[i]) >> 27);
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

static inline void offsets_of(const uint64_t *hashes, uint64_t nblocks, uint64_t *offsets) {
    umbeli_block_offsets(hashes, nblocks, UMBELI_BLOCK_LOG2, offsets);
}

static inline void store_line(uint64_t *to, const uint64_t *from) {
    memcpy(to, from, 64);
}

static inline void store_fence(void) {}

#include "kind/blocked/blocked_loops.h"
