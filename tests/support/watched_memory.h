/* SPDX-License-Identifier: MIT
 *
 * watched_memory.h - an allocator that counts, and fails when it is told to
 */
#ifndef WATCHED_MEMORY_H
#define WATCHED_MEMORY_H

#include "umbel.h"

typedef struct watched_memory {
    size_t calls;   /* allocations asked for */
    size_t fail_at; /* this call gets nothing, from 1; 0: none fails */
    size_t blocks;  /* given out and not back yet */
    size_t now, peak;
    umbel_alloc hook;
    umbel_opts opts; /* with the hook in it */
} watched_memory;

/* m->opts is for the call under test; m must stay where it is while its filters live. */
void watch_memory(watched_memory *m, size_t fail_at);

/* The bytes of a block in another one; the first is gone.  m is a watched_memory. */
void *watched_move(void *m, void *ptr);

#endif
