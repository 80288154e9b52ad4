/* SPDX-License-Identifier: MIT
 *
 * push_send.c - a parcel becomes a key of a server, whole or not at all
 */
#include "push/push.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/error.h"
#include "report/progress.h"

#define ONE_DAY "86400"

/* The two keys beside the real one. */
typedef struct staging {
    char *filter, *note;
} staging;

static staging beside(const cli_push *push, const cli_parcel *parcel) {
    staging b = {.filter = cli_name_beside(push->name, parcel->mark)};
    b.note = cli_name_beside(b.filter, "at");
    return b;
}

static void forget(staging *b) {
    free(b->filter);
    free(b->note);
}

static long long number(const cli_push *push, cli_reply reply) {
    if (reply.type != CLI_REPLY_NUMBER) cli_link_refuse(push->link, &reply);
    return reply.number;
}

static void done(const cli_push *push, cli_reply reply) {
    if (reply.type == CLI_REPLY_ERROR) cli_link_refuse(push->link, &reply);
}

void cli_push_check(const cli_push *push) {
    cli_reply card = cli_link_ask(push->link, NULL, "BF.CARD", push->name, NULL);
    if (card.type == CLI_REPLY_ERROR && card.text[0] == 'W') {
        cli_die(push->name, "DEL it, or take another --key", "holds something that is no filter");
    }
    number(push, card);
    if (number(push, cli_link_ask(push->link, NULL, "EXISTS", push->name, NULL)) && !push->force) {
        cli_die(push->name, "-f replaces it", "is there already");
    }
}

/* Where an earlier run stopped; false: there was none, or what it sent is gone. */
static bool find_note(const cli_push *push, const cli_parcel *parcel, const staging *b,
                      uint64_t *offset) {
    cli_reply note = cli_link_ask(push->link, NULL, "GET", b->note, NULL);
    done(push, note);
    uint64_t at;
    if (note.type != CLI_REPLY_TEXT || sscanf(note.text, "%" SCNu64, &at) != 1) return false;
    if (at > parcel->bits_len) return false;
    if (!number(push, cli_link_ask(push->link, NULL, "EXISTS", b->filter, NULL))) return false;
    *offset = at;
    return true;
}

static void write_note(const cli_push *push, const staging *b, uint64_t offset) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, offset);
    done(push, cli_link_ask(push->link, NULL, "EXPIRE", b->filter, ONE_DAY, NULL));
    done(push, cli_link_ask(push->link, NULL, "SET", b->note, text, "EX", ONE_DAY, NULL));
}

static void load(const cli_push *push, const staging *b, uint64_t iterator, const void *bytes,
                 size_t len) {
    char text[32];
    umbel_key data = {bytes, len};
    snprintf(text, sizeof text, "%" PRIu64, iterator);
    done(push, cli_link_ask(push->link, &data, "BF.LOADCHUNK", b->filter, text, NULL));
}

static uint64_t begin(const cli_push *push, const cli_parcel *parcel, const staging *b) {
    uint64_t offset;
    if (find_note(push, parcel, b, &offset)) return offset;
    done(push, cli_link_ask(push->link, NULL, "UNLINK", b->filter, b->note, NULL));
    /* At once, so that no end of the program leaves a key that stays for ever. */
    done(push, cli_link_ask(push->link, NULL, "MULTI", NULL));
    load(push, b, 1, parcel->head.data, parcel->head.len);
    write_note(push, b, 0);
    done(push, cli_link_ask(push->link, NULL, "EXEC", NULL));
    return 0;
}

void cli_push_upload(cli_push *push, const cli_parcel *parcel) {
    staging b = beside(push, parcel);
    uint64_t offset = begin(push, parcel, &b);
    unsigned moves = cli_link_moves(push->link);
    push->resumed = offset;
    cli_progress_begin(push->name, parcel->bits_len, NULL, 0);
    while (offset < parcel->bits_len) {
        size_t len = cli_parcel_piece(parcel, offset);
        load(push, &b, 1 + offset + len, parcel->bits + offset, len);
        if (moves != cli_link_moves(push->link)) {
            /* Another node took over, perhaps without the last pieces: what it knows counts. */
            moves = cli_link_moves(push->link);
            offset = begin(push, parcel, &b);
            continue;
        }
        offset += len;
        write_note(push, &b, offset);
        if (!push->quiet) cli_progress_sent(offset);
    }
    cli_progress_hide();
    forget(&b);
}

static void compare(const cli_push *push, const cli_parcel *parcel, const staging *b) {
    cli_link *l = push->link;
    long long keys = number(push, cli_link_ask(l, NULL, "BF.CARD", b->filter, NULL));
    long long size = number(push, cli_link_ask(l, NULL, "BF.INFO", b->filter, "SIZE", NULL));
    if (keys == (long long)parcel->keys && size >= (long long)parcel->bits_len) return;
    cli_die(cli_link_name(l), "nothing has changed there",
            "has %lld keys in %lld bytes instead of %" PRIu64 " in %" PRIu64, keys, size,
            parcel->keys, parcel->bits_len);
}

void cli_push_publish(const cli_push *push, const cli_parcel *parcel) {
    staging b = beside(push, parcel);
    compare(push, parcel, &b);
    done(push, cli_link_ask(push->link, NULL, "PERSIST", b.filter, NULL));
    if (push->force) {
        done(push, cli_link_ask(push->link, NULL, "RENAME", b.filter, push->name, NULL));
    } else if (!number(push,
                       cli_link_ask(push->link, NULL, "RENAMENX", b.filter, push->name, NULL))) {
        cli_die(push->name, "-f replaces it", "has come into being meanwhile");
    }
    done(push, cli_link_ask(push->link, NULL, "UNLINK", b.note, NULL));
    forget(&b);
}
