/* SPDX-License-Identifier: MIT
 *
 * floor_module.c - commands that do nothing: what the server itself takes for calls of this shape
 *
 *   FLOOR.LOOP key item [item ...]   one answer per item, as BF.MEXISTS, without looking at any
 *   FLOOR.KEY key item               opens the key and answers, as BF.EXISTS
 *   FLOOR.MAKE key item [item ...]   makes a key of the three allocations that RedisBloom makes for a
 *                                    filter of 100 keys at 1%: chain, link, bits
 */
#include "api.h"

typedef struct chain {
    struct link *link;
    char rest[24];
} chain;

typedef struct link {
    char *bits;
    char rest[56];
} link;

enum { BITS = 144 };

static RedisModuleType *type;

static void release(void *value) {
    chain *c = value;
    RedisModule_Free(c->link->bits);
    RedisModule_Free(c->link);
    RedisModule_Free(c);
}

static int make(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    chain *c = RedisModule_Calloc(1, sizeof *c);
    c->link = RedisModule_Calloc(1, sizeof *c->link);
    c->link->bits = RedisModule_Calloc(1, BITS);
    RedisModule_ModuleTypeSetValue(key, type, c);
    RedisModule_CloseKey(key);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, 1);
    return REDISMODULE_OK;
}

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
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION, .free = release};
    type = RedisModule_CreateDataType(ctx, "floorbf--", 0, &methods);
    if (!type) return REDISMODULE_ERR;
    if (RedisModule_CreateCommand(ctx, "floor.loop", loop, "readonly fast", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.key", key, "readonly fast", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.make", make, "write", 1, 1, 1)) {
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
