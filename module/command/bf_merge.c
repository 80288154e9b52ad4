/* SPDX-License-Identifier: MIT
 *
 * bf_merge.c - BF.MERGE destination source [source ...]
 *
 * Adds all keys of the sources.  A missing destination is created as a copy of the first source.
 * Either all sources are merged or nothing changes.
 */
#include <stdio.h>

#include "command/commands.h"
#include "command/create.h"
#include "command/open_key.h"
#include "command/reply.h"
#include "config.h"
#include "storage/types.h"

static int reply_merge_error(RedisModuleCtx *ctx, umbel_err e, const umbel_diag *diag) {
    char text[256], why[200];
    if (e == UMBEL_ENOMEM || e == UMBEL_ELIMIT) return bf_reply_make_error(ctx, e, NULL);
    snprintf(text, sizeof text, "ERR these filters cannot be merged: %s",
             umbel_explain(e, diag, why, sizeof why));
    return RedisModule_ReplyWithError(ctx, text);
}

/* Merges all sources into *result, which is created from the first if it is NULL.  False after an
 * error reply. */
static bool gather(RedisModuleCtx *ctx, const bf_value *old, RedisModuleString **names, int count,
                   bf_value **result) {
    for (int i = 0; i < count; i++) {
        bf_key source;
        umbel_diag diag = {0};
        umbel_err e = UMBEL_OK;
        if (!bf_key_open_filter(&source, ctx, names[i], REDISMODULE_READ)) return false;
        if (!*result) {
            e = bf_value_copy(source.value, result);
        } else if (source.value != old) {
            e = bf_value_merge(*result, source.value, &diag);
        }
        bf_key_close(&source);
        if (e) {
            reply_merge_error(ctx, e, &diag);
            return false;
        }
    }
    return true;
}

static bool within_limit(RedisModuleCtx *ctx, const bf_value *v, uint64_t limit) {
    if (limit == 0 || bf_value_memory(v) <= limit) return true;
    RedisModule_ReplyWithError(ctx, BF_OVER_LIMIT);
    return false;
}

/* Builds the new value separately, so that a later source can still be refused.  False after an
 * error reply. */
static bool merge_aside(bf_key *key, RedisModuleString **names, int count, uint64_t limit) {
    bf_value *result = NULL;
    umbel_err e = key->value ? bf_value_copy(key->value, &result) : UMBEL_OK;
    if (e) {
        bf_reply_make_error(key->ctx, e, NULL);
        return false;
    }
    if (!gather(key->ctx, key->value, names, count, &result) ||
        !within_limit(key->ctx, result, limit)) {
        bf_value_free(result);
        return false;
    }
    void *old = NULL;
    if (!key->value) {
        bf_key_put(key, result);
    } else { /* keeps the key's time to live */
        RedisModule_ModuleTypeReplaceValue(key->opened, bf_type_of(result), result, &old);
        key->value = result;
    }
    bf_value_free(old);
    return true;
}

/* One source either goes in or does not: no copy is needed if both together are within the
 * limit. */
static bool in_place(const bf_key *key, RedisModuleString *name, int argc, uint64_t limit) {
    if (!key->value || argc != 3) return false;
    if (limit == 0) return true;
    bf_key source;
    bf_key_open(&source, key->ctx, name, REDISMODULE_READ);
    uint64_t more = source.value ? bf_value_memory(source.value) : 0;
    bf_key_close(&source);
    return bf_value_memory(key->value) + more <= limit;
}

int bf_cmd_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc < 3) return RedisModule_WrongArity(ctx);
    bf_key_open(&key, ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    if (key.foreign) {
        bf_key_close(&key);
        return RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    }
    uint64_t limit = bf_config_limit(ctx);
    bool existed = key.value != NULL;
    if (in_place(&key, argv[2], argc, limit) ? gather(ctx, key.value, argv + 2, 1, &key.value)
                                             : merge_aside(&key, argv + 2, argc - 2, limit)) {
        bf_replicate_value(&key, existed);
        bf_key_changed(&key, "bf.merge");
        RedisModule_ReplyWithSimpleString(ctx, "OK");
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
