/* SPDX-License-Identifier: MIT
 *
 * serve_squid.c - Squid's helpers: external_acl_type and url_rewrite_program
 *
 * A line is `key ...`, or with concurrency= `channel-ID key ...`, in %-encoded tokens.  The answer
 * is OK or ERR, after the channel; BH means that the helper did not understand.
 */
#include <stdio.h>
#include <string.h>

#include "serve/serve.h"

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; a % without two digits after it stands for itself. */
static size_t decode(char *text, size_t len) {
    size_t to = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && i + 2 < len && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
            text[to++] = (char)(16 * digit(text[i + 1]) + digit(text[i + 2]));
            i += 2;
        } else {
            text[to++] = text[i];
        }
    }
    return to;
}

/* The length of the token at `at`, which becomes the beginning of it. */
static size_t token(const char *line, size_t len, size_t *at) {
    while (*at < len && line[*at] == ' ') ++*at;
    size_t end = *at;
    while (end < len && line[end] != ' ') end++;
    return end - *at;
}

static bool is_number(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
    }
    return len > 0 && len < 20;
}

size_t serve_squid(serve_lists *lists, const char *rewrite, char *line, size_t len,
                   char reply[SERVE_REPLY_MAX]) {
    size_t at = 0, n, used = 0;
    if (len && line[len - 1] == '\r') len--;
    n = token(line, len, &at);
    size_t next = at + n;
    if (is_number(line + at, n) && token(line, len, &next)) { /* a channel, if a key follows */
        memcpy(reply, line + at, n);
        reply[n] = ' ';
        used = n + 1;
        at = next;
        n = token(line, len, &at);
    }
    const char *verdict = "ERR";
    char more[SERVE_REPLY_MAX / 2] = "";
    if (n == 0 || n > SERVE_KEY_MAX) {
        verdict = "BH";
        snprintf(more, sizeof more, " message=\"%s\"", n ? "the key is too long" : "no key");
        lists->refused++;
    } else {
        serve_answer answer = SERVE_NO;
        serve_list *l = serve_lists_any(lists, line + at, decode(line + at, n), &answer);
        bool damaged = answer == SERVE_DAMAGED;
        if (l) verdict = damaged ? "BH" : "OK";
        if (damaged) {
            snprintf(more, sizeof more, " message=\"the list is damaged\"");
        } else if (l && rewrite) {
            snprintf(more, sizeof more, " rewrite-url=\"%.200s\"", rewrite);
        } else if (l) {
            snprintf(more, sizeof more, " tag=%.200s", l->name);
        }
    }
    return used + (size_t)snprintf(reply + used, SERVE_REPLY_MAX - used, "%s%s\n", verdict, more);
}
