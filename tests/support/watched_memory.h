/* SPDX-License-Identifier: MIT
 *
 * watched_memory.h - an allocator that counts, and fails on demand
 */
#ifndef WATCHED_MEMORY_H
#define WATCHED_MEMORY_H

#include "umbel.h"

typedef struct watched_memory {
    size_t calls;   /* allocations requested */
    size_t fail_at; /* this call, from 1, returns NULL; 0: none fails */
    size_t blocks;  /* allocated and not yet freed */
    size_t now, peak;
    umbel_alloc hook;
    umbel_opts opts; /* with the hook in it */
} watched_memory;

/* m->opts is for the call under test; m must stay where it is while its filters live. */
void watch_memory(watched_memory *m, size_t fail_at);

/* Moves the bytes of a block into a new one and frees the first.  m is a watched_memory. */
void *watched_move(void *m, void *ptr);

#endif
