/* SPDX-License-Identifier: MIT
 *
 * create.h - new filters, and how they reach replicas and the append-only file
 *
 * A creation is replicated with every property, whichever command caused it, so replicas need
 * neither the same settings nor the same random secret.
 */
#ifndef BF_CREATE_H
#define BF_CREATE_H

#include "command/open_key.h"
#include "command/reserve_options.h"

/* Creates a filter and puts it into the key, which must be open for writing and empty.  False after
 * an error reply.  Neither replicates it nor notifies anyone. */
bool bf_create(bf_key *key, bf_options *options);

/* Replicates the creation as BF.RESERVE. */
void bf_replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name, const bf_params *params);

/* Replicates it as BF.INSERT, together with the keys that were then added. */
void bf_replicate_insertion(RedisModuleCtx *ctx, RedisModuleString *name, const bf_params *params,
                            RedisModuleString **items, size_t count);

#endif
