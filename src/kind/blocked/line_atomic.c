/* SPDX-License-Identifier: MIT
 *
 * line_atomic.c - the kernel over whole lines for filters with concurrent writers, as
 *                 blocked_atomic.c: words are ORed atomically, and only where bits are missing
 */
#include "core/bits.h"
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_atomic
#define KERNEL_NAME "atomic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_CONCURRENT true

enum { WORDS = UMBELI_LINE_BYTES / sizeof(size_t) };

/* size_t: the widest word that every machine updates without a lock. */
typedef struct line_mask {
    size_t word[WORDS];
} line_mask;

static inline line_mask mask_of(uint32_t lanes, uint32_t x) {
    uint8_t bytes[UMBELI_LINE_BYTES] = {0};
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t bit = 512 / lanes * i + umbeli_line_bit(x, lanes, i);
        bytes[bit / 8] |= (uint8_t)(1u << (bit % 8));
    }
    line_mask m;
    memcpy(&m, bytes, sizeof m);
    return m;
}

static inline bool line_has(const uint8_t *line, line_mask m) {
    const size_t *words = (const size_t *)(const void *)line;
    size_t missing = 0;
    for (size_t i = 0; i < WORDS; i++) {
        missing |= m.word[i] & ~__atomic_load_n(&words[i], __ATOMIC_RELAXED);
    }
    return missing == 0;
}

static inline bool line_put(uint8_t *line, line_mask m) {
    size_t *words = (size_t *)(void *)line;
    bool changed = false;
    for (size_t i = 0; i < WORDS; i++) {
        if ((m.word[i] & ~__atomic_load_n(&words[i], __ATOMIC_RELAXED)) == 0) continue;
        size_t old = __atomic_fetch_or(&words[i], m.word[i], __ATOMIC_RELAXED);
        changed |= (m.word[i] & ~old) != 0;
    }
    return changed;
}

static inline void store_line(uint64_t *to, const uint64_t *from) {
    memcpy(to, from, 64);
}

static inline void store_fence(void) {}

#include "kind/blocked/line_loops.h"
