/* SPDX-License-Identifier: MIT
 *
 * add_job.h - a job that adds every key to a filter, and says when the plan is full
 */
#ifndef CLI_ADD_JOB_H
#define CLI_ADD_JOB_H

#include "lines/pipeline.h"

typedef struct cli_adder {
    umbel_filter *filter;
    const char *name; /* of the filter, for messages */
    uint64_t capacity;
    bool strict;    /* end the program at the first key beyond the plan */
    bool quiet;     /* do not warn at 80 % and 100 % */
    uint64_t limit; /* --max-memory, 0: none */

    bool hash_ahead; /* hashes are made in `work`, by all threads */
    bool collect;    /* and added a million at a time, see adder.c */
    uint64_t *bulk;
    size_t bulk_len;
    int warned; /* per cent */
} cli_adder;

/* `capacity` is what the filter was planned for. */
cli_adder cli_adder_new(umbel_filter *f, const char *name, uint64_t capacity,
                        const cli_settings *s);
cli_job cli_adder_job(cli_adder *a);

/* Adds what was collected.  To be called when the pipeline has ended. */
void cli_adder_finish(cli_adder *a);

/* Ends the program with words unless e is UMBEL_OK, as adding to the filter returned it. */
void cli_adder_need(const cli_adder *a, umbel_err e);

/* Warns, or with `strict` ends the program, when the filter holds more than was planned. */
void cli_adder_watch(cli_adder *a);

#endif
