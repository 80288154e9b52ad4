/* SPDX-License-Identifier: MIT
 *
 * layer_plan.h - how large the layers of a blocked value are
 *
 * The first layer is for the reserved capacity and takes the bytes that RedisBloom takes for the
 * same promise, never more.  Blocked, if it is large and its rate in those bytes leaves a rest for
 * layers to come; else classic, which keeps half the promise in them: a small layer lies in the
 * cache whatever its kind, and will have successors more likely than a large one.  Later layers
 * share the rest as the layers of scalable filters do, and are blocked unless that costs much more
 * memory.  Filters that no command reserved (capacity 100 or less) size their first layer like any
 * other: it will be outgrown, and what it leaves of the rate is worth more than its few bytes.  So
 * the rates of all layers, however many, stay within the promise.
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

/* The bytes of RedisBloom's link for this many keys at this rate; 0: more than there can be. */
uint64_t bf_redisbloom_bytes(uint64_t keys, double rate);

/* The first layer; UMBEL_EINVAL with a message when no layer can keep the promise. */
umbel_err bf_plan_first(const bf_params *params, bf_layer_plan *out, umbel_diag *diag);

/* Layer i >= 1 after one for `keys`, if the first has first_rate.  UMBEL_EFULL: there is none. */
umbel_err bf_plan_next(const bf_params *params, uint32_t i, uint64_t keys, double first_rate,
                       bf_layer_plan *out);

#endif
