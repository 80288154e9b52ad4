/* SPDX-License-Identifier: MIT
 *
 * reply.h - replies shared by several commands.  Error texts are RedisBloom's where it has one for
 *           the case, with or without "ERR" as there, otherwise valkey-bloom's.
 */
#ifndef BF_REPLY_H
#define BF_REPLY_H

#include "api.h"
#include "value/value.h"

#define BF_WRONG_TYPE REDISMODULE_ERRORMSG_WRONGTYPE
#define BF_NOT_FOUND "ERR not found"
#define BF_EXISTS "ERR item exists"
#define BF_OVER_LIMIT "ERR operation exceeds bloom object memory limit"
#define BF_NO_MEMORY "ERR Insufficient memory to create filter"

/* Replies why a key could not be added to the value. */
int bf_reply_add_error(RedisModuleCtx *ctx, umbel_err err, const bf_value *value);

/* Replies why a filter could not be created or changed; diag may give details. */
int bf_reply_make_error(RedisModuleCtx *ctx, umbel_err err, const umbel_diag *diag);

/* A name and its value: one map entry in RESP 3, two array elements in RESP 2. */
void bf_reply_named_count(RedisModuleCtx *ctx, const char *name, uint64_t value);
void bf_reply_named_double(RedisModuleCtx *ctx, const char *name, double value);
void bf_reply_named_text(RedisModuleCtx *ctx, const char *name, const char *value);

/* RESP 2 has no doubles and gets the shortest text that reads back as the same number. */
void bf_reply_double(RedisModuleCtx *ctx, double value);

/* A count as an integer, capped at INT64_MAX, the largest that the protocols have. */
void bf_reply_count(RedisModuleCtx *ctx, uint64_t value);

#endif
