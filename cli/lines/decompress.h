/* SPDX-License-Identifier: MIT
 *
 * decompress.h - bytes from a descriptor, decompressed if they are packed
 */
#ifndef CLI_DECOMPRESS_H
#define CLI_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/unpacker.h"

typedef struct cli_stream cli_stream;

/* Reads from fd, which the caller still owns; `name` is for messages.  What is packed in a way that
 * this build cannot read is refused: it would otherwise be read as lines.  max_memory is that of
 * --max-memory, 0: not given; decompression takes half of it, or 32 MiB, and 128 MiB without it.
 * With `failed`, what cannot be decompressed is reported, *failed is set, and the rest of the file
 * is left out; with NULL it exits. */
cli_stream *cli_stream_open(int fd, const char *name, const cli_unpacker *gunzip,
                            uint64_t max_memory, bool *failed);
void cli_stream_close(cli_stream *s);

/* Whether the input is compressed. */
bool cli_stream_packed(const cli_stream *s);

/* At least one byte, at most len; 0 at the end.  Exits if reading or decompressing fails. */
size_t cli_stream_read(cli_stream *s, uint8_t *to, size_t len);

/* Whether the rest of the input was left out. */
bool cli_stream_broken(const cli_stream *s);

/* True if a read would block. */
bool cli_stream_idle(const cli_stream *s);

/* Bytes read from the descriptor. */
uint64_t cli_stream_consumed(const cli_stream *s);

#endif
