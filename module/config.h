/* SPDX-License-Identifier: MIT
 *
 * config.h - what an administrator can set: CONFIG SET bf.NAME and the arguments of loadmodule
 */
#ifndef BF_CONFIG_H
#define BF_CONFIG_H

#include "api.h"
#include "value/value.h"

enum { BF_CAPACITY_MAX = 1 << 30 };

/* RedisBloom makes nothing with a higher rate. */
#define BF_ERROR_MAX 0.25

typedef struct bf_settings {
    double error;        /* bf-error-rate: of filters that no command reserved */
    long long capacity;  /* bf-initial-size */
    long long expansion; /* bf-expansion-factor; 0: they do not grow */
    int layout;          /* a bf_layout */
    long long max_bytes; /* memory-limit: of one filter, 0: none */
} bf_settings;

extern bf_settings bf_config;

/* Reads the arguments of loadmodule, which are RedisBloom's, and registers the settings; what
 * redis.conf says comes last.  REDISMODULE_ERR, after a line in the log, for what is wrong. */
int bf_config_register(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* The memory that one filter may take under the command that ctx is about; 0: no limit.  What a
 * primary or the append-only file says was accepted once already and is accepted here. */
uint64_t bf_config_limit(RedisModuleCtx *ctx);

/* The rate that a filter gets when it is asked for this one, which lies in (0, 1). */
double bf_config_capped(double error);

int bf_info_register(RedisModuleCtx *ctx);

#endif
