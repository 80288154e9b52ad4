/* SPDX-License-Identifier: MIT */
#include <bzlib.h>
#include <stdlib.h>

#include "lines/unpacker.h"

static void *open_bzip2(uint64_t memory) {
    (void)memory; /* 4 MB */
    bz_stream *b = calloc(1, sizeof *b);
    if (b && BZ2_bzDecompressInit(b, 0, 0) == BZ_OK) return b;
    free(b);
    return NULL;
}

static void close_bzip2(void *state) {
    BZ2_bzDecompressEnd(state);
    free(state);
}

static const char *step(void *state, cli_unpack_io *io, bool *ended) {
    bz_stream *b = state;
    b->next_in = (char *)(uintptr_t)io->in;
    b->avail_in = (unsigned)io->in_len;
    b->next_out = (char *)io->out;
    b->avail_out = (unsigned)io->out_len;
    int e = io->in_len || io->out_len ? BZ2_bzDecompress(b) : BZ_OK;
    io->in = (const uint8_t *)b->next_in;
    io->in_len = b->avail_in;
    io->out = (uint8_t *)b->next_out;
    io->out_len = b->avail_out;
    *ended = e == BZ_STREAM_END;
    if (*ended) {
        BZ2_bzDecompressEnd(b);
        e = BZ2_bzDecompressInit(b, 0, 0);
    }
    return e == BZ_OK                 ? NULL
           : e == BZ_DATA_ERROR_MAGIC ? "incorrect header check"
           : e == BZ_MEM_ERROR        ? "out of memory"
                                      : "incorrect data check";
}

const cli_unpacker cli_unpack_bzip2 = {
    .name = "bzip2", .open = open_bzip2, .close = close_bzip2, .step = step};
