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

/* What would work, if that is more than the error itself says; or NULL. */
const char *cli_open_hint(umbel_err err);

typedef struct cli_filter_bytes {
    const uint8_t *at; /* NULL: the file can be mapped ... */
    size_t len;
    int fd;           /* ... by this descriptor, which the caller closes; otherwise -1 */
    umbel_foreign as; /* what to decode them as */
    bool piped;       /* there is no file to replace */
} cli_filter_bytes;

/* What is in a pipe (`-`, a FIFO, <(...)) or a file that is compressed (gzip, zstd), unpacked; read
 * once however often it is asked for.  Memory grows with what is really there, and if the first
 * bytes are a filter's, no further than that filter needs.  Exits for a directory, for what cannot
 * be read, is damaged, or is longer than a filter of max_bytes (0: any) may be. */
cli_filter_bytes cli_filter_bytes_of(const char *path, const umbel_foreign *as, uint64_t max_bytes);

#endif
