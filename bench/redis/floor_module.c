/* SPDX-License-Identifier: MIT
 *
 * floor_module.c - what the server itself takes for calls of this shape, and what the plain method
 * takes
 *
 *   FLOOR.LOOP key item [item ...]      one answer per item, as BF.MEXISTS, without looking at any
 *   FLOOR.KEY key item                  opens the key and answers, as BF.EXISTS
 *   FLOOR.MAKE key item [item ...]      makes a key of the three allocations that RedisBloom makes for
 *                                       a filter of 100 keys at 1%: chain, link, bits
 *   FLOOR.LOADCHUNK key iterator data   takes the dump of a filter in RedisBloom's layout
 *   FLOOR.EXISTS key item               asks it as RedisBloom's documentation describes: one link
 *   FLOOR.MEXISTS key item [item ...]   after another, the newest first, bit by bit, with a division
 *                                       for each and a second hash that waits for the first
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* 64 and 32 bytes, as RedisBloom's. */
typedef struct link {
    unsigned char *data;
    uint64_t bytes, bits, hashes;
    char rest[32];
} link;

typedef struct chain {
    link *links;
    uint64_t count;
    char rest[16];
} chain;

enum { BITS = 144, HEADER = 20, LINK = 53 };

static RedisModuleType *type;

static void release(void *value) {
    chain *c = value;
    for (uint64_t i = 0; i < c->count; i++) RedisModule_Free(c->links[i].data);
    RedisModule_Free(c->links);
    RedisModule_Free(c);
}

static chain *chain_new(uint64_t count) {
    chain *c = RedisModule_Calloc(1, sizeof *c);
    c->links = RedisModule_Calloc(count, sizeof *c->links);
    c->count = count;
    return c;
}

static int make(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    chain *c = chain_new(1);
    c->links[0].data = RedisModule_Calloc(1, BITS);
    RedisModule_ModuleTypeSetValue(key, type, c);
    RedisModule_CloseKey(key);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, 1);
    return REDISMODULE_OK;
}

/* ---- The plain way ---- */

static chain *chain_of_header(const char *header) {
    uint32_t count;
    memcpy(&count, header + 8, sizeof count);
    chain *c = chain_new(count);
    for (uint32_t i = 0; i < count; i++) {
        link *l = &c->links[i];
        memcpy(&l->bytes, header + HEADER + LINK * i, sizeof l->bytes);
        memcpy(&l->bits, header + HEADER + LINK * i + 8, sizeof l->bits);
        memcpy(&l->hashes, header + HEADER + LINK * i + 40, sizeof(uint32_t));
        l->data = RedisModule_Calloc(1, l->bytes);
    }
    return c;
}

/* The iterator is 1 + the bytes so far, these included, as BF.SCANDUMP returns it. */
static int load_chunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 4) return RedisModule_ReplyWithError(ctx, "ERR key, iterator and data");
    size_t len = 0;
    const char *data = RedisModule_StringPtrLen(argv[3], &len);
    uint64_t iterator = strtoull(RedisModule_StringPtrLen(argv[2], NULL), NULL, 10);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    if (iterator == 1) {
        RedisModule_ModuleTypeSetValue(key, type, chain_of_header(data));
    } else {
        chain *c = RedisModule_ModuleTypeGetValue(key);
        uint64_t at = iterator - 1 - len, i = 0;
        for (; at >= c->links[i].bytes; i++) at -= c->links[i].bytes;
        memcpy(c->links[i].data + at, data, len);
    }
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

/* MurmurHash64A, for lengths that are a multiple of 8: items have 16 bytes. */
static uint64_t murmur(const char *data, size_t len, uint64_t seed) {
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t h = seed ^ len * m;
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint64_t k;
        memcpy(&k, data + i, sizeof k);
        k *= m;
        k ^= k >> 47;
        h = (h ^ k * m) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static bool has(const chain *c, RedisModuleString *item) {
    size_t len = 0;
    const char *data = RedisModule_StringPtrLen(item, &len);
    uint64_t a = murmur(data, len, UINT64_C(0xc6a4a7935bd1e995)), b = murmur(data, len, a);
    for (uint64_t n = c->count; n-- > 0;) {
        const link *l = &c->links[n];
        uint64_t i = 0;
        for (; i < l->hashes; i++) {
            uint64_t x = (a + i * b) % l->bits;
            if (!(l->data[x >> 3] & 1 << (x & 7))) break;
        }
        if (i == l->hashes) return true;
    }
    return false;
}

static int plain_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 3) return RedisModule_ReplyWithError(ctx, "ERR key and item");
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    RedisModule_ReplyWithBool(ctx, has(RedisModule_ModuleTypeGetValue(key), argv[2]));
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

static int plain_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, argv[1], REDISMODULE_READ);
    const chain *c = RedisModule_ModuleTypeGetValue(key);
    RedisModule_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) RedisModule_ReplyWithBool(ctx, has(c, argv[i]));
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* ---- The floor ---- */

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
        RedisModule_CreateCommand(ctx, "floor.make", make, "write", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.loadchunk", load_chunk, "write", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.exists", plain_exists, "readonly fast", 1, 1, 1) ||
        RedisModule_CreateCommand(ctx, "floor.mexists", plain_mexists, "readonly fast", 1, 1, 1)) {
        return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
