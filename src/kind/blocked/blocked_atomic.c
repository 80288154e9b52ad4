/* SPDX-License-Identifier: MIT
 *
 * blocked_atomic.c - the split-block kernel for filters with concurrent writers
 *
 * A mask is ORed into its block word by word, each an atomic operation, and only where bits are
 * missing, so that a hot block is read by all and written once.  Relaxed ordering is enough: bits
 * are only ever set, so if the add happened before a look-up, coherence alone makes them visible.
 */
#include "core/bits.h"
#include "kind/blocked/blocked.h"

#define KERNEL umbeli_blocked_atomic
#define KERNEL_NAME "atomic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_CONCURRENT true

enum { WORDS = UMBELI_BLOCK_BYTES / sizeof(size_t) };

/* size_t: the widest word that every machine updates without a lock. */
typedef struct block_mask {
    size_t word[WORDS];
} block_mask;

static inline block_mask mask_of(uint32_t x) {
    uint8_t bytes[UMBELI_BLOCK_BYTES];
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        umbeli_store_le32(bytes + 4 * i, UINT32_C(1) << ((x * umbeli_block_salts[i]) >> 27));
    }
    block_mask m;
    memcpy(&m, bytes, sizeof m);
    return m;
}

static inline bool block_has(const uint8_t *block, block_mask m) {
    const size_t *words = (const size_t *)(const void *)block;
    size_t missing = 0;
    for (size_t i = 0; i < WORDS; i++) {
        missing |= m.word[i] & ~__atomic_load_n(&words[i], __ATOMIC_RELAXED);
    }
    return missing == 0;
}

static inline bool block_put(uint8_t *block, block_mask m) {
    size_t *words = (size_t *)(void *)block;
    bool changed = false;
    for (size_t i = 0; i < WORDS; i++) {
        if ((m.word[i] & ~__atomic_load_n(&words[i], __ATOMIC_RELAXED)) == 0) continue;
        size_t old = __atomic_fetch_or(&words[i], m.word[i], __ATOMIC_RELAXED);
        changed |= (m.word[i] & ~old) != 0;
    }
    return changed;
}

static inline void offsets_of(const uint64_t *hashes, uint64_t nblocks, uint64_t *offsets) {
    umbeli_block_offsets(hashes, nblocks, UMBELI_BLOCK_LOG2, offsets);
}

static inline void store_line(uint64_t *to, const uint64_t *from) {
    memcpy(to, from, 64);
}

static inline void store_fence(void) {}

#include "kind/blocked/blocked_loops.h"
