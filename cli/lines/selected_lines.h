/* SPDX-License-Identifier: MIT
 *
 * selected_lines.h - the lines that a job chose, to standard output
 */
#ifndef CLI_SELECTED_LINES_H
#define CLI_SELECTED_LINES_H

#include "base/output.h"
#include "lines/pipeline.h"

/* Writes the lines whose b->hits equals `want` and returns their number.  Flushes when the input
 * pauses. */
uint64_t cli_output_lines(cli_output *o, const cli_batch *b, uint8_t want);

/* The header that the block begins with, if it is the first of all: the lines of several files stay
 * one table. */
void cli_output_header(cli_output *o, const cli_batch *b, bool *printed);

#endif
