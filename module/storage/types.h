/* SPDX-License-Identifier: MIT
 *
 * types.h - the data types registered with the server: umbel-bf- for the blocked layout,
 *           RedisBloom's MBbloom-- for the classic one, or umbel-cl- where that is RedisBloom's own
 *
 * Encoding versions belong to types, so each layout has its own type.
 */
#ifndef BF_TYPES_H
#define BF_TYPES_H

#include "api.h"
#include "value/value.h"

/* Registers the types; REDISMODULE_ERR if the server refuses one.  Call once, in OnLoad. */
int bf_types_register(RedisModuleCtx *ctx);

/* The type under which a value is stored. */
RedisModuleType *bf_type_of(const bf_value *v);
bool bf_type_is_ours(const RedisModuleType *type);

/* Called before the server copies a value in RedisBloom's layout. */
extern void (*bf_before_copy)(void);

enum { BF_REDISBLOOM_ENCVER = 4, BF_BLOCKED_ENCVER = 2 };

void bf_redisbloom_save(RedisModuleIO *io, void *value);
void *bf_redisbloom_load(RedisModuleIO *io, int encver);

void bf_blocked_save(RedisModuleIO *io, void *value);
void *bf_blocked_load(RedisModuleIO *io, int encver);

/* Counts and logs a value that cannot be loaded. */
void bf_refuse_dump(RedisModuleIO *io, const char *whose, const umbel_diag *diag);

#endif
