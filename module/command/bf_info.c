/* SPDX-License-Identifier: MIT
 *
 * bf_info.c - BF.CARD key
 *             BF.INFO key [field]
 *             BF.DEBUG key
 */
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "command/commands.h"
#include "command/open_key.h"
#include "command/reply.h"
#include "config.h"
#include "value/value_window.h"

int bf_cmd_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    bf_key_open(&key, ctx, argv[1], BF_READ);
    if (key.foreign) {
        RedisModule_ReplyWithError(ctx, BF_WRONG_TYPE);
    } else {
        bf_reply_count(ctx, key.value ? bf_value_card(key.value) : 0);
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

/* ---- BF.INFO ---- */

/* A number, or null where the filter does not grow. */
static void reply_if_growing(RedisModuleCtx *ctx, const bf_params *params, uint64_t value) {
    if (bf_grows(params)) {
        bf_reply_count(ctx, value);
    } else {
        RedisModule_ReplyWithNull(ctx);
    }
}

static void capacity(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_count(ctx, bf_value_capacity(v));
}

static void size(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_count(ctx, bf_value_size(v));
}

static void filters(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_count(ctx, bf_value_layers(v));
}

static void items(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_count(ctx, bf_value_card(v));
}

static void expansion(RedisModuleCtx *ctx, const bf_value *v) {
    bf_params params = bf_value_params(v);
    reply_if_growing(ctx, &params, bf_expansion(&params));
}

static void error(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_double(ctx, v->error);
}

/* Null if there is no ratio: the filter does not grow, or its layers share the rate. */
static void tightening(RedisModuleCtx *ctx, const bf_value *v) {
    bf_params params = bf_value_params(v);
    double ratio = params.layout == BF_REDISBLOOM ? 0.5 : params.tightening;
    if (!bf_grows(&params) || ratio <= 0) {
        RedisModule_ReplyWithNull(ctx);
    } else {
        bf_reply_double(ctx, ratio);
    }
}

static void max_keys(RedisModuleCtx *ctx, const bf_value *v) {
    bf_params params = bf_value_params(v);
    uint64_t keys =
        bf_grows(&params) ? bf_params_max_keys(&params, (uint64_t)bf_config.max_bytes) : 0;
    reply_if_growing(ctx, &params, keys);
}

static void layout(RedisModuleCtx *ctx, const bf_value *v) {
    RedisModule_ReplyWithSimpleString(ctx, v->layout == BF_REDISBLOOM ? "classic" : "blocked");
}

/* Null if it is not a window; its generations; or, if it goes by the clock, duration and step. */
static void window(RedisModuleCtx *ctx, const bf_value *v) {
    char text[BF_CLOCK_TEXT];
    umbel_clock clock = bf_value_clock(v);
    if (!clock.generations) {
        RedisModule_ReplyWithNull(ctx);
    } else if (!clock.step) {
        bf_reply_count(ctx, clock.generations);
    } else {
        RedisModule_ReplyWithSimpleString(ctx, bf_clock_text(&clock, false, text));
    }
}

/* For a filter that was built with keys that it must never find (umbel_never), and pushed. */
static void exceptions(RedisModuleCtx *ctx, const bf_value *v) {
    bf_reply_count(ctx, bf_value_exceptions(v));
}

/* The first five are RedisBloom's and make up the full reply; the others, valkey-bloom's and
 * our own, are returned only when asked for by name. */
enum { FULL_REPLY = 5 };
static const struct {
    const char *word, *name;
    void (*reply)(RedisModuleCtx *ctx, const bf_value *v);
} fields[] = {
    {"CAPACITY", "Capacity", capacity},
    {"SIZE", "Size", size},
    {"FILTERS", "Number of filters", filters},
    {"ITEMS", "Number of items inserted", items},
    {"EXPANSION", "Expansion rate", expansion},
    {"ERROR", "Error rate", error},
    {"TIGHTENING", "Tightening ratio", tightening},
    {"MAXSCALEDCAPACITY", "Max scaled capacity", max_keys},
    {"LAYOUT", "Layout", layout},
    {"WINDOW", "Window", window},
    {"EXCEPTIONS", "Exceptions", exceptions},
};

static void info_all(RedisModuleCtx *ctx, const bf_value *v) {
    RedisModule_ReplyWithMap(ctx, FULL_REPLY);
    for (size_t i = 0; i < FULL_REPLY; i++) {
        RedisModule_ReplyWithSimpleString(ctx, fields[i].name);
        fields[i].reply(ctx, v);
    }
}

static void info_one(RedisModuleCtx *ctx, const bf_value *v, const char *word) {
    size_t i = 0, count = sizeof fields / sizeof fields[0];
    while (i < count && strcasecmp(fields[i].word, word) != 0) i++;
    if (i == count) {
        RedisModule_ReplyWithError(ctx, "Invalid information value");
    } else if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) {
        RedisModule_ReplyWithMap(ctx, 1);
        RedisModule_ReplyWithSimpleString(ctx, fields[i].name);
        fields[i].reply(ctx, v);
    } else {
        RedisModule_ReplyWithArray(ctx, 1);
        fields[i].reply(ctx, v);
    }
}

int bf_cmd_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_READ)) return REDISMODULE_OK;
    if (argc == 2) {
        info_all(ctx, key.value);
    } else {
        info_one(ctx, key.value, RedisModule_StringPtrLen(argv[2], NULL));
    }
    bf_key_close(&key);
    return REDISMODULE_OK;
}

/* ---- BF.DEBUG ---- */

static void debug_layer(RedisModuleCtx *ctx, const bf_value *v, uint32_t i) {
    char text[256];
    bf_layer layer;
    bf_value_layer(v, i, &layer);
    int len =
        snprintf(text, sizeof text,
                 "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%" PRIu32
                 " hashwidth:64 capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
                 layer.bytes, layer.bits, layer.hashes, layer.capacity, layer.keys, layer.error);
    RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)len);
}

int bf_cmd_debug(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    char text[64];
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_READ)) return REDISMODULE_OK;
    uint32_t layers = bf_value_layers(key.value);
    RedisModule_ReplyWithArray(ctx, 1 + (long)layers);
    int len = snprintf(text, sizeof text, "size:%" PRIu64, bf_value_card(key.value));
    RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)len);
    for (uint32_t i = 0; i < layers; i++) debug_layer(ctx, key.value, i);
    bf_key_close(&key);
    return REDISMODULE_OK;
}

static double fill(const umbel_measurement *m) {
    return m->bits ? (double)m->bits_set / (double)m->bits : 0;
}

/* A value without layers is measured once: `all` is also its only layer. */
static void reply_layer(RedisModuleCtx *ctx, const bf_value *v, uint32_t i,
                        const umbel_measurement *all) {
    bf_layer layer;
    umbel_measurement m = *all;
    bf_value_layer(v, i, &layer);
    if (bf_value_layered(v)) bf_value_measure_layer(v, i, &m);
    RedisModule_ReplyWithMap(ctx, 9);
    bf_reply_named_text(ctx, "Kind", layer.kind);
    bf_reply_named_count(ctx, "Capacity", layer.capacity);
    bf_reply_named_count(ctx, "Keys", layer.keys);
    bf_reply_named_double(ctx, "Estimated keys", m.keys);
    bf_reply_named_double(ctx, "Promised rate", layer.error);
    bf_reply_named_double(ctx, "Live rate", m.rate);
    bf_reply_named_double(ctx, "Fill", fill(&m));
    bf_reply_named_count(ctx, "Bytes", layer.bytes);
    bf_reply_named_count(ctx, "Hashes", layer.hashes);
}

static void reply_stats(RedisModuleCtx *ctx, const bf_value *v) {
    umbel_measurement m;
    bf_value_measure(v, &m);
    uint32_t layers = bf_value_layers(v);
    RedisModule_ReplyWithMap(ctx, v->by_time ? 14 : 11);
    bf_reply_named_text(ctx, "Layout", v->layout == BF_REDISBLOOM ? "classic" : "blocked");
    bf_reply_named_count(ctx, "Capacity", bf_value_capacity(v));
    bf_reply_named_count(ctx, "Keys", bf_value_card(v));
    bf_reply_named_double(ctx, "Estimated keys", m.keys);
    bf_reply_named_double(ctx, "Promised rate", v->error);
    bf_reply_named_double(ctx, "Live rate", m.rate);
    bf_reply_named_double(ctx, "Fill", fill(&m));
    bf_reply_named_count(ctx, "Overfull", bf_value_overfull(v, &m));
    bf_reply_named_count(ctx, "Bytes", bf_value_memory(v));
    bf_reply_named_count(ctx, "Exceptions", bf_value_exceptions(v));
    if (v->by_time) {
        umbel_clock clock = bf_value_clock(v);
        RedisModule_ReplyWithSimpleString(ctx, "Window");
        window(ctx, v);
        bf_reply_named_count(ctx, "Window step", clock.step);
        bf_reply_named_count(ctx, "Newest since", clock.advanced);
    }
    RedisModule_ReplyWithSimpleString(ctx, "Layers");
    RedisModule_ReplyWithArray(ctx, (long)layers);
    for (uint32_t i = 0; i < layers; i++) reply_layer(ctx, v, i, &m);
}

int bf_cmd_stats(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_key key;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!bf_key_open_filter(&key, ctx, argv[1], BF_READ)) return REDISMODULE_OK;
    reply_stats(ctx, key.value);
    bf_key_close(&key);
    return REDISMODULE_OK;
}
