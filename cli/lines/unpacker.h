/* SPDX-License-Identifier: MIT
 *
 * unpacker.h - gzip, bzip2, xz and LZ4, decompressed by the libraries that the build found
 *
 * Each reads any number of members in a row and checks every header and checksum.  gzip is
 * decompressed by zlib or by ISA-L in less than half the time; both describe damage in zlib's
 * words.
 */
#ifndef CLI_UNPACKER_H
#define CLI_UNPACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compressed bytes still to be read, and room still to be filled. */
typedef struct cli_unpack_io {
    const uint8_t *in;
    uint8_t *out;
    size_t in_len, out_len; /* each below 4 GiB */
} cli_unpack_io;

typedef struct cli_unpacker {
    const char *name;
    void *(*open)(uint64_t memory); /* which it may take; NULL: not enough */
    void (*close)(void *state);
    /* Continues until a member ends, which sets *ended, or the input or the room is used up; output
     * may remain after the last input.  Returns NULL, or what is wrong with the data. */
    const char *(*step)(void *state, cli_unpack_io *io, bool *ended);
} cli_unpacker;

extern const cli_unpacker cli_gunzip_zlib;
#ifdef UMBEL_WITH_ISAL
extern const cli_unpacker cli_gunzip_isal;
#endif
#ifdef UMBEL_WITH_BZIP2
extern const cli_unpacker cli_unpack_bzip2;
#endif
#ifdef UMBEL_WITH_LZMA
extern const cli_unpacker cli_unpack_xz;
#endif
#ifdef UMBEL_WITH_LZ4
extern const cli_unpacker cli_unpack_lz4;
#endif

static inline const cli_unpacker *cli_gunzip_best(void) {
#ifdef UMBEL_WITH_ISAL
    return &cli_gunzip_isal;
#else
    return &cli_gunzip_zlib;
#endif
}

#endif
