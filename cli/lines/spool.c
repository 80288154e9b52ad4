/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "lines/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { PIECE = 1 << 18 };

static int unnamed_file(const char *dir) {
    int fd = -1;
    char *name = cli_alloc(strlen(dir) + sizeof "/umbel-XXXXXX");
#ifdef O_TMPFILE
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) {
        sprintf(name, "%s/umbel-XXXXXX", dir);
        fd = mkostemp(name, O_CLOEXEC);
        if (fd < 0) cli_die_sys(dir, errno);
        unlink(name);
    }
    free(name);
    return fd;
}

static void copy(int from, int to, const char *name, const char *dir) {
    uint8_t *piece = cli_alloc(PIECE);
    for (;;) {
        ssize_t got = read(from, piece, PIECE), done = 0;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) cli_die_sys(name, errno);
        if (got == 0) break;
        while (done < got) {
            ssize_t n = write(to, piece + done, (size_t)(got - done));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) {
                cli_die(dir, "--tmp DIR uses another directory", "%s: %s cannot be kept",
                        strerror(errno), name);
            }
            done += n;
        }
    }
    if (lseek(to, 0, SEEK_SET) != 0) cli_die_sys(dir, errno);
    free(piece);
}

/* The descriptor that the path means, or -1. */
static int descriptor_of(const char *path) {
    char *end;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdin") == 0) return STDIN_FILENO;
    if (strncmp(path, "/dev/fd/", 8) != 0 || !path[8]) return -1;
    long fd = strtol(path + 8, &end, 10);
    return *end || fd < 0 || fd > 1 << 20 ? -1 : (int)fd;
}

enum { NAME = 32 }; /* bytes of a path to a descriptor */

/* The path under which the copy can be opened again, perhaps in `name`. */
static const char *spooled(const char *path, const char *dir, char name[NAME]) {
    int own = descriptor_of(path), to = unnamed_file(dir);
    int from = own >= 0 ? own : open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) cli_die_sys(path, errno);
    copy(from, to, own == STDIN_FILENO ? "standard input" : path, dir);
    if (own < 0) {
        close(from);
        snprintf(name, NAME, "/dev/fd/%d", to);
        return name;
    }
    if (dup2(to, own) < 0) cli_die_sys(path, errno);
    close(to);
    return path;
}

void cli_feed_spool(cli_feed *feed, const char *dir) {
    const char *set = getenv("TMPDIR");
    if (!cli_feed_once(feed)) return;
    if (!dir) dir = set && *set ? set : "/tmp";
    int n = feed->nfiles ? feed->nfiles : 1;
    const char **files = cli_alloc((size_t)n * (sizeof *files + NAME));
    char *names = (char *)(files + n);
    for (int i = 0; i < n; i++) {
        files[i] = feed->nfiles ? feed->files[i] : "-";
        if (cli_input_once(&files[i], 1)) files[i] = spooled(files[i], dir, names + NAME * i);
    }
    feed->files = feed->spooled = files;
    feed->nfiles = n;
}
