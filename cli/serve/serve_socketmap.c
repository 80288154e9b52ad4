/* SPDX-License-Identifier: MIT
 *
 * serve_socketmap.c - Postfix's socketmap: `name key` in a netstring, `OK data` or `NOTFOUND ` back
 */
#include <stdio.h>
#include <string.h>

#include "serve/serve.h"

enum { DIGITS_MAX = 6, REQUEST_MAX = SERVE_KEY_MAX + 256 };

static size_t put(char reply[SERVE_REPLY_MAX], const char *status, const char *text) {
    char body[SERVE_REPLY_MAX - 16];
    int len = snprintf(body, sizeof body, "%s %s", status, text);
    if (len >= (int)sizeof body) len = (int)sizeof body - 1;
    return (size_t)snprintf(reply, SERVE_REPLY_MAX, "%d:%s,", len, body);
}

/* The name ends at the first space; the rest is the key, spaces and all.  Postfix asks for whole
 * addresses, whose local parts may have anything before their @, and for `<>`. */
static size_t reply_to(serve_lists *lists, const char *answer, const char *body, size_t len,
                       char reply[SERVE_REPLY_MAX]) {
    const char *space = memchr(body, ' ', len);
    if (!space) {
        lists->refused++;
        return put(reply, "PERM", "the request is not a name and a key");
    }
    size_t name_len = (size_t)(space - body);
    serve_list *l = serve_lists_named(lists, body, name_len);
    if (!l) {
        lists->refused++;
        return put(reply, "PERM", "there is no such list");
    }
    switch (serve_list_ask(l, UMBEL_USE_HOST, space + 1, len - name_len - 1)) {
    case SERVE_YES: return put(reply, "OK", answer);
    case SERVE_DAMAGED: return put(reply, "TEMP", "the list is damaged");
    case SERVE_NO: break;
    }
    return put(reply, "NOTFOUND", "");
}

size_t serve_socketmap(serve_lists *lists, const char *answer, const char *bytes, size_t len,
                       char reply[SERVE_REPLY_MAX], size_t *reply_len, bool *broken) {
    size_t digits = 0, body_len = 0;
    const char *wrong = NULL;
    *reply_len = 0;
    *broken = false;
    while (digits < len && digits <= DIGITS_MAX && bytes[digits] >= '0' && bytes[digits] <= '9') {
        body_len = 10 * body_len + (size_t)(bytes[digits++] - '0');
    }
    if (digits > DIGITS_MAX || body_len > REQUEST_MAX) {
        wrong = "the request is too long";
    } else if (digits == len) {
        return 0;
    } else {
        bool begins = digits && bytes[digits] == ':' && (digits == 1 || bytes[0] != '0');
        if (begins && len < digits + 1 + body_len + 1) return 0;
        if (!begins || bytes[digits + 1 + body_len] != ',') wrong = "not a netstring";
    }
    if (wrong) {
        lists->refused++;
        *broken = true;
        *reply_len = put(reply, "PERM", wrong);
        return len;
    }
    *reply_len = reply_to(lists, answer, bytes + digits + 1, body_len, reply);
    return digits + 1 + body_len + 1;
}
