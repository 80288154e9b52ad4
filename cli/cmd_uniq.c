/* SPDX-License-Identifier: MIT
 *
 * cmd_uniq.c - umbel uniq: first occurrences only, in memory fixed beforehand
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "adder.h"
#include "command.h"
#include "filterfile.h"
#include "output.h"
#include "quantity.h"

static const uint8_t options[] = {
    OPT_KEYS,     OPT_FPR,    OPT_BYTES,        OPT_KIND,    OPT_SEED,  OPT_STATE, OPT_WINDOW,
    OPT_REPEATED, OPT_STRICT, CLI_LINE_OPTIONS, OPT_THREADS, OPT_QUIET, OPT_HELP,  OPT_END};

static const uint64_t usual_keys = 10000000;
static const double usual_fpr = 0.001;

struct uniq {
    const struct cli_settings *s;
    struct cli_adder watch; /* of the plan; adds nothing */
    struct cli_output out;
    bool hash_ahead;
    uint64_t before; /* keys in the filter when it began */
    uint64_t fresh;
};

static umbel_filter *make_state(const struct cli_settings *s, const struct cli_treatment *t) {
    umbel_params params = {.kind = cli_kind_named(s->kind),
                           .keys = s->keys,
                           .fpr = s->fpr,
                           .bytes = s->bytes,
                           .seed = s->seed};
    if (s->window) {
        params.kind = UMBEL_WINDOW;
        params.keys = s->window;
    }
    if (!params.keys && !(params.bytes && params.fpr > 0)) params.keys = usual_keys;
    if (!params.bytes && !(params.fpr > 0)) params.fpr = usual_fpr;
    umbel_opts opts = cli_opts_of(s);
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_err e = umbel_create(&params, &opts, &f, &diag);
    if (e) cli_die_err("uniq", e, &diag, "umbel plan tells what is possible");
    cli_filter_note(f, s, t);
    return f;
}

static umbel_filter *open_state(const struct cli_settings *s) {
    struct cli_treatment given = cli_treatment_given(s);
    if (s->state && access(s->state, F_OK) == 0) {
        umbel_filter *f = cli_filter_load(s->state, s);
        umbel_info info;
        umbel_describe(f, &info);
        bool other = (s->keys && s->keys != info.capacity) ||
                     (s->window && (s->window != info.capacity || info.kind != UMBEL_WINDOW)) ||
                     (s->bytes && s->bytes < info.bytes) || (s->fpr > 0 && s->fpr != info.fpr);
        if (other && !s->quiet) {
            cli_warn(s->state, "is there already: its own plan holds, not what is given here");
        }
        return f;
    }
    return make_state(s, &given);
}

/* New keys that a false positive made look old: each met the rate of its moment, so the rate is
 * summed up over the way from the first key to the last (Simpson's rule). */
static double expected_wrong(const umbel_info *info, uint64_t before) {
    enum { STEPS = 64 };
    double from = (double)before, way = (double)info->keys_added - from;
    umbel_plan model = {.kind = info->kind, .keys = info->capacity, .bytes = info->bytes};
    if (info->kind == UMBEL_WINDOW || !info->capacity || umbel_plan_solve(&model))
        return way * info->fpr_now; /* at most */
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        double rate = umbel_plan_rate(&model, (uint64_t)(from + way * i / STEPS));
        double odds = rate < 1 ? rate / (1 - rate) : 0;
        sum += odds * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2);
    }
    return way * sum / (3 * STEPS);
}

static void hash_keys(void *ctx, struct cli_batch *b) {
    const struct uniq *u = ctx;
    for (size_t i = 0; i < b->lines && u->hash_ahead; i++) {
        b->hashes[i] = umbel_hash(u->watch.filter, b->keys[i].data, b->keys[i].len);
    }
}

static void pass_new(void *ctx, struct cli_batch *b) {
    struct uniq *u = ctx;
    umbel_filter *f = u->watch.filter;
    umbel_err e = u->hash_ahead ? umbel_add_hashes(f, b->hashes, b->lines, b->hits)
                                : umbel_add_many(f, b->keys, b->lines, b->hits);
    if (e) cli_die_err("uniq", e, NULL, NULL);
    cli_adder_watch(&u->watch);
    uint64_t printed = cli_output_lines(&u->out, b, !u->s->repeated);
    u->fresh += u->s->repeated ? b->lines - printed : printed;
}

static void summarise(const struct uniq *u, uint64_t lines) {
    char all[CLI_QUANTITY], fresh[CLI_QUANTITY], size[CLI_QUANTITY];
    umbel_info info;
    umbel_describe(u->watch.filter, &info);
    double wrong = expected_wrong(&info, u->before);
    fprintf(stderr, "uniq: %s lines, %s of them new; about %.*f new ones taken for old, in %s\n",
            cli_count_text(lines, all), cli_count_text(u->fresh, fresh), wrong < 10 ? 2 : 0, wrong,
            cli_size_text(info.bytes, size));
}

static int run(const struct cli_settings *s) {
    cli_exclude(s, OPT_WINDOW, OPT_KEYS);
    cli_exclude(s, OPT_WINDOW, OPT_KIND);
    umbel_filter *f = open_state(s);
    umbel_info info;
    umbel_describe(f, &info);
    struct uniq u = {.s = s};
    /* A window is never full. */
    uint64_t capacity = info.kind == UMBEL_WINDOW ? 0 : info.capacity;
    u.watch = cli_adder_new(f, s->state ? s->state : "uniq", capacity, s);
    u.before = info.keys_added;
    if (!s->state) u.watch.warned = 80; /* a plan that is filled is what was wanted */
    u.hash_ahead = umbel_takes_hashes(f) && s->threads > 1;
    struct cli_feed feed = cli_feed_of(s, s->args, s->nargs);
    feed.treatment = cli_treatment_of(f, s);
    feed.eager = true;
    if (!s->quiet && !isatty(STDOUT_FILENO)) feed.doing = "uniq";
    feed.filling = f;
    feed.capacity = capacity;
    struct cli_job job = {hash_keys, pass_new, &u};
    uint64_t lines = cli_pipeline(&feed, &job);
    /* Lines first, memory second: a crash between the two prints lines again, but loses none. */
    if (u.out.used) cli_output_flush(&u.out);
    if (s->state) cli_filter_save(f, UMBEL_FMT_NATIVE, s->state);
    if (!s->quiet) summarise(&u, lines);
    free(u.out.buffer);
    free(u.watch.bulk);
    umbel_free(f);
    return CLI_YES;
}

const struct cli_command cli_command_uniq = {
    .name = "uniq",
    .summary = "drop repeated lines of a stream, in memory fixed beforehand",
    .synopsis = "[-n KEYS] [-p RATE | -m SIZE] [--state FILTER] [OPTION]... [FILE]...",
    .examples = "# Unlike sort -u it keeps the order and needs no second look\n"
                "umbel uniq -n 100M urls.txt > once.txt\n"
                "# A crawler that never asks twice, over many runs\n"
                "extract-links | umbel uniq -n 1e9 --state seen.umb > to-fetch.txt\n"
                "# The last million keys of a stream that never ends\n"
                "tail -F events.log | umbel uniq --window 1M -k 3\n"
                "# Only what came before\n"
                "umbel uniq -d -t , -k 1 orders.csv\n",
    .text =
        "Lines whose key is new are printed at once, repetitions are dropped. A new line is taken "
        "for an old one at the promised rate at most; how many that were is estimated at the end. "
        "Without -n the plan is for 10 million keys, without -p and -m for a rate of 0.1 %. When "
        "more "
        "keys come than planned there is a warning, with --strict an error. With --window there is "
        "no "
        "such limit: at least the last N keys are remembered.\n\n"
        "--state keeps the filter for the next run. It is replaced in one step after all lines are "
        "out: when a run breaks off, the next one prints its lines again, and none is lost.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
