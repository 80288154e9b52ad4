/* SPDX-License-Identifier: MIT
 *
 * push_connection.c - commands to a server, or to whichever node of a cluster has the key
 *
 * While a slot moves, the old node still has some of its keys.  For a key that it no longer has it
 * replies ASK: this once, ask the other node.  For several keys of which it has only some it
 * replies TRYAGAIN.  When all have moved it replies MOVED.
 */
#define _POSIX_C_SOURCE 200809L
#include "push/push_connection.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

enum { QUICK_HOPS = 4 };
enum { WAIT_SECONDS = 60, LONGEST_WAIT = 365 * 86400 };
enum { FIRST_PAUSE = 50, LONGEST_PAUSE = 1000 }; /* milliseconds */

struct cli_connection {
    cli_node *home, *aside; /* aside: the node that a moving slot goes to, or NULL */
    redisReply *last;
    cli_login login;
    cli_tls_options tls_options;
    bool tls, cluster;
    uint64_t wait; /* seconds */
    unsigned redirects;
};

static const char later[] = "--wait waits longer; run it again: it resumes where it stopped";

/* How a server's error starts, the message in its place (NULL: its own), what would work, and
 * whether it passes by itself. */
static const struct refusal {
    const char *start, *what, *hint;
    bool passes;
} refusals[] = {
    {"NOAUTH", NULL, "--auth-file F: a file with the password", false},
    {"WRONGPASS", NULL, "--auth-file F: a file with the password, or with user and password",
     false},
    {"MOVED", "the key is on another node of the cluster", "--cluster follows redirections", false},
    {"READONLY", NULL, "use the address of the primary", false},
    {"ASK", "the key's slot is moving to another node", "--cluster follows redirections", false},
    {"TRYAGAIN", "the key's slot is moving to another node", later, true},
    {"CLUSTERDOWN", NULL, later, true},
    {"LOADING", NULL, later, true},
    {"MASTERDOWN", NULL, later, true},
    {"NOREPLICAS", NULL, later, true},
    {"BUSY ", NULL, later, true},
    {"NOPERM", NULL, "its rights: the commands of docs/redis.md, for NAME and {NAME}:push:*",
     false},
    {"ERR operation exceeds", NULL, "CONFIG SET bf.memory-limit", false},
    {"OOM", NULL, "raise maxmemory: the old filter stays until the new one is complete", false},
    {"ERR SELECT", NULL, "a cluster has database 0 only", false},
    {"ERR DB index", NULL, "CONFIG GET databases", false},
    {"ERR unknown command", "the server has no Bloom filter module loaded",
     "redis-server --loadmodule umbel.so, or MODULE LOAD", false},
    {"ERR received bad data", "the server's module does not accept this filter",
     "umbel's module takes native filters, RedisBloom those of umbel build --format redisbloom",
     false},
    {"ERR not found", "what was sent so far has disappeared from the server", cli_run_again, false},
};

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static const struct refusal *refusal_of(const char *text) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (starts_with(text, refusals[i].start)) return &refusals[i];
    }
    return NULL;
}

void cli_connection_die(const cli_connection *c, const cli_reply *reply) {
    const char *what = reply->text ? reply->text : "unexpected reply";
    const struct refusal *known = refusal_of(what);
    cli_die(c->home->name, known ? known->hint : NULL, "%s",
            known && known->what ? known->what : what);
}

static void need(const cli_connection *c, cli_reply reply) {
    if (reply.type == CLI_REPLY_ERROR) cli_connection_die(c, &reply);
}

/* ---- Requests and replies ---- */

static void put_words(cli_request *r, const umbel_key *data, const char *word, va_list rest) {
    for (; word && r->count < CLI_REQUEST_WORDS - 1; word = va_arg(rest, const char *)) {
        r->words[r->count] = word;
        r->lens[r->count++] = strlen(word);
    }
    if (!data) return;
    r->words[r->count] = data->data;
    r->lens[r->count++] = data->len;
}

cli_request cli_request_of(const umbel_key *data, const char *word, ...) {
    cli_request r = {.count = 0};
    va_list rest;
    va_start(rest, word);
    put_words(&r, data, word, rest);
    va_end(rest);
    return r;
}

static const redisReply *one_of(const redisReply *r) {
    while (r->type == REDIS_REPLY_ARRAY && r->elements > 0) {
        size_t i = 0;
        while (i + 1 < r->elements && r->element[i]->type != REDIS_REPLY_ERROR) i++;
        r = r->element[i];
    }
    return r;
}

static cli_reply simple_reply(const redisReply *from) {
    const redisReply *r = one_of(from);
    switch (r->type) {
    case REDIS_REPLY_INTEGER: return (cli_reply){CLI_REPLY_NUMBER, r->integer, NULL};
    case REDIS_REPLY_ERROR: return (cli_reply){CLI_REPLY_ERROR, 0, r->str};
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: return (cli_reply){CLI_REPLY_TEXT, 0, r->str};
    default: return (cli_reply){CLI_REPLY_NIL, 0, NULL};
    }
}

static void forget_reply(cli_connection *c) {
    if (c->last) freeReplyObject(c->last);
    c->last = NULL;
}

static cli_reply call(cli_connection *c, cli_node *node, const cli_request *request) {
    forget_reply(c);
    c->last = cli_node_call(node, request);
    return simple_reply(c->last);
}

/* ---- Nodes ---- */

static cli_node *connect_to(cli_connection *c, const cli_address *at) {
    char number[24];
    const cli_login *login = &c->login;
    cli_node *node = cli_node_open(at, c->tls ? &c->tls_options : NULL), *home = c->home;
    c->home = node; /* named in messages about its refusals */
    if (login->password) {
        cli_request auth = login->user
                               ? cli_request_of(NULL, "AUTH", login->user, login->password, NULL)
                               : cli_request_of(NULL, "AUTH", login->password, NULL);
        need(c, call(c, node, &auth));
    }
    if (login->database) {
        snprintf(number, sizeof number, "%" PRIu64, login->database);
        cli_request select = cli_request_of(NULL, "SELECT", number, NULL);
        need(c, call(c, node, &select));
    }
    c->home = home;
    return node;
}

/* "MOVED 3999 127.0.0.1:6381"; without a host, the host stays the same. */
static cli_address redirection(const cli_connection *c, const char *reply) {
    char text[CLI_HOST + 16];
    cli_address at;
    const char *where = strrchr(reply, ' ') + 1;
    snprintf(text, sizeof text, *where == ':' ? "[%s]%s" : "%.0s%s", c->home->at.host, where);
    if (!cli_parse_address(text, &at)) {
        cli_die(c->home->name, NULL, "redirects to '%s', which is not an address", where);
    }
    return at;
}

static void follow(cli_connection *c, const char *reply) {
    cli_address at = redirection(c, reply);
    cli_node *old = c->home;
    c->home = connect_to(c, &at);
    cli_node_close(old);
    c->redirects++;
}

static cli_node *node_aside(cli_connection *c, const char *reply) {
    cli_address at = redirection(c, reply);
    if (c->aside && c->aside->at.port == at.port && strcmp(c->aside->at.host, at.host) == 0) {
        return c->aside;
    }
    cli_node_close(c->aside);
    c->aside = NULL;
    c->aside = connect_to(c, &at);
    return c->aside;
}

/* ---- Sending ---- */

static cli_reply transact(cli_connection *c, cli_node *node, const cli_request *requests,
                          int count) {
    cli_request multi = cli_request_of(NULL, "MULTI", NULL),
                exec = cli_request_of(NULL, "EXEC", NULL);
    need(c, call(c, node, &multi));
    redisReply *refused = NULL;
    for (int i = 0; i < count && !refused; i++) {
        if (call(c, node, &requests[i]).type == CLI_REPLY_ERROR) {
            refused = c->last;
            c->last = NULL;
        }
    }
    /* After a refusal nothing is executed, and the first reply says why. */
    cli_reply reply = call(c, node, &exec);
    if (!refused) return reply;
    forget_reply(c);
    c->last = refused;
    return simple_reply(refused);
}

static cli_reply attempt(cli_connection *c, cli_node *node, const cli_request *requests,
                         int count) {
    if (node != c->home) {
        cli_request asking = cli_request_of(NULL, "ASKING", NULL);
        need(c, call(c, node, &asking));
    }
    return count == 1 ? call(c, node, requests) : transact(c, node, requests, count);
}

/* How long, and how often, one command is tried again. */
typedef struct retry {
    int64_t end; /* milliseconds */
    unsigned hops;
    int pause;
} retry;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* False when the time is up. */
static bool pause_before_next(retry *r) {
    int64_t left = r->end - now();
    if (left <= 0) return false;
    int pause = r->pause < left ? r->pause : (int)left;
    struct timespec t = {pause / 1000, pause % 1000 * 1000000};
    nanosleep(&t, NULL);
    r->pause = r->pause * 2 < LONGEST_PAUSE ? r->pause * 2 : LONGEST_PAUSE;
    return true;
}

/* Nodes that do not agree yet may send us back and forth. */
static void count_redirection(const cli_connection *c, retry *r) {
    if (r->hops++ < QUICK_HOPS || pause_before_next(r)) return;
    cli_die(c->home->name, later, "too many redirections");
}

static cli_reply send_request(cli_connection *c, const cli_request *requests, int count,
                              bool repeat) {
    retry r = {.end = now() + (int64_t)c->wait * 1000, .pause = FIRST_PAUSE};
    cli_node *node = c->home;
    for (;;) {
        cli_reply reply = attempt(c, node, requests, count);
        const char *text = reply.type == CLI_REPLY_ERROR && reply.text ? reply.text : "";
        const struct refusal *known = refusal_of(text);
        if (c->cluster && starts_with(text, "MOVED ")) {
            count_redirection(c, &r);
            follow(c, text);
            if (!repeat) return (cli_reply){CLI_REPLY_MOVED, 0, NULL};
            node = c->home;
        } else if (c->cluster && starts_with(text, "ASK ")) {
            count_redirection(c, &r);
            node = node_aside(c, text);
        } else if (known && known->passes && pause_before_next(&r)) {
            node = c->home;
        } else {
            return reply;
        }
    }
}

cli_reply cli_connection_call(cli_connection *c, const umbel_key *data, const char *word, ...) {
    cli_request r = {.count = 0};
    va_list rest;
    va_start(rest, word);
    put_words(&r, data, word, rest);
    va_end(rest);
    return send_request(c, &r, 1, true);
}

cli_reply cli_connection_transact(cli_connection *c, const cli_request *requests, int count) {
    return send_request(c, requests, count, false);
}

/* ---- Opening ---- */

/* From a file, so that neither `ps` nor the shell's history shows the password. */
static void read_auth(cli_login *login, const char *path) {
    enum { ROOM = 4096 };
    char text[ROOM];
    FILE *file = fopen(path, "r");
    if (!file) cli_die_sys(path, errno);
    if (login->password) cli_die(path, "one will do", "the URL of --redis has a password, too");
    size_t len = fread(text, 1, ROOM - 1, file);
    text[len] = '\0';
    fclose(file);
    char *first_end = text + strcspn(text, "\r\n"), *second = first_end + strspn(first_end, "\r\n");
    second[strcspn(second, "\r\n")] = '\0';
    *first_end = '\0';
    if (*second) {
        if (login->user) cli_die(path, "one will do", "the URL of --redis has a user, too");
        login->user = cli_strndup(text, strlen(text));
    }
    const char *password = *second ? second : text;
    if (!*password) cli_die(path, "one line: the password", "is empty");
    login->password = cli_strndup(password, strlen(password));
}

static void check_tls_options(const cli_settings *s, bool tls) {
#ifndef UMBEL_WITH_OPENSSL
    if (tls) cli_die("rediss://", "install libssl-dev and rebuild", "umbel was built without TLS");
#endif
    static const cli_option_id ids[] = {OPT_CACERT, OPT_CERT, OPT_CERT_KEY, OPT_SNI};
    for (size_t i = 0; !tls && i < sizeof ids / sizeof *ids; i++) {
        char shown[48];
        if (!cli_given(s, ids[i])) continue;
        cli_die(cli_option_text(ids[i], shown), "--redis rediss://HOST:PORT",
                "applies to TLS only");
    }
    if (s->cert_key && !s->cert) cli_die("--cert-key", "--cert F", "is the key of a certificate");
}

static void read_server(const cli_settings *s, cli_server *server) {
    /* The text is an argument of main, which a program may change. */
    const char *wrong = cli_parse_server((char *)(uintptr_t)s->redis, server);
    bool quote = !strstr(s->redis, "://") && !strchr(s->redis, '@');
    if (wrong && quote) {
        cli_die("--redis", "as in localhost:6379 or /run/redis/redis.sock", "'%s' %s", s->redis,
                wrong);
    }
    if (wrong) cli_die("--redis", "as in redis://user:password@localhost:6379/0", "%s", wrong);
    if (cli_given(s, OPT_DATABASE)) {
        if (server->login.database_given) {
            cli_die("--db", "one will do", "the URL of --redis has a database, too");
        }
        server->login.database = s->database;
    }
}

cli_connection *cli_connection_open(const cli_settings *s) {
    cli_connection *c = cli_alloc(sizeof *c);
    cli_server server;
    read_server(s, &server);
    check_tls_options(s, server.tls);
    if (s->auth_file) read_auth(&server.login, s->auth_file);
    if (server.login.user && !server.login.password) {
        cli_die("--redis", "redis://USER:PASSWORD@HOST, :PASSWORD@HOST, or --auth-file F",
                "the URL has a user without a password");
    }
    *c = (cli_connection){
        .login = server.login,
        .tls_options = {s->cacert, s->cert, s->cert_key, s->sni},
        .tls = server.tls,
        .cluster = s->cluster,
        .wait = cli_given(s, OPT_WAIT) ? s->wait : WAIT_SECONDS,
    };
    if (c->wait > LONGEST_WAIT) c->wait = LONGEST_WAIT;
    signal(SIGPIPE, SIG_IGN); /* write reports a server that goes away */
    c->home = connect_to(c, &server.at);
    return c;
}

void cli_connection_close(cli_connection *c) {
    forget_reply(c);
    cli_node_close(c->home);
    cli_node_close(c->aside);
    cli_login_free(&c->login);
    free(c);
}

unsigned cli_connection_redirects(const cli_connection *c) {
    return c->redirects;
}

uint64_t cli_connection_database(const cli_connection *c) {
    return c->login.database;
}

const char *cli_connection_name(const cli_connection *c) {
    return c->home->name;
}
