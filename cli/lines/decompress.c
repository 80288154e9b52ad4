/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "lines/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"

enum { PACKED_BLOCK = 128 << 10, PIPE_ROOM = 1 << 20 };

typedef enum packing { PLAIN, GZIP, ZSTD, BZIP2, XZ, LZ4, LZIP } packing;

struct cli_stream {
    int fd;
    const char *name;
    packing packed_as;
    uint64_t consumed;
    bool ended;        /* the descriptor is at its end */
    bool between;      /* compressed: between two members, where the file may end */
    size_t have, used; /* of in[] */
    const cli_gunzip *gunzip;
    void *gzip; /* its state */
    ZSTD_DCtx *zstd;
    uint8_t in[PACKED_BLOCK];
};

/* In that of bzip2 a dot stands for the digit of the block size. */
static const struct {
    packing as;
    size_t len;
    char magic[11];
} magics[] = {
    {GZIP, 3, "\x1f\x8b\x08"},    {ZSTD, 4, "\x28\xb5\x2f\xfd"},
    {BZIP2, 10, "BZh.1AY&SY"},    {XZ, 6, "\xfd\x37zXZ"},
    {LZ4, 4, "\x04\x22\x4d\x18"}, {LZ4, 4, "\x02\x21\x4c\x18"}, /* its older frames */
    {LZIP, 5, "LZIP\x01"},
};

/* *more: with more bytes the answer may be another. */
static packing packing_of(const uint8_t *first, size_t len, bool *more) {
    *more = false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        size_t at = 0;
        for (; at < len && at < magics[i].len; at++) {
            uint8_t want = (uint8_t)magics[i].magic[at];
            if (want == '.' ? first[at] < '1' || first[at] > '9' : first[at] != want) break;
        }
        if (at == magics[i].len) return magics[i].as;
        *more |= at == len;
    }
    return PLAIN;
}

bool cli_is_packed(const uint8_t *first, size_t len) {
    bool more;
    return packing_of(first, len, &more) != PLAIN;
}

static size_t read_some(cli_stream *s, uint8_t *to, size_t len) {
    ssize_t n;
    do n = read(s->fd, to, len);
    while (n < 0 && errno == EINTR);
    if (n < 0) cli_die_sys(s->name, errno);
    if (n == 0) s->ended = true;
    s->consumed += (uint64_t)n;
    return (size_t)n;
}

/* Reads more compressed bytes into in[]; false at the end. */
static bool refill(cli_stream *s) {
    if (s->used < s->have) return true;
    s->used = 0;
    s->have = s->ended ? 0 : read_some(s, s->in, sizeof s->in);
    return s->have > 0;
}

static _Noreturn void refuse(const char *name, const char *program) {
    char hint[96];
    snprintf(hint, sizeof hint, "decompress it first: %s -dc FILE | umbel ...", program);
    cli_die(name, hint, "is compressed with %s, which umbel cannot read", program);
}

cli_stream *cli_stream_open(int fd, const char *name, const cli_gunzip *gunzip) {
    cli_stream *s = cli_alloc(sizeof *s);
    memset(s, 0, offsetof(cli_stream, in));
    s->fd = fd;
    s->name = name;
    s->gunzip = gunzip;
    /* Fewer switches between writer and reader; fails if it is not a pipe. */
    (void)fcntl(fd, F_SETPIPE_SZ, PIPE_ROOM);
    /* Only while the bytes may be part of a magic number: do not wait for a slow writer. */
    bool more = true;
    while (more && !s->ended) {
        s->have += read_some(s, s->in + s->have, sizeof s->in - s->have);
        s->packed_as = packing_of(s->in, s->have, &more);
    }
    static const char *const unread[] = {
        [BZIP2] = "bzip2", [XZ] = "xz", [LZ4] = "lz4", [LZIP] = "lzip"};
    if (s->packed_as >= BZIP2) refuse(name, unread[s->packed_as]);
    if (s->packed_as == GZIP && !(s->gzip = gunzip->open())) {
        cli_die(name, NULL, "not enough memory to decompress gzip");
    }
    if (s->packed_as == ZSTD && !(s->zstd = ZSTD_createDCtx())) {
        cli_die(name, NULL, "not enough memory to decompress zstd");
    }
    return s;
}

void cli_stream_close(cli_stream *s) {
    if (s->packed_as == GZIP) s->gunzip->close(s->gzip);
    if (s->packed_as == ZSTD) ZSTD_freeDCtx(s->zstd);
    free(s);
}

static size_t read_gzip(cli_stream *s, uint8_t *to, size_t len) {
    for (;;) {
        cli_gunzip_io io = {s->in + s->used, to, s->have - s->used, len};
        bool ended;
        const char *wrong = s->gunzip->step(s->gzip, &io, &ended);
        if (wrong) cli_die(s->name, NULL, "the gzip data is damaged: %s", wrong);
        bool idle = io.in_len == s->have - s->used;
        s->used = s->have - io.in_len;
        s->between = ended || (s->between && idle); /* another member may follow */
        if (io.out_len < len) return len - io.out_len;
        if (refill(s)) continue;
        if (s->between) return 0;
        cli_die(s->name, NULL, "the gzip data is truncated");
    }
}

static size_t read_zstd(cli_stream *s, uint8_t *to, size_t len) {
    ZSTD_outBuffer out = {to, len, 0};
    while (out.pos == 0) {
        /* The decoder may hold output even if there is no more input. */
        bool more = refill(s);
        ZSTD_inBuffer in = {s->in, s->have, s->used};
        if (!more && s->between) return 0;
        size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
        s->used = in.pos;
        if (ZSTD_isError(left)) {
            cli_die(s->name, NULL, "the zstd data is damaged: %s", ZSTD_getErrorName(left));
        }
        s->between = left == 0;
        if (!more && out.pos == 0 && !s->between) {
            cli_die(s->name, NULL, "the zstd data is truncated");
        }
    }
    return out.pos;
}

size_t cli_stream_read(cli_stream *s, uint8_t *to, size_t len) {
    if (len > (1u << 30)) len = 1u << 30;
    if (s->packed_as == GZIP) return read_gzip(s, to, len);
    if (s->packed_as == ZSTD) return read_zstd(s, to, len);
    if (s->used < s->have) { /* read while looking for the magic number */
        size_t n = s->have - s->used < len ? s->have - s->used : len;
        memcpy(to, s->in + s->used, n);
        s->used += n;
        return n;
    }
    return s->ended ? 0 : read_some(s, to, len);
}

bool cli_stream_packed(const cli_stream *s) {
    return s->packed_as != PLAIN;
}

bool cli_stream_idle(const cli_stream *s) {
    if (s->ended || s->used < s->have) return false;
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

uint64_t cli_stream_consumed(const cli_stream *s) {
    return s->consumed;
}
