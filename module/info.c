/* SPDX-License-Identifier: MIT
 *
 * info.c - what INFO bf shows: totals over all filters of this server, and what has happened
 */
#include "config.h"

#include "counters.h"
#include "value/value.h"
#include "value/value_memory.h"

_Atomic uint64_t bf_counters[BF_EVENTS];

static const char *const names[BF_EVENTS] = {
    [BF_REFUSED_FULL] = "refused_full",     [BF_REFUSED_MEMORY] = "refused_memory",
    [BF_LAYERS_ADDED] = "layers_added",     [BF_MERGES] = "merges",
    [BF_MERGES_RUNNING] = "merges_running", [BF_WINDOWS_ADVANCED] = "windows_advanced",
    [BF_DUMPS_REFUSED] = "dumps_refused",   [BF_MERGE_PAUSE] = "merge_pause_ms",
};

static void show(RedisModuleInfoCtx *ctx, int for_crash_report) {
    (void)for_crash_report;
    if (RedisModule_InfoAddSection(ctx, NULL) == REDISMODULE_ERR) return; /* not requested */
    bf_totals totals = bf_totals_get();
    RedisModule_InfoAddFieldULongLong(ctx, "filters", totals.filters);
    RedisModule_InfoAddFieldULongLong(ctx, "layers", totals.layers);
    RedisModule_InfoAddFieldULongLong(ctx, "items", totals.items);
    RedisModule_InfoAddFieldULongLong(ctx, "capacity", totals.capacity);
    RedisModule_InfoAddFieldULongLong(ctx, "bytes", totals.bytes);
    RedisModule_InfoAddFieldULongLong(ctx, "defrag_moves", bf_defrag_moves());
    for (int i = 0; i < BF_EVENTS; i++) {
        RedisModule_InfoAddFieldULongLong(ctx, names[i], bf_counters[i]);
    }
}

int bf_info_register(RedisModuleCtx *ctx) {
    return RedisModule_RegisterInfoFunc(ctx, show);
}
