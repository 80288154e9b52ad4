/* SPDX-License-Identifier: MIT
 *
 * static_layout.h - how a static filter is divided: shards, segments, fingerprint widths
 *
 * A static filter is 2^shard_bits binary fuse tables of equal size, the shards.  A table has
 * `segments` + arity - 1 segments of 2^segment_bits slots; a slot holds a fingerprint of `width`
 * bits, or one bit more in the first `wide` shards.
 */
#ifndef UMBELI_STATIC_LAYOUT_H
#define UMBELI_STATIC_LAYOUT_H

#include "umbel.h"

enum {
    UMBELI_STATIC_MAX_WIDTH = 32,
    UMBELI_STATIC_MAX_SHARD_BITS = 24,
    UMBELI_STATIC_MAX_SEGMENT_BITS = 18,
};

typedef struct umbeli_static_layout {
    uint32_t arity; /* slots per key: 3 or 4 */
    bool empty;     /* no keys, no shards, no bytes; all fields below except width are 0 */
    uint32_t shard_bits;
    uint32_t segment_bits, segments;
    uint32_t width, wide;
} umbeli_static_layout;

/* log2 of the number of shards, for 260 to 520 thousand keys per shard; at most
 * UMBELI_STATIC_MAX_SHARD_BITS. */
uint32_t umbeli_static_shard_bits(uint64_t keys);

/* The tables for `keys` distinct keys; arity 0 takes the one that gives the smaller filter;
 * `fullest` is the number of keys in the fullest shard if known, else 0.  Widths stay 0.  False:
 * too many keys. */
bool umbeli_static_divide(uint64_t keys, uint32_t arity, uint64_t fullest,
                          umbeli_static_layout *layout);

/* Sets the smallest widths with a rate of at most fpr, or the largest that fit into `bytes`; false
 * when there are none in 1 to 32. */
bool umbeli_static_widths_for_rate(umbeli_static_layout *layout, uint64_t keys, double fpr);
bool umbeli_static_widths_for_bytes(umbeli_static_layout *layout, uint64_t bytes);

static inline uint64_t umbeli_static_shards(const umbeli_static_layout *l) {
    return l->empty ? 0 : UINT64_C(1) << l->shard_bits;
}

/* The slots of one shard. */
static inline uint64_t umbeli_static_slots(const umbeli_static_layout *l) {
    return l->empty ? 0 : (uint64_t)(l->segments + l->arity - 1) << l->segment_bits;
}

/* Where the tables begin: after one byte per shard, its seed. */
static inline uint64_t umbeli_static_tables_at(const umbeli_static_layout *l) {
    return (umbeli_static_shards(l) + 7) / 8 * 8;
}

/* Bytes of one table with fingerprints of `width` bits; slots and width within their limits. */
static inline uint64_t umbeli_static_table_len(const umbeli_static_layout *l, uint32_t width) {
    return (umbeli_static_slots(l) * width + 7) / 8;
}

/* Total bytes; 0 when there are 2^63 or more, or none. */
uint64_t umbeli_static_len(const umbeli_static_layout *layout);

/* The false-positive rate once it is built. */
double umbeli_static_rate(const umbeli_static_layout *layout, uint64_t keys);

/* The probability that an absent key shares its 64-bit hash with one of the keys; 0 where that is
 * negligible against the table's rate. */
double umbeli_hash_collisions(uint64_t keys, double rate);

/* Planned room of one shard, in keys, if `keys` are spread evenly. */
uint64_t umbeli_static_room(uint64_t keys, uint32_t shard_bits);

#endif
