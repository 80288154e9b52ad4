/* SPDX-License-Identifier: MIT
 *
 * config.c - the settings, their limits, and RedisBloom's loadmodule arguments
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names.h"
#include "value/server_memory.h"

bf_settings bf_config = {.error = 0.01, .capacity = 100, .expansion = 2, .layout = BF_BLOCKED};

/* RedisBloom's integer settings, with its names and limits; the older name is only a loadmodule
 * argument.  Those of cuckoo filters may still be in a redis.conf: they are accepted and have no
 * effect.  Under a prefix of its own the module has those of Bloom filters, without the "bf-". */
typedef struct number {
    const char *name, *older;
    long long *value, min, max;
} number;
static const number numbers[] = {
    {"bf-initial-size", "INITIAL_SIZE", &bf_config.capacity, 1, BF_CAPACITY_MAX},
    {"bf-expansion-factor", NULL, &bf_config.expansion, 0, BF_EXPANSION_MAX},
    {"cf-initial-size", NULL, &(long long){1024}, 1, 1 << 30},
    {"cf-bucket-size", NULL, &(long long){2}, 1, 255},
    {"cf-max-iterations", NULL, &(long long){20}, 1, 65535},
    {"cf-expansion-factor", NULL, &(long long){1}, 0, 32768},
    {"cf-max-expansions", "CF_MAX_EXPANSIONS", &(long long){32}, 1, 65535},
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0], BLOOMS_NUMBERS = 2 };

static size_t numbers_here(void) {
    return bf_names_redisblooms() ? NUMBERS : BLOOMS_NUMBERS;
}

#define ERROR_NAME "bf-error-rate"

/* A setting's name in this server. */
static const char *setting(const char *name) {
    bool theirs = strncmp(name, "bf-", strlen("bf-")) == 0;
    return theirs && !bf_names_redisblooms() ? name + strlen("bf-") : name;
}

/* Servers have no fractional settings: this one is a string, shown as it was given. */
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

bool bf_config_replayed(RedisModuleCtx *ctx) {
    int replayed = REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING |
                   REDISMODULE_CTX_FLAGS_ASYNC_LOADING;
    if (RedisModule_GetContextFlags(ctx) & replayed) return true;
    return RedisModule_MustObeyClient && RedisModule_MustObeyClient(ctx);
}

uint64_t bf_config_limit(RedisModuleCtx *ctx) {
    if (bf_config.max_bytes == 0) return 0;
    return bf_config_replayed(ctx) ? 0 : (uint64_t)bf_config.max_bytes;
}

/* RedisBloom's texts; the server puts the name of the setting before them. */
static int refuse(RedisModuleString **err, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *err = RedisModule_CreateString(NULL, text, (size_t)len);
    return REDISMODULE_ERR;
}

static RedisModuleString *get_error(const char *name, void *privdata) {
    (void)name, (void)privdata;
    return error_string;
}

static int set_error(const char *name, RedisModuleString *value, void *privdata,
                     RedisModuleString **err) {
    (void)name, (void)privdata;
    double error = 0;
    if (RedisModule_StringToDouble(value, &error) != REDISMODULE_OK) {
        return refuse(err, "Invalid value for `%s`", setting(ERROR_NAME));
    }
    if (!valid_error(error)) {
        return refuse(err, "Value for `%s` must be in the range (0.000000, 1.000000)",
                      setting(ERROR_NAME));
    }
    size_t len = 0;
    bool capped = error > BF_ERROR_MAX;
    const char *text = capped ? "0.25" : RedisModule_StringPtrLen(value, &len);
    if (error_string) RedisModule_FreeString(NULL, error_string);
    error_string = RedisModule_CreateString(NULL, text, capped ? strlen(text) : len);
    bf_config.error = bf_config_capped(error);
    return REDISMODULE_OK;
}

static long long get_number(const char *name, void *privdata) {
    (void)name;
    return *((const number *)privdata)->value;
}

static int set_number(const char *name, long long value, void *privdata, RedisModuleString **err) {
    const number *n = privdata;
    (void)name;
    if (value < n->min || value > n->max) {
        return refuse(err, "Value for `%s` must be in the range [%lld, %lld]", setting(n->name),
                      n->min, n->max);
    }
    *n->value = value;
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

/* ---- loadmodule arguments: NAME VALUE ... ---- */

static int parse_error(RedisModuleString *value) {
    double error = 0;
    size_t len = 0;
    const char *text = RedisModule_StringPtrLen(value, &len);
    if (RedisModule_StringToDouble(value, &error) != REDISMODULE_OK || !valid_error(error) ||
        len >= sizeof error_text) {
        return REDISMODULE_ERR;
    }
    memcpy(error_text, text, len + 1);
    return REDISMODULE_OK;
}

static bool is_called(const char *argument, const char *name, const char *older) {
    return !strcasecmp(argument, setting(name)) || (older && !strcasecmp(argument, older));
}

static int parse_argument(const char *name, RedisModuleString *value) {
    if (bf_names_are(name)) return REDISMODULE_OK; /* bf_names_read has it */
    if (is_called(name, ERROR_NAME, "ERROR_RATE")) return parse_error(value);
    for (size_t i = 0; i < numbers_here(); i++) {
        if (!is_called(name, numbers[i].name, numbers[i].older)) continue;
        long long given = 0;
        if (RedisModule_StringToLongLong(value, &given) != REDISMODULE_OK ||
            given < numbers[i].min || given > numbers[i].max) {
            return REDISMODULE_ERR;
        }
        *numbers[i].value = given;
        return REDISMODULE_OK;
    }
    return REDISMODULE_ERR;
}

static int parse_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    for (int i = 0; i < argc; i += 2) {
        const char *name = RedisModule_StringPtrLen(argv[i], NULL);
        if (i + 1 == argc) {
            RedisModule_Log(ctx, "warning", "the argument %s has no value", name);
            return REDISMODULE_ERR;
        }
        if (parse_argument(name, argv[i + 1]) != REDISMODULE_OK) {
            RedisModule_Log(ctx, "warning", "argument or value not accepted: %s %s", name,
                            RedisModule_StringPtrLen(argv[i + 1], NULL));
            return REDISMODULE_ERR;
        }
    }
    return REDISMODULE_OK;
}

/* RedisBloom's settings.  In its place Redis 8, the only server with LoadDefaultConfigs, knows them
 * without the prefix "bf."; the name after the bar is an alias, the name on all other servers. */
static int register_redisblooms(RedisModuleCtx *ctx) {
    bool plain = RedisModule_LoadDefaultConfigs != NULL && bf_names_redisblooms();
    const char *format = plain ? "%s|bf.%s" : "%s";
    unsigned flags = plain ? REDISMODULE_CONFIG_UNPREFIXED : REDISMODULE_CONFIG_DEFAULT;
    char name[64];
    snprintf(name, sizeof name, format, setting(ERROR_NAME), ERROR_NAME);
    int failed = RedisModule_RegisterStringConfig(ctx, name, error_text, flags, get_error,
                                                  set_error, NULL, NULL);
    for (size_t i = 0; i < numbers_here(); i++) {
        snprintf(name, sizeof name, format, setting(numbers[i].name), numbers[i].name);
        failed |= RedisModule_RegisterNumericConfig(ctx, name, *numbers[i].value, flags, INT64_MIN,
                                                    INT64_MAX, get_number, set_number, NULL,
                                                    (void *)(uintptr_t)&numbers[i]);
    }
    return failed;
}

/* Half of the memory of the machine, the container or maxmemory, so that with default settings no
 * client can use up all of it with one command.  Limits apply to new and growing filters, never to
 * existing data, so moving to another machine or maxmemory loses nothing. */
static long long default_limit(RedisModuleCtx *ctx) {
    uint64_t bytes = bf_memory_of_machine(), max = 0;
    int failed = 0;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    max = RedisModule_ServerInfoGetFieldUnsigned(info, "maxmemory", &failed);
    RedisModule_FreeServerInfo(ctx, info);
    if (!failed && max && (max < bytes || !bytes)) bytes = max;
    return (long long)(bytes / 2);
}

int bf_config_register(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static const char *layouts[] = {"blocked", "classic"};
    static const int layout_values[] = {BF_BLOCKED, BF_REDISBLOOM};
    static const number limit = {"memory-limit", NULL, &bf_config.max_bytes, 0, INT64_MAX};
    if (parse_arguments(ctx, argv, argc) != REDISMODULE_OK) return REDISMODULE_ERR;
    bf_config.max_bytes = default_limit(ctx);

    int failed = register_redisblooms(ctx);
    failed |= RedisModule_RegisterEnumConfig(ctx, "layout", bf_config.layout,
                                             REDISMODULE_CONFIG_DEFAULT, layouts, layout_values, 2,
                                             get_layout, set_layout, NULL, NULL);
    failed |= RedisModule_RegisterNumericConfig(ctx, "memory-limit", bf_config.max_bytes,
                                                REDISMODULE_CONFIG_MEMORY, 0, INT64_MAX, get_number,
                                                set_number, NULL, (void *)(uintptr_t)&limit);
    return failed ? REDISMODULE_ERR : RedisModule_LoadConfigs(ctx);
}
