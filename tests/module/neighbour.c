/* SPDX-License-Identifier: MIT
 *
 * neighbour.c - a module that has RedisBloom's names: bf, BF.*, CF.*, their types and category
 *
 * A key is the list of its items, each after its length: enough to see whose key it is, and whether
 * it is still there.  test_prefix.py loads RedisBloom itself instead where $REDISBLOOM says where it is.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"

enum { ITEM_MAX = 255, ROOM = 1 << 16 };

typedef struct list {
    size_t len;
    char items[ROOM];
} list;

static RedisModuleType *blooms, *cuckoos;

static bool has(const list *l, const char *item, size_t len) {
    for (size_t at = 0; at < l->len; at += 1 + (uint8_t)l->items[at]) {
        if ((uint8_t)l->items[at] == len && !memcmp(l->items + at + 1, item, len)) return true;
    }
    return false;
}

/* NULL, after a reply, if it is another's key. */
static list *open_list(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleType *type, bool add) {
    bool empty = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
    if (empty && add) {
        RedisModule_ModuleTypeSetValue(key, type, RedisModule_Calloc(1, sizeof(list)));
    } else if (empty) {
        RedisModule_ReplyWithLongLong(ctx, 0);
        return NULL;
    } else if (RedisModule_ModuleTypeGetType(key) != type) {
        RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
        return NULL;
    }
    return RedisModule_ModuleTypeGetValue(key);
}

static int work(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, RedisModuleType *type,
                bool add) {
    if (argc != 3) return RedisModule_WrongArity(ctx);
    size_t len = 0;
    const char *item = RedisModule_StringPtrLen(argv[2], &len);
    RedisModuleKey *key = RedisModule_OpenKey(
        ctx, argv[1], add ? REDISMODULE_WRITE | REDISMODULE_READ : REDISMODULE_READ);
    list *l = key || add ? open_list(ctx, key, type, add) : NULL;
    if (!key) return RedisModule_ReplyWithLongLong(ctx, 0);
    if (l) {
        bool there = has(l, item, len);
        if (add && !there && len <= ITEM_MAX && l->len + 1 + len <= ROOM) {
            l->items[l->len] = (char)len;
            memcpy(l->items + l->len + 1, item, len);
            l->len += 1 + len;
        }
        RedisModule_ReplyWithLongLong(ctx, there != add);
    }
    RedisModule_CloseKey(key);
    if (add) RedisModule_ReplicateVerbatim(ctx);
    return REDISMODULE_OK;
}

static int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return work(ctx, argv, argc, blooms, true);
}

static int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return work(ctx, argv, argc, blooms, false);
}

static int cf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return work(ctx, argv, argc, cuckoos, true);
}

static int cf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    return work(ctx, argv, argc, cuckoos, false);
}

static void save(RedisModuleIO *io, void *value) {
    const list *l = value;
    RedisModule_SaveStringBuffer(io, l->items, l->len);
}

static void *load(RedisModuleIO *io, int encver) {
    (void)encver;
    list *l = RedisModule_Calloc(1, sizeof *l);
    char *bytes = RedisModule_LoadStringBuffer(io, &l->len);
    if (l->len > ROOM) abort();
    memcpy(l->items, bytes, l->len);
    RedisModule_Free(bytes);
    return l;
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, const list *l,
                    const char *command) {
    for (size_t at = 0; at < l->len; at += 1 + (uint8_t)l->items[at]) {
        RedisModule_EmitAOF(aof, command, "sb", key, l->items + at + 1,
                            (size_t)(uint8_t)l->items[at]);
    }
}

static void rewrite_bloom(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    rewrite(aof, key, value, "BF.ADD");
}

static void rewrite_cuckoo(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    rewrite(aof, key, value, "CF.ADD");
}

static void drop(void *value) {
    RedisModule_Free(value);
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(RedisModuleCtx *ctx,
                                                              RedisModuleString **argv, int argc) {
    static const struct {
        const char *name;
        RedisModuleCmdFunc run;
        const char *flags;
    } commands[] = {{"bf.add", bf_add, "write"},
                    {"bf.exists", bf_exists, "readonly"},
                    {"cf.add", cf_add, "write"},
                    {"cf.exists", cf_exists, "readonly"}};
    (void)argv, (void)argc;
    if (bf_api_resolve(ctx) || RedisModule_IsModuleNameBusy("bf")) return REDISMODULE_ERR;
    RedisModule_SetModuleAttribs(ctx, "bf", 1, REDISMODULE_APIVER_1);
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = load,
                                      .rdb_save = save,
                                      .aof_rewrite = rewrite_bloom,
                                      .free = drop};
    blooms = RedisModule_CreateDataType(ctx, "MBbloom--", 4, &methods);
    methods.aof_rewrite = rewrite_cuckoo;
    cuckoos = RedisModule_CreateDataType(ctx, "MBbloomCF", 4, &methods);
    if (!blooms || !cuckoos) return REDISMODULE_ERR;
    if (RedisModule_AddACLCategory && RedisModule_AddACLCategory(ctx, "bloom"))
        return REDISMODULE_ERR;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (RedisModule_CreateCommand(ctx, commands[i].name, commands[i].run, commands[i].flags, 1,
                                      1, 1)) {
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}
