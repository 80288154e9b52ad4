/* SPDX-License-Identifier: MIT
 *
 * pipeline.h - lines in, keys to a job, results in input order
 *
 * Each thread claims a block, splits it into lines, makes the keys and calls the job's `work`; then
 * it waits for its turn and calls the job's `drain`.  So work runs in parallel, drain runs one
 * block at a time in input order, and its output does not depend on the number of threads.
 */
#ifndef CLI_PIPELINE_H
#define CLI_PIPELINE_H

#include "base/output.h"
#include "lines/input.h"
#include "options/options.h"
#include "umbel_never.h"
#include "umbel_records.h"

typedef struct cli_batch {
    const uint8_t *text;
    size_t lines;
    uint32_t *starts, *ends; /* line i is text[starts[i]] up to the separator at text[ends[i]] */
    umbel_key *keys;         /* one per line; its data is NULL where the line has none */
    uint64_t *hashes;        /* one per line, for the job to use */
    uint8_t *hits;           /* likewise */
    size_t missing;          /* lines without a key, among the lines unless the feed skips them */
    umbel_key header;        /* with its separator, if the block begins with one: not a line */
    umbel_recipe_use use;    /* that made the keys */
    uint32_t *numbers;       /* if the feed is numbered: line i is this record of the block ... */
    uint64_t first;          /* ... whose record 0 is this line of its file, from 1 */
    bool idle;               /* the writer pauses, or nothing may wait: results are written */
    cli_excess excess;       /* a line beyond the limits follows these ... */
    uint64_t excess_size;    /* ... so long, or needing so much memory */
    umbel_unseen unseen;     /* in its lines */

    umbel_recipe *const *recipes; /* those of the feed, for this file */
    uint8_t *states;              /* umbel_found, one per line */
    uint8_t *scratch;             /* holds keys that are not part of their line */
    size_t ends_room, room, scratch_room;
    size_t records;                        /* lines of the block, kept or not */
    size_t nothing, malformed;             /* of them, those without a key, by the reason */
    size_t first_nothing, first_malformed; /* the first of each, from 0 */
    cli_block block;
} cli_batch;

typedef struct cli_feed {
    const char *const *files;
    int nfiles;
    const char **spooled; /* those of cli_feed_spool; NULL: it was not needed */
    const cli_text_list
        *given; /* keys of -e, before all lines; if there are any, standard input is not read */
    const char *given_name; /* of the option they came from */
    uint8_t sep;
    bool skip_empty;
    bool skips_missing; /* lines without a key do not reach the job; else their keys have no data */
    bool quiet;         /* no warning about input that looks odd */
    bool may_end;       /* a result may end the run: warnings do not wait for the end of the file */
    bool *failed;       /* as for cli_input_open */
    const _Atomic bool *enough; /* set by the job: no further block is read; or NULL */
    bool numbered;              /* batches have numbers */
    bool line_buffered;         /* batches are always idle */
    bool eager;          /* do not wait for full blocks: someone may be waiting for the results */
    size_t max_line;     /* 0: as usual */
    uint64_t max_memory; /* what lines and their decompression may take, half and half; 0: any */
    uint32_t threads;
    umbel_recipe *const *recipes; /* the first makes the keys; all agree on what a record is */
    size_t nrecipes;              /* 0: keys are lines */
    umbel_recipe_use use;
    umbel_never *never;          /* sees every key before the job does, or NULL */
    const char *activity;        /* for the progress bar, NULL: none */
    const umbel_filter *filling; /* its fill is shown too, or NULL */
    uint64_t capacity;
} cli_feed;

/* Lines without a key, and where the first of them is. */
typedef struct cli_misfits {
    uint64_t count;
    const char *file;
    uint64_t line; /* within the file, from 1 */
} cli_misfits;

/* What was read.  Headers are not counted. */
typedef struct cli_lines {
    uint64_t count;      /* all of them, but for those that --skip-empty skips */
    uint64_t drained;    /* those that reached the job */
    cli_misfits nothing; /* without the part that is the key */
    cli_misfits malformed;
} cli_lines;

typedef struct cli_job {
    void (*work)(void *ctx, cli_batch *b);  /* NULL: nothing to do in parallel */
    void (*drain)(void *ctx, cli_batch *b); /* NULL: lines are counted, nothing else */
    void *ctx;
} cli_job;

/* As -0, --skip-empty, --max-line, --digests and -j say, with one recipe. */
cli_feed cli_feed_of(const cli_settings *s, const char *const *files, int nfiles,
                     umbel_recipe *const *recipe);

cli_lines cli_pipeline(const cli_feed *feed, const cli_job *job);

/* Like cli_input_once, for what the feed reads. */
const char *cli_feed_once(const cli_feed *feed);

/* Makes the keys of the batch's lines by another recipe.  `keys` and `states` have room for
 * b->lines; *scratch (NULL at first, freed by the caller) and *room grow as needed.  Returns how
 * many lines have a key. */
size_t cli_batch_keys(const cli_batch *b, const umbel_recipe *recipe, umbel_recipe_use use,
                      umbel_key *keys, uint8_t *states, uint8_t **scratch, size_t *room);

/* ---- Results: line_results.c ---- */

/* What is printed of line i, without its separator: all of it, or only its key, of which there may
 * be none (data is NULL). */
static inline umbel_key cli_shown(const cli_batch *b, size_t i, bool key) {
    return key ? b->keys[i] : (umbel_key){b->text + b->starts[i], b->ends[i] - b->starts[i]};
}

/* Writes the lines whose b->hits equals `want` and returns their number.  Flushes when the input
 * pauses. */
uint64_t cli_output_lines(cli_output *o, const cli_batch *b, uint8_t want);

/* Writes only the keys of such lines, `sep` after each; returns how many lines there were. */
uint64_t cli_output_keys(cli_output *o, const cli_batch *b, uint8_t want, uint8_t sep);

/* The header above the lines of several files, which stay one table. */
typedef struct cli_header {
    uint8_t *text; /* of the first file; NULL: none was printed */
    size_t len;
    bool mixed; /* a file had other columns, which was reported */
} cli_header;

/* Writes the header that the block begins with, unless one was printed. */
void cli_output_header(cli_output *o, const cli_batch *b, cli_header *header);

/* Warns of lines without a key, saying what was done with them ("skipped"), and returns the exit
 * status of a command that would otherwise end with `status`. */
int cli_misfits_status(const cli_lines *read, const umbel_recipe *recipe, const char *done,
                       int status);

#endif
