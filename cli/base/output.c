/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { ROOM = 256 << 10, DIRECT = 32 << 10, PIPE_ROOM = 1 << 20 };

static _Noreturn void refuse(int sys) {
    if (sys == EPIPE) _exit(CLI_ERROR);
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
