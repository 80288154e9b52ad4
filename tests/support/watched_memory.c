/* SPDX-License-Identifier: MIT */
#include "watched_memory.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE = 16 }; /* holds the size, and keeps malloc's alignment */

static void *take(void *ctx, size_t size) {
    watched_memory *m = ctx;
    if (++m->calls == m->fail_at) return NULL;
    uint8_t *block = malloc(BEFORE + size);
    if (!block) return NULL;
    memset(block, 0xa5, BEFORE + size); /* whoever wants zeros must write them */
    memcpy(block, &size, sizeof size);
    m->blocks++;
    m->now += size;
    if (m->now > m->peak) m->peak = m->now;
    return block + BEFORE;
}

static void give_back(void *ctx, void *ptr) {
    watched_memory *m = ctx;
    uint8_t *block = (uint8_t *)ptr - BEFORE;
    size_t size;
    memcpy(&size, block, sizeof size);
    m->blocks--;
    m->now -= size;
    free(block);
}

void watch_memory(watched_memory *m, size_t fail_at) {
    *m = (watched_memory){.fail_at = fail_at};
    m->hook = (umbel_alloc){.alloc = take, .free = give_back, .ctx = m};
    m->opts.alloc = &m->hook;
}
