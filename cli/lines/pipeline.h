/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - lines in, keys to a job, results in input order
 *
 * Each thread takes a block, splits it into lines, makes the keys and calls the job's `work` on
 * them; then it waits for its turn and calls the job's `drain`.  So work runs in parallel, drain
 * runs one block at a time in input order, and its output does not depend on the number of threads.
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
    umbel_key *keys;         /* one per line */
    uint64_t *hashes;        /* one per line, for the job to use */
    uint8_t *hits;           /* likewise */
    bool idle;               /* the writer pauses */
    size_t without_field;    /* lines of the block without it, kept or not */
    bool too_long;           /* a longer line than is allowed follows these */
    size_t missing;          /* lines without a key, among the lines unless the feed skips them */

    uint8_t *scratch; /* holds keys that are not part of their line */
    size_t ends_room, room, scratch_room;
    cli_block block;
} cli_batch;

typedef struct cli_feed {
    const char *const *files;
    int nfiles;
    uint8_t sep;
    bool skip_empty;
    bool skips_missing; /* lines without a key do not reach the job; else their keys have no data */
    bool quiet;         /* no warning about input that looks odd */
    bool *failed;       /* as for cli_input_open */
    bool eager;         /* do not wait for full blocks: someone may be waiting for the results */
    size_t max_line;    /* 0: as usual */
    uint32_t threads;
    cli_key_rule key_rule;
    const char *activity;        /* for the progress bar, NULL: none */
    const umbel_filter *filling; /* its fill is shown too, or NULL */
    uint64_t capacity;
} cli_feed;

typedef struct cli_job {
    void (*work)(void *ctx, cli_batch *b); /* NULL: nothing to do in parallel */
    void (*drain)(void *ctx, cli_batch *b);
    void *ctx;
} cli_job;

/* As -0, --crlf, --skip-empty, --max-line and -j say; the rest of the key rule is left empty. */
cli_feed cli_feed_of(const cli_settings *s, const char *const *files, int nfiles);

/* Returns the number of lines drained. */
uint64_t cli_pipeline(const cli_feed *feed, const cli_job *job);

/* Lines of the last cli_pipeline that did not have the field of the key rule, headers not counted.
 * They are not drained if the feed skips them. */
uint64_t cli_lines_without_field(void);

/* The keys of the batch's lines under another rule.  `keys` has room for b->lines; *scratch
 * (NULL at first, freed by the caller) and *room grow as needed. */
void cli_batch_keys(const cli_batch *b, const cli_key_rule *general, umbel_key *keys,
                    uint8_t **scratch, size_t *room);

#endif
