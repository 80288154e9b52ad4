/* SPDX-License-Identifier: MIT
 *
 * server_memory.h - filters live in the server's memory; asking for too much of it gives an error
 *                   reply instead of aborting the server
 */
#ifndef BF_SERVER_MEMORY_H
#define BF_SERVER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umbel.h"

/* RedisModule_TryAlloc and Free that keep count of the bytes allocated. */
extern const umbel_alloc bf_memory;

/* Bytes allocated through bf_memory and not yet freed, in the allocator's size classes. */
uint64_t bf_memory_bytes(void);

/* The same for anything that is not a filter: zeroed; NULL when out of memory. */
void *bf_memory_new(size_t size);
void bf_memory_delete(void *ptr);

/* Allocations of at least this size are checked against the memory that the system has left. */
#define BF_LARGE ((size_t)64 << 20)

/* Kernels overcommit: a large allocation succeeds, and its first use gets the server killed.  True
 * where available memory is unknown. */
bool bf_memory_available(size_t bytes);

#endif
