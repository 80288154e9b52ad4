/* SPDX-License-Identifier: MIT
 *
 * create.h - new filters, and how they reach replicas and the append-only file
 *
 * A creation is replicated with every property, whatever command led to it, so that neither the
 * settings nor the random numbers of a replica matter.
 *
 * The creation of a classic filter is written in RedisBloom's own words, which do not name a
 * layout, so that a RedisBloom server can replay it; the creation of a blocked one always says
 * LAYOUT blocked.  So a replayed creation without a layout, from a primary or a file, comes from
 * RedisBloom or from a classic filter, and makes a classic one whatever bf.layout says.  A blocked
 * one in its place would hold fewer keys under a different secret: one that cannot grow would
 * refuse keys that its primary took, and no two replicas would be equal.
 */
#ifndef BF_CREATE_H
#define BF_CREATE_H

#include "command/open_key.h"
#include "command/reserve_options.h"

/* Subscribes to what changes who receives what is replicated.  Call once, in OnLoad. */
int bf_replication_register(RedisModuleCtx *ctx);

/* Creates a filter and puts it into the key, which must be open for writing and empty.  False after
 * an error reply.  Neither replicates it nor notifies anyone. */
bool bf_create(bf_key *key, bf_options *options);

/* After a command that RedisBloom does not know, replicates what a key with a classic filter now
 * holds in RedisBloom's own words: the key is deleted if it `existed`, loaded with BF.LOADCHUNK,
 * and gets its time to live again.  False if the filter is blocked or nobody is listening: then the
 * command itself must be replicated. */
bool bf_replicate_contents(const bf_key *key, bool existed);

/* Like bf_replicate_contents, for a filter that was emptied: its bits need not travel. */
bool bf_replicate_cleared(const bf_key *key);

/* Replicates the creation of a filter that is still empty, as BF.RESERVE. */
void bf_replicate_creation(const bf_key *key, const bf_params *params);

/* Replicates the creation as BF.INSERT, together with the keys that were then added. */
void bf_replicate_insertion(const bf_key *key, const bf_params *params, RedisModuleString **items,
                            size_t count);

#endif
