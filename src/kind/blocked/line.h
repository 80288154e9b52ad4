/* SPDX-License-Identifier: MIT
 *
 * line.h - Bloom filters whose blocks are whole cache lines: 512 bits in 4, 8 or 16 lanes
 *
 * As in the blocked kind, a key's 64-bit hash picks a block with its upper half and a bit in each
 * lane with its lower half.  A line holds twice the keys of a 256-bit block, so loads differ less
 * from line to line, and a rate takes fewer bits; the price is twice the work in the registers,
 * which shows as long as the filter is in the cache.  More lanes for lower rates: the planner
 * chooses.
 *
 * All of blocked.h works on lines as well: the struct is the same, and so are the batches of
 * blocked_many.c and the loops of blocked_loops.h.
 *
 *   line.c               creating, the tables below
 *   line_generic.c, line_avx2.c, line_atomic.c    the kernels
 */
#ifndef UMBELI_LINE_H
#define UMBELI_LINE_H

#include "kind/blocked/blocked.h"

enum { UMBELI_LINE_LOG2 = 6, UMBELI_LINE_BYTES = 1 << UMBELI_LINE_LOG2 };
enum { UMBELI_LINE_WORDS = 16, UMBELI_LINE_LANES_MAX = 16 };

/* Numbers of lanes; each kernel comes once for each of them, in this order. */
enum { UMBELI_LINE_SHAPES = 3 };
extern const uint32_t umbeli_line_lanes[UMBELI_LINE_SHAPES];

/* A kernel's view of 4 or 16 lanes: for each of the 16 words of 32 bits the salt of its lane, and
 * how many bits of the lane lie below the word. */
typedef struct umbeli_line_words {
    uint32_t salt[UMBELI_LINE_WORDS], below[UMBELI_LINE_WORDS];
} umbeli_line_words;

extern const umbeli_line_words umbeli_line_words_4, umbeli_line_words_16;
extern const uint32_t umbeli_line_salts[UMBELI_LINE_LANES_MAX];

/* Which bit of its lane: the upper log2(512 / lanes) bits of the product. */
static inline unsigned umbeli_line_shift(uint32_t lanes) {
    return lanes == 4 ? 25 : lanes == 8 ? 26 : 27;
}

static inline uint32_t umbeli_line_bit(uint64_t hash, uint32_t lanes, uint32_t lane) {
    return ((uint32_t)hash * umbeli_line_salts[lane]) >> umbeli_line_shift(lanes);
}

extern const umbeli_blocked_kernel umbeli_line_generic[UMBELI_LINE_SHAPES],
    umbeli_line_avx2[UMBELI_LINE_SHAPES], umbeli_line_atomic[UMBELI_LINE_SHAPES];

/* The fastest kernel for lines of that many lanes on this processor, for filters that are not
 * concurrent. */
const umbeli_blocked_kernel *umbeli_line_best(uint32_t lanes);

/* UMBEL_ECORRUPT or UMBEL_EVERSION unless a native line filter can have this shape. */
umbel_err umbeli_line_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag);

#endif
