/* SPDX-License-Identifier: MIT
 *
 * block_atomic.h - testing a block while another thread sets bits in it, and setting them
 *
 * Only one thread at a time sets bits in a block (blocked_shards.c), so a word is loaded and
 * stored, without a locked instruction, but atomically, for the sake of readers.  Relaxed ordering
 * is enough.  Bits are only ever set, so a lookup that happens after an add sees its bits by
 * coherence alone.
 *
 * BLOCK_LOG2 is defined first, as for blocked_loops.h.
 */
#include "core/bits.h"

enum { BLOCK_BYTES = 1 << BLOCK_LOG2, WORDS = BLOCK_BYTES / sizeof(size_t) };

/* size_t: the widest word that every machine loads and stores at once. */
typedef struct block_mask {
    size_t word[WORDS];
} block_mask;

/* Of 64-bit numbers: written as such, because a load of several narrower stores would wait for
 * them. */
static inline block_mask mask_of_words(uint64_t *numbers) {
    block_mask m;
    for (size_t i = 0; i < BLOCK_BYTES / 8; i++) numbers[i] = UMBELI_LE64(numbers[i]);
    memcpy(&m, numbers, sizeof m);
    return m;
}

static inline bool block_has(const uint8_t *block, block_mask m) {
    const size_t *words = (const size_t *)(const void *)block;
    size_t missing = 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < WORDS; i++) {
        missing |= m.word[i] & ~__atomic_load_n(&words[i], __ATOMIC_RELAXED);
    }
    return missing == 0;
}

static inline bool block_put(uint8_t *block, block_mask m) {
    size_t *words = (size_t *)(void *)block;
    size_t missing = 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < WORDS; i++) {
        size_t old = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        missing |= m.word[i] & ~old;
        __atomic_store_n(&words[i], old | m.word[i], __ATOMIC_RELAXED);
    }
    return missing != 0;
}
