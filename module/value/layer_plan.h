/* SPDX-License-Identifier: MIT
 *
 * layer_plan.h - how large the layers of a blocked value are
 *
 * The first layer is for the reserved capacity and takes the bytes that RedisBloom takes for the
 * same promise.  It is blocked or line if it is large and its rate in those bytes leaves some of
 * the promised rate for later layers; otherwise classic, which uses up half of it: a small layer
 * fits in the cache whatever its kind, and is more likely than a large one to get successors.  Low
 * rates take more bytes with one memory access per item: a layer beyond the caches may have up to a
 * quarter more for that, so 0.01% takes 13% more than RedisBloom.
 * Later layers share the remainder as the layers of scalable filters do, and are blocked or line
 * unless that costs much more memory.  Auto-created filters (capacity 100 or less) size their first layer
 * like any later one: it will be outgrown, and the rate it leaves over is worth more than its few
 * bytes.  So the rates of all layers, however many, add up to no more than the promise.
 */
#ifndef BF_LAYER_PLAN_H
#define BF_LAYER_PLAN_H

#include "value/value.h"

typedef struct bf_layer_plan {
    umbel_kind kind;
    uint64_t keys, bytes;
    uint32_t hashes;
    double rate; /* of the layer once `keys` are in */
} bf_layer_plan;

/* The bytes of RedisBloom's link for this many keys at this rate; 0: too many to be possible. */
uint64_t bf_redisbloom_bytes(uint64_t keys, double rate);

/* The first layer; UMBEL_EINVAL with a message when no layer can keep the promise. */
umbel_err bf_plan_first(const bf_params *params, bf_layer_plan *out, umbel_diag *diag);

/* Layer i >= 1 after one for `keys`, if the first has first_rate.  UMBEL_EFULL: there is none. */
umbel_err bf_plan_next(const bf_params *params, uint32_t i, uint64_t keys, double first_rate,
                       bf_layer_plan *out);

#endif
