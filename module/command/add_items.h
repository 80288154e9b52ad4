/* SPDX-License-Identifier: MIT
 *
 * add_items.h - what BF.ADD, BF.MADD and BF.INSERT have in common
 */
#ifndef BF_ADD_ITEMS_H
#define BF_ADD_ITEMS_H

#include "api.h"
#include "command/open_key.h"
#include "umbel.h"

/* Adds the one item and replies whether it is new.  `created`: what the filter was just made with,
 * or NULL when it was there before. */
void bf_add_item(bf_key *key, RedisModuleString *item, const bf_params *created);

/* Adds the items in order and replies an array: whether each is new, and behind those that were
 * added the error that ended it, if one did.  They must be the last arguments of the command. */
void bf_add_items(bf_key *key, RedisModuleString **items, size_t count, const bf_params *created);

enum { BF_BATCH = 256 };

static inline umbel_key bf_item_key(const RedisModuleString *item) {
    umbel_key key;
    key.data = RedisModule_StringPtrLen(item, &key.len);
    return key;
}

/* Fills in up to BF_BATCH keys; returns how many. */
static inline size_t bf_batch_take(RedisModuleString **items, size_t left, umbel_key *keys) {
    size_t n = left < BF_BATCH ? left : BF_BATCH;
    for (size_t i = 0; i < n; i++) keys[i] = bf_item_key(items[i]);
    return n;
}

/* Whether a command that has done so many should now let the server breathe: every few
 * milliseconds. */
static inline bool bf_batch_pauses(size_t done) {
    return done > 0 && done % (64 * BF_BATCH) == 0;
}

#endif
