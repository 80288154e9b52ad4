/* SPDX-License-Identifier: MIT
 *
 * push.h - the parts of umbel push; push_names, push_chunks and push_address need no hiredis
 */
#ifndef CLI_PUSH_H
#define CLI_PUSH_H

#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "push/push_connection.h"
#include "umbel.h"

/* One filter from a file, or one per shard from lines; returns the exit status. */
int cli_push_file(const cli_settings *s);
int cli_push_shards(const cli_settings *s);

/* A filter's bytes as BF.LOADCHUNK takes them: a head, then chunks of the bits. */
typedef struct cli_push_chunks {
    const umbel_filter *filter;
    umbel_key head;
    uint64_t bits_len;
    umbel_health in;  /* how many keys there are */
    uint64_t counted; /* what BF.CARD must say */
    char id[40];      /* identifies this filter */
} cli_push_chunks;

/* The chunks of a filter, which must outlive them.  Exits with a message about `name` if no server
 * accepts such a filter. */
cli_push_chunks cli_push_chunks_of(const umbel_filter *f, const char *name);
void cli_push_chunks_free(cli_push_chunks *p);

/* The chunk that begins at this offset of the bits, and its length. */
size_t cli_push_chunk(const cli_push_chunks *p, uint64_t offset, const void **bytes);

/* Lets it grow on the server, with this rate for all layers together (0: twice its own).  Exits
 * with a message about `name` if it cannot grow. */
void cli_push_let_grow(umbel_filter *f, const char *name, uint64_t expansion, double rate);

/* What was pushed, on standard error, or with --json on standard output. */
typedef struct cli_pushed {
    const char *name;   /* of the key, or of all shards */
    const char *server; /* NULL: several */
    uint32_t shards;    /* 0: one filter without shards */
    umbel_health in;    /* its keys */
    uint64_t database, bytes, resumed;
} cli_pushed;
void cli_push_summary(const cli_settings *s, const cli_pushed *p);

/* The commands of the server's module: BF.*, or what --prefix makes of them. */
enum { CLI_PUSH_PREFIX_MAX = 16 };
typedef struct cli_push_commands {
    char card[CLI_PUSH_PREFIX_MAX + 16], info[CLI_PUSH_PREFIX_MAX + 16],
        load[CLI_PUSH_PREFIX_MAX + 16];
} cli_push_commands;
cli_push_commands cli_push_commands_of(const cli_settings *s);

typedef struct cli_push {
    cli_push_commands commands;
    cli_connection *server;
    const char *name; /* of the key */
    bool force;       /* replace an existing filter */
    bool quiet;
    uint64_t resumed; /* out: bytes sent by an earlier run */
} cli_push;

/* Exits unless the key can be created: the server has the module, and the key does not exist, or is
 * a filter and `force` is set. */
void cli_push_check(const cli_push *push);

/* Sends what the server does not have yet. */
void cli_push_upload(cli_push *push, const cli_push_chunks *chunks);

/* Compares what the server received with the chunks, then gives it its final name.  False, and
 * nothing is renamed, if another node has taken over and lacks some of the chunks. */
bool cli_push_publish(const cli_push *push, const cli_push_chunks *chunks);

enum { CLI_CLUSTER_SLOTS = 16384 };

/* The slot of a name in a Redis Cluster: CRC-16 of what is in the first pair of braces, or of the
 * whole name. */
uint32_t cli_cluster_slot(const char *name);

/* A name in the same slot, made of this one and `suffix`; free it.  A cluster renames only within a
 * slot. */
char *cli_sibling_name(const char *name, const char *suffix);

/* The shard of a key: its CRC-32 (zlib's) times `shards`, divided by 2^32. */
uint32_t cli_shard_of(const void *key, size_t len, uint32_t shards);

/* NAME:{shard}; free it. */
char *cli_shard_name(const char *name, uint32_t shard);

#endif
