/* SPDX-License-Identifier: MIT
 *
 * reply.c - errors in the wording that clients know, and named figures
 */
#include "command/reply.h"

#include <stdio.h>
#include <stdlib.h>

#include "counters.h"

static const char *full(const bf_value *value) {
    bf_params params = bf_value_params(value);
    if (!bf_grows(&params)) return "ERR non scaling filter is full";
    /* The rate left for another layer may be too low for the hash. */
    return bf_value_layers(value) < BF_LAYERS_MAX
               ? "ERR false positive degrades to 0 on scale out"
               : "ERR bloom object reached max number of filters";
}

int bf_reply_add_error(RedisModuleCtx *ctx, umbel_err err, const bf_value *value) {
    bf_count(BF_REFUSED_FULL, err == UMBEL_EFULL);
    bf_count(BF_REFUSED_MEMORY, err == UMBEL_ELIMIT || err == UMBEL_ENOMEM);
    switch (err) {
    case UMBEL_EFULL: return RedisModule_ReplyWithError(ctx, full(value));
    case UMBEL_ELIMIT: return RedisModule_ReplyWithError(ctx, BF_OVER_LIMIT);
    case UMBEL_EFROZEN: return RedisModule_ReplyWithError(ctx, "ERR filter is read-only");
    default: return RedisModule_ReplyWithError(ctx, "ERR problem inserting into filter");
    }
}

int bf_reply_make_error(RedisModuleCtx *ctx, umbel_err err, const umbel_diag *diag) {
    char text[256], why[200];
    bf_count(BF_REFUSED_MEMORY, err == UMBEL_ELIMIT || err == UMBEL_ENOMEM);
    switch (err) {
    case UMBEL_ENOMEM: return RedisModule_ReplyWithError(ctx, BF_NO_MEMORY);
    case UMBEL_ELIMIT: return RedisModule_ReplyWithError(ctx, BF_OVER_LIMIT);
    default:
        if (!diag || !diag->what) {
            return RedisModule_ReplyWithError(ctx, "ERR could not create filter");
        }
        snprintf(text, sizeof text, "ERR could not create filter: %s",
                 umbel_explain(err, diag, why, sizeof why));
        return RedisModule_ReplyWithError(ctx, text);
    }
}

void bf_reply_double(RedisModuleCtx *ctx, double value) {
    char text[40];
    int len = 0;
    if (RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_RESP3) {
        RedisModule_ReplyWithDouble(ctx, value);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        len = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    RedisModule_ReplyWithStringBuffer(ctx, text, (size_t)len);
}

void bf_reply_count(RedisModuleCtx *ctx, uint64_t value) {
    RedisModule_ReplyWithLongLong(ctx, value < INT64_MAX ? (long long)value : INT64_MAX);
}

void bf_reply_named_count(RedisModuleCtx *ctx, const char *name, uint64_t value) {
    RedisModule_ReplyWithSimpleString(ctx, name);
    bf_reply_count(ctx, value);
}

void bf_reply_named_double(RedisModuleCtx *ctx, const char *name, double value) {
    RedisModule_ReplyWithSimpleString(ctx, name);
    bf_reply_double(ctx, value);
}

void bf_reply_named_text(RedisModuleCtx *ctx, const char *name, const char *value) {
    RedisModule_ReplyWithSimpleString(ctx, name);
    RedisModule_ReplyWithSimpleString(ctx, value);
}
