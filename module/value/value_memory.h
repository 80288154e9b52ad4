/* SPDX-License-Identifier: MIT
 *
 * value_memory.h - a value's allocations: held while a thread reads them, and moved
 *
 * A server may delete, overwrite or flush a key at any moment, and frees its value, perhaps in
 * another thread.  A value that is held outlives that: whoever lets go of it last frees it.
 *
 * The rule for everybody who comes across a value: readers have a `const bf_value *`, and only
 * bf_value_edit gives one that can be changed, which a held value does not have.  So nothing
 * changes or moves it, and threads read it without a lock.  Callers wait for the merge that holds
 * it, or settle it (merging.c), or come back later: that is when a held window forgets, and a held
 * value is defragmented.
 */
#ifndef BF_VALUE_MEMORY_H
#define BF_VALUE_MEMORY_H

#include "api.h"
#include "value/value.h"

/* A value can be held several times and must be released as often. */
void bf_value_hold(const bf_value *v);
void bf_value_let_go(const bf_value *v);

/* The value that the server has in a key (NULL: it has none), to be changed; NULL while it is held.
 * These three are for the thread that serves clients. */
bf_value *bf_value_edit(void *value);

/* Frees a value that no key has, as soon as nobody holds it.  Any thread may call this. */
void bf_value_drop(void *value);

/* Moves the value layer by layer to where the server's allocator wants it; *v may change.  1: the
 * time slice was used up, and the server will call again with the cursor that was set. */
int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **v);

/* Allocations moved since the module was loaded. */
uint64_t bf_defrag_moves(void);

#endif
