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

void cli_secret_read(cli_settings *s) {
    const char *path = s->secret_file;
    uint8_t bytes[ROOM];
    static uint8_t secret[SECRET];
    struct stat st;
    if (!path) return;
    size_t len = read_start(path, bytes, sizeof bytes, &st);
    umbel_diag diag = {0};
    if (umbel_parse_secret(bytes, len, secret, &diag)) cli_die(path, how_to, "%s", diag.what);
    s->secret = secret;
    if (S_ISREG(st.st_mode) && (st.st_mode & S_IROTH)) {
        cli_warn("secret_readable", path,
                 "everyone on this machine can read the secret (chmod 600 prevents that)");
    }
}
