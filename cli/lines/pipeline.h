/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - lines in, keys to a job, results in input order
 *
 * Each thread takes a block, splits it into lines, makes the keys and does the job's `work` on
 * them; then it waits for its turn and does the job's `drain`.  So work runs in parallel, drain
 * one block at a time in the order of the input, and whatever drain writes is the same for any
 * number of threads.
 */
#ifndef CLI_PIPELINE_H
#define CLI_PIPELINE_H

#include "lines/input.h"
#include "lines/line_key.h"
#include "options/options.h"

typedef struct cli_batch {
    const uint8_t *text;
    size_t lines;
    uint32_t *starts, *ends; /* line i is text[starts[i]] up to the separator at text[ends[i]] */
    umbel_key *keys;         /* one a line */
    uint64_t *hashes;        /* for the job, one a line; it sets them or not */
    uint8_t *hits;           /* likewise */
    bool idle;               /* nothing more has come yet */

    uint8_t *scratch; /* behind changed keys */
    size_t ends_room, room, scratch_room;
    cli_block block;
} cli_batch;

typedef struct cli_feed {
    const char *const *files;
    int nfiles;
    uint8_t sep;
    bool skip_empty;
    bool eager; /* somebody may wait for the answers: do not wait for full blocks */
    size_t max_line;
    uint32_t threads;
    cli_key_rule key_rule;
    const char *activity;        /* for the progress bar, NULL: none */
    const umbel_filter *filling; /* its fill is shown, too, or NULL */
    uint64_t capacity;
} cli_feed;

typedef struct cli_job {
    void (*work)(void *ctx, cli_batch *b); /* NULL: nothing to do in parallel */
    void (*drain)(void *ctx, cli_batch *b);
    void *ctx;
} cli_job;

/* What -0, --crlf, --skip-empty, --max-line, -j and -q say; the treatment is left empty. */
cli_feed cli_feed_of(const cli_settings *s, const char *const *files, int nfiles);

/* Returns the number of lines drained. */
uint64_t cli_pipeline(const cli_feed *feed, const cli_job *job);

/* The keys of the batch's lines under another treatment; `keys` has room for b->lines, *scratch
 * (to be freed by the caller in the end, NULL at first) and *room grow as needed. */
void cli_batch_keys(const cli_batch *b, const cli_key_rule *t, umbel_key *keys, uint8_t **scratch,
                    size_t *room);

#endif
