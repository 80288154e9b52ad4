/* SPDX-License-Identifier: MIT
 *
 * split.h - finding the ends of lines
 */
#ifndef CLI_SPLIT_H
#define CLI_SPLIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CLI_SPLIT_SLACK = 8 };

/* Writes the offset of every `sep` in the text, in order, and returns their number.  `ends` has
 * room for all of them and CLI_SPLIT_SLACK more, which may be overwritten.  The text is shorter
 * than 4 GiB. */
typedef size_t cli_split(const uint8_t *text, size_t len, uint8_t sep, uint32_t *ends);

cli_split cli_split_generic;
cli_split cli_split_avx2; /* only if cli_split_best returns it */

/* The fastest that this processor can run. */
cli_split *cli_split_best(void);

/* For what remains after the last full 64 bytes. */
static inline size_t cli_split_tail(const uint8_t *text, size_t from, size_t len, uint8_t sep,
                                    uint32_t *ends) {
    size_t n = 0;
    for (size_t i = from; i < len; i++) {
        if (text[i] == sep) ends[n++] = (uint32_t)i;
    }
    return n;
}

#endif
