/* SPDX-License-Identifier: MIT
 *
 * push_connection.h - a connection to a Redis server, one command at a time
 */
#ifndef CLI_PUSH_CONNECTION_H
#define CLI_PUSH_CONNECTION_H

#include "umbel.h"

typedef struct cli_connection cli_connection;

typedef enum cli_reply_type {
    CLI_REPLY_NIL,
    CLI_REPLY_NUMBER,
    CLI_REPLY_TEXT,
    CLI_REPLY_ERROR
} cli_reply_type;

/* `text` is NUL-terminated and valid until the next call.  Of an array, the first element. */
typedef struct cli_reply {
    cli_reply_type type;
    long long number;
    const char *text;
} cli_reply;

enum { CLI_HOST = 256, CLI_REDIS_PORT = 6379 };

typedef struct cli_address {
    char host[CLI_HOST]; /* or the path of a socket */
    int port;            /* 0: a socket */
} cli_address;

/* HOST, HOST:PORT, [HOST]:PORT or the absolute path of a socket; false for anything else. */
bool cli_parse_address(const char *text, cli_address *out);

/* Exits with a message if there is no server or it refuses us.  `auth_file` (or NULL) has one line,
 * the password, or two, the user and the password. */
cli_connection *cli_connection_open(const char *where, const char *auth_file, bool cluster);
void cli_connection_close(cli_connection *c);

/* Sends the words, terminated by NULL, and then `data` unless it is NULL.  In a cluster, follows
 * redirections to the node that has the key.  Exits if the connection is lost. */
cli_reply cli_connection_call(cli_connection *c, const umbel_key *data, const char *word, ...)
    __attribute__((sentinel));

/* The number of redirections so far. */
unsigned cli_connection_redirects(const cli_connection *c);

/* HOST:PORT of the current node. */
const char *cli_connection_name(const cli_connection *c);

/* Exits with the server's error and what would work. */
_Noreturn void cli_connection_die(const cli_connection *c, const cli_reply *reply);

#endif
