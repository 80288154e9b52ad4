/* SPDX-License-Identifier: MIT
 *
 * bf_advance.c - BF.ADVANCE key generations time
 *
 * Forgets that many of the oldest generations of a window that goes by the clock; the newest began
 * at that time, in seconds since 1970.  A primary sends it to its replicas.
 */
#include "command/commands.h"
#include "command/merging.h"
#include "command/open_key.h"
#include "command/reply.h"
#include "value/value_window.h"

int bf_cmd_advance(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    long long generations = 0, at = 0;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (RedisModule_StringToLongLong(argv[2], &generations) || generations < 0 ||
        generations > UINT16_MAX || RedisModule_StringToLongLong(argv[3], &at) || at < 0) {
        return RedisModule_ReplyWithError(ctx, "ERR value is not an integer or out of range");
    }
    if (bf_merging_wait(ctx, argv[1], bf_cmd_advance)) return REDISMODULE_OK;
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_WRITE)) return REDISMODULE_OK;
    umbel_clock clock = bf_value_clock(key.value);
    clock.advanced = (uint64_t)at;
    if (!clock.step) {
        RedisModule_ReplyWithError(ctx, "ERR not a window that goes by the clock");
    } else if (bf_value_advance(key.edit, (uint64_t)generations, &clock)) {
        RedisModule_ReplyWithError(ctx, BF_NO_MEMORY);
    } else {
        RedisModule_ReplicateVerbatim(ctx);
        bf_key_changed(&key, "bf.advance");
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
