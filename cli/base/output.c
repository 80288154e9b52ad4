/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { ROOM = 256 << 10, DIRECT = 32 << 10, PIPE_ROOM = 1 << 20 };

static _Noreturn void refuse(int sys) {
    if (sys == EPIPE) cli_exit_without_reader();
    cli_die_sys("standard output", sys);
}

static void write_all(const uint8_t *p, size_t len) {
    while (len) {
        ssize_t n = write(STDOUT_FILENO, p, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) refuse(errno);
        p += n;
        len -= (size_t)n;
    }
}

void cli_output_flush(cli_output *o) {
    write_all(o->buffer, o->used);
    o->used = 0;
}

static bool sync_fd(int fd) {
    int failed;
    do failed = fsync(fd);
    while (failed && errno == EINTR);
    return !failed;
}

/* Not a sign of lost bytes: the file system cannot sync. */
static bool cannot_sync(int sys) {
    return sys == EINVAL || sys == EROFS || sys == ENOSYS || sys == ENOTSUP;
}

/* The name of a new file is on disk only when its directory is.  Finding that takes Linux's /proc
 * and a directory that may be read: elsewhere it is left to the file system, and the usual ones
 * write a new name together with the file. */
static bool sync_name(void) {
    char path[4096];
    ssize_t len = readlink("/proc/self/fd/1", path, sizeof path - 1);
    if (len <= 0 || path[0] != '/') return true;
    path[len] = 0;
    *(strrchr(path, '/') + 1) = 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES || errno == EPERM || errno == ENOENT;
    bool synced = sync_fd(fd);
    int sys = errno;
    close(fd);
    errno = sys;
    return synced || cannot_sync(sys);
}

void cli_output_sync(cli_output *o, const char *hint) {
    struct stat st;
    if (o->used) cli_output_flush(o);
    if (o->unsynced) return;
    bool known = fstat(STDOUT_FILENO, &st) == 0;
    if (known && !S_ISREG(st.st_mode)) return;
    bool synced = known && sync_fd(STDOUT_FILENO);
    if (known && !synced && cannot_sync(errno)) {
        cli_warn("not_synced", "standard output",
                 "cannot be synced here: a power cut may lose lines that are not printed again");
        o->unsynced = true;
        return;
    }
    if (synced && !o->named) synced = o->named = sync_name();
    if (!synced) cli_die("standard output", hint, "cannot be synced to disk: %s", strerror(errno));
}

/* Its last byte: standard output itself is usually open for writing only.  False: none, or it
 * cannot be known. */
static bool last_byte(uint8_t *last) {
    struct stat st;
    if (fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) return false;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || !(flags & O_APPEND)) return false;
    int fd = open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool got = pread(fd, last, 1, st.st_size - 1) == 1;
    close(fd);
    return got;
}

void cli_output_end_line(cli_output *o, uint8_t sep) {
    uint8_t last;
    if (!last_byte(&last) || last == sep) return;
    cli_warn("line_unfinished", "standard output",
             "ends within a line, perhaps left by an earlier run; that line is ended first");
    cli_output_write(o, &sep, 1);
}

void cli_output_write(cli_output *o, const void *bytes, size_t len) {
    if (!o->buffer) {
        o->buffer = cli_alloc(ROOM);
        /* Fewer switches between writer and reader; fails if it is not a pipe. */
        (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_ROOM);
    }
    if (len > ROOM - o->used) cli_output_flush(o);
    if (len >= DIRECT) { /* long runs need not be copied */
        if (o->used) cli_output_flush(o);
        write_all(bytes, len);
        return;
    }
    memcpy(o->buffer + o->used, bytes, len);
    o->used += len;
}

void cli_output_finish_stdio(void) {
    errno = EIO;
    if (fflush(stdout) != 0 || ferror(stdout)) refuse(errno);
}
