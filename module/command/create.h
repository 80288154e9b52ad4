/* SPDX-License-Identifier: MIT
 *
 * create.h - new filters, and how replicas and the append-only file get to know of them
 *
 * A creation is replicated with every property, whatever command led to it, so that neither the
 * settings nor the dice of a replica matter.
 */
#ifndef BF_CREATE_H
#define BF_CREATE_H

#include "command/open_key.h"
#include "command/reserve_options.h"

/* Makes a filter and puts it into the key, which must be open for writing and empty.  False after
 * an error reply.  Neither replicates nor announces it. */
bool bf_create(bf_key *key, bf_options *options);

/* As BF.RESERVE. */
void bf_replicate_creation(RedisModuleCtx *ctx, RedisModuleString *name, const bf_params *params);

/* As BF.INSERT, with the keys that were then added. */
void bf_replicate_insertion(RedisModuleCtx *ctx, RedisModuleString *name, const bf_params *params,
                            RedisModuleString **items, size_t count);

#endif
