/* SPDX-License-Identifier: MIT
 *
 * bf_dump.c - BF.SCANDUMP key iterator
 *             BF.LOADCHUNK key iterator data
 *             BF.LOAD key data
 *
 * What SCANDUMP returns contains the filter's secret, as RDB files do.
 */
#include <stdio.h>

#include "command/commands.h"
#include "command/create.h"
#include "command/merging.h"
#include "command/open_key.h"
#include "command/reply.h"
#include "config.h"
#include "counters.h"
#include "storage/dump.h"

#define BAD_DATA "ERR received bad data"

static void reply_chunk(RedisModuleCtx *ctx, int64_t next, const uint8_t *bytes, size_t len) {
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, next);
    RedisModule_ReplyWithStringBuffer(ctx, (const char *)bytes, len);
}

static void reply_head(RedisModuleCtx *ctx, const bf_value *v) {
    size_t len = 0;
    uint8_t *head = bf_dump_head(v, &len);
    reply_chunk(ctx, 1, head, len);
    RedisModule_Free(head);
}

int bf_cmd_scandump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    long long iterator = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_READ)) return REDISMODULE_OK;
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK) {
        RedisModule_ReplyWithError(ctx, "Second argument must be numeric");
    } else if (iterator == 0) {
        reply_head(ctx, key.value);
    } else {
        const uint8_t *bytes = NULL;
        size_t len = 0;
        int64_t next = 0;
        bf_dump_chunk(key.value, iterator, &next, &bytes, &len);
        reply_chunk(ctx, next, len ? bytes : (const uint8_t *)"", len);
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

/* ---- Loading ---- */

/* Returns whether it was loaded. */
static bool reply_loaded(bf_key *key, umbel_err e) {
    if (e == UMBEL_ELIMIT || e == UMBEL_ENOMEM) {
        bf_reply_make_error(key->ctx, e, NULL);
    } else if (e) {
        bf_count(BF_DUMPS_REFUSED, 1);
        RedisModule_ReplyWithError(key->ctx, BAD_DATA);
    } else {
        bf_key_changed(key, "bf.load");
        RedisModule_ReplyWithSimpleString(key->ctx, "OK");
    }
    return !e;
}

static void load_head(bf_key *key, const uint8_t *bytes, size_t len) {
    bf_value *value = NULL;
    umbel_err e = bf_load_head(bytes, len, bf_config_limit(key->ctx), &value, NULL);
    if (!e) bf_key_put(key, value);
    if (reply_loaded(key, e)) RedisModule_ReplicateVerbatim(key->ctx);
}

static void load_chunk(bf_key *key, int64_t iterator, const uint8_t *bytes, size_t len) {
    char text[128];
    umbel_diag diag = {0};
    umbel_err e = UMBEL_ECORRUPT; /* such as a head, where the key already holds a filter */
    if (iterator > 0 && (uint64_t)iterator >= len) {
        e = bf_value_load_chunk(key->edit, iterator, bytes, len, &diag);
    }
    if (e == UMBEL_EINVAL && diag.what) {
        snprintf(text, sizeof text, "ERR %s", diag.what);
        RedisModule_ReplyWithError(key->ctx, text);
        return;
    }
    if (reply_loaded(key, e)) RedisModule_ReplicateVerbatim(key->ctx);
}

int bf_cmd_loadchunk(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    long long iterator = 0;
    size_t len = 0;
    if (argc != 4) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_loadchunk)) return REDISMODULE_OK;
    if (RedisModule_StringToLongLong(argv[2], &iterator) != REDISMODULE_OK) {
        return RedisModule_ReplyWithError(ctx, "ERR Second argument must be numeric");
    }
    const uint8_t *bytes = (const uint8_t *)RedisModule_StringPtrLen(argv[3], &len);
    bf_key_open(&key, ctx, argv[1], BF_WRITE);
    if (key.foreign) {
        RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    } else if (key.value) {
        load_chunk(&key, iterator, bytes, len);
    } else if (iterator == 1) {
        load_head(&key, bytes, len);
    } else {
        RedisModule_ReplyWithError(ctx, BF_NOT_FOUND);
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

int bf_cmd_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    size_t len = 0;
    if (argc != 3) return RedisModule_WrongArity(ctx);
    if (bf_merging_wait(ctx, argv[1], bf_cmd_load)) return REDISMODULE_OK;
    const uint8_t *bytes = (const uint8_t *)RedisModule_StringPtrLen(argv[2], &len);
    bf_key_open(&key, ctx, argv[1], BF_WRITE);
    if (key.foreign) {
        RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    } else if (key.value) {
        RedisModule_ReplyWithError(ctx, "BUSYKEY Target key name already exists.");
    } else {
        bf_value *value = NULL;
        umbel_err e = bf_load_whole(bytes, len, bf_config_limit(ctx), &value, NULL);
        if (!e) bf_key_put(&key, value);
        if (reply_loaded(&key, e) && !bf_replicate_contents(&key, false)) {
            RedisModule_ReplicateVerbatim(ctx);
        }
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}
