/* SPDX-License-Identifier: MIT
 *
 * plan_blocked.c - the model of split-block filters: a mixture over the loads of the blocks
 *
 * A key sets one of 32 bits in each of the 8 lanes of one block, so a block that got j keys says
 * yes to another one with (1 - (31/32)^j)^8.  Loads differ from block to block, and the crowded
 * ones lose more than the empty ones win: that is why the textbook formula is too hopeful.
 *
 * A block is chosen by ((hash >> 32) * nblocks) >> 32: it owns floor or ceil of 2^32 / nblocks of
 * the values of the upper half.  With v values its load is Binomial(keys, v / 2^32), and v / 2^32
 * of all look-ups come to it.  With many blocks the two classes differ much: of 3 * 2^30 blocks
 * one third own two values, the others one.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_model.h"

enum { BLOCK_BYTES = 32, FOLD_FROM = 8192, FOLD_STEP = 64 };

#define HALF_VALUES 4294967296.0 /* 2^32: values of either half of the hash */

/* The rate of a block that holds j keys, `clear` being (31/32)^j.  The lanes share the 32 bits of
 * the lower half, so a key whose lower half is that of an added one always gets a yes. */
static double block_rate(double j, double clear) {
    double lane = 1.0 - clear, two = lane * lane, four = two * two, all = four * four;
    return all + (1.0 - all) * fmin(j / HALF_VALUES, 1.0);
}

typedef struct mixture {
    double weight, yes; /* of the loads so far: their sum, and their sum times block_rate */
} mixture;

static void mix(mixture *sum, double weight, double j, double clear) {
    sum->weight += weight;
    sum->yes += weight * block_rate(j, clear);
}

/* The mean block_rate over loads j ~ Binomial(keys, share).  Weights start with 1 at the mode and
 * are divided by their sum in the end, so nothing as large as a factorial is ever computed. */
static double loads_rate(double keys, double share) {
    const double negligible = 0x1p-60;
    if (share >= 1.0) return block_rate(keys, pow(31.0 / 32.0, keys));
    double mode = fmin(floor((keys + 1.0) * share), keys), odds = share / (1.0 - share);
    mixture sum = {0.0, 0.0};

    /* Upwards block_rate still rises: go on until the products fall, and have fallen enough. */
    double weight = 1.0, clear_mode = pow(31.0 / 32.0, mode), clear = clear_mode;
    double before = 0.0, last = 0.0;
    for (double j = mode; j <= keys; j += 1.0) {
        before = last;
        last = weight * block_rate(j, clear);
        mix(&sum, weight, j, clear);
        if (j > mode && last < before && last < sum.yes * negligible &&
            weight < sum.weight * negligible) {
            break;
        }
        weight *= (keys - j) / (j + 1.0) * odds;
        clear *= 31.0 / 32.0;
    }

    weight = 1.0;
    clear = clear_mode;
    for (double j = mode; j >= 1.0 && weight > sum.weight * negligible; j -= 1.0) {
        weight *= j / (keys - j + 1.0) / odds;
        clear *= 32.0 / 31.0;
        mix(&sum, weight, j - 1.0, clear);
    }
    return sum.yes / sum.weight;
}

double umbeli_blocked_rate(uint64_t nblocks, uint64_t keys) {
    if (keys == 0) return 0.0;
    uint64_t values = (UINT64_C(1) << 32) / nblocks;
    uint64_t larger = (UINT64_C(1) << 32) % nblocks; /* blocks that own one value more */
    double few = (double)values / HALF_VALUES, more = (double)(values + 1) / HALF_VALUES;
    /* From here on 1 - rate is below 8 * exp(-load / 32), less than a double can tell from 0. */
    if ((double)keys * few > 1500.0) return 1.0;
    double rate = (double)(nblocks - larger) * few * loads_rate((double)keys, few);
    if (larger != 0) rate += (double)larger * more * loads_rate((double)keys, more);
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

/* Keys whose 64-bit hash is that of an added one. */
static double model_floor(uint64_t keys) {
    return (double)keys / (HALF_VALUES * HALF_VALUES);
}

/* Large filters have a multiple of 64 blocks, so that they can be folded to half six times. */
const umbeli_model umbeli_model_blocked = {
    .id = UMBEL_BLOCKED,
    .unit = BLOCK_BYTES,
    .units = (UINT64_C(1) << 32) - FOLD_STEP,
    .step_from = FOLD_FROM,
    .step = FOLD_STEP,
    .hashes_least = 8,
    .hashes_most = 8,
    .hashes = eight,
    .rate = model_rate,
    .floor = model_floor,
    .too_large = "a blocked filter ends just below 128 GiB: a classic one does not, or plan for "
                 "fewer keys, a higher fpr or fewer bytes",
    .too_small = "the smallest blocked filter has 32 bytes",
    .beyond = "a blocked filter needs more than that: a classic one may do, or give it more bytes, "
              "fewer keys or a higher fpr",
    .bad_hashes = "a blocked filter has 8 hashes, always: leave them 0, or choose classic",
};
