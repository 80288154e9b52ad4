/* SPDX-License-Identifier: MIT
 *
 * push_tls.h - TLS over a connected socket
 */
#ifndef CLI_PUSH_TLS_H
#define CLI_PUSH_TLS_H

#include <stddef.h>
#include <sys/types.h>

typedef struct cli_tls cli_tls;

/* PEM files, and the name that the certificate must have.  NULL: the system's authorities, no
 * client certificate, the host. */
typedef struct cli_tls_options {
    const char *cacert, *cert, *cert_key, *name;
} cli_tls_options;

/* Shakes hands and checks the server's certificate: its authority, its dates, and that it is for
 * `host`.  Exits with a message about `where`. */
cli_tls *cli_tls_open(int fd, const char *host, const cli_tls_options *options, const char *where);
void cli_tls_close(cli_tls *t);

/* As read and write of a blocking socket: 0 at the end, -1 with errno (EAGAIN: the time is up). */
ssize_t cli_tls_read(cli_tls *t, void *bytes, size_t room);
ssize_t cli_tls_write(cli_tls *t, const void *bytes, size_t len);

/* TLS's own reason for the last -1; NULL: errno has it. */
const char *cli_tls_error(const cli_tls *t);

#endif
