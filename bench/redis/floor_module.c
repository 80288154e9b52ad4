/* SPDX-License-Identifier: MIT
 *
 * floor_module.c - commands that do nothing: what the server itself takes for calls of this shape
 *
 *   FLOOR.LOOP key item [item ...]   one answer per item, as BF.MEXISTS, without looking at any
 *   FLOOR.KEY key item               opens the key and answers, as BF.EXISTS
 */
#include "api.h"

static int loop(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, 0);
    return REDISMODULE_OK;
}

static int key(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_ReplyWithError(ctx, "ERR key and item");
    RedisModuleKey *opened = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    RedisModule_CloseKey(opened);
    return RedisModule_ReplyWithBool(ctx, 0);
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    (void)argc;
    if (bf_api_resolve(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "floor", 1, REDISMODULE_APIVER_1);
    if (RedisModule_CreateCommand(ctx, "floor.loop", loop, "readonly fast", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.key", key, "readonly fast", 1, 1, 1)) {
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
