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

typedef struct cli_check {
    const cli_settings *s;
    cli_lookup lookup;
    const cli_exact *exact; /* --verify-with; NULL: the filters' answers are final */
    cli_follow *follow;     /* --follow-filter; NULL: filters are opened once */
    bool invert;            /* lines that are not found are selected */
    bool json;              /* each selected line as an object */
    bool first_only;        /* ends the program at the first selected line, with CLI_YES */
    cli_output out;
    uint64_t matches;
    bool printed_header;
    const char *file; /* -H -c: being counted, ... */
    uint64_t file_lines, file_matches;
    int files_begun; /* ... and how many of the feed's files were, or had no lines */
    const cli_feed *feed;
} cli_check;

cli_job cli_check_job(cli_check *c);

/* After the pipeline has finished: prints the counts of -c, flushes. */
void cli_check_end(cli_check *c, uint64_t lines);

#endif
