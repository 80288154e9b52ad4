/* SPDX-License-Identifier: MIT
 *
 * input.h - files and standard input as blocks of whole lines
 *
 * Plain files are cut into ranges that several threads read at once; everything else (pipes,
 * packed files) is read in order.  A block is read into memory, not mapped: measured on page-cached
 * files reading is as fast as a mapping that stays, and faster than one that is given back
 * piece by piece, which the memory limit would need.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLI_BLOCK = 256 << 10 /* text, keys and answers of a block stay in the L2 cache */
};

typedef struct cli_file cli_file;

typedef struct cli_block {
    uint8_t *text; /* `len` bytes of whole lines, each ended by the separator */
    size_t len;
    bool idle; /* nothing more has come yet: what is known should be shown */

    uint8_t *space, *buffer; /* allocated, and where what is read begins */
    size_t space_len, room;
    cli_file *file; /* a range that is still to be read */
    uint64_t offset;
} cli_block;

typedef struct cli_input cli_input;

/* No files, or "-": standard input.  Files are opened when their turn comes.  With `eager` a block
 * is handed out when its writer pauses, though it is not full. */
cli_input *cli_input_open(const char *const *files, int nfiles, uint8_t sep, size_t max_line,
                          bool eager);
void cli_input_close(cli_input *in);

/* The next block, in order; false at the end.  One thread at a time.  Ends the program when a file
 * cannot be read or a line is longer than max_line. */
bool cli_input_claim(cli_input *in, cli_block *block);

/* Fills a claimed block; any number of threads at once. */
void cli_input_load(cli_input *in, cli_block *block);

void cli_block_free(cli_block *block);

/* For progress: bytes of the files claimed so far, and of all of them (0: unknown). */
uint64_t cli_input_done(const cli_input *in);
uint64_t cli_input_total(const cli_input *in);

/* NULL when the same lines can be read again, since all are regular files; else the name of what
 * cannot. */
const char *cli_input_once(const char *const *files, int nfiles);

#endif
