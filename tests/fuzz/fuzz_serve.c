/* SPDX-License-Identifier: MIT
 *
 * fuzz_serve.c - what strangers send to umbel serve, and lines of block lists
 *
 * Byte 0 chooses Squid's lines, socketmap's netstrings or entries of lists; the text follows.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/serve.h"
#include "target.h"
#include "umbel_records.h"

enum { SQUID, SOCKETMAP, ENTRY, WAYS };

/* Without lists: what is asked for is found nowhere, and only the protocol is left. */
static serve_lists none;

static void squid(const uint8_t *bytes, size_t len) {
    char *line = some_bytes(len), reply[SERVE_REPLY_MAX];
    if (len) memcpy(line, bytes, len);
    size_t n = serve_squid(&none, len % 2 ? "http://no/" : NULL, line, len, reply);
    insist(n > 3 && n < SERVE_REPLY_MAX && reply[n - 1] == '\n', "a reply is a line");
    insist(!memchr(reply, '\n', n - 1), "and only one");
    reply[n] = 0;
    insist(strstr(reply, "ERR") || strstr(reply, "BH message="), "not found, or not understood");
    free(line);
}

/* Every request is answered by one netstring, and none reaches beyond the bytes. */
static void socketmap(const uint8_t *bytes, size_t len) {
    char *in = some_bytes(len), reply[SERVE_REPLY_MAX];
    if (len) memcpy(in, bytes, len);
    bool broken = false;
    for (size_t at = 0, reply_len; at < len && !broken;) {
        size_t used =
            serve_socketmap(&none, "REJECT", in + at, len - at, reply, &reply_len, &broken);
        insist(used <= len - at, "no more than there is");
        if (used == 0) {
            insist(reply_len == 0 && !broken, "an incomplete request waits");
            break;
        }
        char *end = NULL;
        unsigned long n = strtoul(reply, &end, 10);
        insist(*end == ':' && reply[reply_len - 1] == ',', "a netstring");
        insist((size_t)(end + 1 - reply) + n + 1 == reply_len, "of the length it says");
        insist(memcmp(end + 1, "PERM ", 5) == 0, "there is no list");
        at += used;
    }
    free(in);
}

static void entry(const uint8_t *bytes, size_t len) {
    uint8_t *line = some_bytes(len);
    umbel_key name;
    if (len) memcpy(line, bytes, len);
    umbel_domain_form form = umbel_domain_entry(line, len, &name);
    insist(form <= UMBEL_DOMAIN_UNKNOWN, "a form");
    bool named = form != UMBEL_DOMAIN_NONE && form != UMBEL_DOMAIN_UNKNOWN;
    insist(named == (name.data != NULL), "entries have names");
    if (named) {
        const uint8_t *at = name.data;
        insist(name.len > 0 && at >= line && at + name.len <= line + len, "within the line");
        /* A byte-order mark at the start of a line belongs to the file, not to a name. */
        bool marked = name.len >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0;
        /* The host of a URL is as it stands there, and the recipe decodes it. */
        bool encoded = form == UMBEL_DOMAIN_URL && memchr(at, '%', name.len);
        umbel_key again;
        insist(marked || encoded ||
                   (umbel_domain_entry(at, name.len, &again) == UMBEL_DOMAIN_PLAIN &&
                    again.data == at && again.len == name.len),
               "a name alone is a plain entry");
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len == 0) return 0;
    switch (bytes[0] % WAYS) {
    case SQUID: squid(bytes + 1, len - 1); break;
    case SOCKETMAP: socketmap(bytes + 1, len - 1); break;
    default: entry(bytes + 1, len - 1);
    }
    return 0;
}
