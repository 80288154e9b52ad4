/* SPDX-License-Identifier: MIT
 *
 * check_run.h - lines looked up in filters, and what is printed of them
 */
#ifndef CLI_CHECK_RUN_H
#define CLI_CHECK_RUN_H

#include "base/output.h"
#include "check/exact_stage.h"
#include "check/follow.h"
#include "filter/lookup.h"
#include "report/report.h"

typedef struct cli_check {
    const cli_settings *s;
    cli_lookup lookup;
    cli_follow *follow;  /* --follow-filter; NULL: filters are opened once */
    bool invert;         /* lines that are not found are selected */
    bool json;           /* each selected line as an object */
    cli_mode show;       /* SHOW_STATUS ends the program at the first line, with CLI_YES */
    bool per_file;       /* something is printed at the end of each file */
    _Atomic bool enough; /* --max-count of the only file: the rest is not read */
    cli_output out;
    uint64_t matches;
    cli_header header;
    const char *file; /* being counted, ... */
    uint64_t file_lines, file_matches;
    json_t *counts;  /* of the files, for --json */
    uint64_t shown;  /* of the lines of a file, for --max-count */
    int files_begun; /* ... and how many of the feed's files were, or had no lines */
    const cli_feed *feed;
} cli_check;

cli_job cli_check_job(cli_check *c);

/* Whether lines are printed, and whether something is at the end of each file. */
bool cli_check_prints(const cli_settings *s);
bool cli_check_per_file(const cli_settings *s);

/* After the pipeline has finished: prints the counts of -c, reports, flushes. */
void cli_check_end(cli_check *c, const cli_lines *read);

#endif
