/* SPDX-License-Identifier: MIT
 *
 * plan_blocked.c - the model of split-block filters: a mixture over the loads of the blocks
 *
 * A key sets one of 32 bits in each of the 8 lanes of one block, so a block that got j keys says
 * yes to another key with probability (1 - (31/32)^j)^8.  Loads differ from block to block, and
 * crowded blocks lose more than sparse ones gain, which is why the textbook formula is too
 * optimistic.
 *
 * A block is chosen by ((hash >> 32) * nblocks) >> 32: it owns floor or ceil of 2^32 / nblocks of
 * the values of the upper half.  With v values its load is Binomial(keys, v / 2^32), and it gets v
 * / 2^32 of all look-ups.  With many blocks the two classes differ a lot: of 3 * 2^30 blocks one
 * third own two values, the others one.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_block_loads.h"
#include "plan/plan_model.h"

enum { BLOCK_BYTES = 32, FOLD_FROM = 8192, FOLD_STEP = 64 };

typedef struct mixture {
    double weight, yes;
} mixture;

static double mix(void *sums, const umbeli_load *load) {
    mixture *sum = sums;
    double yes = load->weight * umbeli_block_rate(load);
    sum->weight += load->weight;
    sum->yes += yes;
    return yes;
}

double umbeli_blocked_rate(uint64_t nblocks, uint64_t keys) {
    if (keys == 0) return 0.0;
    umbeli_block_class classes[2];
    umbeli_block_classes(nblocks, classes);
    if ((double)keys * classes[0].share > UMBELI_BLOCKED_FULL) return 1.0;
    double rate = 0.0;
    for (int i = 0; i < 2 && classes[i].blocks > 0.0; i++) {
        mixture sum = {0.0, 0.0};
        umbeli_loads_visit((double)keys, classes[i].share, mix, &sum);
        rate += classes[i].blocks * classes[i].share * (sum.yes / sum.weight);
    }
    return fmin(rate, 1.0);
}

static uint32_t eight(uint64_t bytes, uint64_t keys) {
    (void)bytes, (void)keys;
    return 8;
}

static double model_rate(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    (void)hashes;
    return umbeli_blocked_rate(bytes / BLOCK_BYTES, keys);
}

static double model_spread(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    (void)hashes;
    return umbeli_blocked_spread(bytes / BLOCK_BYTES, keys);
}

/* Keys whose 64-bit hash equals that of an added key. */
static double model_floor(uint64_t keys) {
    return (double)keys / (UMBELI_HALF_VALUES * UMBELI_HALF_VALUES);
}

/* Large filters have a multiple of 64 blocks, so that they can be folded in half six times. */
const umbeli_model umbeli_model_blocked = {
    .id = UMBEL_KIND_BLOCKED,
    .unit = BLOCK_BYTES,
    .units = (UINT64_C(1) << 32) - FOLD_STEP,
    .step_from = FOLD_FROM,
    .step = FOLD_STEP,
    .hashes_min = 8,
    .hashes_max = 8,
    .hashes = eight,
    .rate = model_rate,
    .spread = model_spread,
    .floor = model_floor,
    .too_large = "a blocked filter stays below 128 GiB; choose classic, fewer keys, a higher fpr "
                 "or fewer bytes",
    .too_small = "the smallest blocked filter has 32 bytes",
    .beyond = "a blocked filter needs more than that; try classic, more bytes, fewer keys or a "
              "higher fpr",
    .bad_hashes = "hashes: a blocked filter always has 8; leave it 0, or choose classic",
};
