/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <zlib.h>

#include "lines/unpacker.h"

enum { GZIP_WINDOW = 15 + 16 };

static void *open_zlib(uint64_t memory) {
    (void)memory; /* it takes little */
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, GZIP_WINDOW) == Z_OK) return z;
    free(z);
    return NULL;
}

static void close_zlib(void *state) {
    inflateEnd(state);
    free(state);
}

static const char *step(void *state, cli_unpack_io *io, bool *ended) {
    z_stream *z = state;
    z->next_in = (z_const Bytef *)(uintptr_t)io->in;
    z->avail_in = (uInt)io->in_len;
    z->next_out = io->out;
    z->avail_out = (uInt)io->out_len;
    int e = inflate(z, Z_NO_FLUSH);
    io->in = z->next_in;
    io->in_len = z->avail_in;
    io->out = z->next_out;
    io->out_len = z->avail_out;
    *ended = e == Z_STREAM_END;
    if (*ended) e = inflateReset(z);
    if (e == Z_OK || e == Z_BUF_ERROR) return NULL;
    return z->msg ? z->msg : "bad data";
}

const cli_unpacker cli_gunzip_zlib = {
    .name = "zlib", .open = open_zlib, .close = close_zlib, .step = step};
