/* SPDX-License-Identifier: MIT
 *
 * wasm_malloc.c - memory for C, in a tenth of the code of the C library's, which a page would download
 *
 * The heap is a row of chunks from __heap_base to the end of the memory.  Each knows its size and that of
 * the one before it, so that a free one merges with its neighbours: no two free chunks adjoin.  The free ones
 * are in lists by the logarithm of their size.  The row ends in a used chunk of no size.
 *
 * The memory grows by a quarter of its size, not by just what is asked for: JavaScript engines collect
 * garbage each time that it grows, and so a filter of any size takes at most a few dozen steps.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 65536, LEAST_STEP = 64 /* pages */, MOST_STEP = 4096 };
enum { USED = 1, UNIT = 16, HEAD = 8, TRIES = 64 };

/* At 8 beyond a multiple of 16, so that what follows the head is aligned for everything. */
typedef struct chunk {
    size_t before, size;        /* of the one before; its own, and USED */
    struct chunk *next, **link; /* of a free one: in its list, and what points to it there */
} chunk;

extern unsigned char __heap_base;
static chunk *lists[32], *end;

static chunk *at(uintptr_t address) {
    return (chunk *)address; // NOLINT(performance-no-int-to-ptr)
}

static size_t size_of(const chunk *c) {
    return c->size & ~(size_t)USED;
}

static chunk *after(const chunk *c) {
    return at((uintptr_t)c + size_of(c));
}

static unsigned list_for(size_t size) {
    return 31 - (unsigned)__builtin_clzl(size);
}

static void set(chunk *c, size_t size, size_t state) {
    c->size = size | state;
    after(c)->before = size;
}

static void unlist(chunk *c) {
    *c->link = c->next;
    if (c->next) c->next->link = c->link;
}

/* Makes a chunk free, and one with its free neighbours. */
static void give(chunk *c) {
    size_t size = size_of(c);
    chunk *next = after(c), *before = at((uintptr_t)c - c->before);
    if (!(next->size & USED)) {
        unlist(next);
        size += next->size;
    }
    if (c->before && !(before->size & USED)) {
        unlist(before);
        size += before->size;
        c = before;
    }
    set(c, size, 0);
    chunk **list = &lists[list_for(size)];
    c->next = *list;
    c->link = list;
    if (c->next) c->next->link = &c->next;
    *list = c;
}

/* Takes `size` bytes of a chunk that is in no list; gives back the rest. */
static void *take(chunk *c, size_t size) {
    size_t rest = size_of(c) - size;
    set(c, size_of(c) - rest, USED);
    if (rest) {
        chunk *left = after(c);
        set(left, rest, USED);
        give(left);
    }
    return (unsigned char *)c + HEAD;
}

/* Lets the heap reach to the end of the memory. */
static void extend(void) {
    chunk *c = end;
    end = at((uintptr_t)__builtin_wasm_memory_size(0) * PAGE - HEAD);
    end->size = USED;
    set(c, (uintptr_t)end - (uintptr_t)c, USED);
    give(c);
}

/* Makes a free chunk of at least `size` bytes. */
static bool grow(size_t size) {
    const chunk *last = at((uintptr_t)end - end->before);
    size_t have = last->size & USED || last->size > size ? 0 : last->size;
    size_t pages = __builtin_wasm_memory_size(0), step = pages / 4, need = (size - have) / PAGE + 1;
    if (step < LEAST_STEP) step = LEAST_STEP;
    if (step > MOST_STEP) step = MOST_STEP;
    if (step < need) step = need;
    if (__builtin_wasm_memory_grow(0, step) == SIZE_MAX &&
        (step == need || __builtin_wasm_memory_grow(0, need) == SIZE_MAX)) {
        return false;
    }
    extend();
    return true;
}

/* The first that is large enough among the first of its list, or of a list whose chunks all are. */
static chunk *find(size_t size) {
    unsigned list = list_for(size);
    int tries = TRIES;
    for (chunk *c = lists[list]; c && tries; c = c->next, tries--) {
        if (c->size >= size) return c;
    }
    while (++list < 32) {
        if (lists[list]) return lists[list];
    }
    return NULL;
}

/* The size of a chunk that holds this many bytes; 0: there can be none. */
static size_t chunk_for(size_t len) {
    return len > SIZE_MAX - PAGE ? 0
           : len <= HEAD         ? UNIT
                                 : (len + HEAD + UNIT - 1) & ~(size_t)(UNIT - 1);
}

void *malloc(size_t len) {
    size_t size = chunk_for(len);
    if (!end) {
        end = at((((uintptr_t)&__heap_base + HEAD + UNIT - 1) & ~(uintptr_t)(UNIT - 1)) + HEAD);
        end->before = 0;
        extend();
    }
    chunk *c = size ? find(size) : NULL;
    if (!c && size && grow(size)) c = find(size);
    if (!c) {
        errno = ENOMEM;
        return NULL;
    }
    unlist(c);
    return take(c, size);
}

void free(void *bytes) {
    if (bytes) give(at((uintptr_t)bytes - HEAD));
}

/* Its own calls would otherwise be seen as a call of itself. */
__attribute__((no_builtin)) void *calloc(size_t count, size_t each) {
    size_t len;
    void *bytes = malloc(__builtin_mul_overflow(count, each, &len) ? SIZE_MAX : len);
    if (bytes) __builtin_memset(bytes, 0, len);
    return bytes;
}

void *realloc(void *bytes, size_t len) {
    if (!bytes) return malloc(len);
    chunk *c = at((uintptr_t)bytes - HEAD), *next = after(c);
    size_t size = chunk_for(len), have = size_of(c);
    if (size && size > have && !(next->size & USED) && next->size >= size - have) {
        unlist(next);
        set(c, have + next->size, USED);
    }
    if (size && size <= size_of(c)) return take(c, size);
    void *to = malloc(len);
    if (!to) return NULL;
    memcpy(to, bytes, have - HEAD);
    free(bytes);
    return to;
}
