/* SPDX-License-Identifier: MIT */
#include "watched_memory.h"

#include <stdlib.h>
#include <string.h>

/* Precedes each block, and keeps malloc's alignment. */
typedef struct head {
    size_t size;
    size_t pad; /* before the head: consecutive blocks differ in their alignment to a cache line */
} head;

enum { BEFORE = 16 };

_Static_assert(sizeof(head) <= BEFORE, "a head fits before its block");

static head head_of(const void *ptr) {
    head h;
    memcpy(&h, (const uint8_t *)ptr - BEFORE, sizeof h);
    return h;
}

static void *take(void *ctx, size_t size) {
    watched_memory *m = ctx;
    if (++m->calls == m->fail_at) return NULL;
    head h = {.size = size, .pad = 16 * (m->calls % 4)};
    uint8_t *block = malloc(h.pad + BEFORE + size);
    if (!block) return NULL;
    memset(block, 0xa5, h.pad + BEFORE + size); /* callers that need zeros must write them */
    memcpy(block + h.pad, &h, sizeof h);
    m->blocks++;
    m->now += size;
    if (m->now > m->peak) m->peak = m->now;
    return block + h.pad + BEFORE;
}

/* Not memset itself: a compiler may drop it before free(). */
static void *(*volatile const fill)(void *, int, size_t) = memset;

static void give_back(void *ctx, void *ptr) {
    watched_memory *m = ctx;
    head h = head_of(ptr);
    m->blocks--;
    m->now -= h.size;
    fill(ptr, 0x5a, h.size); /* a use after free does not see the old contents */
    free((uint8_t *)ptr - BEFORE - h.pad);
}

void *watched_move(void *m, void *ptr) {
    head h = head_of(ptr);
    void *moved = take(m, h.size);
    if (!moved) return ptr;
    memcpy(moved, ptr, h.size);
    give_back(m, ptr);
    return moved;
}

void watch_memory(watched_memory *m, size_t fail_at) {
    *m = (watched_memory){.fail_at = fail_at};
    m->hook = (umbel_alloc){.alloc = take, .free = give_back, .ctx = m};
    m->opts.alloc = &m->hook;
}
