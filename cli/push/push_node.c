/* SPDX-License-Identifier: MIT
 *
 * push_node.c - one server at the other end of a socket
 *
 * hiredis connects, formats commands and parses replies; sending and receiving is done here,
 * because it may go through TLS.
 */
#define _POSIX_C_SOURCE 200809L
#include "push/push_node.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"

enum { CONNECT_SECONDS = 10, REPLY_SECONDS = 120, ROOM = 16384 };

const char cli_run_again[] = "run it again: it resumes where it stopped";

static void secure(cli_node *node, const cli_tls_options *options) {
#ifdef UMBEL_WITH_OPENSSL
    node->tls = cli_tls_open((int)node->socket->fd, node->at.host, options, node->name);
#else
    (void)node, (void)options; /* refused before anything was connected */
#endif
}

static void unsecure(cli_node *node) {
#ifdef UMBEL_WITH_OPENSSL
    if (node->tls) cli_tls_close(node->tls);
#endif
    node->tls = NULL;
}

cli_node *cli_node_open(const cli_address *at, const cli_tls_options *tls) {
    struct timeval timeout = {.tv_sec = CONNECT_SECONDS};
    cli_node *node = cli_alloc(sizeof *node);
    *node = (cli_node){.at = *at};
    if (at->port) {
        snprintf(node->name, sizeof node->name, strchr(at->host, ':') ? "[%s]:%d" : "%s:%d",
                 at->host, at->port);
        node->socket = redisConnectWithTimeout(at->host, at->port, timeout);
    } else {
        snprintf(node->name, sizeof node->name, "%s", at->host);
        node->socket = redisConnectUnixWithTimeout(at->host, timeout);
    }
    if (!node->socket) cli_die(NULL, NULL, "out of memory");
    if (node->socket->err) {
        cli_die(node->name, "is redis-server running there?", "%s", node->socket->errstr);
    }
    redisSetTimeout(node->socket, timeout);
    if (tls) secure(node, tls);
    timeout.tv_sec = REPLY_SECONDS;
    redisSetTimeout(node->socket, timeout);
    return node;
}

void cli_node_close(cli_node *node) {
    if (!node) return;
    unsecure(node);
    redisFree(node->socket);
    free(node);
}

/* `got` is what a read or write returned: 0 or -1. */
static _Noreturn void lost(const cli_node *node, ssize_t got) {
    const char *why = "the server closed the connection", *hint = cli_run_again;
    bool late = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (got < 0) why = late ? "no reply in two minutes" : strerror(errno);
#ifdef UMBEL_WITH_OPENSSL
    if (got < 0 && node->tls && cli_tls_error(node->tls)) why = cli_tls_error(node->tls);
#endif
    if (!node->answered && !late) {
        hint = node->tls       ? "does it want a certificate? --cert F, --cert-key F"
               : node->at.port ? "rediss:// if it speaks TLS"
                               : cli_run_again;
    }
    cli_die(node->name, hint, "connection lost: %s", why);
}

static ssize_t send_some(cli_node *node, const char *bytes, size_t len) {
#ifdef UMBEL_WITH_OPENSSL
    if (node->tls) return cli_tls_write(node->tls, bytes, len);
#endif
    return write((int)node->socket->fd, bytes, len);
}

static ssize_t receive_some(cli_node *node, char *bytes, size_t room) {
#ifdef UMBEL_WITH_OPENSSL
    if (node->tls) return cli_tls_read(node->tls, bytes, room);
#endif
    return read((int)node->socket->fd, bytes, room);
}

static void send_all(cli_node *node, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent = send_some(node, bytes, len);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) lost(node, sent);
        bytes += sent;
        len -= (size_t)sent;
    }
}

static redisReply *receive(cli_node *node) {
    char bytes[ROOM];
    redisReader *reader = node->socket->reader;
    for (;;) {
        void *reply = NULL;
        if (redisReaderGetReply(reader, &reply) != REDIS_OK) {
            cli_die(node->name, "is it a Redis server?", "%s", reader->errstr);
        }
        if (reply) return reply;
        ssize_t got = receive_some(node, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) lost(node, got);
        node->answered = true;
        redisReaderFeed(reader, bytes, (size_t)got);
    }
}

redisReply *cli_node_call(cli_node *node, const cli_request *request) {
    char *bytes = NULL;
    const char **words = (const char **)(uintptr_t)request->words;
    int len = redisFormatCommandArgv(&bytes, request->count, words, request->lens);
    if (len < 0) cli_die(NULL, NULL, "out of memory");
    send_all(node, bytes, (size_t)len);
    redisFreeCommand(bytes);
    return receive(node);
}
