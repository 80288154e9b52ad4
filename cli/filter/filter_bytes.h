/* SPDX-License-Identifier: MIT
 *
 * filter_bytes.h - filters that cannot be mapped: from a pipe, or compressed
 */
#ifndef CLI_FILTER_BYTES_H
#define CLI_FILTER_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "umbel_foreign.h"

static inline bool cli_is_stdin(const char *path) {
    return strcmp(path, "-") == 0;
}

/* For messages. */
static inline const char *cli_filter_name(const char *path) {
    return cli_is_stdin(path) ? "standard input" : path;
}

/* What would work, where the error itself does not say it; or NULL. */
const char *cli_open_hint(umbel_err err);

typedef struct cli_filter_bytes {
    const uint8_t *at; /* NULL: the file can be mapped ... */
    size_t len;
    int fd;           /* ... by this descriptor, which the caller closes; otherwise -1 */
    umbel_foreign as; /* what to decode them as */
    bool piped;       /* there is no file to replace */
    void *owned;      /* the bytes, if they are freed with this */
    uint64_t number;  /* of the signature, if it was checked */
} cli_filter_bytes;

/* The uncompressed contents of a pipe (`-`, a FIFO, <(...)) or a gzip or zstd file, which is read
 * once however often it is asked for.  Memory grows with what is really there, and no further than
 * the header allows.  Exits for a directory, for what cannot be read or is damaged, and for more
 * bytes than a filter of max_bytes (0: any) may have. */
cli_filter_bytes cli_filter_bytes_of(const char *path, const umbel_foreign *as, uint64_t max_bytes);

/* Frees or closes what it holds. */
void cli_filter_bytes_free(cli_filter_bytes *b);

#endif
