/* SPDX-License-Identifier: MIT
 *
 * push_connection.h - a Redis server, asked one command at a time
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

/* `text` ends in NUL and lives until the next question.  Of an array it is the first element. */
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

/* HOST, HOST:PORT, [HOST]:PORT or the path of a socket, which begins with a slash; false for
 * anything else. */
bool cli_parse_address(const char *text, cli_address *out);

/* Ends the program with words where there is no server, or not for us.  `auth_file` (or NULL) has
 * one line, the password, or two, the user and the password. */
cli_connection *cli_connection_open(const char *where, const char *auth_file, bool cluster);
void cli_connection_close(cli_connection *c);

/* Sends the words, ended by NULL, and `data` behind them unless it is NULL.  In a cluster it
 * follows to the node that has the key.  Ends the program when the server is lost. */
cli_reply cli_connection_call(cli_connection *c, const umbel_key *data, const char *word, ...)
    __attribute__((sentinel));

/* How often another node had to be asked. */
unsigned cli_connection_redirects(const cli_connection *c);

/* HOST:PORT of the node asked last. */
const char *cli_connection_name(const cli_connection *c);

/* Ends the program with what the server said, and what would work. */
_Noreturn void cli_connection_die(const cli_connection *c, const cli_reply *reply);

#endif
