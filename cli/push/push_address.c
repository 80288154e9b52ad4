/* SPDX-License-Identifier: MIT
 *
 * push_address.c - parsing the address of a server
 */
#include <stdlib.h>
#include <string.h>

#include "push/push_connection.h"

static bool take_port(const char *text, int *port) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > 65535) return false;
    *port = (int)value;
    return true;
}

static bool take_host(const char *text, size_t len, cli_address *out) {
    if (len == 0 || len >= sizeof out->host) return false;
    memcpy(out->host, text, len);
    out->host[len] = '\0';
    return true;
}

bool cli_parse_address(const char *text, cli_address *out) {
    cli_address a = {.port = 0};
    bool ok;
    if (*text == '/') {
        ok = take_host(text, strlen(text), &a);
    } else if (*text == '[') {
        const char *end = strchr(text, ']');
        a.port = CLI_REDIS_PORT;
        ok = end && take_host(text + 1, (size_t)(end - text) - 1, &a) &&
             (end[1] == '\0' || (end[1] == ':' && take_port(end + 2, &a.port)));
    } else {
        /* The last colon: nodes of a cluster write IPv6 addresses without brackets. */
        const char *colon = strrchr(text, ':');
        a.port = CLI_REDIS_PORT;
        ok = take_host(text, colon ? (size_t)(colon - text) : strlen(text), &a) &&
             (!colon || take_port(colon + 1, &a.port));
    }
    if (ok) *out = a;
    return ok;
}
