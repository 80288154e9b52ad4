/* SPDX-License-Identifier: MIT
 *
 * counting.h - a 4-bit counter for every bit of a blocked filter, so that keys can be removed
 *
 * Block, lanes and salts are those of the blocked kind; lane i of a block takes bytes 16 i to
 * 16 i + 15, the counter of its bit b the lower (b even) or upper half of byte b / 2.  A block has
 * 128 bytes, two cache lines.  Where a counter is not 0, the blocked filter of the same keys has
 * its bit set, and nowhere else.
 *
 * Counters stick at 15: what has once been so high is never counted down, because nobody knows any
 * more how high it would be.  So no key is ever missed that was not removed.
 *
 *   counting.c         one key, making, restoring
 *   counting_sets.c    whole filters: unite, intersect, subset, snapshot, measuring
 */
#ifndef UMBELI_COUNTING_H
#define UMBELI_COUNTING_H

#include "core/filter.h"

enum {
    UMBELI_COUNTING_BLOCK = 128, /* bytes */
    UMBELI_COUNTING_MOST = 15,
    UMBELI_SCHEME_COUNTING = 1,
};

typedef struct umbeli_counting {
    umbel_filter base;
    uint64_t nblocks; /* data_len / 128, below 2^32 */
} umbeli_counting;

static inline const umbeli_counting *umbeli_counting_of(const umbel_filter *f) {
    return (const umbeli_counting *)f;
}

/* Members of umbeli_ops. */
umbel_err umbeli_counting_unite(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);
umbel_err umbeli_counting_intersect(umbel_filter *into, const umbel_filter *with, umbel_diag *diag);
bool umbeli_counting_subset(const umbel_filter *part, const umbel_filter *whole);
umbel_err umbeli_counting_snapshot(const umbel_filter *f, umbel_filter **out, umbel_diag *diag);
void umbeli_counting_measure(const umbel_filter *f, umbel_info *info);

#endif
