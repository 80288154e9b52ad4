/* SPDX-License-Identifier: MIT
 *
 * plan_block_loads.c - the loads of blocks: Binomial(keys, share)
 *
 * Weights start with 1 at the mode, and callers divide by their sum, so nothing as large as a
 * factorial is ever computed.
 */
#include "plan/plan_block_loads.h"

#include <math.h>

/* By what the chance that i + 1 given bits of a lane are clear falls with every key. */
typedef struct ratios {
    double of[3];
} ratios;

static ratios ratios_of(umbeli_lanes form) {
    double bits = form.bits;
    return (ratios){{(bits - 1.0) / bits, (bits - 2.0) / bits, (bits - 3.0) / bits}};
}

static umbeli_load load_of(ratios ratio, double keys) {
    umbeli_load load = {.keys = keys, .weight = 1.0};
    for (int i = 0; i < 3; i++) load.clear[i] = pow(ratio.of[i], keys);
    return load;
}

static void upwards(ratios ratio, double keys, double odds, umbeli_load load,
                    double (*take)(void *sums, const umbeli_load *load), void *sums,
                    double *weights) {
    const double negligible = 0x1p-60;
    double terms = 0.0, before = 0.0, last = 0.0, mode = load.keys;
    for (; load.keys <= keys; load.keys += 1.0) {
        before = last;
        last = take(sums, &load);
        terms += last;
        *weights += load.weight;
        /* A yes becomes likelier with the load: continue until its terms decrease and are
         * negligible. */
        if (load.keys > mode && last < before && last < terms * negligible &&
            load.weight < *weights * negligible) {
            return;
        }
        load.weight *= (keys - load.keys) / (load.keys + 1.0) * odds;
        for (int i = 0; i < 3; i++) load.clear[i] *= ratio.of[i];
    }
}

void umbeli_loads_visit(umbeli_lanes form, double keys, double share,
                        double (*take)(void *sums, const umbeli_load *load), void *sums) {
    const double negligible = 0x1p-60;
    const ratios ratio = ratios_of(form);
    if (share >= 1.0) {
        umbeli_load all = load_of(ratio, keys);
        take(sums, &all);
        return;
    }
    double odds = share / (1.0 - share), weights = 0.0;
    umbeli_load load = load_of(ratio, fmin(floor((keys + 1.0) * share), keys));
    upwards(ratio, keys, odds, load, take, sums, &weights);
    while (load.keys >= 1.0 && load.weight > weights * negligible) {
        load.weight *= load.keys / (keys - load.keys + 1.0) / odds;
        load.keys -= 1.0;
        for (int i = 0; i < 3; i++) load.clear[i] /= ratio.of[i];
        take(sums, &load);
    }
}

/* The lanes share the 32 bits of the lower half, so a key with the same lower half as an added one
 * always gets a yes. */
double umbeli_block_rate(umbeli_lanes form, const umbeli_load *load) {
    double all = umbeli_lanes_power(form, 1.0 - load->clear[0]);
    return all + (1.0 - all) * fmin(load->keys / UMBELI_HALF_VALUES, 1.0);
}

void umbeli_block_classes(uint64_t nblocks, umbeli_block_class classes[2]) {
    uint64_t values = (UINT64_C(1) << 32) / nblocks;
    uint64_t larger = (UINT64_C(1) << 32) % nblocks; /* blocks that own one more value */
    classes[0].blocks = (double)(nblocks - larger);
    classes[0].share = (double)values / UMBELI_HALF_VALUES;
    classes[1].blocks = (double)larger;
    classes[1].share = (double)(values + 1) / UMBELI_HALF_VALUES;
}
