/* SPDX-License-Identifier: MIT
 *
 * push_connection.h - a connection to a Redis server or to a cluster, one command at a time
 */
#ifndef CLI_PUSH_CONNECTION_H
#define CLI_PUSH_CONNECTION_H

#include "options/options.h"
#include "push/push_node.h"
#include "umbel.h"

typedef struct cli_connection cli_connection;

typedef enum cli_reply_type {
    CLI_REPLY_NIL,
    CLI_REPLY_NUMBER,
    CLI_REPLY_TEXT,
    CLI_REPLY_ERROR,
    CLI_REPLY_MOVED /* see cli_connection_transact */
} cli_reply_type;

/* `text` is NUL-terminated and valid until the next call.  An array is represented by its first
 * error, or else by its last element. */
typedef struct cli_reply {
    cli_reply_type type;
    long long number;
    const char *text;
} cli_reply;

/* Connects to the server that --redis names, as --auth-file, --db and the TLS options say; exits
 * with a message if that fails. */
cli_connection *cli_connection_open(const cli_settings *s);
void cli_connection_close(cli_connection *c);

/* A command of these words, terminated by NULL, and then `data` unless it is NULL. */
cli_request cli_request_of(const umbel_key *data, const char *word, ...) __attribute__((sentinel));

/* Sends such a command.  In a cluster, to the node that has the key; waits, as long as --wait
 * allows, while the key's slot moves or the server is not ready.  Exits if the connection is lost.
 */
cli_reply cli_connection_call(cli_connection *c, const umbel_key *data, const char *word, ...)
    __attribute__((sentinel));

/* Sends several in one transaction, or one alone.  If the keys have moved to another node, connects
 * to that, does nothing else and returns CLI_REPLY_MOVED: what earlier calls found out may not hold
 * there. */
cli_reply cli_connection_transact(cli_connection *c, const cli_request *requests, int count);

/* How often the connection has moved to another node. */
unsigned cli_connection_redirects(const cli_connection *c);

uint64_t cli_connection_database(const cli_connection *c);

/* HOST:PORT of the current node. */
const char *cli_connection_name(const cli_connection *c);

/* Exits with the server's error and what would work. */
_Noreturn void cli_connection_die(const cli_connection *c, const cli_reply *reply);

#endif
