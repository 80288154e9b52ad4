/* SPDX-License-Identifier: MIT
 *
 * heap.h - filters live in the server's memory, and asking for too much of it is an error, not the
 *          end of the server
 */
#ifndef BF_HEAP_H
#define BF_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "umbel.h"

/* RedisModule_TryAlloc and Free, adding up what the allocator gives. */
extern const umbel_alloc bf_heap;

/* What bf_heap has given and not got back, in the allocator's sizes. */
uint64_t bf_heap_bytes(void);

/* The same for what is no filter: zeroed, NULL when there is none. */
void *bf_heap_new(size_t size);
void bf_heap_delete(void *ptr);

#endif
