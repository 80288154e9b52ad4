/* SPDX-License-Identifier: MIT
 *
 * file_bytes.h - a whole file as bytes, for what the library has no function that takes a path
 */
#ifndef CLI_FILE_BYTES_H
#define CLI_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_file_bytes {
    const uint8_t *at; /* never NULL */
    size_t len;
    bool unpacked; /* in memory, not mapped */
};

/* Maps a regular file for reading.  Ends the program when it cannot. */
struct cli_file_bytes cli_file_map(const char *path);

/* Unmaps or frees them. */
void cli_file_release(struct cli_file_bytes bytes);

#endif
