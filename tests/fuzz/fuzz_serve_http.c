/* SPDX-License-Identifier: MIT
 *
 * fuzz_serve_http.c - what strangers send to umbel serve --http, through a socket and libmicrohttpd
 *
 * Byte 0 chooses: the rest is what a client sends; or it is the body of a batch, which arrives in two
 * pieces, the first of as many bytes as byte 1 says, and whose answer is known.
 */
#define _GNU_SOURCE /* SOCK_NONBLOCK, memmem */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/serve.h"
#include "target.h"

enum { RAW, BATCH, WAYS, ANSWER = 1 << 20 };

static serve_lists lists;
static serve_http *http;
static struct sockaddr_un address;
static socklen_t address_len = sizeof address;

/* A list called l, of the keys a and ads.test, and a server that has it. */
static void begin(void) {
    char path[] = "/tmp/umbel-fuzz-XXXXXX";
    umbel_filter *f = NULL;
    umbel_opts opts = {0};
    int file = mkstemp(path), fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    insist(file >= 0 && fd >= 0, "a file and a socket");
    insist(!umbel_create(&(umbel_params){.capacity = 100, .fpr = 1e-9}, NULL, &f, NULL),
           "a filter");
    insist(!umbel_add(f, "a", 1, NULL, NULL) && !umbel_add(f, "ads.test", 8, NULL, NULL), "keys");
    insist(!umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL), "saved");
    umbel_free(f);
    char spec[64];
    snprintf(spec, sizeof spec, "l=%s", path);
    lists.max_held = SERVE_HELD_MAX;
    serve_lists_add(&lists, spec, &(umbel_source_opts){.opts = &opts});
    unlink(path);
    close(file);
    address.sun_family = AF_UNIX; /* and no path: the kernel gives it a name */
    insist(!bind(fd, (struct sockaddr *)&address, sizeof address.sun_family), "bound");
    insist(!listen(fd, 8) && !getsockname(fd, (struct sockaddr *)&address, &address_len),
           "listens");
    http = serve_http_new(&lists, fd, 8, 1);
}

/* Sends the pieces, one after the other has been read, and returns all that comes back. */
static size_t talk(const umbel_key *pieces, size_t n, char *answer) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    size_t got = 0, sent = 0, at = 0;
    bool alive = true;
    insist(fd >= 0 && !connect(fd, (struct sockaddr *)&address, address_len), "connected");
    for (int i = 0;; i++) {
        insist(i < 1000000, "an answer or an end comes");
        if (at < n && alive) {
            size_t left = pieces[at].len - sent;
            ssize_t some =
                left ? send(fd, (const char *)pieces[at].data + sent, left, MSG_NOSIGNAL) : 0;
            if (some > 0) sent += (size_t)some;
            if (some < 0) alive = false; /* or the buffer is full: then it is over soon as well */
            if (sent == pieces[at].len && ++at < n) sent = 0;
            if (at == n) shutdown(fd, SHUT_WR);
        }
        serve_http_run(http);
        ssize_t more = recv(fd, answer + got, ANSWER - 1 - got, 0);
        if (more > 0) got += (size_t)more;
        if (more == 0 || (more < 0 && !alive)) break;
    }
    close(fd);
    serve_http_run(http);
    insist(lists.held == 0, "nothing is held after the end");
    answer[got] = '\0';
    return got;
}

static void raw(const uint8_t *bytes, size_t len, char *answer) {
    uint64_t refused = lists.refused;
    size_t got = talk(&(umbel_key){bytes, len}, 1, answer);
    insist(!got || strncmp(answer, "HTTP/1.", 7) == 0, "an answer is HTTP");
    if (got && strstr(answer, "there is no such list")) {
        insist(lists.refused > refused, "counted");
    }
}

/* The answers line by line; false: a line is too long. */
static bool expect(const uint8_t *body, size_t len, char *out) {
    for (size_t at = 0; at < len;) {
        const uint8_t *end = memchr(body + at, '\n', len - at);
        size_t n = end ? (size_t)(end - body) - at : len - at, key = n;
        if (n > SERVE_KEY_MAX) return false;
        if (key && body[at + key - 1] == '\r') key--;
        bool found =
            (key == 1 && body[at] == 'a') || (key == 8 && memcmp(body + at, "ads.test", 8) == 0);
        *out++ = found ? '1' : '0';
        *out++ = '\n';
        at += n + 1;
    }
    *out = '\0';
    return true;
}

static void batch(size_t first, const uint8_t *body, size_t len, char *answer) {
    char head[128], *expected = some_bytes(2 * len + 3);
    int n = snprintf(head, sizeof head,
                     "POST /contains/l HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     len);
    if (first > len) first = len;
    umbel_key pieces[] = {{head, (size_t)n}, {body, first}, {body + first, len - first}};
    talk(pieces, 3, answer);
    const char *end = strstr(answer, "\r\n\r\n");
    insist(end != NULL, "a batch is answered");
    if (expect(body, len, expected)) {
        insist(strstr(answer, " 200 ") && strcmp(end + 4, expected) == 0, "by a line per line");
    } else {
        insist(strstr(answer, " 413 ") != NULL, "or refused");
    }
    free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    static char answer[ANSWER];
    if (len < 2) return 0;
    if (!http) begin();
    if (bytes[0] % WAYS == RAW) {
        raw(bytes + 1, len - 1, answer);
    } else {
        batch(bytes[1], bytes + 2, len - 2, answer);
    }
    return 0;
}
