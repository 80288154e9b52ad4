/* SPDX-License-Identifier: MIT
 *
 * plan_blocked.c - the model of blocked and line filters: a mixture over the loads of the blocks
 *
 * A key sets one of 32 bits in each of the 8 lanes of one block, so a block that got j keys says
 * yes to another key with probability (1 - (31/32)^j)^8.  Loads differ from block to block, and
 * crowded blocks lose more than sparse ones gain, which is why the textbook formula is too
 * optimistic.  Lines have 512 bits in 4, 8 or 16 lanes; everything else is the same.
 *
 * A block is chosen by ((hash >> 32) * nblocks) >> 32: it owns floor or ceil of 2^32 / nblocks of
 * the values of the upper half.  With v values its load is Binomial(keys, v / 2^32), and it gets v
 * / 2^32 of all lookups.  With many blocks the two classes differ a lot: of 3 * 2^30 blocks one
 * third own two values, the others one.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_block_loads.h"
#include "plan/plan_model.h"

enum { BLOCK_BYTES = 32, LINE_BYTES = 64 };

static const umbeli_lanes split_block = {8, 32};

static umbeli_lanes line_of(uint32_t lanes) {
    return (umbeli_lanes){lanes, 8 * LINE_BYTES / lanes};
}

typedef struct mixture {
    umbeli_lanes form;
    double weight, yes;
} mixture;

static double mix(void *sums, const umbeli_load *load) {
    mixture *sum = sums;
    double yes = load->weight * umbeli_block_rate(sum->form, load);
    sum->weight += load->weight;
    sum->yes += yes;
    return yes;
}

double umbeli_blocks_rate(umbeli_lanes form, uint64_t nblocks, uint64_t keys) {
    if (keys == 0) return 0.0;
    umbeli_block_class classes[2];
    umbeli_block_classes(nblocks, classes);
    if ((double)keys * classes[0].share > umbeli_load_full(form)) return 1.0;
    double rate = 0.0;
    for (int i = 0; i < 2 && classes[i].blocks > 0.0; i++) {
        mixture sum = {.form = form};
        umbeli_loads_visit(form, (double)keys, classes[i].share, mix, &sum);
        rate += classes[i].blocks * classes[i].share * (sum.yes / sum.weight);
    }
    return fmin(rate, 1.0);
}

/* ---- Blocked ---- */

double umbeli_blocked_rate(uint64_t nblocks, uint64_t keys) {
    return umbeli_blocks_rate(split_block, nblocks, keys);
}

double umbeli_blocked_spread(uint64_t nblocks, uint64_t keys) {
    return umbeli_blocks_spread(split_block, nblocks, keys);
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

const umbeli_model umbeli_model_blocked = {
    .id = UMBEL_KIND_BLOCKED,
    .unit = BLOCK_BYTES,
    UMBELI_BLOCK_STEPS,
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

/* ---- Line ---- */

double umbeli_line_rate(uint64_t nlines, uint32_t lanes, uint64_t keys) {
    return umbeli_blocks_rate(line_of(lanes), nlines, keys);
}

double umbeli_line_spread(uint64_t nlines, uint32_t lanes, uint64_t keys) {
    return umbeli_blocks_spread(line_of(lanes), nlines, keys);
}

static double line_model_rate(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return umbeli_line_rate(bytes / LINE_BYTES, hashes, keys);
}

static double line_model_spread(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return umbeli_line_spread(bytes / LINE_BYTES, hashes, keys);
}

uint32_t umbeli_line_hashes(uint64_t nlines, uint64_t keys) {
    uint32_t best = 8;
    double lowest = 2.0;
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        double promise =
            umbeli_line_rate(nlines, lanes, keys) + 3.0 * umbeli_line_spread(nlines, lanes, keys);
        if (promise >= lowest) continue;
        lowest = promise;
        best = lanes;
    }
    return best;
}

static uint32_t line_model_hashes(uint64_t bytes, uint64_t keys) {
    return umbeli_line_hashes(bytes / LINE_BYTES, keys);
}

const umbeli_model umbeli_model_line = {
    .id = UMBEL_KIND_LINE,
    .unit = LINE_BYTES,
    UMBELI_BLOCK_STEPS,
    .hashes_min = 4,
    .hashes_max = 16,
    .hashes_doubling = true,
    .hashes = line_model_hashes,
    .rate = line_model_rate,
    .spread = line_model_spread,
    .floor = model_floor,
    .too_large = "a line filter stays below 256 GiB; choose classic, fewer keys, a higher fpr "
                 "or fewer bytes",
    .too_small = "the smallest line filter has 64 bytes",
    .beyond = "a line filter needs more than that; try classic, more bytes, fewer keys or a "
              "higher fpr",
    .bad_hashes =
        "hashes: a line filter has 4, 8 or 16; leave it 0 for the best, or choose classic",
};
