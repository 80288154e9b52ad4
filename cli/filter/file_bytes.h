/* SPDX-License-Identifier: MIT
 *
 * file_bytes.h - a whole file as bytes, where the library has no function that takes its path
 */
#ifndef CLI_FILE_BYTES_H
#define CLI_FILE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct cli_file_bytes {
    const uint8_t *at; /* never NULL */
    size_t len;
};

/* Maps a regular file for reading.  Ends the program when it cannot. */
struct cli_file_bytes cli_file_map(const char *path);
void cli_file_unmap(struct cli_file_bytes bytes);

#endif
