/* SPDX-License-Identifier: MIT
 *
 * value_memory.h - a value's allocations, moved where the server's allocator wants them
 */
#ifndef BF_VALUE_MEMORY_H
#define BF_VALUE_MEMORY_H

#include "api.h"
#include "value/value.h"

/* Moves the value layer by layer; *v may change.  1: the time slice was used up, and the server
 * will call again with the cursor that was set. */
int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **v);

/* Allocations moved since the module was loaded. */
uint64_t bf_defrag_moves(void);

#endif
