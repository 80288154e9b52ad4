/* SPDX-License-Identifier: MIT
 *
 * add_job.h - a job that adds every key to a filter, and says when the plan is full
 */
#ifndef CLI_ADD_JOB_H
#define CLI_ADD_JOB_H

#include "lines/pipeline.h"

typedef struct cli_add_job {
    umbel_filter *filter;
    const char *name; /* of the filter, for messages */
    uint64_t capacity;
    bool strict;    /* end the program at the first key beyond the plan */
    bool quiet;     /* do not warn at 80 % and 100 % */
    uint64_t limit; /* --max-memory, 0: none */

    bool hash_ahead; /* hashes are made in `work`, by all threads */
    bool collect;    /* and added a million at a time, see add_job.c */
    uint64_t *bulk;
    size_t bulk_len;
    int warned; /* per cent */
} cli_add_job;

/* `capacity` is what the filter was planned for. */
cli_add_job cli_add_job_new(umbel_filter *f, const char *name, uint64_t capacity,
                            const cli_settings *s);
cli_job cli_add_job_callbacks(cli_add_job *a);

/* Adds what was collected.  To be called when the pipeline has ended. */
void cli_add_job_finish(cli_add_job *a);

/* Ends the program with words unless e is UMBEL_OK, as adding to the filter returned it. */
void cli_add_job_check_error(const cli_add_job *a, umbel_err e);

/* Warns, or with `strict` ends the program, when the filter holds more than was planned. */
void cli_add_job_check_capacity(cli_add_job *a);

#endif
