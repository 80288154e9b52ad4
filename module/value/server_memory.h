/* SPDX-License-Identifier: MIT
 *
 * server_memory.h - filters live in the server's memory; asking for too much of it is an error
 *                   reply, not the end of the server
 */
#ifndef BF_SERVER_MEMORY_H
#define BF_SERVER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umbel.h"

/* RedisModule_TryAlloc and Free, adding up what the allocator gives. */
extern const umbel_alloc bf_memory;

/* What bf_memory has given and not got back, in the allocator's sizes. */
uint64_t bf_memory_bytes(void);

/* The same for what is no filter: zeroed, NULL when there is none. */
void *bf_memory_new(size_t size);
void bf_memory_delete(void *ptr);

/* Allocations of at least this size are checked against what the system has. */
#define BF_LARGE ((size_t)64 << 20)

/* Kernels overcommit: a large allocation succeeds, and its first use gets the server killed.  True
 * where nothing is known. */
bool bf_memory_available(size_t bytes);

#endif
