/* SPDX-License-Identifier: MIT
 *
 * bf_exists.c - BF.EXISTS key item
 *               BF.MEXISTS key item [item ...]
 *
 * Like RedisBloom's, both find nothing if the key is missing or holds another type.
 */
#include <string.h>

#include "command/commands.h"
#include "command/items.h"
#include "command/open_key.h"

int bf_cmd_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    uint8_t hit = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    bf_key_open(&key, ctx, argv[1], BF_READ);
    if (key.value) {
        umbel_key item = bf_item_key(argv[2]);
        bf_value_contains(key.value, &item, 1, &hit);
    }
    bf_key_close(&key);
    return RedisModule_ReplyWithBool(ctx, hit);
}

int bf_cmd_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    umbel_key keys[BF_BATCH];
    uint8_t hit[BF_BATCH];
    if (argc < 3) return RedisModule_WrongArity(ctx);
    size_t count = (size_t)argc - 2;
    bf_key_open(&key, ctx, argv[1], BF_READ);
    RedisModule_ReplyWithArray(ctx, (long)count);
    for (size_t at = 0, n; at < count; at += n) {
        if (bf_batch_pauses(at)) bf_key_yield(&key, BF_READ);
        n = bf_batch_fill(argv + 2 + at, count - at, keys);
        if (key.value) {
            bf_value_contains(key.value, keys, n, hit);
        } else {
            memset(hit, 0, n);
        }
        for (size_t i = 0; i < n; i++) RedisModule_ReplyWithBool(ctx, hit[i]);
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
