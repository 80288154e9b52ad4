/* SPDX-License-Identifier: MIT
 *
 * push_connection.c - a connection to a Redis server through hiredis
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

enum { MAX_WORDS = 8, MAX_REDIRECTS = 8, CONNECT_SECONDS = 10, REPLY_SECONDS = 120 };

struct cli_connection {
    redisContext *server;
    redisReply *last;
    cli_address at;
    char name[CLI_HOST + 16];
    char *auth, *user, *password; /* the content of --auth-file; the others point into it */
    bool cluster;
    unsigned redirects;
};

static const char again[] = "run it again: it resumes where it stopped";

/* The start of a server's error, the message instead of it (NULL: its own), and what would work. */
static const struct {
    const char *start, *what, *hint;
} refusals[] = {
    {"NOAUTH", NULL, "--auth-file F: a file with the password"},
    {"WRONGPASS", NULL, "--auth-file F: a file with the password, or with user and password"},
    {"MOVED", "the key is on another node of the cluster", "--cluster follows redirections"},
    {"READONLY", NULL, "use the address of the primary"},
    {"ASK", "the key's slot is moving to another node", again},
    {"TRYAGAIN", NULL, again},
    {"CLUSTERDOWN", NULL, again},
    {"LOADING", NULL, again},
    {"MASTERDOWN", NULL, again},
    {"OOM", NULL, "raise maxmemory: the old filter stays until the new one is complete"},
    {"ERR unknown command", "the server has no Bloom filter module loaded",
     "redis-server --loadmodule umbel.so, or MODULE LOAD"},
    {"ERR received bad data", "the server's module does not accept this filter",
     "umbel's module takes native filters, RedisBloom those of umbel build --format redisbloom"},
    {"ERR not found", "what was sent so far has disappeared from the server", again},
};

void cli_connection_die(const cli_connection *c, const cli_reply *reply) {
    const char *what = reply->text ? reply->text : "unexpected reply";
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        size_t len = strlen(refusals[i].start);
        if (strncmp(what, refusals[i].start, len) != 0) continue;
        hint = refusals[i].hint;
        if (refusals[i].what) what = refusals[i].what;
        break;
    }
    cli_die(c->name, hint, "%s", what);
}

static void need(cli_connection *c, cli_reply reply) {
    if (reply.type == CLI_REPLY_ERROR) cli_connection_die(c, &reply);
}

static _Noreturn void lost(const cli_connection *c) {
    bool late = c->server->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
    cli_die(c->name, again, "connection lost: %s",
            late ? "no reply in two minutes" : c->server->errstr);
}

static cli_reply simple_reply(const redisReply *r) {
    while (r->type == REDIS_REPLY_ARRAY && r->elements > 0) r = r->element[0];
    switch (r->type) {
    case REDIS_REPLY_INTEGER: return (cli_reply){CLI_REPLY_NUMBER, r->integer, NULL};
    case REDIS_REPLY_ERROR: return (cli_reply){CLI_REPLY_ERROR, 0, r->str};
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: return (cli_reply){CLI_REPLY_TEXT, 0, r->str};
    default: return (cli_reply){CLI_REPLY_NIL, 0, NULL};
    }
}

/* Sends a command to the current node and waits for the reply. */
static cli_reply send_command(cli_connection *c, int n, const char **words, const size_t *lens) {
    if (c->last) freeReplyObject(c->last);
    c->last = redisCommandArgv(c->server, n, words, lens);
    if (!c->last) lost(c);
    return simple_reply(c->last);
}

static void connect_to(cli_connection *c) {
    struct timeval connect_timeout = {.tv_sec = CONNECT_SECONDS},
                   reply_timeout = {.tv_sec = REPLY_SECONDS};
    if (c->last) freeReplyObject(c->last);
    c->last = NULL;
    if (c->server) redisFree(c->server);
    if (c->at.port) {
        snprintf(c->name, sizeof c->name, "%s:%d", c->at.host, c->at.port);
        c->server = redisConnectWithTimeout(c->at.host, c->at.port, connect_timeout);
    } else {
        snprintf(c->name, sizeof c->name, "%s", c->at.host);
        c->server = redisConnectUnixWithTimeout(c->at.host, connect_timeout);
    }
    if (!c->server) cli_die(NULL, NULL, "out of memory");
    if (c->server->err) {
        cli_die(c->name, "is redis-server running there?", "%s", c->server->errstr);
    }
    redisSetTimeout(c->server, reply_timeout);
    if (c->password) {
        const char *words[] = {"AUTH", c->user ? c->user : c->password, c->password};
        need(c, send_command(c, c->user ? 3 : 2, words, NULL));
    }
}

/* "MOVED 3999 127.0.0.1:6381"; without a host, a port of the same host. */
static void follow(cli_connection *c, const char *reply) {
    char text[CLI_HOST + 16];
    const char *where = strrchr(reply, ' ') + 1;
    snprintf(text, sizeof text, *where == ':' ? "[%s]%s" : "%.0s%s", c->at.host, where);
    if (!cli_parse_address(text, &c->at)) {
        cli_die(c->name, NULL, "redirects to '%s', which is not an address", where);
    }
    c->redirects++;
    connect_to(c);
}

cli_reply cli_connection_call(cli_connection *c, const umbel_key *data, const char *word, ...) {
    const char *words[MAX_WORDS + 1];
    size_t lens[MAX_WORDS + 1];
    int n = 0;
    va_list rest;
    va_start(rest, word);
    for (; word && n < MAX_WORDS; word = va_arg(rest, const char *)) {
        words[n] = word;
        lens[n++] = strlen(word);
    }
    va_end(rest);
    if (data) {
        words[n] = data->data;
        lens[n++] = data->len;
    }
    for (int redirects = 0;; redirects++) {
        cli_reply reply = send_command(c, n, words, lens);
        const char *refusal = reply.type == CLI_REPLY_ERROR && reply.text ? reply.text : "";
        bool moved = strncmp(refusal, "MOVED ", 6) == 0;
        if (!moved || !c->cluster) return reply;
        if (redirects == MAX_REDIRECTS) cli_die(c->name, again, "too many redirections");
        follow(c, refusal);
    }
}

/* The password comes from a file so that no shell, `ps` or history sees it. */
static void read_auth(cli_connection *c, const char *path) {
    enum { ROOM = 4096 };
    FILE *file = fopen(path, "r");
    if (!file) cli_die_sys(path, errno);
    c->auth = cli_alloc(ROOM);
    size_t len = fread(c->auth, 1, ROOM - 1, file);
    c->auth[len] = '\0';
    fclose(file);
    c->password = c->auth;
    char *end = c->auth + strcspn(c->auth, "\r\n");
    char *next = end + strspn(end, "\r\n");
    if (*next) {
        c->user = c->auth;
        c->password = next;
        next[strcspn(next, "\r\n")] = '\0';
    }
    *end = '\0';
    if (!*c->password) cli_die(path, "one line: the password", "is empty");
}

cli_connection *cli_connection_open(const char *where, const char *auth_file, bool cluster) {
    cli_connection *c = cli_alloc(sizeof *c);
    *c = (cli_connection){.cluster = cluster};
    if (!cli_parse_address(where, &c->at)) {
        cli_die("--redis", "as in localhost:6379 or /run/redis/redis.sock",
                "'%s' is not an address", where);
    }
    signal(SIGPIPE, SIG_IGN); /* write reports a server that goes away */
    if (auth_file) read_auth(c, auth_file);
    connect_to(c);
    return c;
}

void cli_connection_close(cli_connection *c) {
    if (c->last) freeReplyObject(c->last);
    redisFree(c->server);
    free(c->auth);
    free(c);
}

unsigned cli_connection_redirects(const cli_connection *c) {
    return c->redirects;
}

const char *cli_connection_name(const cli_connection *c) {
    return c->name;
}
