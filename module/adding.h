/* SPDX-License-Identifier: MIT
 *
 * adding.h - what BF.ADD, BF.MADD and BF.INSERT have in common
 */
#ifndef BF_ADDING_H
#define BF_ADDING_H

#include "slot.h"

/* Adds the one item and replies whether it is new.  `created`: what the filter was just made with,
 * or NULL when it was there before. */
void bf_add_item(bf_slot *slot, RedisModuleString *item, const bf_params *created);

/* Adds the items in order and replies an array: whether each is new, and behind those that were
 * added the error that ended it, if one did.  They must be the last arguments of the command. */
void bf_add_items(bf_slot *slot, RedisModuleString **items, size_t count, const bf_params *created);

#endif
