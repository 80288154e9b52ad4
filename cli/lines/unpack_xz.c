/* SPDX-License-Identifier: MIT */
#include <lzma.h>
#include <stdlib.h>

#include "lines/unpacker.h"

typedef struct xz_state {
    lzma_stream stream;
    uint64_t memory;
    bool between; /* streams, where zeros may be */
} xz_state;

static bool begin(xz_state *x) {
    return lzma_stream_decoder(&x->stream, x->memory, 0) == LZMA_OK;
}

static void *open_xz(uint64_t memory) {
    xz_state *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->memory = memory;
    if (begin(x)) return x;
    free(x);
    return NULL;
}

static void close_xz(void *state) {
    xz_state *x = state;
    lzma_end(&x->stream);
    free(x);
}

static const char *why(lzma_ret e) {
    switch (e) {
    case LZMA_OK:
    case LZMA_STREAM_END:
    case LZMA_BUF_ERROR: return NULL;
    case LZMA_FORMAT_ERROR: return "incorrect header check";
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR: return "it needs more memory than --max-memory allows";
    case LZMA_OPTIONS_ERROR: return "unknown compression method";
    default: return "incorrect data check";
    }
}

static const char *step(void *state, cli_unpack_io *io, bool *ended) {
    xz_state *x = state;
    *ended = false;
    while (x->between && io->in_len && *io->in == 0) io->in++, io->in_len--;
    if (x->between && !io->in_len) {
        *ended = true;
        return NULL;
    }
    x->between = false;
    x->stream.next_in = io->in;
    x->stream.avail_in = io->in_len;
    x->stream.next_out = io->out;
    x->stream.avail_out = io->out_len;
    lzma_ret e = lzma_code(&x->stream, LZMA_RUN);
    io->in = x->stream.next_in;
    io->in_len = x->stream.avail_in;
    io->out = x->stream.next_out;
    io->out_len = x->stream.avail_out;
    *ended = x->between = e == LZMA_STREAM_END;
    if (*ended && !begin(x)) e = LZMA_MEM_ERROR;
    return why(e);
}

const cli_unpacker cli_unpack_xz = {.name = "xz", .open = open_xz, .close = close_xz, .step = step};
