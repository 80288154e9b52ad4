/* SPDX-License-Identifier: MIT
 *
 * open_key.c - opening, filling and announcing keys
 */
#include "command/open_key.h"

#include "command/reply.h"
#include "storage/types.h"

void bf_slot_open(bf_slot *slot, RedisModuleCtx *ctx, RedisModuleString *name, int mode) {
    *slot = (bf_slot){.ctx = ctx, .name = name};
    slot->key = RedisModule_OpenKey(ctx, name, mode);
    if (slot->key) slot->value = bf_value_at(slot->key, &slot->foreign);
}

void bf_slot_close(bf_slot *slot) {
    RedisModule_CloseKey(slot->key);
}

bool bf_slot_open_filter(bf_slot *slot, RedisModuleCtx *ctx, RedisModuleString *name, int mode) {
    bf_slot_open(slot, ctx, name, mode);
    if (slot->value) return true;
    bf_slot_close(slot);
    RedisModule_ReplyWithError(ctx, slot->foreign ? BF_WRONG_TYPE : BF_NOT_FOUND);
    return false;
}

void bf_slot_put(bf_slot *slot, bf_value *value) {
    RedisModule_ModuleTypeSetValue(slot->key, bf_type_of(value), value);
    slot->value = value;
}

void bf_slot_changed(const bf_slot *slot, const char *event) {
    RedisModule_SignalModifiedKey(slot->ctx, slot->name);
    RedisModule_NotifyKeyspaceEvent(
        slot->ctx, REDISMODULE_NOTIFY_GENERIC | REDISMODULE_NOTIFY_MODULE, event, slot->name);
}

/* Inside a transaction, a script or a stream of commands nothing may come between, and a server
 * that is made to let it ends itself. */
static bool may_yield(RedisModuleCtx *ctx) {
    int never = REDISMODULE_CTX_FLAGS_LUA | REDISMODULE_CTX_FLAGS_MULTI |
                REDISMODULE_CTX_FLAGS_DENY_BLOCKING | REDISMODULE_CTX_FLAGS_REPLICATED |
                REDISMODULE_CTX_FLAGS_LOADING;
    return !(RedisModule_GetContextFlags(ctx) & never);
}

void bf_slot_yield(bf_slot *slot, int mode) {
    if (!may_yield(slot->ctx)) return;
    bf_slot_close(slot);
    RedisModule_Yield(slot->ctx, REDISMODULE_YIELD_FLAG_CLIENTS, NULL);
    bf_slot_open(slot, slot->ctx, slot->name, mode);
}
