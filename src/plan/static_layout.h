/* SPDX-License-Identifier: MIT
 *
 * static_layout.h - how a static filter is divided: shards, segments, fingerprint widths
 *
 * A static filter is 2^shard_bits binary fuse tables of equal size, the shards.  A table has
 * `segments` + arity - 1 segments of 2^segment_bits slots; a slot holds a fingerprint of `width`
 * bits, in the first `wide` shards of one bit more.
 */
#ifndef UMBELI_STATIC_LAYOUT_H
#define UMBELI_STATIC_LAYOUT_H

#include "umbel.h"

enum {
    UMBELI_STATIC_WIDTH = 32,        /* the most */
    UMBELI_STATIC_SHARD_BITS = 24,   /* the most */
    UMBELI_STATIC_SEGMENT_BITS = 18, /* the most */
};

typedef struct umbeli_static_layout {
    uint32_t arity; /* slots a key: 3 or 4 */
    bool empty;     /* no keys, no shards, no bytes; all below but the width is 0 */
    uint32_t shard_bits;
    uint32_t segment_bits, segments;
    uint32_t width, wide;
} umbeli_static_layout;

/* Shards of 260 to 520 thousand keys: so many are 2 to the power of this, if that is at most
 * UMBELI_STATIC_SHARD_BITS; else that. */
uint32_t umbeli_static_shard_bits(uint64_t keys);

/* The tables for `keys` distinct keys, whatever arity is smaller if it is given as 0; `fullest` is
 * the most keys of one shard if that is known, else 0.  Widths stay 0.  False: too many keys. */
bool umbeli_static_divide(uint64_t keys, uint32_t arity, uint64_t fullest,
                          umbeli_static_layout *layout);

/* Sets the least widths with a rate of at most fpr, or the largest that fit into `bytes`; false
 * when there are none in 1 to 32. */
bool umbeli_static_widths_for_rate(umbeli_static_layout *layout, uint64_t keys, double fpr);
bool umbeli_static_widths_for_bytes(umbeli_static_layout *layout, uint64_t bytes);

static inline uint64_t umbeli_static_shards(const umbeli_static_layout *l) {
    return l->empty ? 0 : UINT64_C(1) << l->shard_bits;
}

/* Of one shard. */
static inline uint64_t umbeli_static_slots(const umbeli_static_layout *l) {
    return l->empty ? 0 : (uint64_t)(l->segments + l->arity - 1) << l->segment_bits;
}

/* Where the tables begin: behind one byte a shard, its seed. */
static inline uint64_t umbeli_static_tables_at(const umbeli_static_layout *l) {
    return (umbeli_static_shards(l) + 7) / 8 * 8;
}

/* Bytes of one table with fingerprints of so many bits; slots and width within their limits. */
static inline uint64_t umbeli_static_table_len(const umbeli_static_layout *l, uint32_t width) {
    return (umbeli_static_slots(l) * width + 7) / 8;
}

/* Bytes of all; 0 when there are 2^63 or more, or none. */
uint64_t umbeli_static_len(const umbeli_static_layout *layout);

/* The rate once it is built. */
double umbeli_static_rate(const umbeli_static_layout *layout, uint64_t keys);

/* Keys that one shard has room for by the plan, if `keys` are spread evenly. */
uint64_t umbeli_static_room(uint64_t keys, uint32_t shard_bits);

#endif
