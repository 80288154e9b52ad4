/* SPDX-License-Identifier: MIT
 *
 * cmd_build.c - umbel build: build a filter from lines
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/draw.h"
#include "base/error.h"
#include "command/command.h"
#include "filter/add_job.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "make/good_keys.h"
#include "make/piped_build.h"
#include "report/report.h"
#include "umbel_foreign.h"
#include "umbel_text.h"

static const uint8_t options[] = {
    OPT_OUTPUT,    OPT_FORCE,       OPT_KEYS,       OPT_FPR,          OPT_BYTES,          OPT_KIND,
    OPT_GIVEN_KEY, OPT_STRICT,      OPT_THREADS,    OPT_QUIET,        OPT_JSON,           OPT_HELP,
    OPT_META,      OPT_SECRET_FILE, OPT_NEVER,      OPT_UNIVERSE,     OPT_HASHES,         OPT_SEED,
    OPT_TMP,       OPT_LOCK_WAIT,   OPT_MAX_MEMORY, CLI_LINE_OPTIONS, CLI_FORMAT_OPTIONS, OPT_END};

/* Reads the input a first time to count its keys. */
static uint64_t count_keys(const cli_settings *s, cli_feed feed) {
    feed.activity = s->quiet ? NULL : "counting";
    feed.quiet = true; /* the second reading warns */
    feed.never = NULL;
    const cli_job count_only = {0};
    /* Where keys are whole lines, every line has one. */
    uint32_t partial = UMBEL_RECIPE_HEADER | UMBEL_RECIPE_TYPED | UMBEL_RECIPE_PARENTS;
    bool whole = strncmp(umbel_recipe_text(feed.recipes[0]), "line", 4) == 0 &&
                 !(umbel_recipe_traits(feed.recipes[0]) & partial) && !s->digests;
    if (whole && !feed.skip_empty) feed.nrecipes = 0;
    cli_lines read = cli_pipeline(&feed, &count_only);
    return read.drained ? read.drained : 1;
}

/* Completes the plan.  Foreign filters that are sized in bytes need neither a number of keys nor a
 * rate, and static filters need no number.  Returns NULL, or the name of a pipe whose keys have to
 * be counted while they are read. */
static const char *fill_in_plan(const cli_settings *s, cli_filter_params *p, cli_feed feed) {
    bool foreign = cli_is_foreign(p);
    umbel_traits traits;
    umbel_kind_traits(p->kind, &traits); /* against a universe, the rate follows */
    if (!p->bytes && !p->bits_per_key && !(p->fpr > 0) && !traits.universe)
        p->fpr = CLI_DEFAULT_FPR;
    if (p->capacity || cli_is_built_once(p->kind) || (p->bytes && (foreign || p->fpr > 0))) {
        return NULL;
    }
    const char *once = cli_feed_once(&feed);
    if (!once) {
        p->capacity = count_keys(s, feed);
        return NULL;
    }
    if (p->kind == UMBEL_KIND_AUTO && !foreign && !p->bytes) return once;
    if (p->kind != UMBEL_KIND_SCALABLE) {
        cli_die(once, "-n KEYS to plan for, or -m SIZE with -p RATE",
                "is a pipe, so the number of keys is unknown");
    }
    p->capacity = CLI_FIRST_LAYER;
    return NULL;
}

/* Some foreign formats cannot keep the requested rate. */
static void warn_of_limits(const cli_filter_params *params, const char *output) {
    umbel_plan plan = {0};
    char rate[UMBEL_QUANTITY];
    if (!cli_is_foreign(params)) return;
    umbel_foreign foreign = cli_foreign_params(params);
    if (umbel_plan_foreign(&foreign, &plan, NULL)) return;
    if (plan.caution) cli_warn("misread", output, "%s", plan.caution);
    if (plan.verdict == UMBEL_PLAN_BEYOND_KIND) {
        char why[320];
        cli_warn("rate_out_of_reach", output, "the false-positive rate will be %s: %s",
                 umbel_rate_text(plan.rate, rate), cli_in_options(plan.why, why, sizeof why));
    }
}

static void need(umbel_err e, const umbel_diag *diag) {
    if (!e) return;
    cli_die_err("build", e, diag, e == UMBEL_EINVAL ? CLI_SEE_PLAN : NULL);
}

typedef struct static_build {
    const cli_settings *s;
    umbel_builder *builder;
    cli_good_keys good;
    umbel_build_report report;
    uint64_t keys; /* good ones too */
    cli_lines read;
} static_build;

static void add_to_builder(void *ctx, cli_batch *b) {
    static_build *g = ctx;
    umbel_diag diag = {0};
    g->keys += b->lines;
    cli_limit_hashes(g->s, g->keys);
    need(umbel_builder_add(g->builder, b->keys, b->lines, &diag), &diag);
}

/* Static filters: first all keys, then the filter.  NULL: under this seed their hashes fit no
 * table, as *diag says. */
static umbel_filter *try_static(static_build *g, const cli_filter_params *params,
                                const cli_feed *feed, umbel_diag *diag) {
    const cli_settings *s = g->s;
    umbel_opts opts = cli_opts_of(s);
    umbel_filter *f = NULL;
    if (s->hashes) {
        cli_die("--hashes", "leave it out", "follows from the rate %s",
                cli_given(s, OPT_UNIVERSE) ? "with --universe" : "in this kind");
    }
    opts.tmp = s->tmp;
    umbel_params native = cli_native_params(params);
    need(umbel_builder_new(&native, &opts, &g->builder, diag), diag);
    g->good = cli_good_keys_read(s, params, feed, g->builder);
    g->keys = g->good.told;
    cli_job job = {NULL, add_to_builder, g};
    g->read = cli_pipeline(feed, &job);
    umbel_err e = umbel_builder_finish(g->builder, &f, diag);
    umbel_builder_report(g->builder, &g->report);
    umbel_builder_free(g->builder);
    if (e == UMBEL_EINVAL && strcmp(diag->field, "seed") == 0) return NULL;
    need(e, diag);
    umbel_info info;
    umbel_describe(f, &info);
    if (s->strict && s->keys && info.keys_added > s->keys) { /* such a filter counts every key */
        char plan[UMBEL_QUANTITY];
        cli_die(s->output, "nothing was saved; -n KEYS plans for more",
                "more keys than the %s planned", umbel_count_text(s->keys, plan));
    }
    return f;
}

/* Hashes that fit no table hardly ever come about by chance, but anyone who knows the seed can
 * choose such keys; under a seed drawn now they are like any others. */
static umbel_filter *build_static(const cli_settings *s, cli_filter_params *params, cli_feed *feed,
                                  cli_lines *read) {
    enum { SEEDS = 4 };
    umbel_diag diag = {0};
    cli_settings silent = *s;
    silent.quiet = true; /* the first reading has already warned */
    static_build g = {.s = s};
    for (int tried = 1;; tried++) {
        umbel_filter *f = try_static(&g, params, feed, &diag);
        if (f) {
            *read = g.read;
            cli_good_keys_report(&g.good, &g.report, f, s);
            return f;
        }
        const char *way_out = cli_given(s, OPT_SEED) ? "another --seed, or none"
                              : cli_feed_once(feed)  ? "--seed with a number that nobody knows, or "
                                                       "FILEs, which can be read again"
                                                     : NULL;
        if (way_out || tried == SEEDS) cli_die_err("build", UMBEL_EINVAL, &diag, way_out);
        cli_draw(&params->seed, sizeof params->seed);
        cli_note("build", "no table fits the hashes of these keys: once more, with seed %" PRIu64,
                 params->seed);
        g.s = &silent;
        feed->quiet = true;
    }
}

/* All others: first the filter, then key after key. */
static umbel_filter *build_once(const cli_settings *s, const cli_filter_params *params,
                                cli_feed *feed, cli_lines *read, int *status) {
    umbel_filter *f = cli_filter_create(params, s);
    cli_add_job adding = cli_add_job_new(f, s->output, s);
    adding.warn_early = false; /* filling the plan is expected here */
    cli_job job = cli_add_job_callbacks(&adding);
    feed->filling = f;
    feed->capacity = adding.capacity;
    *read = cli_pipeline(feed, &job);
    *status = cli_add_job_finish(&adding);
    return f;
}

/* Lines were counted, but a plan is for distinct keys.  If there are far fewer (so that at least a
 * quarter of the memory would be wasted), the filter, which knows how many, is made again. */
static umbel_filter *build_counted(const cli_settings *s, cli_filter_params *params, cli_feed *feed,
                                   cli_lines *read, int *status) {
    umbel_filter *f = build_once(s, params, feed, read, status);
    uint64_t needed = cli_keys_needed(f, params->capacity);
    if (!needed) return f;
    params->capacity = needed;
    umbel_free(f);
    feed->quiet = true; /* it has warned */
    return build_once(s, params, feed, read, status);
}

/* --universe is for one kind, and that kind for --universe. */
static void choose_exact(const cli_settings *s, cli_filter_params *p) {
    umbel_traits traits;
    umbel_kind_traits(p->kind, &traits);
    if (traits.universe && !cli_given(s, OPT_UNIVERSE)) {
        cli_die("--kind", "--universe FILE has the known good keys",
                "%s is for a universe of known keys", umbel_kind_name(p->kind));
    }
    if (!cli_given(s, OPT_UNIVERSE)) return;
    cli_need_universe_kind(p->kind);
    if (cli_is_foreign(p)) cli_die("--universe", NULL, "only for native filters");
    p->kind = UMBEL_KIND_EXACT;
}

static int run(const cli_settings *s) {
    cli_filter_claim_output(s); /* before the work, which may take hours */
    cli_refuse_as_input(s->output, s->args, s->nargs);
    cli_refuse_stdin_twice(s, true);
    cli_filter_params params = cli_params_of(s);
    choose_exact(s, &params);
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_feed feed = cli_feed_of(s, s->args, s->nargs, &recipe);
    bool planned = params.capacity;
    const char *pipe = fill_in_plan(s, &params, feed);
    warn_of_limits(&params, s->output);
    bool once = cli_is_built_once(params.kind);
    cli_good_keys good = {0};
    if (!once) good = cli_good_keys_read(s, &params, &feed, NULL);
    feed.never = good.never;
    feed.activity = s->quiet ? NULL : "building";
    cli_lines read;
    int status = CLI_YES;
    umbel_filter *f = pipe   ? cli_build_piped(s, &params, &feed, pipe, &read)
                      : once ? build_static(s, &params, &feed, &read)
                      : planned || !params.capacity
                          ? build_once(s, &params, &feed, &read, &status)
                          : build_counted(s, &params, &feed, &read, &status);
    cli_filter_set_meta(f, s, recipe);
    cli_good_keys_finish(&good, f, s);
    cli_filter_save(f, params.format, s->output);
    cli_summary(f, s, &read);
    status = cli_misfits_status(&read, recipe, "skipped", status);
    umbel_recipe_free(recipe);
    umbel_free(f);
    return status;
}

const cli_command cli_command_build = {
    .name = "build",
    .summary = "build a filter from lines",
    .synopsis = "-o OUT [-n KEYS] [-p RATE | -m SIZE] [OPTION]... [-e KEY]... [FILE]...",
    .examples = "# A blocklist with one wrong answer in a thousand; the lines are counted first\n"
                "umbel build -p 0.1% -o blocklist.umb urls.txt\n"
                "# From a pipe: say how many keys to expect\n"
                "zcat urls.gz | umbel build -n 50M -p 1% -o urls.umb\n"
                "# The smallest blocklist: built once, never changed\n"
                "umbel build --kind smallest -p 1e-6 -o list.umb urls.txt\n"
                "# A list that is never wrong about any key in good.txt\n"
                "umbel build --universe good.txt -o revoked.umb revoked.txt\n"
                "# A column of a CSV file, in lowercase; check does the same to its input\n"
                "umbel build --csv --header -k email --lower -o users.umb users.csv\n"
                "# Untrusted input: a filter whose collisions cannot be predicted\n"
                "(umask 077; head -c16 /dev/urandom > secret)\n"
                "umbel build --secret-file secret -o seen.umb requests.txt\n",
    .text =
        "Each line of the input is a key. Without -n, files are read twice, first to count "
        "the lines, and a third time if many are repeated: the filter gets the size that its "
        "distinct keys need. Keys from a pipe are kept until it ends, up to a million short lines "
        "or six million hashes; if there are more, the filter grows (scalable). --kind static needs no count. "
        "Without -p and -m the false-positive rate is 1%.\n\n"
        "How a line becomes a key (-k, -t, --csv, --header, --crlf, --lower ...) is the filter's "
        "recipe, one line of text that is stored in it, shown by umbel info and applied by "
        "every command that reads lines for it; umbel-recipe(7) describes the words. A line "
        "without a key (it does not have the field, is not JSON, a quote is not closed) is "
        "skipped; a warning says how many, and the exit status is 3.\n\n"
        "With --secret-file the filter is keyed: without the secret, no one can construct "
        "lines that collide in it. The secret is not stored in the filter, so every command "
        "that opens the filter needs --secret-file too, and if the secret is lost the filter "
        "is useless.\n\n"
        "OUT is written in one step at the end; after an error nothing is left behind.",
    .exits = CLI_EXITS_LINES,
    .options = options,
    .run = run,
};
