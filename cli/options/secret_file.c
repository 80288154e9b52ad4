/* SPDX-License-Identifier: MIT
 *
 * secret_file.c - --secret-file: the 16-byte secret of keyed filters
 */
#define _POSIX_C_SOURCE 200809L
#include "options/filter_options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { SECRET = 16, ROOM = 2 * SECRET + 3 };

static const char how_to[] = "to make one: umask 077; head -c16 /dev/urandom > FILE";

/* Reads up to `room` bytes of a file or a pipe. */
static size_t read_start(const char *path, uint8_t *bytes, size_t room, struct stat *st) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 1;
    if (fd < 0) cli_die(path, errno == ENOENT ? how_to : NULL, "%s", strerror(errno));
    if (fstat(fd, st) != 0) cli_die_sys(path, errno);
    while (len < room && n != 0) {
        n = read(fd, bytes + len, room - len);
        if (n < 0 && errno != EINTR) cli_die_sys(path, errno);
        if (n > 0) len += (size_t)n;
    }
    close(fd);
    return len;
}

static int digit_of(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool from_digits(const uint8_t *text, size_t len, uint8_t *secret) {
    if (len && text[len - 1] == '\n') len--;
    if (len && text[len - 1] == '\r') len--;
    if (len != 2 * SECRET) return false;
    for (size_t i = 0; i < SECRET; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Sixteen random bytes look like text once in seven million times; a password always does. */
static bool is_text(const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        bool blank = bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\t';
        if (!blank && (bytes[i] < 0x20 || bytes[i] > 0x7e)) return false;
    }
    return true;
}

void cli_secret_read(cli_settings *s) {
    const char *path = s->secret_file;
    uint8_t bytes[ROOM];
    static uint8_t secret[SECRET];
    struct stat st;
    if (!path) return;
    size_t len = read_start(path, bytes, sizeof bytes, &st);
    if (len == SECRET && !is_text(bytes, len)) {
        memcpy(secret, bytes, SECRET);
    } else if (len == SECRET) {
        cli_die(path, how_to, "is text, but a secret must be random");
    } else if (!from_digits(bytes, len, secret)) {
        cli_die(path, how_to, "a secret is 16 bytes or 32 hexadecimal digits");
    }
    s->secret = secret;
    if (S_ISREG(st.st_mode) && (st.st_mode & S_IROTH)) {
        cli_warn(path, "everyone on this machine can read the secret (chmod 600 prevents that)");
    }
}
