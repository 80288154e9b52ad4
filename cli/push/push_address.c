/* SPDX-License-Identifier: MIT */
#include "push/push_address.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool parse_port(const char *text, int *port) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 65535) return false;
    *port = (int)value;
    return true;
}

static bool copy_host(const char *text, size_t len, cli_address *out) {
    if (len == 0 || len >= sizeof out->host) return false;
    memcpy(out->host, text, len);
    out->host[len] = '\0';
    return true;
}

bool cli_parse_address(const char *text, cli_address *out) {
    cli_address a = {.port = 0};
    bool ok;
    if (*text == '/') {
        ok = copy_host(text, strlen(text), &a);
    } else if (*text == '[') {
        const char *end = strchr(text, ']');
        a.port = CLI_REDIS_PORT;
        ok = end && copy_host(text + 1, (size_t)(end - text) - 1, &a) &&
             (end[1] == '\0' || (end[1] == ':' && parse_port(end + 2, &a.port)));
    } else {
        /* The last colon: nodes of a cluster write IPv6 addresses without brackets. */
        const char *colon = strrchr(text, ':');
        a.port = CLI_REDIS_PORT;
        ok = copy_host(text, colon ? (size_t)(colon - text) : strlen(text), &a) &&
             (!colon || parse_port(colon + 1, &a.port));
    }
    if (ok) *out = a;
    return ok;
}

/* ---- URLs ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* To be freed; NULL if a % is not followed by two hexadecimal digits, or stands for NUL. */
static char *percent_decoded(const char *text, size_t len) {
    char *out = cli_alloc(len + 1), *to = out;
    for (const char *end = text + len; text < end; text++) {
        *to = *text;
        if (*text == '%') {
            int high = end - text > 2 ? hex_digit(text[1]) : -1;
            int low = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0 || high + low == 0) {
                free(out);
                return NULL;
            }
            *to = (char)(high << 4 | low);
            text += 2;
        }
        to++;
    }
    *to = '\0';
    return out;
}

static const char bad_escape[] = "a % is not followed by two hexadecimal digits";

/* USER:PASSWORD, USER or :PASSWORD.  The password is blanked where it came from, which may be an
 * argument that ps shows. */
static const char *parse_login(char *text, size_t len, cli_login *out) {
    char *colon = memchr(text, ':', len);
    size_t user = colon ? (size_t)(colon - text) : len;
    if (user && !(out->user = percent_decoded(text, user))) return bad_escape;
    if (!colon) return NULL;
    size_t rest = len - user - 1;
    bool none = !user && !rest;
    char *password = none ? NULL : percent_decoded(colon + 1, rest);
    memset(colon + 1, '*', rest);
    out->password = password;
    return password || none ? NULL : bad_escape;
}

static const char *parse_database(const char *path, cli_login *out) {
    uint64_t n = 0;
    if (!*path) return NULL;
    out->database_given = true;
    for (const char *p = path; *p; p++) {
        if (*p < '0' || *p > '9') return "only /N, the number of a database, may follow the host";
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > INT32_MAX) return "there is no such database";
    }
    out->database = n;
    return NULL;
}

static const char unclear[] =
    "host and port are ambiguous (in a password, @ / ? # % are %40 %2F %3F %23 %25)";

/* HOST, HOST:PORT or [HOST]:PORT of `len` bytes. */
static const char *parse_authority(const char *text, size_t len, cli_address *out) {
    char *copy = cli_strndup(len ? text : "localhost", len ? len : strlen("localhost"));
    bool ok = *copy != '/' && cli_parse_address(copy, out);
    free(copy);
    return ok ? NULL : unclear;
}

static const char *parse_url(char *text, cli_server *out) {
    size_t len = strcspn(text, "/?#");
    char *rest = text + len, *at = NULL;
    for (char *p = text; p < rest; p++) {
        if (*p == '@') at = p;
    }
    if (strchr(rest, '@')) { /* what looks like the end belongs to the password */
        memset(text, '*', strlen(text));
        return unclear;
    }
    const char *wrong = at ? parse_login(text, (size_t)(at - text), &out->login) : NULL;
    char *host = at ? at + 1 : text;
    if (!wrong) wrong = parse_authority(host, (size_t)(rest - host), &out->at);
    if (wrong) return wrong;
    if (rest[strcspn(rest, "?#")]) return "? and # are not supported";
    return parse_database(*rest ? rest + 1 : rest, &out->login);
}

static bool skip_scheme(char **text, const char *scheme) {
    size_t len = strlen(scheme);
    if (strncmp(*text, scheme, len) != 0) return false;
    *text += len;
    return true;
}

const char *cli_parse_server(char *text, cli_server *out) {
    *out = (cli_server){.tls = false};
    if (skip_scheme(&text, "redis://")) return parse_url(text, out);
    if (skip_scheme(&text, "rediss://")) {
        out->tls = true;
        return parse_url(text, out);
    }
    if (strstr(text, "://")) return "is not a redis:// or rediss:// URL";
    if (*text != '/' && strchr(text, '/'))
        return "is not an address: the path of a socket begins with /";
    return cli_parse_address(text, &out->at) ? NULL : "is not an address";
}

bool cli_is_url(const char *text) {
    char *p = (char *)(uintptr_t)text;
    return skip_scheme(&p, "redis://") || skip_scheme(&p, "rediss://");
}

void cli_login_free(cli_login *login) {
    free(login->user);
    free(login->password);
    *login = (cli_login){.user = NULL};
}
