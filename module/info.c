/* SPDX-License-Identifier: MIT
 *
 * info.c - what INFO bf shows: totals over all filters of this server
 */
#include "config.h"

#include "value/value.h"
#include "value/value_memory.h"

static void show(RedisModuleInfoCtx *ctx, int for_crash_report) {
    bf_totals totals;
    (void)for_crash_report;
    if (RedisModule_InfoAddSection(ctx, NULL) == REDISMODULE_ERR) return; /* not requested */
    bf_totals_get(&totals);
    RedisModule_InfoAddFieldULongLong(ctx, "filters", totals.filters);
    RedisModule_InfoAddFieldULongLong(ctx, "layers", totals.layers);
    RedisModule_InfoAddFieldULongLong(ctx, "items", totals.items);
    RedisModule_InfoAddFieldULongLong(ctx, "capacity", totals.capacity);
    RedisModule_InfoAddFieldULongLong(ctx, "bytes", totals.bytes);
    RedisModule_InfoAddFieldULongLong(ctx, "defrag_moves", bf_defrag_moves());
}

int bf_info_register(RedisModuleCtx *ctx) {
    return RedisModule_RegisterInfoFunc(ctx, show);
}
