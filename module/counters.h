/* SPDX-License-Identifier: MIT
 *
 * counters.h - what has happened since the module was loaded; INFO bf shows it
 */
#ifndef BF_COUNTERS_H
#define BF_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum bf_event {
    BF_REFUSED_FULL,     /* adds to a filter that may not grow, or not any further */
    BF_REFUSED_MEMORY,   /* adds and new filters above the limit, or without memory */
    BF_LAYERS_ADDED,     /* by growing filters */
    BF_MERGES,           /* done */
    BF_MERGES_RUNNING,   /* in the background, now */
    BF_WINDOWS_ADVANCED, /* generations that were forgotten by the clock */
    BF_DUMPS_REFUSED,    /* invalid ones, from clients or RDB files */
    BF_MERGE_PAUSE,      /* the longest, in milliseconds, that replicating a merge took */
    BF_EVENTS
} bf_event;

extern _Atomic uint64_t bf_counters[BF_EVENTS];

static inline void bf_count(bf_event event, int64_t n) {
    if (n) atomic_fetch_add_explicit(&bf_counters[event], (uint64_t)n, memory_order_relaxed);
}

#endif
