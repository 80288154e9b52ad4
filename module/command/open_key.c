/* SPDX-License-Identifier: MIT
 *
 * open_key.c - opening keys, setting them, and notifying clients of changes
 */
#include "command/open_key.h"

#include "command/merging.h"
#include "command/reply.h"
#include "config.h"
#include "counters.h"
#include "names.h"
#include "storage/types.h"
#include "value/value_memory.h"
#include "value/value_window.h"

/* Returns the value for changing it: NULL if there is none, or it is held. */
static bf_value *open_now(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode) {
    *key = (bf_key){.ctx = ctx, .name = name};
    key->opened = RedisModule_OpenKey(ctx, name, mode);
    if (!key->opened) return NULL;
    const RedisModuleType *type = RedisModule_ModuleTypeGetType(key->opened);
    if (!bf_type_is_ours(type)) {
        key->foreign = RedisModule_KeyType(key->opened) != REDISMODULE_KEYTYPE_EMPTY;
        return NULL;
    }
    void *value = RedisModule_ModuleTypeGetValue(key->opened);
    key->value = value;
    return bf_value_edit(value);
}

/* A primary forgets what is too old when anybody accesses the key, and replicates that, as servers
 * do with keys that expire.  Replicas follow it, whatever their clocks say. */
static void forget_aged(const bf_key *key, bf_value *edit, int mode) {
    int follows = REDISMODULE_CTX_FLAGS_SLAVE;
    int script = mode & REDISMODULE_WRITE ? 0 : REDISMODULE_CTX_FLAGS_LUA;
    umbel_clock clock = bf_value_clock(edit), before = clock;
    if (!clock.step || RedisModule_GetContextFlags(key->ctx) & (follows | script)) return;
    if (bf_config_replayed(key->ctx) || RedisModule_AvoidReplicaTraffic()) return;
    uint64_t ended = umbel_clock_steps(&clock, (uint64_t)RedisModule_Milliseconds() / 1000);
    if (clock.advanced == before.advanced || bf_value_advance(edit, ended, &clock)) return;
    RedisModule_Replicate(key->ctx, bf_named("BF.ADVANCE"), "sll", key->name, (long long)ended,
                          (long long)clock.advanced);
    bf_count(BF_WINDOWS_ADVANCED, (int64_t)ended);
    if (ended) bf_key_changed(key, "bf.advance");
}

void bf_key_open(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode) {
    bf_value *edit = open_now(key, ctx, name, mode);
    if ((mode & REDISMODULE_WRITE) && bf_merging_settle(key)) {
        bf_key_close(key);
        edit = open_now(key, ctx, name, mode);
    }
    if (edit && edit->by_time) forget_aged(key, edit, mode);
    if (mode & REDISMODULE_WRITE) key->edit = edit;
}

void bf_key_look(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name) {
    (void)open_now(key, ctx, name, BF_READ);
}

void bf_key_close(bf_key *key) {
    RedisModule_CloseKey(key->opened);
}

bool bf_key_open_filter(bf_key *key, RedisModuleCtx *ctx, RedisModuleString *name, int mode) {
    bf_key_open(key, ctx, name, mode);
    if (key->value) return true;
    bf_key_close(key);
    RedisModule_ReplyWithError(ctx, key->foreign ? BF_WRONG_TYPE : BF_NOT_FOUND);
    return false;
}

void bf_key_put(bf_key *key, bf_value *value) {
    RedisModule_ModuleTypeSetValue(key->opened, bf_type_of(value), value);
    key->value = key->edit = value;
}

void bf_key_changed(const bf_key *key, const char *event) {
    RedisModule_SignalModifiedKey(key->ctx, key->name);
    int kinds = REDISMODULE_NOTIFY_GENERIC | REDISMODULE_NOTIFY_MODULE;
    RedisModule_NotifyKeyspaceEvent(key->ctx, kinds, bf_named(event), key->name);
}

bool bf_key_may_yield(RedisModuleCtx *ctx) {
    int never = REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_MULTI |
                REDISMODULE_CTX_FLAGS_DENY_BLOCKING | REDISMODULE_CTX_FLAGS_REPLICATED |
                REDISMODULE_CTX_FLAGS_LOADING;
    return !(RedisModule_GetContextFlags(ctx) & never) && !RedisModule_IsBlockedReplyRequest(ctx);
}

void bf_key_yield(bf_key *key, int mode) {
    if (!bf_key_may_yield(key->ctx)) return;
    bf_key_close(key);
    RedisModule_Yield(key->ctx, REDISMODULE_YIELD_FLAG_CLIENTS, NULL);
    bf_key_open(key, key->ctx, key->name, mode);
}
