/* SPDX-License-Identifier: MIT
 *
 * line_generic.c - the kernel over whole lines in plain C; the others must match it bit for bit
 */
#include "core/bits.h"
#include "kind/blocked/line.h"

#define KERNEL umbeli_line_generic
#define KERNEL_NAME "generic"
#define KERNEL_NEEDS 0
#define KERNEL_TARGET
#define KERNEL_OF_LINES
#define BLOCK_LOG2 UMBELI_LINE_LOG2

enum { WORDS = UMBELI_LINE_BYTES / 8 };

typedef struct block_mask {
    uint64_t word[WORDS];
} block_mask;

static inline block_mask mask_of(uint32_t lanes, uint32_t x) {
    block_mask m = {{0}};
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t bit = 512 / lanes * i + umbeli_line_bit(x, lanes, i);
        m.word[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return m;
}

static inline bool block_has(const uint8_t *line, block_mask m) {
    uint64_t missing = 0;
    for (int i = 0; i < WORDS; i++) missing |= m.word[i] & ~umbeli_load_le64(line + 8 * i);
    return missing == 0;
}

static inline bool block_put(uint8_t *line, block_mask m) {
    uint64_t missing = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t word = umbeli_load_le64(line + 8 * i);
        missing |= m.word[i] & ~word;
        umbeli_store_le64(line + 8 * i, word | m.word[i]);
    }
    return missing != 0;
}

#include "kind/blocked/blocked_loops.h"
