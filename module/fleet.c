/* SPDX-License-Identifier: MIT
 *
 * fleet.c - replicating to RedisBloom servers: what they could not follow
 *
 * In the middle of a rolling upgrade a primary with umbel.so may have a replica with RedisBloom.
 * That replica follows everything about classic filters except COPY, which is the server's own
 * command and which RedisBloom refuses, so the new key's contents are replicated before it.  It
 * follows nothing about blocked filters, and nothing can ask a replica which module it has loaded,
 * so the log warns.
 */
#include <string.h>

#include "command/create.h"
#include "config.h"
#include "storage/types.h"

static bool follows(RedisModuleCtx *ctx) {
    return RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_SLAVE;
}

/* Replicas with umbel.so then find that the destination exists, or copy it again: all end up
 * equal. */
static int after_copy(RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *name) {
    bf_key key;
    (void)type;
    if (strcmp(event, "copy_to") != 0 || follows(ctx) || bf_config_replayed(ctx)) return 0;
    bf_key_look(&key, ctx, name); /* what is forgotten now is replicated before COPY */
    if (key.value) (void)bf_replicate_contents(&key, true);
    bf_key_close(&key);
    return 0;
}

static void warn(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t sub, void *data) {
    (void)event, (void)data;
    if (sub != REDISMODULE_SUBEVENT_REPLICA_CHANGE_ONLINE || bf_config.layout != BF_BLOCKED) return;
    RedisModule_Log(ctx, "notice",
                    "a replica is online: it needs umbel.so, because new filters have the blocked "
                    "layout, which RedisBloom does not know (bf.layout classic keeps to its own)");
}

/* Subscribers are called for every event of the kind, each BF.ADD included, and few users copy
 * classic filters: so only the first copy subscribes, before anyone is notified of it. */
static RedisModuleCtx *subscriber;

static void before_copy(void) {
    if (!subscriber) return;
    (void)RedisModule_SubscribeToKeyspaceEvents(subscriber, REDISMODULE_NOTIFY_GENERIC, after_copy);
    RedisModule_FreeThreadSafeContext(subscriber);
    subscriber = NULL;
}

int bf_fleet_register(RedisModuleCtx *ctx) {
    RedisModuleEvent replicas = {REDISMODULE_EVENT_REPLICA_CHANGE, 1};
    subscriber = RedisModule_GetDetachedThreadSafeContext(ctx);
    bf_before_copy = before_copy;
    return RedisModule_SubscribeToServerEvent(ctx, replicas, warn);
}
