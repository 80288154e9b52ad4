/* SPDX-License-Identifier: MIT
 *
 * decompress.h - bytes from a descriptor, unpacked when they are gzip or zstd
 */
#ifndef CLI_DECOMPRESS_H
#define CLI_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_stream cli_stream;

/* True when these first bytes of a file are packed. */
bool cli_is_packed(const uint8_t *first, size_t len);

/* Reads from fd, which stays the caller's; `name` is for messages. */
cli_stream *cli_stream_open(int fd, const char *name);
void cli_stream_close(cli_stream *s);

/* At least one byte, at most len; 0 at the end.  Ends the program when reading or unpacking
 * fails. */
size_t cli_stream_read(cli_stream *s, uint8_t *to, size_t len);

/* True when nothing would come without waiting. */
bool cli_stream_idle(const cli_stream *s);

/* Bytes taken from the descriptor. */
uint64_t cli_stream_taken(const cli_stream *s);

#endif
