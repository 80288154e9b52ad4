/* SPDX-License-Identifier: MIT
 *
 * gunzip.h - gzip, decompressed by zlib or, where the build found it, by ISA-L in less than half
 *            the time
 *
 * Both read any number of members in a row, check every header and checksum, and describe damage in
 * zlib's words.
 */
#ifndef CLI_GUNZIP_H
#define CLI_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compressed bytes still to be read, and room still to be filled. */
typedef struct cli_gunzip_io {
    const uint8_t *in;
    uint8_t *out;
    size_t in_len, out_len; /* each below 4 GiB */
} cli_gunzip_io;

typedef struct cli_gunzip {
    const char *name;
    void *(*open)(void); /* NULL: not enough memory */
    void (*close)(void *state);
    /* Continues until a member ends, which sets *ended, or the input or the room is used up; output
     * may remain after the last input.  Returns NULL, or what is wrong with the data. */
    const char *(*step)(void *state, cli_gunzip_io *io, bool *ended);
} cli_gunzip;

extern const cli_gunzip cli_gunzip_zlib;
#ifdef UMBEL_WITH_ISAL
extern const cli_gunzip cli_gunzip_isal;
#endif

static inline const cli_gunzip *cli_gunzip_best(void) {
#ifdef UMBEL_WITH_ISAL
    return &cli_gunzip_isal;
#else
    return &cli_gunzip_zlib;
#endif
}

#endif
