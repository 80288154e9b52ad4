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
    UMBELI_TIGHT_BLOCK = 64, /* slots */
    UMBELI_TIGHT_MAX_WINDOW = 2,
    UMBELI_TIGHT_MAX_BUCKET = 640,
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

/* The smallest layout for `keys` distinct keys that keeps the promise fpr, or the one with the
 * largest widths that fits into `bytes`; false when there is none with at most 32 bits, or
 * there are too many keys. */
bool umbeli_tight_for_rate(uint64_t keys, double fpr, umbeli_tight_layout *layout);
bool umbeli_tight_for_bytes(uint64_t keys, uint64_t bytes, umbeli_tight_layout *layout);
bool umbeli_tight_too_many(uint64_t keys);

/* The layout whose slots all have `width` bits, at least 1; false: there are too many keys. */
bool umbeli_tight_for_width(uint64_t keys, uint32_t width, umbeli_tight_layout *layout);

/* Widths of all levels: `width` bits, and one more in the last `wide` blocks of the first level's
 * tables; in the other levels in at least the same share.  There are more blocks than `wide`. */
void umbeli_tight_set_widths(umbeli_tight_layout *layout, uint32_t width, uint32_t wide);

/* ---- windows ------------------------------------------------------------------------------- */

/* Words of a key's row, which selects from as many blocks' worth of slots: two where no slot has
 * more than two bits.  Windows of 128 slots need fewer thresholds and leave fewer slots empty,
 * which counts most when slots are small; but building takes longer, and the last slots of a table,
 * where no window begins, are too large a part of a small one. */
static inline uint32_t umbeli_tight_window(const umbeli_tight_layout *l) {
    bool wide = l->level[0].narrow < l->level[0].blocks;
    return l->levels > 1 && l->width + wide <= 2 ? 2 : 1;
}

/* Places that share a threshold. */
static inline uint32_t umbeli_tight_bucket(uint32_t window) {
    return window == 2 ? 640 : 192;
}

/* The four thresholds: 0, 24, 48, 192, or 0, 48, 96, 640.  Keys at places of a bucket below its
 * threshold are passed on to the next level. */
static inline uint32_t umbeli_tight_threshold(uint32_t window, uint32_t code) {
    uint32_t eighths = window == 2 ? UINT32_C(0x500c0600) : UINT32_C(0x18060300);
    return ((eighths >> (8 * code)) & 0xff) * 8;
}

/* Places where a key's window may begin in a table of this level. */
static inline uint32_t umbeli_tight_places(const umbeli_tight_level *l, uint32_t window) {
    return UMBELI_TIGHT_BLOCK * (l->blocks - window) + 1;
}

/* ---- lengths ------------------------------------------------------------------------------- */

/* 64-bit words in one table. */
static inline uint64_t umbeli_tight_table_words(const umbeli_tight_level *l, uint32_t width) {
    return (uint64_t)l->blocks * width + (l->blocks - l->narrow);
}

/* Bytes for the thresholds of one table, four to a byte.  The last level has none. */
static inline uint64_t umbeli_tight_marks_len(const umbeli_tight_level *l, uint32_t window) {
    uint32_t bucket = umbeli_tight_bucket(window);
    uint32_t buckets = (umbeli_tight_places(l, window) + bucket - 1) / bucket;
    return (buckets + 3) / 4;
}

/* Where the tables begin: after all thresholds. */
uint64_t umbeli_tight_tables_at(const umbeli_tight_layout *layout);

/* Total bytes; 0 when there are 2^60 or more, or none. */
uint64_t umbeli_tight_len(const umbeli_tight_layout *layout);

/* The mean rate over all filters of this layout; and one that 97 of 100 keep, so that it can be
 * promised: the others are built again with another seed. */
double umbeli_tight_rate(const umbeli_tight_layout *layout, uint64_t keys);
double umbeli_tight_promise(const umbeli_tight_layout *layout, uint64_t keys);

/* How many places of a level pass keys on: of those with an extra bit, and in all. */
typedef struct umbeli_tight_passed {
    uint64_t wide, all;
} umbeli_tight_passed;

/* The rate of one filter, from what each of its levels except the last passes on. */
double umbeli_tight_exact_rate(const umbeli_tight_layout *layout, uint64_t keys,
                               const umbeli_tight_passed *passed);

#endif
