/* SPDX-License-Identifier: MIT
 *
 * push.h - the two things that umbel push does; there only where hiredis is
 */
#ifndef CLI_PUSH_H
#define CLI_PUSH_H

#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "push/push_connection.h"
#include "umbel.h"

/* One filter from a file, or one a shard from lines; returns the exit status. */
int cli_push_file(const cli_settings *s);
int cli_push_shards(const cli_settings *s);

typedef struct cli_push_chunks {
    umbel_key header;
    const uint8_t *bits;
    uint64_t bits_len, keys;
    const uint8_t *links; /* redisbloom: their descriptions; no piece lies in two of them */
    uint32_t nlinks;
    char id[40]; /* tells this filter from any other */

    uint8_t *space; /* what must be freed, or NULL */
} cli_push_chunks;

/* The chunks of the bytes of a native or redisbloom file, which must outlive it; they are checked
 * wholly.  Ends the program with words about `name` for anything else.  A filter with a secret key
 * needs it: 16 bytes, else NULL. */
cli_push_chunks cli_push_chunks_of(const uint8_t *bytes, size_t len, const char *name,
                                   const uint8_t *secret);
void cli_push_chunks_free(cli_push_chunks *p);

/* How long the piece is that begins at this offset of the bits. */
size_t cli_push_chunk_len(const cli_push_chunks *p, uint64_t offset);

typedef struct cli_push {
    cli_connection *server;
    const char *name; /* of the key */
    bool force;       /* replace a filter that is there */
    bool quiet;
    uint64_t resumed; /* out: bytes that an earlier run had sent */
} cli_push;

/* Ends the program unless the key may be made: the server has the module, and nothing is there, or
 * a filter and `force`. */
void cli_push_check(const cli_push *push);

/* Sends what is missing. */
void cli_push_upload(cli_push *push, const cli_push_chunks *chunks);

/* Compares what the server has with the chunks, then gives it its name. */
void cli_push_publish(const cli_push *push, const cli_push_chunks *chunks);

enum { CLI_CLUSTER_SLOTS = 16384 };

/* The slot of a name by the rule of Redis Cluster: CRC-16 of what stands in the first pair of
 * braces, or of all of it. */
uint32_t cli_cluster_slot(const char *name);

/* A name in the same slot, made of this one and of `mark`; to be freed.  A cluster renames only
 * within a slot. */
char *cli_sibling_name(const char *name, const char *mark);

/* Which of `shards` a key belongs to: its CRC-32 (zlib's), times shards, divided by 2^32. */
uint32_t cli_shard_of(const void *key, size_t len, uint32_t shards);

/* NAME:{shard}; to be freed. */
char *cli_shard_name(const char *name, uint32_t shard);

#endif
