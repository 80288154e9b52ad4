/* SPDX-License-Identifier: MIT
 *
 * value_memory.h - a value's allocations: held while a thread reads them, and moved
 *
 * A server may delete, overwrite or flush a key at any moment, and frees its value, perhaps in
 * another thread.  A value that is held outlives that: whoever lets go of it last frees it.
 * Nothing changes or moves a value while it is held.
 */
#ifndef BF_VALUE_MEMORY_H
#define BF_VALUE_MEMORY_H

#include "api.h"
#include "value/value.h"

/* A value can be held several times and must be released as often, by the thread that serves
 * clients. */
void bf_value_hold(bf_value *v);
void bf_value_let_go(bf_value *v);
bool bf_value_held(const bf_value *v);

/* Frees a value that no key has, as soon as nobody holds it.  Any thread may call this. */
void bf_value_drop(bf_value *v);

/* Moves the value layer by layer to where the server's allocator wants it; *v may change.  1: the
 * time slice was used up, and the server will call again with the cursor that was set. */
int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **v);

/* Allocations moved since the module was loaded. */
uint64_t bf_defrag_moves(void);

#endif
