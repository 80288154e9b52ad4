/* SPDX-License-Identifier: MIT
 *
 * plan_block_loads.h - how many keys a block gets, and its rate then
 */
#ifndef UMBELI_PLAN_BLOCK_LOADS_H
#define UMBELI_PLAN_BLOCK_LOADS_H

#include <stdint.h>

/* A block: a key sets one of the `bits` bits of each of its lanes, which are 4, 8 or 16. */
typedef struct umbeli_lanes {
    uint32_t lanes, bits;
} umbeli_lanes;

/* Blocks that got `keys` keys, and their number, up to a constant factor. */
typedef struct umbeli_load {
    double keys, weight;
    double clear[3]; /* chance that one, two, three given bits of a lane are all clear */
} umbeli_load;

/* Visits the loads of a block that each of `keys` keys falls into with probability `share`: the
 * most likely one with weight 1, then upwards, then downwards, as long as they matter.  `take`
 * returns the term of its fastest-growing sum; the loop stops once that is negligible as well. */
void umbeli_loads_visit(umbeli_lanes form, double keys, double share,
                        double (*take)(void *sums, const umbeli_load *load), void *sums);

/* 2^32: the values of half a hash. */
#define UMBELI_HALF_VALUES 4294967296.0

/* From this many keys per block on, 1 - rate is below lanes * exp(-load / bits), less than a double
 * can tell from 0. */
static inline double umbeli_load_full(umbeli_lanes form) {
    return 1500.0 / 32.0 * (double)form.bits;
}

/* x to the power of the number of lanes. */
static inline double umbeli_lanes_power(umbeli_lanes form, double x) {
    for (uint32_t lanes = form.lanes; lanes > 1; lanes /= 2) x *= x;
    return x;
}

/* The mean share of lookups that such a block answers with yes. */
double umbeli_block_rate(umbeli_lanes form, const umbeli_load *load);

/* umbeli_blocked_rate and umbeli_blocked_spread for blocks of any form. */
double umbeli_blocks_rate(umbeli_lanes form, uint64_t nblocks, uint64_t keys);
double umbeli_blocks_spread(umbeli_lanes form, uint64_t nblocks, uint64_t keys);

/* The z blocks of a filter own floor(2^32 / z) values of the upper half of a hash, or one more. */
typedef struct umbeli_block_class {
    double blocks, share; /* how many, and the share of all keys that falls into each */
} umbeli_block_class;

/* Both classes, the one with the smaller share first; the second may have no blocks. */
void umbeli_block_classes(uint64_t nblocks, umbeli_block_class classes[2]);

#endif
