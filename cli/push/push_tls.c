/* SPDX-License-Identifier: MIT
 *
 * push_tls.c - TLS over a connected socket, by OpenSSL
 *
 * Debian 12's hiredis has no TLS: it connects the socket and parses replies, and what is sent and
 * received goes through this.
 */
#include "push/push_tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct cli_tls {
    SSL_CTX *context;
    SSL *ssl;
    const char *error;
};

static const char *reason(void) {
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "TLS fails";
}

static void need_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) cli_die_sys(path, errno);
    fclose(file);
}

static void load_files(SSL_CTX *context, const cli_tls_options *o) {
    if (o->cacert) {
        need_file(o->cacert);
        if (SSL_CTX_load_verify_locations(context, o->cacert, NULL) != 1) {
            cli_die(o->cacert, "PEM: -----BEGIN CERTIFICATE-----", "contains no certificate");
        }
    } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
        cli_die("--redis", "--cacert F", "the system's authorities: %s", reason());
    }
    if (!o->cert) return;
    /* One file may hold both. */
    const char *key = o->cert_key ? o->cert_key : o->cert;
    need_file(o->cert);
    need_file(key);
    if (SSL_CTX_use_certificate_chain_file(context, o->cert) != 1) {
        cli_die(o->cert, "PEM: -----BEGIN CERTIFICATE-----", "contains no certificate");
    }
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        cli_die(key, "--cert-key F: its private key", "is not the key of %s: %s", o->cert,
                reason());
    }
}

/* The certificate must be for this address or name; a name is also sent to the server (SNI). */
static bool expect_name(SSL *ssl, const char *host) {
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1) return true;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static _Noreturn void refuse_certificate(long verdict, const char *host, const char *where) {
    switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        cli_die(where, "--sni NAME: the name that it has", "its certificate is not for %s", host);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        cli_die(where, "--cacert F: the authority's certificate",
                "its certificate is not signed by a trusted authority");
    default: cli_die(where, NULL, "its certificate: %s", X509_verify_cert_error_string(verdict));
    }
}

static _Noreturn void refuse_handshake(cli_tls *t, int got, const char *host, const char *where) {
    int sys = errno, error = SSL_get_error(t->ssl, got);
    long verdict = SSL_get_verify_result(t->ssl);
    if (verdict != X509_V_OK) refuse_certificate(verdict, host, where);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        cli_die(where, "redis:// if it does not speak TLS", "no TLS handshake in ten seconds");
    }
    if (error == SSL_ERROR_SYSCALL) {
        cli_die(where, "redis:// if it does not speak TLS", "TLS: %s",
                sys ? strerror(sys) : "the server closed the connection");
    }
    bool plain = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_WRONG_VERSION_NUMBER;
    cli_die(where, plain ? "redis:// goes there" : NULL, "TLS: %s",
            plain ? "the server does not speak it on this port" : reason());
}

cli_tls *cli_tls_open(int fd, const char *host, const cli_tls_options *options, const char *where) {
    cli_tls *t = cli_alloc(sizeof *t);
    *t = (cli_tls){.context = SSL_CTX_new(TLS_client_method())};
    if (!t->context) cli_die(NULL, NULL, "TLS: %s", reason());
    SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION);
    SSL_CTX_set_verify(t->context, SSL_VERIFY_PEER, NULL);
    load_files(t->context, options);
    t->ssl = SSL_new(t->context);
    const char *name = options->name ? options->name : host;
    if (!t->ssl || SSL_set_fd(t->ssl, fd) != 1 || !expect_name(t->ssl, name)) {
        cli_die(where, NULL, "TLS: %s", reason());
    }
    errno = 0;
    ERR_clear_error();
    int got = SSL_connect(t->ssl);
    if (got != 1) refuse_handshake(t, got, name, where);
    return t;
}

void cli_tls_close(cli_tls *t) {
    SSL_shutdown(t->ssl);
    SSL_free(t->ssl);
    SSL_CTX_free(t->context);
    free(t);
}

/* Translates the result of SSL_read or SSL_write into that of read or write. */
static ssize_t result(cli_tls *t, int got) {
    if (got > 0) return got;
    t->error = NULL;
    switch (SSL_get_error(t->ssl, got)) {
    case SSL_ERROR_ZERO_RETURN: return 0;
    case SSL_ERROR_WANT_READ: /* the socket blocks, so its time is up */
    case SSL_ERROR_WANT_WRITE: errno = EAGAIN; return -1;
    case SSL_ERROR_SYSCALL: return errno ? -1 : 0;
    default: t->error = reason(); return -1;
    }
}

ssize_t cli_tls_read(cli_tls *t, void *bytes, size_t room) {
    errno = 0;
    ERR_clear_error();
    return result(t, SSL_read(t->ssl, bytes, room < INT_MAX ? (int)room : INT_MAX));
}

ssize_t cli_tls_write(cli_tls *t, const void *bytes, size_t len) {
    errno = 0;
    ERR_clear_error();
    return result(t, SSL_write(t->ssl, bytes, len < INT_MAX ? (int)len : INT_MAX));
}

const char *cli_tls_error(const cli_tls *t) {
    return t->error;
}
