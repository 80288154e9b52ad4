/* SPDX-License-Identifier: MIT
 *
 * output.h - lines to standard output in large writes
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "lines/pipeline.h"

typedef struct cli_output {
    uint8_t *buffer;
    size_t used;
} cli_output;

/* All of these end the program when writing fails: quietly when the reader has gone (EPIPE). */
void cli_output_write(cli_output *o, const void *bytes, size_t len);
void cli_output_flush(cli_output *o);

/* The lines whose b->hits equals `want`, in runs; returns how many.  Flushes when the input
 * pauses. */
uint64_t cli_output_lines(cli_output *o, const cli_batch *b, uint8_t want);

/* For reports written with stdio: what could not be written is an error. */
void cli_output_finish_stdio(void);

#endif
