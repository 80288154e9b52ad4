/* SPDX-License-Identifier: MIT
 *
 * config.c - the settings, their limits, and RedisBloom's arguments of loadmodule
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bf_settings bf_config = {.error = 0.01, .capacity = 100, .expansion = 2, .layout = BF_BLOCKED};

/* Servers have no settings with fractions: this one is a text, shown as it was given. */
static char error_text[64] = "0.01";
static RedisModuleString *error_string;

static bool valid_error(double error) {
    return error > 0 && error < 1;
}

double bf_config_capped(double error) {
    if (error <= BF_ERROR_MAX) return error;
    RedisModule_Log(NULL, "warning", "error rate %g is above %g, which is used instead", error,
                    BF_ERROR_MAX);
    return BF_ERROR_MAX;
}

uint64_t bf_config_limit(RedisModuleCtx *ctx) {
    if (bf_config.max_bytes == 0) return 0;
    int settled = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING;
    return RedisModule_GetContextFlags(ctx) & settled ? 0 : (uint64_t)bf_config.max_bytes;
}

static RedisModuleString *get_error(const char *name, void *privdata) {
    (void)name, (void)privdata;
    return error_string;
}

static int set_error(const char *name, RedisModuleString *value, void *privdata,
                     RedisModuleString **err) {
    (void)name, (void)privdata;
    static const char why[] = "the error rate must be a number between 0 and 1, both excluded";
    double error = 0;
    if (RedisModule_StringToDouble(value, &error) != REDISMODULE_OK || !valid_error(error)) {
        *err = RedisModule_CreateString(NULL, why, sizeof why - 1);
        return REDISMODULE_ERR;
    }
    size_t len = 0;
    const char *text = RedisModule_StringPtrLen(value, &len);
    if (error_string) RedisModule_FreeString(NULL, error_string);
    error_string = RedisModule_CreateString(NULL, text, len);
    bf_config.error = bf_config_capped(error);
    return REDISMODULE_OK;
}

static long long get_number(const char *name, void *privdata) {
    (void)name;
    return *(long long *)privdata;
}

static int set_number(const char *name, long long value, void *privdata, RedisModuleString **err) {
    (void)name, (void)err;
    *(long long *)privdata = value;
    return REDISMODULE_OK;
}

static int get_layout(const char *name, void *privdata) {
    (void)name, (void)privdata;
    return bf_config.layout;
}

static int set_layout(const char *name, int value, void *privdata, RedisModuleString **err) {
    (void)name, (void)privdata, (void)err;
    bf_config.layout = value;
    return REDISMODULE_OK;
}

/* ---- Arguments of loadmodule: NAME VALUE ... ---- */

static int take_error(RedisModuleString *value) {
    double error = 0;
    size_t len = 0;
    const char *text = RedisModule_StringPtrLen(value, &len);
    if (RedisModule_StringToDouble(value, &error) != REDISMODULE_OK || !valid_error(error) ||
        len >= sizeof error_text)
        return REDISMODULE_ERR;
    memcpy(error_text, text, len + 1);
    return REDISMODULE_OK;
}

static int take_number(RedisModuleString *value, long long max, long long *out) {
    long long number = 0;
    if (RedisModule_StringToLongLong(value, &number) != REDISMODULE_OK || number < 1 ||
        number > max)
        return REDISMODULE_ERR;
    *out = number;
    return REDISMODULE_OK;
}

static int take_argument(const char *name, RedisModuleString *value) {
    if (!strcasecmp(name, "ERROR_RATE")) return take_error(value);
    if (!strcasecmp(name, "INITIAL_SIZE"))
        return take_number(value, BF_CAPACITY_MAX, &bf_config.capacity);
    /* About cuckoo filters, which are not here; it stands in people's redis.conf all the same. */
    long long expansions;
    if (!strcasecmp(name, "CF_MAX_EXPANSIONS"))
        return take_number(value, BF_EXPANSION_MAX, &expansions);
    return REDISMODULE_ERR;
}

static int take_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        if (i + 1 == argc) {
            RedisModule_Log(ctx, "warning", "the argument %s has no value", name);
            return REDISMODULE_ERR;
        }
        if (take_argument(name, argv[i + 1]) != REDISMODULE_OK) {
            RedisModule_Log(ctx, "warning", "argument or value not accepted: %s %s", name,
                            RedisModule_StringPtrLen(argv[i + 1], NULL));
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}

int bf_config_register(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const char *layouts[] = {"blocked", "classic"};
    static const int layout_values[] = {BF_BLOCKED, BF_REDISBLOOM};
    if (take_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;

    int failed = RedisModule_RegisterStringConfig(ctx, "bf-error-rate", error_text,
                                                  REDISMODULE_CONFIG_DEFAULT, get_error, set_error,
                                                  NULL, NULL);
    failed |= RedisModule_RegisterNumericConfig(ctx, "bf-initial-size", bf_config.capacity,
                                                REDISMODULE_CONFIG_DEFAULT, 1, BF_CAPACITY_MAX,
                                                get_number, set_number, NULL, &bf_config.capacity);
    failed |= RedisModule_RegisterNumericConfig(ctx, "bf-expansion-factor", bf_config.expansion,
                                                REDISMODULE_CONFIG_DEFAULT, 0, BF_EXPANSION_MAX,
                                                get_number, set_number, NULL, &bf_config.expansion);
    failed |= RedisModule_RegisterEnumConfig(ctx, "layout", bf_config.layout,
                                             REDISMODULE_CONFIG_DEFAULT, layouts, layout_values, 2,
                                             get_layout, set_layout, NULL, NULL);
    failed |= RedisModule_RegisterNumericConfig(ctx, "memory-limit", bf_config.max_bytes,
                                                REDISMODULE_CONFIG_MEMORY, 0, INT64_MAX, get_number,
                                                set_number, NULL, &bf_config.max_bytes);
    return failed ? REDISMODULE_ERR : RedisModule_LoadConfigs(ctx);
}
