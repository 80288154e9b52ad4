/* SPDX-License-Identifier: MIT
 *
 * layer_plan.h - how large the layers of a blocked value are
 *
 * The first layer is for the reserved capacity and takes the bytes that RedisBloom takes for the
 * same promise.  It is blocked or line if it is large and its rate in those bytes leaves some of
 * the promised rate for later layers; otherwise classic, which uses up half of it: a small layer
 * fits in the cache whatever its kind, and is more likely than a large one to get successors.  Low
 * rates take more bytes with one memory access per item: a layer beyond the caches may have up to a
 * quarter more for that, so 0.01% takes 13% more than RedisBloom.  Later layers share the remainder
 * as the layers of scalable filters do, and are blocked or line unless that costs much more memory.
 * So the rates of all layers, however many, add up to no more than the promise.
 *
 * EXPANSION n makes each layer n times as large as the one before.  A filter that nobody reserved
 * (EXPANSION auto and a capacity of at most 100) would so get a layer per doubling: 17 at ten
 * million keys.  It keeps the hashes of its further keys instead, 8 bytes each, in a table that
 * grows (kind/chain/exact.c), up to half a megabyte of them; then a filter for five times as many
 * keys takes the place of the table, and the next ones are five times as large as all before, from
 * ten million keys on twice.  Such a chain has few layers, so each gets a larger share of the rate.
 */
#ifndef BF_LAYER_PLAN_H
#define BF_LAYER_PLAN_H

#include "value/value.h"

/* One-layer filters of at most this many bytes are kept in a compact form (value_small.h). */
enum { BF_SMALL_BYTES = 1024 };

typedef struct bf_layer_plan {
    const umbeli_probes *probes;
    uint64_t keys, bytes;
    uint32_t hashes;
    double rate; /* of the layer once `keys` are in */
} bf_layer_plan;

/* A chain that is full, and is to get another layer. */
typedef struct bf_full_chain {
    uint32_t layers;
    bool exact;            /* its last layer keeps hashes ... */
    uint64_t exact_bytes;  /* ... in this many bytes, and is to be replaced */
    uint64_t last, others; /* capacities: of the last layer, and of all others together */
    double first_rate;
} bf_full_chain;

/* The bytes of RedisBloom's link for this many keys at this rate; 0: too many to be possible. */
uint64_t bf_redisbloom_bytes(uint64_t keys, double rate);

/* The first layer; UMBEL_EINVAL with a message when no layer can keep the promise. */
umbel_err bf_plan_first(const bf_params *params, bf_layer_plan *out, umbel_diag *diag);

/* The next layer, or that which replaces an exact one.  UMBEL_EFULL: there is none. */
umbel_err bf_plan_next(const bf_params *params, const bf_full_chain *full, bf_layer_plan *out);

#endif
