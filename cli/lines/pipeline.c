/* SPDX-License-Identifier: MIT
 *
 * pipeline.c - lines in, keys to a job, results in input order
 */
#define _POSIX_C_SOURCE 200809L
#include "lines/pipeline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "lines/split.h"
#include "umbel_meta.h"

enum { TYPICAL_BLOCK = CLI_BLOCK + (16 << 10) }; /* including the rest of its last line */

/* A quote that is missing makes one record of all that follows: better refused soon. */
enum { MAX_LINE = 1 << 30, MAX_RECORD = 16 << 20 };

typedef struct pipeline {
    const cli_feed *feed;
    const cli_job *job;
    cli_input *in;
    cli_csv csv;
    cli_split *split;
    size_t max_line;
    pthread_mutex_t reading, turning;
    pthread_cond_t turn_changed;
    uint64_t claimed, turn; /* blocks handed out, blocks drained */
    uint64_t lines;
} pipeline;

cli_feed cli_feed_of(const cli_settings *s, const char *const *files, int nfiles) {
    /* Offsets within a block are 32 bits wide; 32-bit address spaces are exhausted even sooner. */
    const bool narrow = SIZE_MAX <= UINT32_MAX;
    const uint64_t GiB = UINT64_C(1) << 30, max = narrow ? GiB : 3 * GiB;
    if (s->max_line > max) {
        cli_die("--max-line", narrow ? "at most 1GiB" : "at most 3GiB", "too long");
    }
    if (s->threads > 1024) cli_die("--threads", "at most 1024", "too many");
    return (cli_feed){
        .files = files,
        .nfiles = nfiles,
        .sep = s->null ? 0 : '\n',
        .skip_empty = s->skip_empty,
        .skips_missing = true,
        .quiet = s->quiet,
        .max_line = (size_t)s->max_line,
        .threads = s->threads,
        .key_rule = {.crlf = s->crlf},
    };
}

static uint64_t lines_without_field;

uint64_t cli_lines_without_field(void) {
    return lines_without_field;
}

static size_t count_separators(const uint8_t *text, size_t len, uint8_t sep) {
    size_t n = 0;
    const uint8_t *p = text, *end = text + len;
    while (p < end && (p = memchr(p, sep, (size_t)(end - p)))) n++, p++;
    return n;
}

/* Makes room for every line end in the block: one per byte if the block is small, else they are
 * counted first (a block that grew around a long line). */
static void make_room_for_ends(cli_batch *b, uint8_t sep) {
    size_t ends = b->block.len <= TYPICAL_BLOCK ? TYPICAL_BLOCK
                                                : count_separators(b->text, b->block.len, sep);
    if (b->ends_room >= ends) return;
    b->ends_room = ends;
    b->ends = cli_realloc(b->ends, (ends + CLI_SPLIT_SLACK) * sizeof *b->ends);
}

static void make_room_for_lines(cli_batch *b) {
    if (b->room >= b->lines) return;
    b->room = b->lines + b->lines / 4;
    b->starts = cli_realloc(b->starts, b->room * sizeof *b->starts);
    b->keys = cli_realloc(b->keys, b->room * sizeof *b->keys);
    b->hashes = cli_realloc(b->hashes, b->room * sizeof *b->hashes);
    b->hits = cli_realloc(b->hits, b->room);
}

void cli_batch_keys(const cli_batch *b, const cli_key_rule *general, umbel_key *keys,
                    uint8_t **scratch, size_t *room) {
    cli_key_rule here = *general, *rule = &here;
    if (b->block.field && rule->column) rule->recorded.field = b->block.field;
    if (cli_key_is_line(rule)) {
        for (size_t i = 0; i < b->lines; i++) {
            keys[i] = (umbel_key){b->text + b->starts[i], b->ends[i] - b->starts[i]};
        }
        return;
    }
    size_t need = cli_line_key_room(rule, b->lines, b->block.len);
    if (*room < need) {
        *scratch = cli_realloc(*scratch, need);
        *room = need;
    }
    uint8_t *next = *scratch;
    for (size_t i = 0; i < b->lines; i++) {
        keys[i] = cli_line_key(rule, b->text + b->starts[i], b->ends[i] - b->starts[i], &next);
    }
}

static void drop_missing(cli_batch *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->lines; i++) {
        b->starts[kept] = b->starts[i];
        b->ends[kept] = b->ends[i];
        b->keys[kept] = b->keys[i];
        kept += b->keys[i].data != NULL;
    }
    b->lines = kept;
}

/* Lines without the field have no key, and a header is no key. */
static void handle_missing(const cli_feed *feed, cli_batch *b) {
    bool header = feed->key_rule.header && b->block.begins && b->lines;
    b->missing = 0;
    if (header) b->keys[0] = (umbel_key){NULL, 0};
    if (!header && !feed->key_rule.recorded.field && !feed->key_rule.column) return;
    for (size_t i = 0; i < b->lines; i++) b->missing += b->keys[i].data == NULL;
    b->without_field = b->missing - header;
    if (b->missing && feed->skips_missing) drop_missing(b);
}

static void drop_empty(cli_batch *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->lines; i++) {
        b->starts[kept] = b->starts[i];
        b->ends[kept] = b->ends[i];
        b->keys[kept] = b->keys[i];
        kept += b->keys[i].len != 0 || !b->keys[i].data;
    }
    b->lines = kept;
}

/* A byte-order mark and carriage returns cannot be seen, but are part of the keys. */
static void warn_of_first_line(const cli_feed *feed, const cli_batch *b) {
    const umbel_key_rule *r = &feed->key_rule.recorded;
    const uint8_t *text = b->block.text;
    const uint8_t *end = b->block.len ? memchr(text, feed->sep, b->block.len) : NULL;
    if (feed->quiet || !end) return;
    if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 && r->field <= 1 &&
        !feed->key_rule.header) {
        cli_warn(b->block.begins, "warning: begins with a byte-order mark, which becomes part of "
                                  "the first key (sed '1s/^\\xef\\xbb\\xbf//' removes it)");
    }
    bool stripped = feed->key_rule.crlf || r->trim || (r->field && !r->delimiter);
    if (feed->sep == '\n' && end > text && end[-1] == '\r' && !stripped) {
        cli_warn(b->block.begins, "warning: lines end in a carriage return, which becomes part of "
                                  "the keys (--crlf removes it)");
    }
}

/* The first line that is too long ends the input; those before it are still lines. */
static void cut_at_longer(cli_batch *b, size_t max) {
    b->too_long = false;
    for (size_t i = 0; i < b->lines && b->block.len > max; i++) {
        if (b->ends[i] - b->starts[i] <= max) continue;
        b->too_long = true;
        b->lines = i;
    }
}

static void make_keys(const pipeline *p, cli_batch *b) {
    b->text = b->block.text;
    b->idle = b->block.idle;
    make_room_for_ends(b, p->feed->sep);
    b->lines = p->split(b->text, b->block.len, p->feed->sep, b->ends);
    if (p->feed->key_rule.csv) {
        b->lines = cli_csv_drop_quoted(&p->csv, b->text, b->block.len, b->ends, b->lines);
    }
    make_room_for_lines(b);
    uint32_t start = 0;
    for (size_t i = 0; i < b->lines; i++) {
        b->starts[i] = start;
        start = b->ends[i] + 1;
    }
    cut_at_longer(b, p->max_line);
    cli_batch_keys(b, &p->feed->key_rule, b->keys, &b->scratch, &b->scratch_room);
    b->without_field = 0;
    handle_missing(p->feed, b);
    if (p->feed->skip_empty) drop_empty(b);
}

/* Blocks in order: the first never waits. */
static void drain_in_turn(pipeline *p, cli_batch *b, uint64_t ticket) {
    pthread_mutex_lock(&p->turning);
    while (p->turn != ticket) pthread_cond_wait(&p->turn_changed, &p->turning);
    pthread_mutex_unlock(&p->turning);

    p->job->drain(p->job->ctx, b);
    p->lines += b->lines;
    lines_without_field += b->without_field;
    if (p->feed->activity) cli_progress(p->lines);
    if (b->too_long) cli_input_refuse_line(p->in, b->block.name);

    pthread_mutex_lock(&p->turning);
    p->turn++;
    pthread_cond_broadcast(&p->turn_changed);
    pthread_mutex_unlock(&p->turning);
}

static void *run_thread(void *ctx) {
    pipeline *p = ctx;
    cli_batch b = {0};
    for (;;) {
        pthread_mutex_lock(&p->reading);
        bool some = cli_input_claim(p->in, &b.block);
        uint64_t ticket = p->claimed;
        if (some) p->claimed++;
        if (some && p->feed->activity) cli_progress_bytes(cli_input_done(p->in));
        pthread_mutex_unlock(&p->reading);
        if (!some) break;
        cli_input_load(p->in, &b.block);
        if (b.block.begins) warn_of_first_line(p->feed, &b);
        make_keys(p, &b);
        if (p->job->work) p->job->work(p->job->ctx, &b);
        drain_in_turn(p, &b, ticket);
    }
    cli_block_free(&b.block);
    free(b.starts), free(b.ends), free(b.keys), free(b.hashes), free(b.hits), free(b.scratch);
    return NULL;
}

static uint32_t find_column(const void *ctx, const char *name, const uint8_t *line, size_t len) {
    const cli_key_rule *rule = ctx;
    uint32_t field = cli_find_column(rule, line, len);
    if (!field) {
        cli_die(name, "names are compared exactly", "has no column '%s' in its first line",
                rule->column);
    }
    return field;
}

uint64_t cli_pipeline(const cli_feed *feed, const cli_job *job) {
    size_t max_line = feed->max_line ? feed->max_line : feed->key_rule.csv ? MAX_RECORD : MAX_LINE;
    pipeline p = {.feed = feed,
                  .job = job,
                  .in = cli_input_open(feed->files, feed->nfiles, feed->sep, max_line, feed->eager,
                                       feed->failed),
                  .csv = {feed->sep, cli_csv_delimiter(&feed->key_rule)},
                  .split = cli_split_best(),
                  .max_line = max_line,
                  .reading = PTHREAD_MUTEX_INITIALIZER,
                  .turning = PTHREAD_MUTEX_INITIALIZER,
                  .turn_changed = PTHREAD_COND_INITIALIZER};
    lines_without_field = 0;
    if (feed->key_rule.csv) cli_input_as_csv(p.in, &p.csv);
    if (feed->key_rule.column && !feed->key_rule.header) {
        cli_die("--header", "or -k N", "is missing: the filter's keys are the column '%s'",
                feed->key_rule.column);
    } else if (feed->key_rule.column) {
        cli_input_on_header(p.in, find_column, &feed->key_rule);
    }
    if (feed->activity) {
        cli_progress_begin(feed->activity, cli_input_total(p.in), feed->filling, feed->capacity);
    }
    pthread_t *others = cli_alloc((feed->threads + 1) * sizeof *others);
    uint32_t started = 0;
    while (started + 1 < feed->threads && !pthread_create(&others[started], NULL, run_thread, &p)) {
        started++;
    }
    run_thread(&p);
    for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
    free(others);
    if (feed->activity) cli_progress_hide();
    cli_input_close(p.in);
    return p.lines;
}
