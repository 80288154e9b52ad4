/* SPDX-License-Identifier: MIT
 *
 * tight_layout.h - how a tight filter is divided: levels, shards, blocks, widths
 *
 * A tight filter has a few levels, each for the keys that found no place in the level before.  A
 * level is 2^shard_bits tables of equal size, the shards; a table is `blocks` blocks of 64 slots.
 * A slot holds `width` bits in the first `narrow` blocks of a table and one bit more in the others.
 */
#ifndef UMBELI_TIGHT_LAYOUT_H
#define UMBELI_TIGHT_LAYOUT_H

#include "umbel.h"

enum {
    UMBELI_TIGHT_BLOCK = 64,   /* slots */
    UMBELI_TIGHT_BUCKET = 192, /* places that share a threshold */
    UMBELI_TIGHT_LOW = 24,     /* the thresholds: places of a bucket below it go on to the next */
    UMBELI_TIGHT_HIGH = 48,    /* level; 0 and UMBELI_TIGHT_BUCKET are the other two */
    UMBELI_TIGHT_MAX_WIDTH = 32,
    UMBELI_TIGHT_MAX_LEVELS = 8,
    UMBELI_TIGHT_MAX_SHARD_BITS = 24,
    UMBELI_TIGHT_MAX_BLOCKS = 1 << 24 /* of one table */
};

typedef struct umbeli_tight_level {
    uint32_t shard_bits, blocks, narrow;
} umbeli_tight_level;

typedef struct umbeli_tight_layout {
    uint32_t width;
    uint32_t levels; /* 0: no keys, no bytes */
    umbeli_tight_level level[UMBELI_TIGHT_MAX_LEVELS];
} umbeli_tight_layout;

/* The levels for `keys` distinct keys; widths stay 0.  False: too many keys. */
bool umbeli_tight_divide(uint64_t keys, umbeli_tight_layout *layout);

/* Widths of all levels: `width` bits, and one more in the last `wide` blocks of the first level's
 * tables; in the other levels in at least the same share.  There are more blocks than `wide`. */
void umbeli_tight_set_widths(umbeli_tight_layout *layout, uint32_t width, uint32_t wide);

/* Sets the smallest widths that keep the promise fpr, or the largest that fit into `bytes`; false
 * when there are none up to 32 bits. */
bool umbeli_tight_widths_for_rate(umbeli_tight_layout *layout, uint64_t keys, double fpr);
bool umbeli_tight_widths_for_bytes(umbeli_tight_layout *layout, uint64_t bytes);

/* Places where a key's row of 64 slots may begin in a table of this level. */
static inline uint32_t umbeli_tight_places(const umbeli_tight_level *l) {
    return UMBELI_TIGHT_BLOCK * (l->blocks - 1) + 1;
}

/* 64-bit words in one table. */
static inline uint64_t umbeli_tight_table_words(const umbeli_tight_level *l, uint32_t width) {
    return (uint64_t)l->blocks * width + (l->blocks - l->narrow);
}

/* Bytes for the thresholds of one table, four to a byte.  The last level has none. */
static inline uint64_t umbeli_tight_marks_len(const umbeli_tight_level *l) {
    uint32_t buckets = (umbeli_tight_places(l) + UMBELI_TIGHT_BUCKET - 1) / UMBELI_TIGHT_BUCKET;
    return (buckets + 3) / 4;
}

/* Where the tables begin: after all thresholds. */
uint64_t umbeli_tight_tables_at(const umbeli_tight_layout *layout);

/* Total bytes; 0 when there are 2^60 or more, or none. */
uint64_t umbeli_tight_len(const umbeli_tight_layout *layout);

/* The mean rate over all filters of this layout; and what all but one in a thousand keep. */
double umbeli_tight_rate(const umbeli_tight_layout *layout, uint64_t keys);
double umbeli_tight_promise(const umbeli_tight_layout *layout, uint64_t keys);

#endif
