/* SPDX-License-Identifier: MIT
 *
 * line_times.h - the clock of uniq --time-key: the latest time in the lines so far
 */
#ifndef CLI_LINE_TIMES_H
#define CLI_LINE_TIMES_H

#include "lines/pipeline.h"
#include "umbel_text.h"

/* Starts with zeros. */
typedef struct cli_line_times {
    uint64_t *at;    /* for each line of the batch; never falls */
    uint64_t newest; /* 0: no line had a time */
    cli_misfits without, late;

    umbel_key *texts;
    uint8_t *states, *scratch;
    size_t room, scratch_room;
} cli_line_times;

/* Reads the times of a batch, whose second recipe says where they are.  Lines without one, and late
 * ones, have the latest time before them: a clock that goes back would forget what came in between.
 * A clock that has not begun begins with the first time. */
void cli_line_times_read(cli_line_times *t, const cli_batch *b, umbel_clock *clock);

/* Warns of lines without a time, and of those that were more than a step late; returns the exit
 * status of a command that would otherwise end with `status`.  Frees everything. */
int cli_line_times_end(cli_line_times *t, int status);

#endif
