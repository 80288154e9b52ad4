/* SPDX-License-Identifier: MIT
 *
 * bf_remove.c - BF.REMOVE key item [item ...]: only filters reserved with COUNTING
 *               BF.COUNT key item [item ...]
 *               BF.CLEAR key
 */
#include "command/commands.h"
#include "command/create.h"
#include "command/items.h"
#include "command/merging.h"
#include "command/open_key.h"
#include "command/reply.h"

int bf_cmd_remove(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    bool changed = false;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_remove)) return REDISMODULE_OK;
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_WRITE)) return REDISMODULE_OK;
    if (!key.value->counting) {
        bf_key_close(&key);
        return RedisModule_ReplyWithError(ctx, "ERR only filters with COUNTING can remove");
    }
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        umbel_key item = bf_item_key(argv[i]);
        if (bf_batch_pauses((size_t)i - 2)) bf_key_yield(&key, BF_WRITE);
        bool removed = key.edit && bf_value_remove(key.edit, &item) == UMBEL_OK;
        RedisModule_ReplyWithBool(ctx, removed);
        changed |= removed;
    }
    if (changed && key.value) {
        RedisModule_ReplicateVerbatim(ctx);
        bf_key_changed(&key, "bf.remove");
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

int bf_cmd_count(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    bf_key_open(&key, ctx, argv[1], BF_READ);
    if (key.foreign) {
        bf_key_close(&key);
        return RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    }
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        umbel_key item = bf_item_key(argv[i]);
        if (bf_batch_pauses((size_t)i - 2)) bf_key_yield(&key, BF_READ);
        RedisModule_ReplyWithLongLong(ctx, key.value ? bf_value_count(key.value, &item) : 0);
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

int bf_cmd_clear(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_clear)) return REDISMODULE_OK;
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_WRITE)) return REDISMODULE_OK;
    umbel_err e = bf_value_clear(key.edit);
    if (e == UMBEL_EFROZEN) {
        bf_reply_add_error(ctx, e, key.value);
    } else if (e) {
        bf_reply_make_error(ctx, e, NULL);
    } else {
        if (!bf_replicate_cleared(&key)) RedisModule_ReplicateVerbatim(ctx);
        bf_key_changed(&key, "bf.clear");
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
