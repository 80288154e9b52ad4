/* SPDX-License-Identifier: MIT
 *
 * plan_counting.c - the model of counting filters: a blocked filter with a bit for each counter, at
 * four times the memory
 */
#include "plan/plan.h"
#include "plan/plan_model.h"

enum { BLOCK_BYTES = 128, COUNTER_BITS = 4 };

static uint32_t model_hashes(uint64_t bytes, uint64_t keys) {
    return umbeli_model_blocked.hashes(bytes / COUNTER_BITS, keys);
}

static double model_rate(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return umbeli_model_blocked.rate(bytes / COUNTER_BITS, hashes, keys);
}

static double model_spread(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return umbeli_model_blocked.spread(bytes / COUNTER_BITS, hashes, keys);
}

static double model_floor(uint64_t keys) {
    return umbeli_model_blocked.floor(keys);
}

/* Steps as for blocked filters, so that a snapshot can be folded as often. */
const umbeli_model umbeli_model_counting = {
    .id = UMBEL_KIND_COUNTING,
    .unit = BLOCK_BYTES,
    UMBELI_BLOCK_STEPS,
    .hashes_min = 8,
    .hashes_max = 8,
    .hashes = model_hashes,
    .rate = model_rate,
    .spread = model_spread,
    .floor = model_floor,
    .too_large = "a counting filter stays below 512 GiB; choose fewer keys, a higher fpr or fewer "
                 "bytes",
    .too_small = "the smallest counting filter has 128 bytes",
    .beyond = "a counting filter needs more than that, four times what a blocked one does; give "
              "more bytes, fewer keys or a higher fpr",
    .bad_hashes = "hashes: a counting filter always has 8; leave it 0",
};
