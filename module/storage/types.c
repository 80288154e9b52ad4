/* SPDX-License-Identifier: MIT */
#include "storage/types.h"

#include "counters.h"
#include "names.h"
#include "storage/dump.h"
#include "value/value_memory.h"

/* A dump of up to this size goes into a single command: replayed completely or not at all. */
enum { WHOLE_MAX = 16 * 1024 * 1024, EFFORT_BYTES = 64 * 1024 };

/* Classic filters have RedisBloom's type, or where that is RedisBloom's own, another one.  It is
 * loaded in both places, and keys that have it keep it. */
static RedisModuleType *blocked, *redisbloom, *classic;
void (*bf_before_copy)(void);

RedisModuleType *bf_type_of(const bf_value *v) {
    if (v->layout == BF_BLOCKED) return blocked;
    return redisbloom ? redisbloom : classic;
}

bool bf_type_is_ours(const RedisModuleType *type) {
    return type && (type == blocked || type == redisbloom || type == classic);
}

void bf_refuse_dump(RedisModuleIO *io, const char *whose, const umbel_diag *diag) {
    char why[200];
    bf_count(BF_DUMPS_REFUSED, 1);
    RedisModule_LogIOError(io, "warning", "%s filter: %s", whose,
                           umbel_explain(UMBEL_ECORRUPT, diag, why, sizeof why));
}

/* ---- Callbacks of both types ---- */

/* Filters in RedisBloom's layout are written with its commands, so that it can read the file. */
static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *value) {
    const bf_value *v = value;
    size_t len = 0;
    const uint8_t *bytes = NULL;
    int64_t next = 1;
    if (v->layout == BF_BLOCKED && bf_value_memory(v) <= WHOLE_MAX) {
        uint8_t *whole = bf_dump_whole(v, &len);
        RedisModule_EmitAOF(aof, bf_named("BF.LOAD"), "sb", key, (const char *)whole, len);
        RedisModule_Free(whole);
        return;
    }
    uint8_t *head = bf_dump_head(v, &len);
    RedisModule_EmitAOF(aof, bf_named("BF.LOADCHUNK"), "slb", key, (long long)next,
                        (const char *)head, len);
    RedisModule_Free(head);
    for (bf_dump_chunk(v, next, &next, &bytes, &len); next;
         bf_dump_chunk(v, next, &next, &bytes, &len)) {
        RedisModule_EmitAOF(aof, bf_named("BF.LOADCHUNK"), "slb", key, (long long)next,
                            (const char *)bytes, len);
    }
}

static size_t memory_of(const void *value) {
    return (size_t)bf_value_memory(value);
}

static void digest(RedisModuleDigest *md, void *value) {
    const bf_value *v = value;
    size_t len = 0;
    uint8_t *head = bf_dump_head(v, &len);
    RedisModule_DigestAddStringBuffer(md, (const char *)head, len);
    RedisModule_Free(head);
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        uint8_t *scratch = NULL;
        const uint8_t *bits = bf_dump_layer(v, i, &len, &scratch);
        RedisModule_DigestAddStringBuffer(md, (const char *)bits, len);
        if (scratch) RedisModule_Free(scratch);
    }
    RedisModule_DigestEndSequence(md);
}

static void free_value(void *value) {
    bf_value_drop(value);
}

/* A server frees values with an effort above 64 in another thread: from 4 MiB on. */
static size_t free_effort(RedisModuleString *key, const void *value) {
    (void)key;
    const bf_value *v = value;
    return (size_t)(bf_value_layers(v) + bf_value_bytes(v) / EFFORT_BYTES);
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value) {
    (void)from, (void)to;
    const bf_value *v = value;
    bf_value *twin = NULL;
    if (bf_before_copy && v->layout == BF_REDISBLOOM) bf_before_copy();
    return bf_value_copy(v, &twin) ? NULL : twin;
}

static int defrag(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value) {
    (void)key;
    bf_value *v = bf_value_edit(*value);
    if (!v) return 0; /* another time */
    int unfinished = bf_value_defrag(ctx, &v);
    *value = v;
    return unfinished;
}

int bf_types_register(RedisModuleCtx *ctx) {
    RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .aof_rewrite = rewrite,
        .mem_usage = memory_of,
        .digest = digest,
        .free = free_value,
        .free_effort = free_effort,
        .copy = copy,
        .defrag = defrag,
    };
    methods.rdb_load = bf_redisbloom_load;
    methods.rdb_save = bf_redisbloom_save;
    if (bf_names_redisblooms()) {
        redisbloom = RedisModule_CreateDataType(ctx, "MBbloom--", BF_REDISBLOOM_ENCVER, &methods);
        if (!redisbloom) return REDISMODULE_ERR;
    }
    classic = RedisModule_CreateDataType(ctx, "umbel-cl-", BF_REDISBLOOM_ENCVER, &methods);
    methods.rdb_load = bf_blocked_load;
    methods.rdb_save = bf_blocked_save;
    blocked = RedisModule_CreateDataType(ctx, "umbel-bf-", BF_BLOCKED_ENCVER, &methods);
    return classic && blocked ? REDISMODULE_OK : REDISMODULE_ERR;
}
