/* SPDX-License-Identifier: MIT
 *
 * plan_block_loads.h - how many keys a block gets, Binomial(keys, share), and the rate then
 */
#ifndef UMBELI_PLAN_BLOCK_LOADS_H
#define UMBELI_PLAN_BLOCK_LOADS_H

#include <math.h>
#include <stdbool.h>
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

/* What the visitor below calls: adds a load to its sums, and returns the term of the one that grows
 * fastest with the load. */
typedef double umbeli_load_visitor(void *sums, const umbeli_load *load);

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

/* The mean share of lookups that such a block answers with yes.  The lanes share the 32 bits of the
 * lower half, so a key with the same lower half as an added one always gets a yes. */
static inline double umbeli_block_rate(umbeli_lanes form, const umbeli_load *load) {
    double all = umbeli_lanes_power(form, 1.0 - load->clear[0]);
    double twins = load->keys / UMBELI_HALF_VALUES;
    return all + (1.0 - all) * (twins < 1.0 ? twins : 1.0);
}

/* Visits the loads of a block that each of `keys` keys falls into with probability `share`: the
 * most likely one with weight 1, then upwards, then downwards, as long as they matter.  As weights
 * start with 1, and callers divide by their sum, nothing as large as a factorial is ever computed.
 *
 * Where sums need only be right to one part in ten thousand (`rough`), it visits one load out of
 * several: sums over a bell curve are the same for every grid that is finer than its deviation.
 *
 * It is inlined with its visitor, because plans visit thousands of loads. */
__attribute__((always_inline)) static inline void umbeli_loads_visit(umbeli_lanes form, double keys,
                                                                     double share, bool rough,
                                                                     umbeli_load_visitor *visitor,
                                                                     void *sums) {
    const double bits = form.bits, negligible = rough ? 0x1p-36 : 0x1p-60;
    /* The factor by which the chance that i + 1 given bits of a lane are clear falls with every
     * key. */
    const double ratio[3] = {(bits - 1.0) / bits, (bits - 2.0) / bits, (bits - 3.0) / bits};
    const double mode = share >= 1.0 ? keys : fmin(floor((keys + 1.0) * share), keys);
    umbeli_load first = {.keys = mode, .weight = 1.0};
    for (int i = 0; i < 3; i++) first.clear[i] = pow(ratio[i], mode);
    if (share >= 1.0) {
        visitor(sums, &first);
        return;
    }
    const int stride = rough ? (int)(0.7 * sqrt(keys * share * (1.0 - share))) : 0;
    int skip = 0;
    double odds = share / (1.0 - share), weights = 0.0, terms = 0.0, before = 0.0, last = 0.0;
    for (umbeli_load load = first; load.keys <= keys; load.keys += 1.0) {
        if (skip-- == 0) {
            skip = stride > 1 ? stride - 1 : 0;
            before = last;
            last = visitor(sums, &load);
            terms += last;
            weights += load.weight;
            /* A yes becomes likelier with the load: continue until its terms decrease and are
             * negligible. */
            if (load.keys > mode && last < before && last < terms * negligible &&
                load.weight < weights * negligible) {
                break;
            }
        }
        load.weight *= (keys - load.keys) / (load.keys + 1.0) * odds;
        for (int i = 0; i < 3; i++) load.clear[i] *= ratio[i];
    }
    skip = stride > 1 ? stride - 1 : 0;
    for (umbeli_load load = first; load.keys >= 1.0 && load.weight > weights * negligible;) {
        load.weight *= load.keys / (keys - load.keys + 1.0) / odds;
        load.keys -= 1.0;
        for (int i = 0; i < 3; i++) load.clear[i] /= ratio[i];
        if (skip-- > 0) continue;
        skip = stride > 1 ? stride - 1 : 0;
        visitor(sums, &load);
    }
}

/* umbeli_blocked_rate and umbeli_blocked_spread for blocks of any form. */
double umbeli_blocks_rate(umbeli_lanes form, uint64_t nblocks, uint64_t keys);
double umbeli_blocks_spread(umbeli_lanes form, uint64_t nblocks, uint64_t keys);

/* rate + 3 spread, at most 1, to one part in ten thousand. */
double umbeli_blocks_roughly(umbeli_lanes form, uint64_t nblocks, uint64_t keys);

/* The z blocks of a filter own floor(2^32 / z) values of the upper half of a hash, or one more. */
typedef struct umbeli_block_class {
    double blocks, share; /* how many, and the share of all keys that falls into each */
} umbeli_block_class;

/* Both classes, the one with the smaller share first; the second may have no blocks. */
static inline void umbeli_block_classes(uint64_t nblocks, umbeli_block_class classes[2]) {
    uint64_t values = (UINT64_C(1) << 32) / nblocks;
    uint64_t larger = (UINT64_C(1) << 32) % nblocks; /* blocks that own one more value */
    classes[0].blocks = (double)(nblocks - larger);
    classes[0].share = (double)values / UMBELI_HALF_VALUES;
    classes[1].blocks = (double)larger;
    classes[1].share = (double)(values + 1) / UMBELI_HALF_VALUES;
}

#endif
