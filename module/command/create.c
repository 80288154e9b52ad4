/* SPDX-License-Identifier: MIT
 *
 * create.c - creating filters, and replicating their creation
 */
#include "command/create.h"

#include <stdio.h>
#include <string.h>

#include "command/reply.h"
#include "config.h"
#include "names.h"
#include "storage/dump.h"

static const char *cannot_scale(const bf_options *options, uint64_t limit) {
    uint64_t wanted = options->scale_to;
    if (!wanted || bf_params_max_keys(&options->params, limit) >= wanted) return NULL;
    return bf_params_max_keys(&options->params, 0) >= wanted
               ? "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit"
               : "ERR provided VALIDATESCALETO causes false positive to degrade to 0";
}

bool bf_create(bf_key *key, bf_options *options) {
    if (!options->layout_given && options->replayed) {
        options->params.layout = BF_REDISBLOOM; /* create.h says why */
    }
    const char *wrong = bf_options_settle(options);
    uint64_t limit = options->replayed ? 0 : (uint64_t)bf_config.max_bytes;
    if (!wrong) wrong = cannot_scale(options, limit);
    if (wrong) {
        RedisModule_ReplyWithError(key->ctx, wrong);
        return false;
    }
    umbel_diag diag = {0};
    bf_value *value = NULL;
    umbel_err e = bf_value_create(&options->params, limit, &value, &diag);
    if (e) {
        bf_reply_make_error(key->ctx, e, &diag);
        return false;
    }
    if (options->params.by_time) {
        umbel_clock *clock = &options->clock;
        if (!clock->advanced) clock->advanced = (uint64_t)RedisModule_Milliseconds() / 1000;
        e = umbel_set_clock(value->filter, clock, NULL);
    }
    if (e) {
        bf_value_free(value);
        bf_reply_make_error(key->ctx, e, NULL);
        return false;
    }
    bf_key_put(key, value);
    key->expires = options->ttl != 0;
    if (key->expires) RedisModule_SetExpire(key->opened, (long long)options->ttl * 1000);
    return true;
}

/* ---- Who listens ----
 *
 * A server drops what is replicated while it has no append-only file, no replica and no backlog,
 * from which a returning replica could continue.  Asking it for the latter two takes longer than
 * making a filter, so the answer is kept until it may have changed: the first replica gets a
 * snapshot, for which the server forks, and which contains everything up to then. */

static enum { UNKNOWN, SILENT, HEARD } listeners;

static void after_fork(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t sub, void *data) {
    (void)ctx, (void)event, (void)sub, (void)data;
    if (listeners == SILENT) listeners = UNKNOWN;
}

static void after_role(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t sub, void *data) {
    (void)ctx, (void)event, (void)sub, (void)data;
    listeners = HEARD;
}

int bf_replication_register(RedisModuleCtx *ctx) {
    RedisModuleEvent forks = {REDISMODULE_EVENT_FORK_CHILD, 1};
    RedisModuleEvent roles = {REDISMODULE_EVENT_ROLE_CHANGED, 1};
    return RedisModule_SubscribeToServerEvent(ctx, forks, after_fork) ||
           RedisModule_SubscribeToServerEvent(ctx, roles, after_role);
}

static bool has_listeners(RedisModuleCtx *ctx) {
    int none = 0, unknown = 0;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "replication");
    bool replicas =
        RedisModule_ServerInfoGetFieldUnsigned(info, "connected_slaves", &none) > 0 || none;
    bool backlog =
        RedisModule_ServerInfoGetFieldUnsigned(info, "repl_backlog_active", &unknown) || unknown;
    RedisModule_FreeServerInfo(ctx, info);
    return replicas || backlog;
}

static bool has_receivers(RedisModuleCtx *ctx) {
    int hearing =
        REDISMODULE_CTX_FLAGS_AOF | REDISMODULE_CTX_FLAGS_CLUSTER | REDISMODULE_CTX_FLAGS_SLAVE;
    if (RedisModule_GetContextFlags(ctx) & hearing) return true;
    if (listeners == UNKNOWN) listeners = has_listeners(ctx) ? HEARD : SILENT;
    return listeners == HEARD;
}

/* ---- The words of a creation ---- */

/* ERROR e CAPACITY n and all other properties except the last, a secret. */
typedef struct words {
    bf_params of;
    RedisModuleString *list[16];
    size_t count;
} words;

enum { RATE = 1, SIZE = 3, REST }; /* where they are */

static void append(words *w, const char *text) {
    w->list[w->count++] = RedisModule_CreateString(NULL, text, strlen(text));
}

static void append_double(words *w, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    append(w, text);
}

static void append_number(words *w, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    append(w, text);
}

static void append_window(words *w, const bf_key *key) {
    char text[BF_CLOCK_TEXT];
    umbel_clock clock = bf_value_clock(key->value);
    append(w, bf_clock_text(&clock, true, text));
}

static void append_properties(words *w, const bf_key *key, const bf_params *params) {
    if (params->expansion == BF_EXPANSION_AUTO) {
        append(w, "EXPANSION");
        append(w, "auto");
    } else if (bf_grows(params)) {
        append(w, "EXPANSION");
        append_number(w, params->expansion);
    } else {
        append(w, "NONSCALING");
        if (params->layout == BF_REDISBLOOM && bf_expansion(params) != BF_EXPANSION_SHOWN) {
            append(w, "EXPANSION"); /* it keeps what its header has */
            append_number(w, bf_expansion(params));
        }
    }
    if (params->layout == BF_REDISBLOOM) return; /* RedisBloom knows no other words */
    append(w, "LAYOUT");
    append(w, "blocked");
    if (params->tightening > 0) {
        append(w, "TIGHTENING");
        append_double(w, params->tightening);
    }
    if (params->counting) append(w, "COUNTING");
    if (params->window) {
        append(w, "WINDOW");
        if (params->by_time) {
            append_window(w, key);
        } else {
            append_number(w, params->window);
        }
    }
    if (params->keyed) append(w, "SEED");
}

/* Filters that clients create in a row mostly differ only in their secrets: recent words are
 * cached. */
static const words *words_of(const bf_key *key, const bf_params *params) {
    enum { CACHED = 8 };
    static words cached[CACHED];
    words *w = &cached[(params->capacity ^ params->expansion ^ params->layout) % CACHED];
    if (w->count && bf_params_alike(&w->of, params) && !params->by_time) return w;
    for (size_t i = 0; i < w->count; i++) RedisModule_FreeString(NULL, w->list[i]);
    *w = (words){.of = *params};
    memset(w->of.key, 0, sizeof w->of.key);
    append(w, "ERROR");
    append_double(w, params->error);
    append(w, "CAPACITY");
    append_number(w, params->capacity);
    append_properties(w, key, params);
    return w;
}

/* Replicates the TTL of a new key. */
static void say_expiry(const bf_key *key) {
    long long expires = RedisModule_GetAbsExpire(key->opened);
    if (expires >= 0) {
        RedisModule_Replicate(key->ctx, "PEXPIREAT", "sl", key->name, expires);
    }
}

static void replicate_chunk(const bf_key *key, int64_t iterator, const uint8_t *bytes, size_t len) {
    RedisModule_Replicate(key->ctx, bf_named("BF.LOADCHUNK"), "slb", key->name, (long long)iterator,
                          (const char *)bytes, len);
}

/* Replicates the contents of a classic filter. */
static void say_contents(const bf_key *key, bool existed, bool empty) {
    const bf_value *v = key->value;
    size_t len = 0;
    const uint8_t *bytes = NULL;
    int64_t next = 1;
    uint8_t *head = bf_dump_head(v, &len);
    if (existed) RedisModule_Replicate(key->ctx, "DEL", "s", key->name);
    replicate_chunk(key, next, head, len);
    RedisModule_Free(head);
    while (!empty && (bf_dump_chunk(v, next, &next, &bytes, &len), next)) {
        replicate_chunk(key, next, bytes, len);
    }
    say_expiry(key);
}

static bool replicate_contents(const bf_key *key, bool existed, bool empty) {
    if (key->value->layout == BF_BLOCKED || !has_receivers(key->ctx)) return false;
    say_contents(key, existed, empty);
    return true;
}

bool bf_replicate_contents(const bf_key *key, bool existed) {
    return replicate_contents(key, existed, false);
}

bool bf_replicate_cleared(const bf_key *key) {
    return replicate_contents(key, true, true);
}

/* RedisBloom also looks for options of BF.RESERVE in the key's name, and then finds no value or a
 * contradiction; its own clients cannot reserve such a key either. */
static bool reads_as_option(const RedisModuleString *name) {
    bf_word word = bf_word_of(name);
    return word == BF_WORD_EXPANSION || word == BF_WORD_NONSCALING;
}

/* In RedisBloom's header a filter that does not grow also has an expansion.  BF.RESERVE cannot
 * express that, nor can BF.INSERT express an expansion of 0 in a way that every release accepts. */
static bool needs_header(const bf_params *params, bool empty) {
    uint32_t growth = bf_expansion(params);
    return params->layout == BF_REDISBLOOM && !bf_grows(params) &&
           (empty ? growth != BF_EXPANSION_SHOWN : growth == 0);
}

static bool has_secret(const bf_params *params) {
    return params->keyed && params->layout == BF_BLOCKED;
}

void bf_replicate_insertion(const bf_key *key, const bf_params *params, RedisModuleString **items,
                            size_t count) {
    static RedisModuleString *word;
    if (!word) word = RedisModule_CreateString(NULL, "ITEMS", strlen("ITEMS"));
    if (!has_receivers(key->ctx)) {
        RedisModule_ReplicateVerbatim(key->ctx); /* counts as a change since the last save */
        return;
    }
    if (needs_header(params, false)) {
        say_contents(key, false, false);
        return;
    }
    const words *w = words_of(key, params);
    if (has_secret(params)) {
        RedisModule_Replicate(key->ctx, bf_named("BF.INSERT"), "svbsv", key->name, w->list,
                              w->count, (const char *)params->key, sizeof params->key, word, items,
                              count);
    } else {
        RedisModule_Replicate(key->ctx, bf_named("BF.INSERT"), "svsv", key->name, w->list, w->count,
                              word, items, count);
    }
    if (key->expires) say_expiry(key);
}

void bf_replicate_creation(const bf_key *key, const bf_params *params) {
    if (!has_receivers(key->ctx)) {
        RedisModule_ReplicateVerbatim(key->ctx);
        return;
    }
    if (params->layout == BF_REDISBLOOM &&
        (reads_as_option(key->name) || needs_header(params, true))) {
        say_contents(key, false, true);
        return;
    }
    const words *w = words_of(key, params);
    RedisModuleString *rate = w->list[RATE], *size = w->list[SIZE];
    if (has_secret(params)) {
        RedisModule_Replicate(key->ctx, bf_named("BF.RESERVE"), "sssvb", key->name, rate, size,
                              w->list + REST, w->count - REST, (const char *)params->key,
                              sizeof params->key);
    } else {
        RedisModule_Replicate(key->ctx, bf_named("BF.RESERVE"), "sssv", key->name, rate, size,
                              w->list + REST, w->count - REST);
    }
    if (key->expires) say_expiry(key);
}
