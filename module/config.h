/* SPDX-License-Identifier: MIT
 *
 * config.h - what an administrator can set: CONFIG SET bf.NAME and loadmodule arguments
 */
#ifndef BF_CONFIG_H
#define BF_CONFIG_H

#include "api.h"
#include "value/value.h"

enum { BF_CAPACITY_MAX = 1 << 30 };

/* RedisBloom caps rates at this value. */
#define BF_ERROR_MAX 0.25

typedef struct bf_settings {
    double error;        /* bf-error-rate: of auto-created filters */
    long long capacity;  /* bf-initial-size */
    long long expansion; /* bf-expansion-factor; 0: they do not grow */
    int layout;          /* a bf_layout */
    long long max_bytes; /* memory-limit: per filter; 0: none */
} bf_settings;

extern bf_settings bf_config;

/* Reads the loadmodule arguments, which are RedisBloom's, and registers the settings; redis.conf
 * takes precedence.  REDISMODULE_ERR, after a line in the log, if something is wrong. */
int bf_config_register(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* Whether the command that ctx is about was already accepted elsewhere: it comes from a primary,
 * the append-only file, or a node that moves its slots here. */
bool bf_config_replayed(RedisModuleCtx *ctx);

/* The memory that one filter may take under the command that ctx is about; 0: no limit, as for
 * replayed commands, which were accepted elsewhere. */
uint64_t bf_config_limit(RedisModuleCtx *ctx);

/* The rate that a filter gets when this one, in (0, 1), is requested. */
double bf_config_capped(double error);

int bf_info_register(RedisModuleCtx *ctx);
int bf_fleet_register(RedisModuleCtx *ctx);

#endif
