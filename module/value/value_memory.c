/* SPDX-License-Identifier: MIT */
#include "value/value_memory.h"

#include <pthread.h>
#include <stdatomic.h>

#include "value/value_unboxed.h"

/* ---- How much ---- */

static void *weigh(void *sum, void *ptr) {
    *(uint64_t *)sum += RedisModule_MallocSize(ptr);
    return ptr;
}

uint64_t bf_value_memory(const bf_value *v) {
    uint64_t sum = RedisModule_MallocSize((void *)(uintptr_t)v);
    umbeli_mover mover = {.move = weigh, .ctx = &sum}; /* without moving anything */
    if (v->form == BF_HANDLE) {
        umbel_filter *f = v->filter;
        umbeli_filter_relocate(&f, &mover);
        return sum;
    }
    if (v->layout == BF_REDISBLOOM) { /* as RedisBloom counts: what was requested */
        uint64_t head = v->form == BF_SMALL
                            ? sizeof *v->small
                            : sizeof *v->links + v->links->count * sizeof *v->links->list;
        return sizeof *v + head + bf_value_bytes(v);
    }
    (void)weigh(&sum, v->small); /* or `links` */
    for (uint32_t i = 0; v->form == BF_LINKS && i < v->links->count; i++) {
        (void)weigh(&sum, v->links->list[i].bits);
    }
    return sum;
}

/* ---- Moving ---- */

static _Atomic uint64_t moved;

uint64_t bf_defrag_moves(void) {
    return atomic_load_explicit(&moved, memory_order_relaxed);
}

static void *move(void *ctx, void *ptr) {
    void *elsewhere = RedisModule_DefragAlloc(ctx, ptr);
    if (elsewhere) atomic_fetch_add_explicit(&moved, 1, memory_order_relaxed);
    return elsewhere ? elsewhere : ptr;
}

/* False: it was the last. */
static bool relocate_step(bf_value *v, unsigned long step, const umbeli_mover *mover) {
    if (v->form == BF_HANDLE) return umbeli_filter_relocate_step(&v->filter, step, mover);
    bf_link *link = &v->links->list[step];
    if (step < v->links->count) link->bits = mover->move(mover->ctx, link->bits);
    return step + 1 < v->links->count;
}

int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **value) {
    unsigned long from = 0;
    umbeli_mover mover = {.move = move, .ctx = ctx};
    if (RedisModule_DefragCursorGet(ctx, &from) != REDISMODULE_OK) from = 0;
    if (from == 0) *value = move(ctx, *value);
    if ((*value)->form != BF_HANDLE && from == 0) (*value)->small = move(ctx, (*value)->small);
    if ((*value)->form == BF_SMALL) return 0;
    while (relocate_step(*value, from, &mover)) {
        from++;
        if (RedisModule_DefragShouldStop(ctx) &&
            RedisModule_DefragCursorSet(ctx, from) == REDISMODULE_OK) {
            return 1;
        }
    }
    return 0;
}

/* ---- Holding ---- */

/* A list, because few values are ever held, and a count in each of a million would cost memory. */
typedef struct hold {
    struct hold *next;
    const bf_value *value;
    size_t times;
    bf_value *dropped; /* the value, if no key has it any more */
} hold;

/* Only the thread that serves clients changes the list, and reads it without the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hold *holds;

/* The link to the hold of a value; if there is none, the NULL at the end of the list. */
static hold **find(const bf_value *v) {
    hold **at = &holds;
    while (*at && (*at)->value != v) at = &(*at)->next;
    return at;
}

void bf_value_hold(const bf_value *v) {
    pthread_mutex_lock(&lock);
    hold **at = find(v);
    if (!*at) {
        *at = RedisModule_Calloc(1, sizeof **at);
        (*at)->value = v;
    }
    (*at)->times++;
    pthread_mutex_unlock(&lock);
}

void bf_value_let_go(const bf_value *v) {
    bf_value *dropped = NULL;
    pthread_mutex_lock(&lock);
    hold **at = find(v), *h = *at;
    if (--h->times == 0) {
        dropped = h->dropped;
        *at = h->next;
        RedisModule_Free(h);
    }
    pthread_mutex_unlock(&lock);
    bf_value_free(dropped);
}

bf_value *bf_value_edit(void *value) {
    return *find(value) ? NULL : value;
}

void bf_value_drop(void *value) {
    pthread_mutex_lock(&lock);
    hold *h = *find(value);
    if (h) h->dropped = value;
    pthread_mutex_unlock(&lock);
    if (!h) bf_value_free(value);
}
