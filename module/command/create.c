/* SPDX-License-Identifier: MIT
 *
 * create.c - creating filters, and replicating their creation
 */
#include "command/create.h"

#include <stdio.h>
#include <string.h>

#include "command/reply.h"
#include "config.h"
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
    uint64_t limit = bf_config_limit(key->ctx);
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
        bf_clock *clock = &options->clock;
        if (!clock->advanced) clock->advanced = (uint64_t)RedisModule_Milliseconds() / 1000;
        e = bf_value_set_clock(value, clock);
    }
    if (e) {
        bf_value_free(value);
        bf_reply_make_error(key->ctx, e, NULL);
        return false;
    }
    bf_key_put(key, value);
    if (options->ttl) RedisModule_SetExpire(key->opened, (long long)options->ttl * 1000);
    return true;
}

/* The arguments after a filter's error and capacity; room for every combination. */
typedef struct words {
    RedisModuleCtx *ctx;
    RedisModuleString *list[16];
    size_t count;
} words;

static void say(words *w, const char *text, size_t len) {
    w->list[w->count++] = RedisModule_CreateString(w->ctx, text, len);
}

static void say_text(words *w, const char *text) {
    say(w, text, strlen(text));
}

/* Filters that clients make one after the other are mostly alike, and few words differ: those that
 * were said last are kept. */
static void say_again(words *w, const char *text) {
    enum { KEPT = 64 };
    static RedisModuleString *kept[KEPT];
    uint32_t hash = 0;
    for (const char *at = text; *at; at++) hash = hash * 31 + (uint8_t)*at;
    RedisModuleString **last = &kept[hash % KEPT];
    size_t len = 0;
    const char *said = *last ? RedisModule_StringPtrLen(*last, &len) : NULL;
    if (!said || strlen(text) != len || memcmp(said, text, len) != 0) {
        if (*last) RedisModule_FreeString(NULL, *last);
        *last = RedisModule_CreateString(NULL, text, strlen(text));
    }
    RedisModule_RetainString(w->ctx, *last);
    w->list[w->count++] = *last;
}

static void say_double(words *w, double value) {
    static double last;
    static char text[40];
    if (value != last) snprintf(text, sizeof text, "%.17g", value);
    last = value;
    say_again(w, text);
}

static void say_number(words *w, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    say_again(w, text);
}

/* Replicates the TTL of a new key. */
static void say_expiry(const bf_key *key) {
    long long expires = RedisModule_GetAbsExpire(key->opened);
    if (expires >= 0) {
        RedisModule_Replicate(key->ctx, "PEXPIREAT", "sl", key->name, expires);
    }
}

static void say_window(words *w, const bf_key *key) {
    char text[BF_CLOCK_TEXT];
    bf_clock clock = bf_value_clock(key->value);
    bf_clock_text(&clock, true, text);
    say_text(w, text);
}

static void say_properties(words *w, const bf_key *key, const bf_params *params) {
    if (params->expansion == BF_EXPANSION_AUTO) {
        say_again(w, "EXPANSION");
        say_again(w, "auto");
    } else if (bf_grows(params)) {
        say_again(w, "EXPANSION");
        say_number(w, params->expansion);
    } else {
        say_again(w, "NONSCALING");
        if (params->layout == BF_REDISBLOOM && bf_expansion(params) != BF_EXPANSION_SHOWN) {
            say_again(w, "EXPANSION"); /* it keeps what its header has */
            say_number(w, bf_expansion(params));
        }
    }
    if (params->layout == BF_REDISBLOOM) return; /* in RedisBloom's words, and no others */
    say_again(w, "LAYOUT");
    say_again(w, "blocked");
    if (params->tightening > 0) {
        say_again(w, "TIGHTENING");
        say_double(w, params->tightening);
    }
    if (params->counting) say_again(w, "COUNTING");
    if (params->window) {
        say_again(w, "WINDOW");
        if (params->by_time) {
            say_window(w, key);
        } else {
            say_number(w, params->window);
        }
    }
    if (params->keyed) {
        say_again(w, "SEED");
        say(w, (const char *)params->key, sizeof params->key);
    }
}

static void forget(words *w) {
    for (size_t i = 0; i < w->count; i++) RedisModule_FreeString(w->ctx, w->list[i]);
}

static void replicate_chunk(const bf_key *key, int64_t iterator, const uint8_t *bytes, size_t len) {
    RedisModule_Replicate(key->ctx, "BF.LOADCHUNK", "slb", key->name, (long long)iterator,
                          (const char *)bytes, len);
}

/* Whether anyone listens to what is replicated.  A backlog without replicas counts: one may come
 * back for it. */
static bool heard(RedisModuleCtx *ctx) {
    int hearing = REDISMODULE_CTX_FLAGS_AOF | REDISMODULE_CTX_FLAGS_CLUSTER, none = 0, unknown = 0;
    if (RedisModule_GetContextFlags(ctx) & hearing) return true;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "replication");
    bool replicas =
        RedisModule_ServerInfoGetFieldUnsigned(info, "connected_slaves", &none) > 0 || none;
    bool backlog =
        RedisModule_ServerInfoGetFieldUnsigned(info, "repl_backlog_active", &unknown) || unknown;
    RedisModule_FreeServerInfo(ctx, info);
    return replicas || backlog;
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
    if (bf_value_layout(key->value) == BF_BLOCKED || !heard(key->ctx)) return false;
    say_contents(key, existed, empty);
    return true;
}

bool bf_replicate_contents(const bf_key *key, bool existed) {
    return replicate_contents(key, existed, false);
}

bool bf_replicate_cleared(const bf_key *key) {
    return replicate_contents(key, true, true);
}

/* RedisBloom looks for options of BF.RESERVE in the key's name as well, and then finds no value or
 * a contradiction; its own clients cannot reserve such a key either. */
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

void bf_replicate_insertion(const bf_key *key, const bf_params *params, RedisModuleString **items,
                            size_t count) {
    words w = {.ctx = key->ctx};
    if (needs_header(params, false)) {
        say_contents(key, false, false);
        return;
    }
    say_again(&w, "ERROR");
    say_double(&w, params->error);
    say_again(&w, "CAPACITY");
    say_number(&w, params->capacity);
    say_properties(&w, key, params);
    say_again(&w, "ITEMS");
    RedisModule_Replicate(key->ctx, "BF.INSERT", "svv", key->name, w.list, w.count, items, count);
    say_expiry(key);
    forget(&w);
}

void bf_replicate_creation(const bf_key *key, const bf_params *params) {
    words w = {.ctx = key->ctx};
    if (params->layout == BF_REDISBLOOM &&
        (reads_as_option(key->name) || needs_header(params, true))) {
        say_contents(key, false, true);
        return;
    }
    say_double(&w, params->error);
    say_number(&w, params->capacity);
    say_properties(&w, key, params);
    RedisModule_Replicate(key->ctx, "BF.RESERVE", "sv", key->name, w.list, w.count);
    say_expiry(key);
    forget(&w);
}
