/* SPDX-License-Identifier: MIT
 *
 * push_address.h - the address of a server, and how to log in
 */
#ifndef CLI_PUSH_ADDRESS_H
#define CLI_PUSH_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_HOST = 256, CLI_REDIS_PORT = 6379 };

typedef struct cli_address {
    char host[CLI_HOST]; /* or the path of a socket */
    int port;            /* 0: a socket */
} cli_address;

/* What a new connection sends first. */
typedef struct cli_login {
    char *user, *password; /* NULL: none */
    uint64_t database;
    bool database_given;
} cli_login;

typedef struct cli_server {
    cli_address at;
    cli_login login;
    bool tls;
} cli_server;

/* HOST, HOST:PORT, [HOST]:PORT or the absolute path of a socket; false for anything else. */
bool cli_parse_address(const char *text, cli_address *out);

/* An address, redis://[USER][:PASSWORD]@HOST[:PORT][/DATABASE], or the same with rediss, over TLS.
 * User and password are percent-decoded.  A password in `text` is overwritten with asterisks.
 * Returns NULL, or what is wrong, without quoting the text. */
const char *cli_parse_server(char *text, cli_server *out);

/* Whether it begins like one of these URLs, which may contain a password. */
bool cli_is_url(const char *text);

void cli_login_free(cli_login *login);

#endif
