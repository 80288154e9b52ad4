/* SPDX-License-Identifier: MIT
 *
 * bf_stats.c - BF.STATS key: what was promised, and what the bits say now
 */
#include "commands.h"
#include "reply.h"
#include "slot.h"

static double fill(const bf_measure *m) {
    return m->bits ? (double)m->bits_set / (double)m->bits : 0;
}

static void reply_layer(RedisModuleCtx *ctx, const bf_value *v, uint32_t i) {
    bf_layer layer;
    bf_measure m;
    bf_value_layer(v, i, &layer);
    bf_value_measure_layer(v, i, &m);
    RedisModule_ReplyWithMap(ctx, 9);
    bf_reply_named_text(ctx, "Kind", umbel_kind_name(layer.kind));
    bf_reply_named_count(ctx, "Capacity", layer.capacity);
    bf_reply_named_count(ctx, "Keys", layer.keys);
    bf_reply_named_double(ctx, "Estimated keys", m.keys_estimated);
    bf_reply_named_double(ctx, "Promised rate", layer.error);
    bf_reply_named_double(ctx, "Live rate", m.fpr_now);
    bf_reply_named_double(ctx, "Fill", fill(&m));
    bf_reply_named_count(ctx, "Bytes", layer.bytes);
    bf_reply_named_count(ctx, "Hashes", layer.hashes);
}

static void reply_stats(RedisModuleCtx *ctx, const bf_value *v) {
    bf_params params;
    bf_measure m;
    bf_value_params(v, &params);
    bf_value_measure(v, &m);
    uint32_t layers = bf_value_layers(v);
    RedisModule_ReplyWithMap(ctx, 9);
    bf_reply_named_text(ctx, "Layout", params.layout == BF_CLASSIC ? "classic" : "blocked");
    bf_reply_named_count(ctx, "Capacity", bf_value_capacity(v));
    bf_reply_named_count(ctx, "Keys", bf_value_card(v));
    bf_reply_named_double(ctx, "Estimated keys", m.keys_estimated);
    bf_reply_named_double(ctx, "Promised rate", params.error);
    bf_reply_named_double(ctx, "Live rate", m.fpr_now);
    bf_reply_named_double(ctx, "Fill", fill(&m));
    bf_reply_named_count(ctx, "Bytes", bf_value_memory(v));
    RedisModule_ReplyWithSimpleString(ctx, "Layers");
    RedisModule_ReplyWithArray(ctx, (long)layers);
    for (uint32_t i = 0; i < layers; i++) reply_layer(ctx, v, i);
}

int bf_cmd_stats(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    bf_slot slot;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    if (!bf_slot_open_filter(&slot, ctx, argv[1], REDISMODULE_READ)) return REDISMODULE_OK;
    reply_stats(ctx, slot.value);
    bf_slot_close(&slot);
    return REDISMODULE_OK;
}
