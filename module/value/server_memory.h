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

#include "core/settings.h"

/* Call from the thread that serves clients, before all others. */
void bf_memory_register(void);

/* The settings of filters that live in the server's memory; secret NULL: none.  Their memory comes
 * zeroed from the allocator, which takes fresh pages from the system for much of it: making a large
 * filter touches none of them. */
umbeli_settings bf_memory_settings(uint64_t max_bytes, const uint8_t *secret);

/* Bytes allocated for filters and not yet freed, in the allocator's sizes. */
uint64_t bf_memory_bytes(void);

/* Memory for anything that is not a filter: zeroed; NULL when out of memory. */
void *bf_memory_new(size_t size);
void bf_memory_delete(void *ptr);

/* A few bytes that a value cannot do without: a server that has none left ends, as it does wherever
 * it needs a few bytes itself.  Also as the hook of a filter's settings. */
void *bf_memory_or_abort(size_t size);
umbel_alloc bf_memory_abort_hook(void);

/* Allocations of at least this size are checked against the memory that the system has left, unless
 * a file or a primary asks for them, and freed in a separate thread unless the server is short of
 * memory. */
#define BF_LARGE ((size_t)64 << 20)

/* The memory that the machine has, or the container (control groups of version 1 and 2) if that has
 * less; 0: not known. */
uint64_t bf_memory_of_machine(void);

#endif
