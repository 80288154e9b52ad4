/* SPDX-License-Identifier: MIT
 *
 * secret_file.c - --secret-file: the 16-byte secret of keyed filters
 */
#define _POSIX_C_SOURCE 200809L
#include "options/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "options/filter_options.h"
#include "umbel_text.h"

enum { SECRET = 16, ROOM = 2 * SECRET + 3 };

static const char how_to[] = "to make one: umask 077; head -c16 /dev/urandom > FILE";

size_t cli_read_start(const char *path, void *bytes, size_t room, struct stat *st,
                      const char *hint) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 1;
    if (fd < 0) cli_die(path, errno == ENOENT ? hint : NULL, "%s", strerror(errno));
    if (fstat(fd, st) != 0) cli_die_sys(path, errno);
    while (len < room && n != 0) {
        n = read(fd, (uint8_t *)bytes + len, room - len);
        if (n < 0 && errno != EINTR) cli_die_sys(path, errno);
        if (n > 0) len += (size_t)n;
    }
    close(fd);
    return len;
}

void cli_warn_readable(const char *path, const struct stat *st) {
    if (!S_ISREG(st->st_mode) || !(st->st_mode & S_IROTH)) return;
    cli_warn("secret_readable", path,
             "everyone on this machine can read the secret (chmod 600 prevents that)");
}

void cli_secret_read(cli_settings *s) {
    const char *path = s->secret_file;
    uint8_t bytes[ROOM];
    static uint8_t secret[SECRET];
    struct stat st;
    if (!path) return;
    size_t len = cli_read_start(path, bytes, sizeof bytes, &st, how_to);
    umbel_diag diag = {0};
    if (umbel_parse_secret(bytes, len, secret, &diag)) cli_die(path, how_to, "%s", diag.what);
    s->secret = secret;
    cli_warn_readable(path, &st);
}
