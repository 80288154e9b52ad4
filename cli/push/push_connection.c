/* SPDX-License-Identifier: MIT
 *
 * push_connection.c - a Redis server, asked one command at a time through hiredis
 */
#define _POSIX_C_SOURCE 200809L
#include "push/push_connection.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "report/error.h"

enum { MOST_WORDS = 8, MOST_MOVES = 8, CONNECT_SECONDS = 10, REPLY_SECONDS = 120 };

struct cli_link {
    redisContext *server;
    redisReply *last;
    cli_address at;
    char name[CLI_HOST + 16];
    char *secret, *user, *password; /* the last two lie in the first */
    bool cluster;
    unsigned moves;
};

static const char again[] = "run it again: it goes on where it stopped";

/* How a server's refusal begins, what to say instead of it (NULL: its own words), what would work. */
static const struct {
    const char *start, *what, *hint;
} refusals[] = {
    {"NOAUTH", NULL, "--auth-file F: a file with the password"},
    {"WRONGPASS", NULL, "--auth-file F: a file with the password, or with user and password"},
    {"MOVED", "this node of a cluster does not have the key",
     "--cluster follows to the one that does"},
    {"READONLY", NULL, "name the primary"},
    {"ASK", "the key's slot is on its way to another node", again},
    {"TRYAGAIN", NULL, again},
    {"CLUSTERDOWN", NULL, again},
    {"LOADING", NULL, again},
    {"MASTERDOWN", NULL, again},
    {"OOM", NULL, "raise maxmemory; until the end the filter is there besides the old one"},
    {"ERR unknown command", "the server knows no Bloom filters",
     "redis-server --loadmodule umbel.so, or MODULE LOAD"},
    {"ERR received bad data", "the server's module does not take this filter",
     "umbel's module takes native filters; RedisBloom those of umbel build --format redisbloom"},
    {"ERR not found", "what was sent so far is gone from the server", again},
};

void cli_link_refuse(const cli_link *l, const cli_reply *reply) {
    const char *what = reply->text ? reply->text : "an unexpected reply";
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        size_t len = strlen(refusals[i].start);
        if (strncmp(what, refusals[i].start, len) != 0) continue;
        hint = refusals[i].hint;
        if (refusals[i].what) what = refusals[i].what;
        break;
    }
    cli_die(l->name, hint, "%s", what);
}

static void need(cli_link *l, cli_reply reply) {
    if (reply.type == CLI_REPLY_ERROR) cli_link_refuse(l, &reply);
}

static _Noreturn void lost(const cli_link *l) {
    bool late = l->server->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
    cli_die(l->name, again, "the connection was lost: %s",
            late ? "no reply in two minutes" : l->server->errstr);
}

static cli_reply plain(const redisReply *r) {
    while (r->type == REDIS_REPLY_ARRAY && r->elements > 0) r = r->element[0];
    switch (r->type) {
    case REDIS_REPLY_INTEGER: return (cli_reply){CLI_REPLY_NUMBER, r->integer, NULL};
    case REDIS_REPLY_ERROR: return (cli_reply){CLI_REPLY_ERROR, 0, r->str};
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: return (cli_reply){CLI_REPLY_TEXT, 0, r->str};
    default: return (cli_reply){CLI_REPLY_NIL, 0, NULL};
    }
}

/* Sends it to the server that we are connected with and waits for its word. */
static cli_reply say(cli_link *l, int n, const char **words, const size_t *lens) {
    if (l->last) freeReplyObject(l->last);
    l->last = redisCommandArgv(l->server, n, words, lens);
    if (!l->last) lost(l);
    return plain(l->last);
}

static void connect_to(cli_link *l) {
    struct timeval patience = {.tv_sec = CONNECT_SECONDS}, silence = {.tv_sec = REPLY_SECONDS};
    if (l->last) freeReplyObject(l->last);
    l->last = NULL;
    if (l->server) redisFree(l->server);
    if (l->at.port) {
        snprintf(l->name, sizeof l->name, "%s:%d", l->at.host, l->at.port);
        l->server = redisConnectWithTimeout(l->at.host, l->at.port, patience);
    } else {
        snprintf(l->name, sizeof l->name, "%s", l->at.host);
        l->server = redisConnectUnixWithTimeout(l->at.host, patience);
    }
    if (!l->server) cli_die(NULL, NULL, "out of memory");
    if (l->server->err) {
        cli_die(l->name, "is a redis-server running there?", "%s", l->server->errstr);
    }
    redisSetTimeout(l->server, silence);
    if (l->password) {
        const char *words[] = {"AUTH", l->user ? l->user : l->password, l->password};
        need(l, say(l, l->user ? 3 : 2, words, NULL));
    }
}

/* "MOVED 3999 127.0.0.1:6381"; without a host it is another port of the same one. */
static void follow(cli_link *l, const char *reply) {
    char text[CLI_HOST + 16];
    const char *where = strrchr(reply, ' ') + 1;
    snprintf(text, sizeof text, *where == ':' ? "[%s]%s" : "%.0s%s", l->at.host, where);
    if (!cli_parse_address(text, &l->at)) cli_die(l->name, NULL, "sends us to '%s'", where);
    l->moves++;
    connect_to(l);
}

cli_reply cli_link_ask(cli_link *l, const umbel_key *data, const char *word, ...) {
    const char *words[MOST_WORDS + 1];
    size_t lens[MOST_WORDS + 1];
    int n = 0;
    va_list rest;
    va_start(rest, word);
    for (; word && n < MOST_WORDS; word = va_arg(rest, const char *)) {
        words[n] = word;
        lens[n++] = strlen(word);
    }
    va_end(rest);
    if (data) {
        words[n] = data->data;
        lens[n++] = data->len;
    }
    for (int moves = 0;; moves++) {
        cli_reply reply = say(l, n, words, lens);
        const char *refusal = reply.type == CLI_REPLY_ERROR && reply.text ? reply.text : "";
        bool moved = strncmp(refusal, "MOVED ", 6) == 0;
        if (!moved || !l->cluster) return reply;
        if (moves == MOST_MOVES) cli_die(l->name, again, "the cluster sends us round in circles");
        follow(l, refusal);
    }
}

/* The words of the file: no shell, no `ps` and no history gets to see them. */
static void read_auth(cli_link *l, const char *path) {
    enum { ROOM = 4096 };
    FILE *file = fopen(path, "r");
    if (!file) cli_die_sys(path, errno);
    l->secret = cli_alloc(ROOM);
    size_t len = fread(l->secret, 1, ROOM - 1, file);
    l->secret[len] = '\0';
    fclose(file);
    l->password = l->secret;
    char *end = l->secret + strcspn(l->secret, "\r\n");
    char *next = end + strspn(end, "\r\n");
    if (*next) {
        l->user = l->secret;
        l->password = next;
        next[strcspn(next, "\r\n")] = '\0';
    }
    *end = '\0';
    if (!*l->password) cli_die(path, "one line: the password", "is empty");
}

cli_link *cli_link_open(const char *where, const char *auth_file, bool cluster) {
    cli_link *l = cli_alloc(sizeof *l);
    *l = (cli_link){.cluster = cluster};
    if (!cli_parse_address(where, &l->at)) {
        cli_die("--redis", "as in localhost:6379 or /run/redis/redis.sock",
                "'%s' is not an address", where);
    }
    signal(SIGPIPE, SIG_IGN); /* a server that goes away is told by write */
    if (auth_file) read_auth(l, auth_file);
    connect_to(l);
    return l;
}

void cli_link_close(cli_link *l) {
    if (l->last) freeReplyObject(l->last);
    redisFree(l->server);
    free(l->secret);
    free(l);
}

unsigned cli_link_moves(const cli_link *l) {
    return l->moves;
}

const char *cli_link_name(const cli_link *l) {
    return l->name;
}
