/* SPDX-License-Identifier: MIT
 *
 * add_job.h - a pipeline job that adds every key to a filter and warns when the plan is exceeded
 */
#ifndef CLI_ADD_JOB_H
#define CLI_ADD_JOB_H

#include "lines/pipeline.h"

typedef struct cli_add_job {
    umbel_filter *filter;
    const char *name;     /* of the filter, for messages */
    uint64_t capacity;    /* that the filter was planned for; 0: no limit */
    bool strict;          /* exit at the first key beyond the plan */
    bool warn_early;      /* say how much of the plan is used up, from 80% on */
    double keys_before;   /* in the filter when the job began */
    uint64_t adds_before; /* counted by then */
    uint64_t limit;       /* --max-memory, 0: none */

    bool hash_ahead; /* keys are hashed in `work`, by all threads */
    bool warned;
} cli_add_job;

/* Reads all bits of a filter that is not new, to count its keys. */
cli_add_job cli_add_job_new(umbel_filter *f, const char *name, const cli_settings *s);
cli_job cli_add_job_callbacks(cli_add_job *a);

/* To be called after the pipeline has finished: measures the filter, prints the last warnings and
 * returns the exit status, CLI_INCOMPLETE if the filter is beyond its plan. */
int cli_add_job_finish(cli_add_job *a);

/* Exits with a message if e, the result of adding to the filter, is an error. */
void cli_add_job_check_error(const cli_add_job *a, umbel_err e);

/* For a filter that was planned for as many keys as there were lines: how many to plan for instead
 * if repeated lines waste at least a quarter of its memory, otherwise 0. */
uint64_t cli_keys_needed(const umbel_filter *f, uint64_t planned);

#endif
