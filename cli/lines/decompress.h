/* SPDX-License-Identifier: MIT
 *
 * decompress.h - bytes from a descriptor, decompressed if they are gzip or zstd
 */
#ifndef CLI_DECOMPRESS_H
#define CLI_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/gunzip.h"

typedef struct cli_stream cli_stream;

/* Reads from fd, which the caller still owns; `name` is for messages.  Exits if the bytes are
 * bzip2, xz, lz4 or lzip, which would otherwise be read as lines.  max_memory is that of
 * --max-memory, 0: not given; decompression takes half of it, or 32 MiB, and 128 MiB without it. */
cli_stream *cli_stream_open(int fd, const char *name, const cli_gunzip *gunzip,
                            uint64_t max_memory);
void cli_stream_close(cli_stream *s);

/* Whether the input is compressed. */
bool cli_stream_packed(const cli_stream *s);

/* At least one byte, at most len; 0 at the end.  Exits if reading or decompressing fails. */
size_t cli_stream_read(cli_stream *s, uint8_t *to, size_t len);

/* True if a read would block. */
bool cli_stream_idle(const cli_stream *s);

/* Bytes read from the descriptor. */
uint64_t cli_stream_consumed(const cli_stream *s);

#endif
