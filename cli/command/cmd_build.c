/* SPDX-License-Identifier: MIT
 *
 * cmd_build.c - umbel build: build a filter from lines
 */
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "command/command.h"
#include "filter/add_job.h"
#include "filter/filter_file.h"
#include "report/report.h"
#include "umbel_foreign.h"

static const uint8_t options[] = {
    OPT_OUTPUT,         OPT_FORCE,   OPT_KEYS,  OPT_FPR,  OPT_BYTES,      OPT_KIND,
    OPT_STRICT,         OPT_THREADS, OPT_QUIET, OPT_JSON, OPT_HELP,       OPT_META,
    OPT_SECRET_FILE,    OPT_HASHES,  OPT_SEED,  OPT_TMP,  OPT_MAX_MEMORY, CLI_LINE_OPTIONS,
    CLI_FORMAT_OPTIONS, OPT_END};

static const double default_fpr = 0.01;
static const uint64_t first_layer = 1000000; /* keys, of a filter that grows */

static void count_only(void *ctx, cli_batch *b) {
    (void)ctx;
    (void)b;
}

/* The number of keys in the input, which is read a first time for this. */
static uint64_t count_keys(const cli_settings *s, cli_feed feed) {
    feed.activity = s->quiet ? NULL : "counting";
    feed.quiet = true; /* the second reading warns */
    cli_job job = {NULL, count_only, NULL};
    /* Without --skip-empty and fields every line is a key, whatever the key rule. */
    const cli_key_rule *rule = &feed.key_rule;
    bool all = !feed.skip_empty && !rule->recorded.field && !rule->column && !rule->header;
    if (all) feed.key_rule = (cli_key_rule){0};
    uint64_t lines = cli_pipeline(&feed, &job);
    return lines ? lines : 1;
}

/* Fills in what was not given.  Other systems that size by bytes alone need neither keys nor a
 * rate, and static filters need no count.  Returns NULL, or the name of a pipe whose keys have to
 * be counted while they are read. */
static const char *fill_in_plan(const cli_settings *s, cli_filter_params *p, cli_feed feed) {
    bool foreign = cli_is_foreign(p);
    if (!p->bytes && !p->bits_per_key && !(p->fpr > 0)) p->fpr = default_fpr;
    if (p->capacity || cli_is_built_once(p->kind) || (p->bytes && (foreign || p->fpr > 0))) {
        return NULL;
    }
    const char *once = cli_input_once(feed.files, feed.nfiles);
    if (!once) {
        p->capacity = count_keys(s, feed);
        return NULL;
    }
    if (p->kind == UMBEL_KIND_AUTO && !foreign && !p->bytes) return once;
    if (p->kind != UMBEL_KIND_SCALABLE) {
        cli_die(once, "-n KEYS to plan for, or -m SIZE with -p RATE",
                "is a pipe, so the number of keys is unknown");
    }
    p->capacity = first_layer;
    return NULL;
}

/* Some other systems' filters cannot keep the rate they are asked for. */
static void warn_of_limits(const cli_filter_params *params, const cli_settings *s) {
    umbel_plan plan = {0};
    char rate[CLI_QUANTITY];
    if (!cli_is_foreign(params) || s->quiet) return;
    umbel_foreign foreign = cli_foreign_params(params);
    if (umbel_plan_foreign(&foreign, &plan, NULL) == UMBEL_OK &&
        plan.verdict == UMBEL_PLAN_BEYOND_KIND) {
        cli_warn(s->output, "warning: the false-positive rate will be %s: %s",
                 cli_rate_text(plan.rate, rate), plan.why);
    }
}

static void need(umbel_err e, const umbel_diag *diag) {
    if (!e) return;
    cli_die_err("build", e, diag, e == UMBEL_EINVAL ? CLI_SEE_PLAN : NULL);
}

/* The keys of a static filter, collected. */
typedef struct static_build {
    const cli_settings *s;
    umbel_builder *builder;
    uint64_t keys;
} static_build;

/* Until all keys are known each takes 8 bytes, in memory unless --tmp is given. */
static void add_to_builder(void *ctx, cli_batch *b) {
    static_build *g = ctx;
    umbel_diag diag = {0};
    g->keys += b->lines;
    if (g->s->max_memory && !g->s->tmp && g->keys > g->s->max_memory / 8) {
        char keys[CLI_QUANTITY];
        cli_die("build", "--tmp DIR keeps them in a file",
                "more than %s keys, at 8 bytes each, exceed --max-memory",
                cli_count_text(g->s->max_memory / 8, keys));
    }
    need(umbel_builder_add(g->builder, b->keys, b->lines, &diag), &diag);
}

/* Static filters: first all keys, then the filter. */
static umbel_filter *build_static(const cli_settings *s, const cli_filter_params *params,
                                  const cli_feed *feed, uint64_t *lines) {
    umbel_opts opts = cli_opts_of(s);
    umbel_diag diag = {0};
    static_build g = {.s = s};
    umbel_filter *f = NULL;
    opts.tmp = s->tmp;
    opts.secret = NULL; /* that of a new filter is among its parameters */
    umbel_params native = cli_native_params(params);
    need(umbel_builder_new(&native, &opts, &g.builder, &diag), &diag);
    cli_job job = {NULL, add_to_builder, &g};
    *lines = cli_pipeline(feed, &job);
    need(umbel_builder_finish(g.builder, &f, &diag), &diag);
    umbel_builder_free(g.builder);
    umbel_info info;
    umbel_describe(f, &info);
    if (s->strict && s->keys && info.keys_added > s->keys) { /* such a filter counts every key */
        char plan[CLI_QUANTITY];
        cli_die(s->output, "nothing was saved; --keys plans for more",
                "more keys than the %s planned", cli_count_text(s->keys, plan));
    }
    return f;
}

/* All others: first the filter, then key after key. */
static umbel_filter *build_incrementally(const cli_settings *s, const cli_filter_params *params,
                                         cli_feed *feed, uint64_t *lines) {
    umbel_filter *f = cli_filter_create(params, s);
    cli_add_job adding = cli_add_job_new(f, s->output, s);
    adding.warn_early = false; /* filling the plan is expected here */
    cli_job job = cli_add_job_callbacks(&adding);
    feed->filling = f;
    feed->capacity = adding.capacity;
    *lines = cli_pipeline(feed, &job);
    cli_add_job_finish(&adding);
    return f;
}

/* A pipe: the first keys are kept until it ends, and the filter is the one that a file of them
 * would get; if there are more, it is one that grows. */
typedef struct piped_build {
    const cli_settings *s;
    cli_filter_params params;
    const char *name; /* of the pipe */
    uint8_t *text;    /* the keys, one after the other */
    size_t text_len, text_room;
    umbel_key *keys; /* only their lengths before all are known */
    size_t count, room;
    umbel_filter *growing, *hasher; /* the latter hashes alike, before there is a filter */
    cli_add_job adding;
} piped_build;

/* Both together, and twice that while they are enlarged, are less than the 64 MiB that a command
 * may use besides its filter. */
enum { MAX_KEPT = 1000000, MAX_KEPT_TEXT = 16 << 20 };

static void keep(piped_build *g, const cli_batch *b, size_t len) {
    if (g->text_len + len > g->text_room) {
        g->text_room = 2 * (g->text_len + len);
        g->text = cli_realloc(g->text, g->text_room);
    }
    if (g->count + b->lines > g->room) {
        g->room = 2 * (g->count + b->lines);
        g->keys = cli_realloc(g->keys, g->room * sizeof *g->keys);
    }
    for (size_t i = 0; i < b->lines; i++) {
        size_t n = b->keys[i].len;
        if (n) memcpy(g->text + g->text_len, b->keys[i].data, n);
        g->text_len += n;
        g->keys[g->count++].len = n;
    }
}

/* Makes the filter and adds what was kept. */
static umbel_filter *create_kept(piped_build *g) {
    umbel_filter *f = cli_filter_create(&g->params, g->s);
    g->adding = cli_add_job_new(f, g->s->output, g->s);
    size_t at = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->keys[i].data = g->text + at;
        at += g->keys[i].len;
    }
    umbel_err e = umbel_add_many(f, g->keys, g->count, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
    free(g->keys), free(g->text);
    return f;
}

static void start_growing(piped_build *g) {
    if (!g->s->quiet) {
        cli_warn(g->name,
                 "is a pipe of many keys, whose number is unknown: using a growing filter; "
                 "-n KEYS makes it smaller and faster");
    }
    g->params.kind = UMBEL_KIND_SCALABLE;
    g->params.capacity = first_layer;
    g->growing = create_kept(g);
}

static void hash_piped(void *ctx, cli_batch *b) {
    const piped_build *g = ctx;
    umbel_hash_many(g->hasher, b->keys, b->lines, b->hashes, NULL);
}

static void add_piped(void *ctx, cli_batch *b) {
    piped_build *g = ctx;
    size_t len = 0;
    for (size_t i = 0; i < b->lines && !g->growing; i++) len += b->keys[i].len;
    if (!g->growing && (g->count + b->lines > MAX_KEPT || g->text_len + len > MAX_KEPT_TEXT)) {
        start_growing(g);
    }
    if (!g->growing) {
        keep(g, b, len);
        return;
    }
    umbel_err e = g->hasher ? umbel_add_hashes(g->growing, b->hashes, b->lines, NULL, NULL, NULL)
                            : umbel_add_many(g->growing, b->keys, b->lines, NULL, NULL, NULL);
    cli_add_job_check_error(&g->adding, e);
}

static umbel_filter *build_piped(const cli_settings *s, const cli_filter_params *params,
                                 cli_feed *feed, const char *name, uint64_t *lines) {
    piped_build g = {.s = s, .params = *params, .name = name};
    if (s->threads > 1) {
        cli_filter_params tiny = *params;
        tiny.kind = UMBEL_KIND_BLOCKED;
        tiny.hashes = 0;
        tiny.capacity = 1;
        tiny.fpr = default_fpr;
        g.hasher = cli_filter_create(&tiny, s);
    }
    cli_job job = {g.hasher ? hash_piped : NULL, add_piped, &g};
    *lines = cli_pipeline(feed, &job);
    umbel_free(g.hasher);
    if (g.growing) return g.growing;
    g.params.capacity = g.count ? g.count : 1;
    return create_kept(&g);
}

static int run(const cli_settings *s) {
    cli_filter_check_output(s);
    cli_refuse_as_input(s->output, s->args, s->nargs);
    cli_filter_params params = cli_params_of(s);
    cli_feed feed = cli_feed_of(s, s->args, s->nargs);
    feed.key_rule = cli_key_rule_given(s);
    const char *pipe = fill_in_plan(s, &params, feed);
    warn_of_limits(&params, s);
    feed.activity = s->quiet ? NULL : "building";
    uint64_t lines = 0;
    umbel_filter *f = pipe ? build_piped(s, &params, &feed, pipe, &lines)
                      : cli_is_built_once(params.kind)
                          ? build_static(s, &params, &feed, &lines)
                          : build_incrementally(s, &params, &feed, &lines);
    cli_filter_set_meta(f, s, &feed.key_rule);
    cli_filter_take_output(s);
    cli_filter_save(f, params.format, s->output);
    if (!s->quiet) cli_summary(f, s, lines);
    umbel_free(f);
    return CLI_YES;
}

const cli_command cli_command_build = {
    .name = "build",
    .summary = "build a filter from lines",
    .synopsis = "-o OUT [-n KEYS] [-p RATE | -m SIZE] [OPTION]... [FILE]...",
    .examples = "# A blocklist with one wrong answer in a thousand; the lines are counted first\n"
                "umbel build -p 0.1% -o blocklist.umb urls.txt\n"
                "# From a pipe: say how many keys to expect\n"
                "zcat urls.gz | umbel build -n 50M -p 1% -o urls.umb\n"
                "# The smallest blocklist: built once, never changed\n"
                "umbel build --kind smallest -p 1e-6 -o list.umb urls.txt\n"
                "# A column of a CSV file, in lowercase; check does the same to its input\n"
                "umbel build --csv --header -k email --lower -o users.umb users.csv\n"
                "# Untrusted input: a filter whose collisions cannot be predicted\n"
                "(umask 077; head -c16 /dev/urandom > secret)\n"
                "umbel build --secret-file secret -o seen.umb requests.txt\n",
    .text =
        "Each line of the input is a key. Without -n, files are read twice, first to count "
        "the lines. A pipe of up to a million short lines is kept until its end; a longer one "
        "goes into a filter that grows (scalable). --kind static needs no count. Without -p and -m the false-positive rate is 1%.\n\n"
        "How a line becomes a key (-k, -t, --csv, --trim, --lower, --upper) is stored in the "
        "filter and applied by every command that reads lines for it. What other programs "
        "need to know of it is in the metadata: key.csv=yes, key.column=NAME, key.delimiter=C, "
        "key.missing=empty. A line that does not have the field has no key: it is skipped, "
        "and the summary says how many were.\n\n"
        "With --secret-file the filter is keyed: without the secret, no one can construct "
        "lines that collide in it. The secret is not stored in the filter, so every command "
        "that opens the filter needs --secret-file too, and if the secret is lost the filter "
        "is useless.\n\n"
        "OUT is written in one step at the end; after an error nothing is left behind.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
