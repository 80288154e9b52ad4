/* SPDX-License-Identifier: MIT
 *
 * empty_module.c - the floor under any module: commands that take the same arguments and give the
 *                  same replies as BF.EXISTS and BF.MEXISTS, but ask nothing
 */
#include "api.h"

static int one(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_WrongArity(ctx);
    RedisModule_CloseKey(RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ));
    return RedisModule_ReplyWithBool(ctx, 1);
}

static int many(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 3) return RedisModule_WrongArity(ctx);
    RedisModule_CloseKey(RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ));
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, 1);
    return REDISMODULE_OK;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (bf_api_resolve(ctx)) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "empty", 1, REDISMODULE_APIVER_1);
    return RedisModule_CreateCommand(ctx, "empty.one", one, "readonly fast", 1, 1, 1) ||
           RedisModule_CreateCommand(ctx, "empty.many", many, "readonly fast", 1, 1, 1);
}
