/* SPDX-License-Identifier: MIT */
#include "value/value_memory.h"

#include <stdatomic.h>

/* ---- How much ---- */

static void *weigh(void *sum, void *ptr) {
    *(uint64_t *)sum += RedisModule_MallocSize(ptr);
    return ptr;
}

uint64_t bf_value_memory(const bf_value *v) {
    uint64_t sum = RedisModule_MallocSize((void *)(uintptr_t)v);
    umbeli_mover mover = {.move = weigh, .ctx = &sum}; /* without moving anything */
    umbel_filter *f = v->filter;
    if (v->small) return sum + RedisModule_MallocSize(v->small);
    umbeli_filter_relocate(&f, &mover);
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

int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **value) {
    unsigned long from = 0;
    umbeli_mover mover = {.move = move, .ctx = ctx};
    if (RedisModule_DefragCursorGet(ctx, &from) != REDISMODULE_OK) from = 0;
    if (from == 0) *value = move(ctx, *value);
    if ((*value)->small) {
        (*value)->small = move(ctx, (*value)->small);
        return 0;
    }
    while (umbeli_filter_relocate_step(&(*value)->filter, from, &mover)) {
        from++;
        if (RedisModule_DefragShouldStop(ctx) &&
            RedisModule_DefragCursorSet(ctx, from) == REDISMODULE_OK) {
            return 1;
        }
    }
    return 0;
}
