/* SPDX-License-Identifier: MIT */
#include <lz4frame.h>

#include "lines/unpacker.h"

static void *open_lz4(uint64_t memory) {
    LZ4F_dctx *context = NULL;
    (void)memory; /* a block has at most 4 MB */
    return LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) ? NULL : context;
}

static void close_lz4(void *state) {
    LZ4F_freeDecompressionContext(state);
}

/* The library may stop before both ends, in the middle of a block. */
static const char *step(void *state, cli_unpack_io *io, bool *ended) {
    *ended = false;
    for (;;) {
        size_t in = io->in_len, out = io->out_len;
        size_t left = LZ4F_decompress(state, io->out, &out, io->in, &in, NULL);
        if (LZ4F_isError(left)) return LZ4F_getErrorName(left);
        io->in += in, io->in_len -= in;
        io->out += out, io->out_len -= out;
        *ended = left == 0 && in;
        if (*ended || (!in && !out) || !io->out_len) return NULL;
    }
}

const cli_unpacker cli_unpack_lz4 = {
    .name = "LZ4", .open = open_lz4, .close = close_lz4, .step = step};
