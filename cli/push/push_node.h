/* SPDX-License-Identifier: MIT
 *
 * push_node.h - one server at the other end of a socket
 */
#ifndef CLI_PUSH_NODE_H
#define CLI_PUSH_NODE_H

#include "push/push_address.h"
#include "push/push_tls.h"
#include "umbel.h"

struct redisReply;

enum { CLI_REQUEST_WORDS = 8 };

/* A command: its words, in order. */
typedef struct cli_request {
    int count;
    const char *words[CLI_REQUEST_WORDS];
    size_t lens[CLI_REQUEST_WORDS];
} cli_request;

typedef struct cli_node {
    cli_address at;
    char name[CLI_HOST + 16]; /* HOST:PORT or the path of the socket */
    struct redisContext *socket;
    cli_tls *tls;  /* NULL: not encrypted */
    bool answered; /* at least once */
} cli_node;

/* Connects, with TLS unless `tls` is NULL; exits with a message if that fails. */
cli_node *cli_node_open(const cli_address *at, const cli_tls_options *tls);
void cli_node_close(cli_node *node); /* NULL: nothing to do */

/* Sends a command and waits for the reply; free it.  Exits if the connection is lost. */
struct redisReply *cli_node_call(cli_node *node, const cli_request *request);

/* The hint after an interrupted push. */
extern const char cli_run_again[];

#endif
