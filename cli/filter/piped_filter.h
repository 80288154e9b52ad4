/* SPDX-License-Identifier: MIT
 *
 * piped_filter.h - a filter from standard input
 */
#ifndef CLI_PIPED_FILTER_H
#define CLI_PIPED_FILTER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "umbel.h"

static inline bool cli_is_stdin(const char *path) {
    return strcmp(path, "-") == 0;
}

/* For messages. */
static inline const char *cli_filter_name(const char *path) {
    return cli_is_stdin(path) ? "standard input" : path;
}

/* All of standard input, read once however often it is asked for.  Exits if it cannot be read, or
 * is longer than a filter of max_bytes (0: any) may be. */
const uint8_t *cli_stdin_bytes(uint64_t max_bytes, size_t *len);

#endif
