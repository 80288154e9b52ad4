/* SPDX-License-Identifier: MIT
 *
 * push_send.c - a filter becomes a key of a server, all of it or nothing
 */
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"

#define ONE_DAY "86400"

/* The temporary keys: the filter while it is being sent, and how far it has come. */
typedef struct staging {
    char *filter, *progress;
} staging;

static staging staging_of(const cli_push *push, const cli_push_chunks *chunks) {
    staging keys = {.filter = cli_sibling_name(push->name, chunks->id)};
    keys.progress = cli_sibling_name(keys.filter, "at");
    return keys;
}

static void free_staging(staging *keys) {
    free(keys->filter);
    free(keys->progress);
}

cli_push_commands cli_push_commands_of(const cli_settings *s) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *prefix = s->prefix ? s->prefix : "BF";
    cli_push_commands c;
    if (!*prefix || strlen(prefix) > CLI_PUSH_PREFIX_MAX || prefix[strspn(prefix, letters)]) {
        cli_die("--prefix", "as in loadmodule umbel.so prefix UM", "'%.40s' is not a prefix",
                prefix);
    }
    snprintf(c.card, sizeof c.card, "%s.CARD", prefix);
    snprintf(c.info, sizeof c.info, "%s.INFO", prefix);
    snprintf(c.load, sizeof c.load, "%s.LOADCHUNK", prefix);
    return c;
}

static long long need_number(const cli_push *push, cli_reply reply) {
    if (reply.type != CLI_REPLY_NUMBER) cli_connection_die(push->server, &reply);
    return reply.number;
}

static void need_ok(const cli_push *push, cli_reply reply) {
    if (reply.type == CLI_REPLY_ERROR) cli_connection_die(push->server, &reply);
}

void cli_push_check(const cli_push *push) {
    cli_reply card = cli_connection_call(push->server, NULL, push->commands.card, push->name, NULL);
    if (card.type == CLI_REPLY_ERROR && card.text[0] == 'W') {
        cli_die(push->name, "DEL it, or use another --key", "is not a filter");
    }
    need_number(push, card);
    if (need_number(push, cli_connection_call(push->server, NULL, "EXISTS", push->name, NULL)) &&
        !push->force) {
        cli_die(push->name, "-f replaces it", "already exists");
    }
}

/* Reads the note of how far it got, on the node that has it now. */
static bool read_progress(const cli_push *push, const staging *keys, uint64_t *offset) {
    cli_reply note = cli_connection_call(push->server, NULL, "GET", keys->progress, NULL);
    need_ok(push, note);
    if (note.type != CLI_REPLY_TEXT || sscanf(note.text, "%" SCNu64, offset) != 1) return false;
    return need_number(push,
                       cli_connection_call(push->server, NULL, "EXISTS", keys->filter, NULL)) != 0;
}

/* Where an earlier run stopped; false if there was none, or if what it sent is gone.  A node that
 * has the note has all chunks before it: replicas receive them in this order, and both move with
 * their slot. */
static bool find_progress(const cli_push *push, const cli_push_chunks *chunks, const staging *keys,
                          uint64_t *offset) {
    unsigned redirects;
    bool found;
    do { /* both answers must be from one node */
        redirects = cli_connection_redirects(push->server);
        found = read_progress(push, keys, offset);
    } while (redirects != cli_connection_redirects(push->server));
    return found && *offset <= chunks->bits_len;
}

/* False if another node has taken over: it may have less than the note would say. */
static bool write_progress(const cli_push *push, const staging *keys, uint64_t offset) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, offset);
    cli_request note = cli_request_of(NULL, "SET", keys->progress, text, "EX", ONE_DAY, NULL);
    need_ok(push, cli_connection_call(push->server, NULL, "EXPIRE", keys->filter, ONE_DAY, NULL));
    cli_reply reply = cli_connection_transact(push->server, &note, 1);
    need_ok(push, reply);
    return reply.type != CLI_REPLY_MOVED;
}

/* Sends the filter without its bits.  Every command has one key, which works while a slot moves. */
static bool send_head(const cli_push *push, const cli_push_chunks *chunks, const staging *keys) {
    cli_connection *server = push->server;
    /* In one transaction, so that no crash leaves a key without an expiry. */
    cli_request first[] = {
        cli_request_of(&chunks->head, push->commands.load, keys->filter, "1", NULL),
        cli_request_of(NULL, "EXPIRE", keys->filter, ONE_DAY, NULL),
    };
    need_ok(push, cli_connection_call(server, NULL, "UNLINK", keys->progress, NULL));
    need_ok(push, cli_connection_call(server, NULL, "UNLINK", keys->filter, NULL));
    cli_reply reply = cli_connection_transact(server, first, 2);
    need_ok(push, reply);
    return reply.type != CLI_REPLY_MOVED && write_progress(push, keys, 0);
}

static uint64_t begin(const cli_push *push, const cli_push_chunks *chunks, const staging *keys) {
    uint64_t offset;
    do {
        if (find_progress(push, chunks, keys, &offset)) return offset;
    } while (!send_head(push, chunks, keys));
    return 0;
}

/* False if another node has taken over. */
static bool send_chunk(const cli_push *push, const staging *keys, uint64_t offset,
                       const void *bytes, size_t len) {
    char iterator[32];
    umbel_key data = {bytes, len};
    snprintf(iterator, sizeof iterator, "%" PRIu64, 1 + offset + len);
    cli_request load = cli_request_of(&data, push->commands.load, keys->filter, iterator, NULL);
    cli_reply reply = cli_connection_transact(push->server, &load, 1);
    need_ok(push, reply);
    return reply.type != CLI_REPLY_MOVED && write_progress(push, keys, offset + len);
}

void cli_push_upload(cli_push *push, const cli_push_chunks *chunks) {
    staging keys = staging_of(push, chunks);
    uint64_t offset = begin(push, chunks, &keys);
    push->resumed = offset;
    cli_progress_begin(push->name, chunks->bits_len, NULL, 0);
    while (offset < chunks->bits_len) {
        const void *bytes;
        size_t len = cli_push_chunk(chunks, offset, &bytes);
        if (!send_chunk(push, &keys, offset, bytes, len)) {
            /* Perhaps without the last chunks: continue from what it has. */
            offset = begin(push, chunks, &keys);
            continue;
        }
        offset += len;
        if (!push->quiet) cli_progress_sent(offset);
    }
    cli_progress_hide();
    free_staging(&keys);
}

static void compare(const cli_push *push, const cli_push_chunks *chunks, const staging *keys) {
    cli_connection *server = push->server;
    long long cardinality = need_number(
        push, cli_connection_call(server, NULL, push->commands.card, keys->filter, NULL));
    long long size = need_number(
        push, cli_connection_call(server, NULL, push->commands.info, keys->filter, "SIZE", NULL));
    if (cardinality == (long long)chunks->counted && size >= (long long)chunks->bits_len) return;
    cli_die(cli_connection_name(server), "the old filter is unchanged",
            "received %lld keys in %lld bytes instead of %" PRIu64 " in %" PRIu64, cardinality,
            size, chunks->counted, chunks->bits_len);
}

/* Makes it permanent under its name.  CLI_REPLY_MOVED: not done, because another node has it now.
 */
static cli_reply_type rename_to_final(const cli_push *push, const staging *keys) {
    const char *rename = push->force ? "RENAME" : "RENAMENX";
    cli_request last[] = {
        cli_request_of(NULL, "PERSIST", keys->filter, NULL),
        cli_request_of(NULL, rename, keys->filter, push->name, NULL),
    };
    cli_reply reply = cli_connection_transact(push->server, last, 2);
    need_ok(push, reply);
    if (reply.type == CLI_REPLY_NUMBER && reply.number == 0) {
        cli_connection_call(push->server, NULL, "EXPIRE", keys->filter, ONE_DAY, NULL);
        cli_die(push->name, "-f replaces it", "was created in the meantime");
    }
    return reply.type;
}

/* Whether the current node has all chunks. */
static bool is_complete(const cli_push *push, const cli_push_chunks *chunks, const staging *keys) {
    uint64_t offset;
    return find_progress(push, chunks, keys, &offset) && offset == chunks->bits_len;
}

bool cli_push_publish(const cli_push *push, const cli_push_chunks *chunks) {
    staging keys = staging_of(push, chunks);
    cli_reply_type done = CLI_REPLY_MOVED;
    unsigned redirects;
    bool complete = true;
    while (complete && done == CLI_REPLY_MOVED) {
        redirects = cli_connection_redirects(push->server);
        complete = is_complete(push, chunks, &keys);
        if (complete) compare(push, chunks, &keys);
        /* What was found out must be about the node that renames. */
        if (complete && redirects == cli_connection_redirects(push->server)) {
            done = rename_to_final(push, &keys);
        }
    }
    if (complete) {
        need_ok(push, cli_connection_call(push->server, NULL, "UNLINK", keys.progress, NULL));
    }
    free_staging(&keys);
    return complete;
}
