/* SPDX-License-Identifier: MIT
 *
 * input.h - files and standard input as blocks of whole lines
 *
 * Plain files are cut into ranges that several threads read in parallel; everything else (pipes,
 * compressed files, CSV) is read in order.  Blocks are read, not mapped: for cached files that is
 * as fast as a mapping that stays, and faster than unmapping piece by piece, which the memory limit
 * would require.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "umbel_records.h"

enum {
    CLI_BLOCK = 256 << 10 /* text, keys and results of a block fit the L2 cache */
};

typedef struct cli_file cli_file;

/* Why a line cannot be read. */
typedef enum cli_excess {
    CLI_NO_EXCESS,
    CLI_LONG_LINE,  /* longer than max_line */
    CLI_LARGE_LINE, /* takes more memory than max_space */
} cli_excess;

typedef struct cli_block {
    uint8_t *text; /* `len` bytes of whole lines, each terminated by the separator */
    size_t len;
    const char *name;   /* of its file */
    cli_excess excess;  /* the line after these ... */
    size_t seen;        /* ... has at least so many bytes */
    bool idle;          /* the writer pauses: results so far should be shown */
    const char *begins; /* the name of the file that begins with this block, or NULL */

    uint8_t *space, *buffer; /* the allocation, and where the data begins */
    size_t space_len, room;
    const void *bound; /* what was made of its file's header, or NULL */
    cli_file *file;    /* a range still to be read */
    uint64_t offset;
} cli_block;

typedef struct cli_input cli_input;

typedef struct cli_limits {
    size_t max_line;     /* bytes of a line */
    size_t max_space;    /* of a block while it grows; a usual block always fits */
    uint64_t max_memory; /* for cli_stream_open */
    const char *missing; /* what helps if a file does not exist, or NULL */
} cli_limits;

/* No files, or "-": standard input.  Files are opened one after the other.  With `eager` a block
 * is returned as soon as its writer pauses, even if it is not full.  With `failed`, a file that
 * cannot be read is reported and skipped, and *failed set; with NULL it exits. */
cli_input *cli_input_open(const char *const *files, int nfiles, uint8_t sep,
                          const cli_limits *limits, bool eager, bool *failed);
void cli_input_close(cli_input *in);

/* Lines are the recipe's records: in CSV, separators in quoted fields do not end them, and blocks
 * are read in order. */
void cli_input_as_records(cli_input *in, const umbel_recipe *recipe);

/* For files with a header: `bind` gets the first line of each file; what it returns comes with the
 * blocks of that file, and NULL leaves it out. */
typedef const void *cli_bind_header(void *ctx, const char *name, const uint8_t *line, size_t len);
void cli_input_on_header(cli_input *in, cli_bind_header *bind, void *ctx);

/* The next block, in order; false at the end.  One thread at a time.  Exits if a file cannot be
 * read; a line beyond the limits that does not fit a block is its `excess`. */
bool cli_input_claim(cli_input *in, cli_block *block);

/* Fills a claimed block; any number of threads in parallel. */
void cli_input_load(cli_input *in, cli_block *block);

void cli_block_free(cli_block *block);

/* For progress: bytes of the files claimed so far, and in total (0: unknown). */
uint64_t cli_input_done(const cli_input *in);
uint64_t cli_input_total(const cli_input *in);

/* NULL if all input is in regular files and so can be read again, otherwise the name of the first
 * that cannot. */
const char *cli_input_once(const char *const *files, int nfiles);

#endif
