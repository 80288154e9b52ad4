/* SPDX-License-Identifier: MIT
 *
 * cmd_count.c - umbel count: how many different keys there are; uniq -c, --top: how often each is
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/tally.h"
#include "base/wrap.h"
#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "lines/spool.h"
#include "report/report.h"
#include "uniq/distinct_sketch.h"
#include "uniq/key_counts.h"
#include "uniq/top_keys.h"

typedef struct counting {
    const cli_settings *s;
    umbel_filter *hasher;
    cli_output out;
    cli_key_counts counts;
    cli_sketch sketch;
    cli_top_keys top;
    uint64_t printed; /* lines */
    cli_header header;
} counting;

static void hash_keys(void *ctx, cli_batch *b) {
    const counting *c = ctx;
    umbel_hash_many(c->hasher, b->keys, b->lines, b->hashes, NULL);
}

static cli_lines run_job(counting *c, const cli_feed *feed,
                         void (*drain)(void *ctx, cli_batch *b)) {
    cli_job job = {hash_keys, drain, c};
    return cli_pipeline(feed, &job);
}

/* ---- umbel count --------------------------------------------------------------------------- */

enum { EXACT = 1 << 16 }; /* up to this many, keys are counted one by one */

static void count_distinct(void *ctx, cli_batch *b) {
    counting *c = ctx;
    cli_sketch_add(&c->sketch, b->hashes, b->lines);
    for (size_t i = 0, n; i < b->lines && c->counts.keys <= EXACT; i += n) {
        n = b->lines - i < 1024 ? b->lines - i : 1024;
        cli_key_counts_add(&c->counts, b->hashes + i, n);
    }
}

static void print_distinct(const counting *c, const cli_lines *read) {
    double certain = (double)c->counts.keys; /* and more, beyond EXACT ... */
    double most = (double)read->drained;     /* ... but no more than lines that have a key */
    bool exact = c->counts.keys <= EXACT || certain == most;
    double keys = exact ? certain : fmin(most, fmax(certain, cli_sketch_count(&c->sketch)));
    double error = exact ? 0 : CLI_SKETCH_ERROR * keys;
    cli_report r = cli_report_begin(c->s->json);
    if (c->s->json) {
        cli_report_lines(&r, read);
        cli_report_count(&r, NULL, "distinct", (uint64_t)llround(keys));
        cli_report_json(&r, "distinct_error", cli_json_real(error));
    } else {
        printf("%lld\n", llround(keys));
    }
    cli_report_end(&r);
    if (c->s->quiet || c->s->json) return;
    char lines[UMBEL_QUANTITY], low[UMBEL_QUANTITY], high[UMBEL_QUANTITY];
    FILE *to = cli_sentence();
    fprintf(to, "count: %s, ", cli_count_noun(read->count, "line", lines));
    if (exact) {
        fputs("counted exactly", to);
    } else {
        fprintf(to, "an estimate: between %s and %s (95%%)",
                umbel_count_text((uint64_t)fmax(certain, keys - 1.96 * error), low),
                umbel_count_text((uint64_t)fmin(most, keys + 1.96 * error), high));
    }
    cli_sentence_end(to);
}

static int run(const cli_settings *s) {
    counting c = {.s = s, .hasher = cli_table_hasher_new(s)};
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_feed feed = cli_feed_of(s, s->args, s->nargs, &recipe);
    feed.activity = s->quiet ? NULL : "counting";
    bool failed = false;
    feed.failed = s->nargs > 1 ? &failed : NULL;
    cli_lines read = run_job(&c, &feed, count_distinct);
    print_distinct(&c, &read);
    int status = cli_misfits_status(&read, recipe, "skipped", CLI_YES);
    cli_key_counts_free(&c.counts);
    umbel_recipe_free(recipe);
    umbel_free(c.hasher);
    return failed ? CLI_ERROR : status;
}

static const uint8_t options[] = {OPT_THREADS, OPT_QUIET,        OPT_JSON, OPT_MAX_MEMORY,
                                  OPT_HELP,    CLI_LINE_OPTIONS, OPT_END};

const cli_command cli_command_count = {
    .name = "count",
    .summary = "count the different lines, in one pass and a few kilobytes",
    .synopsis = "[OPTION]... [FILE]...",
    .examples = "# How many visitors?\n"
                "umbel count -k 1 access.log\n"
                "# How many users, in JSON, with the standard error?\n"
                "umbel count --json --json-key .user.email events.json\n",
    .text =
        "Prints the number of different keys. Up to 65,536 it is exact, unless two have the same 64-bit "
        "hash, which happens once in 8 billion runs, and nobody can arrange it, as every run draws a "
        "secret for its hashes; above, it is an estimate "
        "from a HyperLogLog of 16 KiB with a standard error of 0.82%: two in three results are "
        "closer than that, 95 in 100 closer than twice that. Memory is below 3 MiB, whatever "
        "the input, unless it is compressed or has long lines (--max-memory).\n\n"
        "A line without a key is skipped, with a warning and exit status 3.",
    .exits = "0 done, 2 error, 3 done, but some lines had no key",
    .options = options,
    .run = run,
};

/* ---- uniq -c, -d, -D, -u ----------------------------------------- */

/* Lines without a key do not count as repeated. */
static void count_each(void *ctx, cli_batch *b) {
    counting *c = ctx;
    for (size_t i = 0, n; i < b->lines; i += n + 1) {
        for (n = 0; i + n < b->lines && (!b->missing || b->keys[i + n].data); n++) continue;
        cli_key_counts_add(&c->counts, b->hashes + i, n);
    }
}

static bool shows_keys(const counting *c) {
    return c->s->mode[GROUP_SHOW] == SHOW_KEYS;
}

static void put_header(counting *c, const cli_batch *b) {
    if (!shows_keys(c)) cli_output_header(&c->out, b, &c->header);
}

static void put_line(counting *c, const void *text, size_t len) {
    uint8_t sep = c->s->null ? 0 : '\n';
    cli_output_write(&c->out, text, len);
    cli_output_write(&c->out, &sep, 1);
}

static void put_count(counting *c, uint64_t count) {
    char text[24];
    int n = snprintf(text, sizeof text, "%7" PRIu64 " ", count);
    cli_output_write(&c->out, text, (size_t)n);
}

/* Whether the first line of a key that occurs this often is printed. */
static bool is_kept(const counting *c, uint64_t count) {
    switch (c->s->mode[GROUP_KEEP]) {
    case KEEP_DUPLICATED:
    case KEEP_ALL_DUPLICATED: return count > 1;
    case KEEP_ONCE: return count == 1;
    default: return count > 0;
    }
}

/* Each key once, where it comes first; -D: all lines. */
static void print_counted(void *ctx, cli_batch *b) {
    counting *c = ctx;
    bool counts = c->s->mode[GROUP_TALLY] == TALLY_EACH;
    put_header(c, b);
    for (size_t i = 0; i < b->lines; i++) {
        umbel_key shown = cli_shown(b, i, shows_keys(c));
        cli_key_count lone = {.count = 1}, *slot = &lone;
        if (b->keys[i].data) slot = cli_key_counts_of(&c->counts, b->hashes[i]);
        if (shown.data && is_kept(c, slot->count)) {
            if (counts) put_count(c, slot->count);
            put_line(c, shown.data, shown.len);
            c->printed++;
        }
        if (c->s->mode[GROUP_KEEP] != KEEP_ALL_DUPLICATED) slot->count = 0;
    }
}

/* ---- uniq --top ----------------------------------------------------------------------------- */

static void count_top(void *ctx, cli_batch *b) {
    counting *c = ctx;
    put_header(c, b);
    for (size_t i = 0; i < b->lines; i++) {
        if (!b->keys[i].data) continue;
        umbel_key shown = cli_shown(b, i, shows_keys(c));
        cli_top_keys_count(&c->top, b->hashes[i], shown.data, shown.len);
    }
}

/* Prints LOW-HIGH where the count is not certain.  Returns how many lines may not belong to the
 * top: something that is not printed may be more frequent. */
static uint32_t print_top(counting *c) {
    cli_top_keys *t = &c->top;
    uint32_t n = c->s->top < t->used ? c->s->top : t->used, doubtful = 0;
    cli_top_keys_sort(t);
    uint64_t next = n < t->used ? t->keys[n].count : 0;
    for (uint32_t i = 0; i < n; i++) {
        const cli_top_key *k = &t->keys[i];
        char text[64];
        int len = k->excess ? snprintf(text, sizeof text, "%" PRIu64 "-%" PRIu64 " ",
                                       k->count - k->excess, k->count)
                            : snprintf(text, sizeof text, "%7" PRIu64 " ", k->count);
        cli_output_write(&c->out, text, (size_t)len);
        put_line(c, k->line, k->len);
        doubtful += k->count - k->excess < next;
    }
    return doubtful;
}

/* ---- Both ----------------------------------------------------------------------------------- */

static void summarise(const counting *c, const cli_lines *read, uint64_t bytes) {
    const cli_settings *s = c->s;
    char lines[UMBEL_QUANTITY], keys[UMBEL_QUANTITY], size[UMBEL_QUANTITY];
    uint64_t excess = 0;
    for (uint32_t i = 0; i < c->top.used; i++) {
        if (c->top.keys[i].excess > excess) excess = c->top.keys[i].excess;
    }
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_lines(&r, read);
        if (!s->top) cli_report_count(&r, NULL, "distinct", c->counts.keys);
        if (s->top) cli_report_count(&r, NULL, "error_max", excess);
        cli_report_count(&r, NULL, "bytes", bytes);
    } else if (!s->quiet) {
        FILE *to = cli_sentence();
        fprintf(to, "uniq: %s, ", cli_count_noun(read->count, "line", lines));
        if (!s->top) {
            fprintf(to, "%s different", umbel_count_text(c->counts.keys, keys));
        } else if (excess) {
            fprintf(to, "counts are at most %s too high", umbel_count_text(excess, keys));
        } else {
            fputs("counts are exact", to);
        }
        fprintf(to, "; in %s", umbel_size_text(bytes, size));
        cli_sentence_end(to);
    }
}

static cli_lines count_all(counting *c, cli_feed feed, uint64_t *bytes) {
    cli_feed_spool(&feed, c->s->tmp);
    run_job(c, &feed, count_each);
    feed.quiet = true; /* it has warned */
    cli_lines read = run_job(c, &feed, print_counted);
    *bytes = c->counts.room * sizeof *c->counts.slots;
    free(feed.spooled);
    return read;
}

static cli_lines count_most(counting *c, const cli_feed *feed, uint64_t *bytes, int *status) {
    uint32_t counters = c->s->top > 1024 ? 64 * c->s->top : 1 << 16;
    c->top = cli_top_keys_new(counters, c->s->max_memory);
    cli_lines read = run_job(c, feed, count_top);
    uint32_t doubtful = print_top(c);
    if (doubtful) {
        char count[UMBEL_QUANTITY], all[UMBEL_QUANTITY];
        cli_warn("top_doubtful", "uniq", "%s of these lines may not belong to the top %s",
                 umbel_count_text(doubtful, count), umbel_count_text(c->s->top, all));
        *status = CLI_INCOMPLETE;
    }
    *bytes = c->top.bytes;
    return read;
}

int cli_uniq_counts(const cli_settings *s) {
    counting c = {.s = s, .hasher = cli_table_hasher_new(s), .counts.limit = s->max_memory};
    if (s->top > 1000000) cli_die("--top", "at most 1000000", "too many");
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_feed feed = cli_feed_of(s, s->args, s->nargs, &recipe);
    feed.skips_missing = false;
    feed.activity = s->quiet ? NULL : "counting";
    bool failed = false;
    feed.failed = s->nargs > 1 ? &failed : NULL;
    int status = CLI_YES;
    uint64_t bytes;
    cli_lines read = s->top ? count_most(&c, &feed, &bytes, &status) : count_all(&c, feed, &bytes);
    if (c.out.used) cli_output_flush(&c.out);
    summarise(&c, &read, bytes);
    if (c.header.mixed) status = CLI_INCOMPLETE;
    status = cli_misfits_status(&read, recipe,
                                s->top           ? "not counted"
                                : shows_keys(&c) ? "not printed"
                                                 : "printed",
                                status);
    free(c.out.buffer);
    free(c.header.text);
    cli_key_counts_free(&c.counts);
    if (s->top) cli_top_keys_free(&c.top);
    umbel_recipe_free(recipe);
    umbel_free(c.hasher);
    return failed ? CLI_ERROR : status;
}
