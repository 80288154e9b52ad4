/* SPDX-License-Identifier: MIT
 *
 * cmd_diff.c - umbel diff: the lines of one file that are not in another
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tally.h"
#include "base/wrap.h"
#include "check/check_run.h"
#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "lines/spool.h"
#include "make/piped_build.h"
#include "report/report.h"

static const uint8_t options[] = {
    OPT_DIFF_FPR, OPT_KEYS,        OPT_EXACT, OPT_COUNT,      OPT_THREADS,      OPT_QUIET, OPT_JSON,
    OPT_HELP,     OPT_SECRET_FILE, OPT_SPOOL, OPT_MAX_MEMORY, CLI_LINE_OPTIONS, OPT_END};

/* A filter of the lines of B, in memory. */
static umbel_filter *filter_of(const cli_settings *s, cli_feed feed, cli_lines *read, int *status) {
    cli_filter_params params = cli_params_of(s);
    const char *once = cli_feed_once(&feed);
    if (!(params.fpr > 0)) params.fpr = 0.001;
    feed.activity = s->quiet ? NULL : "reading";
    if (!params.capacity && once) return cli_build_piped(s, &params, &feed, once, read);
    if (!params.capacity) {
        const cli_job count_only = {0};
        uint64_t lines = cli_pipeline(&feed, &count_only).drained;
        params.capacity = lines ? lines : 1;
        feed.quiet = true; /* it has warned */
    }
    umbel_filter *f = cli_filter_create(&params, s);
    cli_add_job adding = cli_add_job_new(f, feed.files[0], s);
    cli_job job = cli_add_job_callbacks(&adding);
    adding.warn_early = false;
    *read = cli_pipeline(&feed, &job);
    *status = cli_add_job_finish(&adding);
    return f;
}

static void summarise(const cli_check *c, const cli_lines *read, const cli_lines *other) {
    uint64_t lines = read->count;
    const cli_settings *s = c->s;
    umbel_measurement now;
    char all[UMBEL_QUANTITY], out[UMBEL_QUANTITY], lost[UMBEL_QUANTITY], rate[UMBEL_QUANTITY];
    umbel_measure(c->lookup.at[0].filter, &now);
    double share = s->exact ? 0 : now.rate;
    /* Of n lines that are not in B, n * (1 - share) are printed. */
    double left_out = share < 1 ? (double)c->matches * share / (1 - share) : (double)lines;
    if (s->json) {
        cli_report r = cli_report_begin(true);
        cli_report_lines(&r, read);
        cli_report inner = {.object = json_object()};
        cli_report_lines(&inner, other);
        cli_report_json(&r, "other", inner.object);
        cli_report_json(&r, "lost_estimated", cli_json_real(left_out));
        cli_report_json(&r, "fpr_now", cli_json_real(share));
    } else if (!s->quiet) {
        FILE *to = cli_sentence();
        fprintf(to, "diff: %s, %s of them not in %s; ", cli_count_noun(lines, "line", all),
                umbel_count_text(c->matches, out), s->args[1]);
        if (s->exact) {
            fputs("exact", to);
        } else {
            fprintf(to, "about %s such lines left out (%s)",
                    umbel_count_text((uint64_t)(left_out + 0.5), lost),
                    umbel_rate_text(share, rate));
        }
        cli_sentence_end(to);
    }
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 2, 2);
    if (strcmp(s->args[0], "-") == 0 && strcmp(s->args[1], "-") == 0) {
        cli_die("standard input", NULL, "cannot be both A and B");
    }
    if (cli_check_prints(s)) cli_refuse_as_input("-", s->args, s->nargs);
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_feed feed = cli_feed_of(s, s->args, 1, &recipe);
    cli_feed other = cli_feed_of(s, s->args + 1, 1, &recipe);
    if (s->exact) { /* which reads both twice */
        cli_feed_spool(&feed, s->tmp);
        cli_feed_spool(&other, s->tmp);
    }
    int status = CLI_YES;
    cli_lines read, others = {0};
    umbel_filter *f = filter_of(s, other, &others, &status);
    status = cli_misfits_status(&others, recipe, "skipped", status);

    cli_check c = {.s = s, .show = s->mode[GROUP_SHOW], .invert = true, .feed = &feed};
    cli_exact exact = {0};
    cli_lookup_add(&c.lookup, f, s->args[1], recipe);
    feed.eager = true;
    feed.skips_missing = false;
    if (!s->quiet && (!cli_check_prints(s) || !isatty(STDOUT_FILENO))) feed.activity = "comparing";
    if (s->exact) cli_exact_read(&exact, s, &c.lookup, feed, other.files[0], recipe);
    cli_job job = cli_check_job(&c);
    read = cli_pipeline(&feed, &job);
    cli_check_end(&c, &read);
    summarise(&c, &read, &others);
    if (!status) status = c.matches ? CLI_YES : CLI_NO;
    status = cli_misfits_status(&read, recipe, "printed", status);
    cli_exact_free(&exact);
    cli_lookup_free(&c.lookup);
    free(feed.spooled);
    free(other.spooled);
    return status;
}

const cli_command cli_command_diff = {
    .name = "diff",
    .summary = "print the lines of one file that are not in another",
    .synopsis = "[-p RATE] [OPTION]... A B",
    .examples = "# What is new since yesterday; neither file need be sorted\n"
                "umbel diff today.txt yesterday.txt\n"
                "# Orders of customers who are not in the other table, all of them\n"
                "umbel diff --exact --csv -k customer orders.csv customers.csv\n",
    .text =
        "Every line that is printed is certainly not in B. A line of A that is not in B is left "
        "out at most at the promised rate (-p, 0.1%); with --exact none is, but lines that the "
        "two have in common are kept in memory and both files are read twice. Lines are printed "
        "whole, in the order of A, as often as they occur in it.\n\n"
        "B becomes a filter in memory: its lines are counted first, unless -n says how many there "
        "are or it is a pipe. Keys are made from the lines of both files in the same way (-k, "
        "--csv, --lower ...). Either may be - for standard input. A line without a key is printed "
        "if it is in A, skipped if it is in B; a warning says so, and the exit status is 3.",
    .exits = "0 some line was printed, 1 none, 2 error, 3 some lines had no key, or B has more "
             "lines than -n says",
    .prints_lines = true,
    .options = options,
    .run = run,
};
