/* SPDX-License-Identifier: MIT
 *
 * push_slot.h - where names of keys lie: slots of a Redis Cluster, shards of a filter
 */
#ifndef CLI_PUSH_SLOT_H
#define CLI_PUSH_SLOT_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_SLOTS = 16384 };

/* The slot of a name by the rule of Redis Cluster: CRC-16 of what stands in the first pair of
 * braces, or of all of it. */
uint32_t cli_slot(const char *name);

/* A name in the same slot, made of this one and of `mark`; to be freed.  A cluster renames only
 * within a slot. */
char *cli_name_beside(const char *name, const char *mark);

/* Which of `shards` a key belongs to: its CRC-32 (zlib's), times shards, divided by 2^32. */
uint32_t cli_shard(const void *key, size_t len, uint32_t shards);

/* NAME:{shard}; to be freed. */
char *cli_shard_name(const char *name, uint32_t shard);

#endif
