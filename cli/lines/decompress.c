/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "lines/decompress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"
#include "umbel_records.h"
#include "umbel_text.h"

enum { PACKED_BLOCK = 128 << 10, PIPE_ROOM = 1 << 20, FRAME_HEAD = 14 };

/* zstd asks for as much memory as the file says.  Its own program allows 128 MiB, too. */
enum { WINDOW_LOG = 27, LEAST_WINDOW_LOG = 25 };

struct cli_stream {
    int fd;
    const char *name;
    umbel_input is; /* what its first bytes say */
    uint64_t consumed;
    bool broken;                  /* and the rest cannot be read */
    bool ended;                   /* the descriptor is at its end */
    bool between;                 /* compressed: between two members, where the file may end */
    size_t have, used;            /* of in[] */
    bool *failed;                 /* damage ends the file only, and sets this; NULL: it exits */
    const cli_unpacker *unpacker; /* NULL: not one of those */
    void *state;                  /* its own */
    ZSTD_DCtx *zstd;
    int window_log;           /* the memory that a frame may need */
    uint8_t head[FRAME_HEAD]; /* the first bytes of the frame */
    size_t head_len;
    uint8_t in[PACKED_BLOCK];
};

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

/* What follows in the file cannot be read: 0 bytes, and the end, if there are others to read. */
static size_t give_up(cli_stream *s, const char *hint, const char *what, const char *why) {
    if (!s->failed) cli_die(s->name, hint, "%s%s", what, why);
    cli_error(s->name, hint, "%s%s", what, why);
    *s->failed = true;
    s->broken = s->ended = true;
    s->have = s->used = 0;
    return 0;
}

static void refuse(cli_stream *s) {
    char hint[96], what[96];
    snprintf(hint, sizeof hint, "decompress it first: %s | umbel ...", umbel_input_remedy(s->is));
    snprintf(what, sizeof what, "is %s, which this umbel cannot read", umbel_input_text(s->is));
    give_up(s, hint, what, "");
}

static const cli_unpacker *unpacker_of(umbel_input is, const cli_unpacker *gunzip) {
    switch (is) {
    case UMBEL_INPUT_GZIP: return gunzip;
#ifdef UMBEL_WITH_BZIP2
    case UMBEL_INPUT_BZIP2: return &cli_unpack_bzip2;
#endif
#ifdef UMBEL_WITH_LZMA
    case UMBEL_INPUT_XZ: return &cli_unpack_xz;
#endif
#ifdef UMBEL_WITH_LZ4
    case UMBEL_INPUT_LZ4: return &cli_unpack_lz4;
#endif
    default: return NULL;
    }
}

/* The largest window that fits into half of the limit. */
static int window_log_of(uint64_t max_memory) {
    int log = max_memory ? LEAST_WINDOW_LOG : WINDOW_LOG;
    int most = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    while (log < most && max_memory >> 2 >> log) log++;
    return log;
}

static void open_zstd(cli_stream *s, uint64_t max_memory) {
    s->window_log = window_log_of(max_memory);
    s->zstd = ZSTD_createDCtx();
    if (!s->zstd ||
        ZSTD_isError(ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax, s->window_log))) {
        cli_die(s->name, NULL, "not enough memory to decompress zstd");
    }
}

cli_stream *cli_stream_open(int fd, const char *name, const cli_unpacker *gunzip,
                            uint64_t max_memory, bool *failed) {
    cli_stream *s = cli_alloc(sizeof *s);
    memset(s, 0, offsetof(cli_stream, in));
    s->fd = fd;
    s->name = name;
    s->failed = failed;
    /* Fewer switches between writer and reader; fails if it is not a pipe. */
    (void)fcntl(fd, F_SETPIPE_SZ, PIPE_ROOM);
    /* Only while the bytes may be part of a magic number: do not wait for a slow writer. */
    bool more = true;
    while (more && !s->ended) {
        s->have += read_some(s, s->in + s->have, sizeof s->in - s->have);
        s->is = umbel_input_look(s->in, s->have, 0, &more);
    }
    s->unpacker = unpacker_of(s->is, gunzip);
    if (cli_stream_packed(s) && !s->unpacker && s->is != UMBEL_INPUT_ZSTD) refuse(s);
    uint64_t memory = UINT64_C(1) << window_log_of(max_memory);
    if (s->unpacker && !(s->state = s->unpacker->open(memory))) {
        cli_die(name, NULL, "not enough memory to decompress %s", s->unpacker->name);
    }
    if (s->is == UMBEL_INPUT_ZSTD) open_zstd(s, max_memory);
    return s;
}

void cli_stream_close(cli_stream *s) {
    if (s->unpacker) s->unpacker->close(s->state);
    if (s->is == UMBEL_INPUT_ZSTD) ZSTD_freeDCtx(s->zstd);
    free(s);
}

static size_t read_members(cli_stream *s, uint8_t *to, size_t len) {
    char what[64];
    for (;;) {
        cli_unpack_io io = {s->in + s->used, to, s->have - s->used, len};
        bool ended;
        const char *wrong = s->unpacker->step(s->state, &io, &ended);
        snprintf(what, sizeof what, "the %s data is ",
                 s->is == UMBEL_INPUT_GZIP ? "gzip" : s->unpacker->name);
        if (wrong) return give_up(s, NULL, strcat(what, "damaged: "), wrong);
        bool idle = io.in_len == s->have - s->used;
        s->used = s->have - io.in_len;
        s->between = ended || (s->between && idle); /* another member may follow */
        if (io.out_len < len) return len - io.out_len;
        if (refill(s)) continue;
        if (s->between) return 0;
        return give_up(s, NULL, what, "truncated");
    }
}

/* What a frame says that it needs: the size of its window or, if it is all in one, its own; RFC
 * 8878, 3.1.1.1.  0: the head is not complete. */
static uint64_t window_of(const uint8_t *head, size_t len) {
    static const uint8_t id_bytes[] = {0, 1, 2, 4};
    if (len < 6) return 0;
    unsigned described = head[4];
    if (!(described & 32)) {
        uint64_t base = UINT64_C(1) << (10 + (head[5] >> 3));
        return base + base / 8 * (head[5] & 7);
    }
    size_t at = 5u + id_bytes[described & 3], bytes = (size_t)1 << (described >> 6);
    uint64_t size = bytes == 2 ? 256 : 0;
    if (len < at + bytes) return 0;
    for (size_t i = 0; i < bytes; i++) size += (uint64_t)head[at + i] << 8 * i;
    return size;
}

/* Keeps the first bytes of a frame, which may come in pieces. */
static void keep_head(cli_stream *s) {
    if (s->between) s->head_len = 0;
    size_t left = s->have - s->used, room = sizeof s->head - s->head_len;
    memcpy(s->head + s->head_len, s->in + s->used, left < room ? left : room);
}

static size_t refuse_zstd(cli_stream *s, size_t error) {
    char needs[UMBEL_QUANTITY], may[UMBEL_QUANTITY], hint[64];
    if (ZSTD_getErrorCode(error) != ZSTD_error_frameParameter_windowTooLarge) {
        return give_up(s, NULL, "the zstd data is damaged: ", ZSTD_getErrorName(error));
    }
    uint64_t window = window_of(s->head, sizeof s->head);
    int log = s->window_log, most = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
    while (log < most && UINT64_C(1) << log < window) log++;
    snprintf(hint, sizeof hint, "--max-memory %" PRIu64 "MiB allows it", UINT64_C(2) << log >> 20);
    char what[160];
    snprintf(what, sizeof what, "needs a window of %s to decompress zstd, more than %s",
             umbel_size_text(window, needs), umbel_size_text(UINT64_C(1) << s->window_log, may));
    return give_up(s, UINT64_C(1) << log < window ? NULL : hint, what, "");
}

static size_t read_zstd(cli_stream *s, uint8_t *to, size_t len) {
    ZSTD_outBuffer out = {to, len, 0};
    while (out.pos == 0) {
        /* The decoder may hold output even if there is no more input. */
        bool more = refill(s);
        ZSTD_inBuffer in = {s->in, s->have, s->used};
        if (!more && s->between) return 0;
        keep_head(s);
        size_t left = ZSTD_decompressStream(s->zstd, &out, &in);
        if (ZSTD_isError(left)) return refuse_zstd(s, left);
        s->head_len += in.pos - s->used;
        if (s->head_len > sizeof s->head) s->head_len = sizeof s->head;
        s->used = in.pos;
        s->between = left == 0;
        if (!more && out.pos == 0 && !s->between) {
            return give_up(s, NULL, "the zstd data is truncated", "");
        }
    }
    return out.pos;
}

size_t cli_stream_read(cli_stream *s, uint8_t *to, size_t len) {
    if (len > (1u << 30)) len = 1u << 30;
    if (s->broken) return 0;
    if (s->unpacker) return read_members(s, to, len);
    if (s->is == UMBEL_INPUT_ZSTD) return read_zstd(s, to, len);
    if (s->used < s->have) { /* read while looking for the magic number */
        size_t n = s->have - s->used < len ? s->have - s->used : len;
        memcpy(to, s->in + s->used, n);
        s->used += n;
        return n;
    }
    return s->ended ? 0 : read_some(s, to, len);
}

bool cli_stream_packed(const cli_stream *s) {
    return umbel_input_packed(s->is);
}

bool cli_stream_broken(const cli_stream *s) {
    return s->broken;
}

bool cli_stream_idle(const cli_stream *s) {
    if (s->ended || s->used < s->have) return false;
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) == 0;
}

uint64_t cli_stream_consumed(const cli_stream *s) {
    return s->consumed;
}
