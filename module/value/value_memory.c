/* SPDX-License-Identifier: MIT */
#include "value/value_memory.h"

#include <stdatomic.h>

#include "value/value_internal.h"

/* ---- How much ---- */

static void *weigh(void *sum, void *ptr) {
    *(uint64_t *)sum += RedisModule_MallocSize(ptr);
    return ptr;
}

uint64_t bf_value_memory(const bf_value *v) {
    uint64_t sum = RedisModule_MallocSize((void *)(uintptr_t)v);
    umbeli_mover mover = {.move = weigh, .ctx = &sum}; /* which moves nothing */
    if (v->older) weigh(&sum, v->older);
    for (uint32_t i = 0; i < bf_chain_count(v); i++) {
        umbel_filter *f = bf_chain_at(v, i);
        umbeli_filter_relocate(&f, &mover);
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

int bf_value_defrag(RedisModuleDefragCtx *ctx, bf_value **value) {
    unsigned long from = 0;
    umbeli_mover mover = {.move = move, .ctx = ctx};
    if (RedisModule_DefragCursorGet(ctx, &from) != REDISMODULE_OK) from = 0;
    bf_value *v = *value;
    if (from == 0) {
        v = *value = move(ctx, v);
        if (v->older) v->older = move(ctx, v->older);
    }
    for (uint32_t i = (uint32_t)from; i < bf_chain_count(v); i++) {
        umbeli_filter_relocate(i < v->older_count ? &v->older[i] : &v->newest, &mover);
        bool more = i + 1 < bf_chain_count(v);
        if (more && RedisModule_DefragShouldStop(ctx) &&
            RedisModule_DefragCursorSet(ctx, i + 1) == REDISMODULE_OK) {
            return 1;
        }
    }
    return 0;
}
