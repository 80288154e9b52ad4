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
 * EXPANSION n makes each layer n times as large as the one before.  That way, a filter that nobody
 * reserved (EXPANSION auto and a capacity of at most 100) would get a layer per doubling: 17 at ten
 * million keys.  Its first layers keep hashes instead (kind/chain/packed.c) and are replaced by
 * larger ones as keys come, so that it never takes much more than its keys need: up to 700 keys 18
 * bits of each hash, in the next layer, up to 45,000, 25 bits, then 31 up to 7 million; those that
 * the order of the hashes implies are not stored.  Filters follow, in steps of 1.5.
 */
#ifndef BF_LAYER_PLAN_H
#define BF_LAYER_PLAN_H

#include "value/value.h"

/* One-layer filters of at most this many bytes are kept in a compact form (value_unboxed.h). */
enum { BF_SMALL_BYTES = 16 * 1024, BF_SMALL_PACKED_BYTES = 2048, BF_SMALL_KEYS = 700 };

typedef struct bf_layer_plan {
    const umbeli_probes *probes;
    uint64_t keys, bytes;
    uint32_t hashes;
    double rate;   /* of the layer once `keys` are in */
    bool replaces; /* it takes the place of the newest layer, and its keys */
} bf_layer_plan;

/* A chain that is full, and is to get another layer. */
typedef struct bf_full_chain {
    uint32_t layers;
    bf_layer_plan newest;
    double first_rate;
    bool roughly; /* only an estimate: layers of millions of keys may be a few percent off */
} bf_full_chain;

/* The bytes of RedisBloom's link for this many keys at this rate; 0: too many to be possible. */
uint64_t bf_redisbloom_bytes(uint64_t keys, double rate);

/* The first layer; UMBEL_EINVAL with a message when no layer can keep the promise. */
umbel_err bf_plan_first(const bf_params *params, bf_layer_plan *out, umbel_diag *diag);

/* The next layer, or one in place of the newest.  UMBEL_EFULL: there is none. */
umbel_err bf_plan_next(const bf_params *params, const bf_full_chain *full, bf_layer_plan *out);

/* The only layer of a filter that nobody reserved, once it has grown to this many keys, at most
 * BF_SMALL_KEYS.  False: such a filter is not made for these parameters. */
bool bf_plan_grown(const bf_params *params, uint64_t keys, bf_layer_plan *out);

/* The planned layer, empty. */
umbeli_layer bf_planned_layer(const bf_layer_plan *plan);

/* A packed layer in the next size; false: there is none. */
bool bf_plan_larger(bf_layer_plan *plan);

#endif
