/* SPDX-License-Identifier: MIT
 *
 * plan_block_loads.h - how many keys a block of a split-block filter gets, and what it then says
 */
#ifndef UMBELI_PLAN_BLOCK_LOADS_H
#define UMBELI_PLAN_BLOCK_LOADS_H

#include <stdint.h>

/* Blocks that got `keys` keys, and how many of them there are, up to a factor. */
typedef struct umbeli_load {
    double keys, weight;
    double clear[3]; /* chance that one, two, three given bits of a lane are all clear */
} umbeli_load;

/* Shows the loads of a block that each of `keys` keys comes to with chance `share`: the most likely
 * one with weight 1, then upwards, then downwards, while they count.  `take` returns the weight
 * times that of its sums which rises fastest with the load: the loop ends where this, too, has
 * become negligible. */
void umbeli_loads_visit(double keys, double share,
                        double (*take)(void *sums, const umbeli_load *load), void *sums);

/* 2^32: values of either half of a hash. */
#define UMBELI_HALF_VALUES 4294967296.0

/* From so many keys a block on, 1 - rate is below 8 * exp(-load / 32), less than a double can tell
 * from 0. */
#define UMBELI_BLOCKED_FULL 1500.0

/* The share of look-ups that such a block answers with yes, in the mean. */
double umbeli_block_rate(const umbeli_load *load);

/* The z blocks of a filter own floor(2^32 / z) values of the upper half of a hash, or one more. */
typedef struct umbeli_block_class {
    double blocks, share; /* how many, and the share of all keys that comes to each */
} umbeli_block_class;

/* Both classes, that with the smaller share first; the second one may have no blocks. */
void umbeli_block_classes(uint64_t nblocks, umbeli_block_class classes[2]);

#endif
