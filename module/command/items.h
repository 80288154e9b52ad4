/* SPDX-License-Identifier: MIT
 *
 * items.h - the items of a command as keys of a filter, in batches
 */
#ifndef BF_ITEMS_H
#define BF_ITEMS_H

#include "api.h"
#include "umbel.h"

enum { BF_BATCH = 256 };

static inline umbel_key bf_item_key(const RedisModuleString *item) {
    umbel_key key;
    key.data = RedisModule_StringPtrLen(item, &key.len);
    return key;
}

/* Fills in up to BF_BATCH keys and returns their number. */
static inline size_t bf_batch_fill(RedisModuleString **items, size_t left, umbel_key *keys) {
    size_t n = left < BF_BATCH ? left : BF_BATCH;
    for (size_t i = 0; i < n; i++) keys[i] = bf_item_key(items[i]);
    return n;
}

/* Whether a command that has processed this many items should yield to the server: every few
 * milliseconds. */
static inline bool bf_batch_pauses(size_t done) {
    return done > 0 && done % (64 * BF_BATCH) == 0;
}

#endif
