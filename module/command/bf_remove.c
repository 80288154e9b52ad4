/* SPDX-License-Identifier: MIT
 *
 * bf_remove.c - BF.REMOVE key item [item ...]: of filters reserved with COUNTING
 *               BF.COUNT key item [item ...]
 *               BF.CLEAR key
 */
#include "command/add_items.h"
#include "command/commands.h"
#include "command/open_key.h"
#include "command/reply.h"

int bf_cmd_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_slot slot;
    bf_params params;
    bool changed = false;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (!bf_slot_open_filter(&slot, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE))
        return REDISMODULE_OK;
    bf_value_params(slot.value, &params);
    if (!params.counting) {
        bf_slot_close(&slot);
        return RedisModule_ReplyWithError(ctx, "ERR only filters with COUNTING can remove");
    }
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        umbel_key key = bf_key_of(argv[i]);
        bool removed = bf_value_remove(slot.value, &key) == UMBEL_OK;
        RedisModule_ReplyWithBool(ctx, removed);
        changed |= removed;
    }
    if (changed) {
        RedisModule_ReplicateVerbatim(ctx);
        bf_slot_changed(&slot, "bf.remove");
    }
    bf_slot_close(&slot);
    return REDISMODULE_OK;
}

int bf_cmd_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_slot slot;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    bf_slot_open(&slot, ctx, argv[1], REDISMODULE_READ);
    if (slot.foreign) {
        bf_slot_close(&slot);
        return RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    }
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        umbel_key key = bf_key_of(argv[i]);
        RedisModule_ReplyWithLongLong(ctx, slot.value ? bf_value_count(slot.value, &key) : 0);
    }
    bf_slot_close(&slot);
    return REDISMODULE_OK;
}

int bf_cmd_clear(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_slot slot;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!bf_slot_open_filter(&slot, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE))
        return REDISMODULE_OK;
    umbel_err e = bf_value_clear(slot.value);
    if (e == UMBEL_EFROZEN) {
        bf_reply_add_error(ctx, e, slot.value);
    } else if (e) {
        bf_reply_make_error(ctx, e, NULL);
    } else {
        RedisModule_ReplicateVerbatim(ctx);
        bf_slot_changed(&slot, "bf.clear");
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    bf_slot_close(&slot);
    return REDISMODULE_OK;
}
