/* SPDX-License-Identifier: MIT
 *
 * counting.h - the blocks of counting filters, and what a kernel does with the counters of a key
 */
#ifndef UMBELI_COUNTING_H
#define UMBELI_COUNTING_H

#include "kind/blocked/blocked.h"

enum {
    UMBELI_COUNTER_MAX = 15,
    UMBELI_COUNTING_BLOCK = 128,                                       /* bytes, two lines */
    UMBELI_COUNTING_LANE = UMBELI_COUNTING_BLOCK / UMBELI_BLOCK_LANES, /* 32 counters */
};

/* Whether any counter changed, and whether one was 0 before. */
typedef struct umbeli_counted {
    bool changed, had_zero;
} umbeli_counted;

/* All take a block and the lower half of a hash, which selects one counter in each of its lanes. */
typedef struct umbeli_counting_kernel {
    const char *name;
    bool (*has)(const uint8_t *block, uint32_t x); /* none of the counters is 0 */
    umbeli_counted (*put)(uint8_t *block, uint32_t x);
    umbeli_counted (*take)(uint8_t *block, uint32_t x); /* nothing changes if one is 0 */
} umbeli_counting_kernel;

extern const umbeli_counting_kernel umbeli_counting_generic, umbeli_counting_avx2;

#endif
