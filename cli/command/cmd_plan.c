/* SPDX-License-Identifier: MIT
 *
 * cmd_plan.c - umbel plan: what is possible, before anything is built
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "command/command.h"
#include "filter/filter_file.h"
#include "report/plan_report.h"
#include "report/report.h"
#include "umbel_foreign.h"

static const uint8_t options[] = {
    OPT_KEYS,          OPT_FPR,          OPT_BYTES,     OPT_KIND,       OPT_PLOT,
    OPT_JSON,          OPT_HASHES,       OPT_NAMES,     OPT_HELP,       OPT_HEADING_FOREIGN,
    OPT_FORMAT,        OPT_BITS_PER_KEY, OPT_EXPANSION, OPT_NONSCALING, OPT_VARIANT,
    OPT_UNIVERSE_SIZE, OPT_END};

enum { KINDS_END = 32 };

static umbel_plan plan_of(const cli_settings *s, umbel_kind kind) {
    return (umbel_plan){.kind = kind,
                        .capacity = s->keys,
                        .fpr = s->fpr,
                        .bytes = s->bytes,
                        .hashes = s->hashes,
                        .universe = s->universe};
}

/* Every kind that answers the question, or the one given: a kind for a universe takes more than
 * others when there is none, and others cannot do without one. */
static void solve_all(const cli_settings *s, cli_plans *p) {
    umbel_kind only = s->kind;
    for (int k = 1; k < KINDS_END && p->count < CLI_PLANS_MAX; k++) {
        umbel_traits traits;
        if (!umbel_kind_traits((umbel_kind)k, &traits)) continue;
        if (only ? (umbel_kind)k != only : traits.universe != (s->universe != 0)) continue;
        cli_plan *at = &p->at[p->count++];
        at->plan = plan_of(s, (umbel_kind)k);
        at->possible = umbel_plan_solve(&at->plan, NULL) == UMBEL_OK;
        p->any_possible |= at->possible;
    }
    p->chosen.plan = plan_of(s, only);
    p->chosen.possible = umbel_plan_solve(&p->chosen.plan, NULL) == UMBEL_OK;
}

/* What another system would build for the same request, sized in its own way. */
static void solve_format(const cli_settings *s, cli_plans *p) {
    cli_filter_params params = cli_params_of(s);
    umbel_foreign foreign = cli_foreign_params(&params);
    umbel_diag diag = {0};
    cli_plan *at = &p->at[p->count++];
    umbel_err e = umbel_plan_foreign(&foreign, &at->plan, &diag);
    if (e) cli_die_err("plan", e, &diag, NULL);
    at->format = umbel_format_name(s->format);
    at->possible = true;
    p->any_possible = at->plan.verdict == UMBEL_PLAN_OK;
    p->chosen = *at;
}

static json_t *plan_json(const cli_plan *p) {
    json_t *o = json_object();
    const char *kind = umbel_kind_name(p->plan.kind);
    json_object_set_new(o, "kind", json_string(kind ? kind : "auto"));
    if (p->format) json_object_set_new(o, "format", json_string(p->format));
    json_object_set_new(o, "possible", json_boolean(p->possible));
    if (*p->plan.why) json_object_set_new(o, "why", json_string(p->plan.why));
    if (!p->possible) return o;
    json_object_set_new(o, "keys", cli_json_count(p->plan.capacity));
    json_object_set_new(o, "bytes", cli_json_count(p->plan.bytes));
    json_object_set_new(o, "hashes", json_integer(p->plan.hashes));
    json_object_set_new(o, "bits_per_key", cli_json_real(p->plan.bits_per_key));
    json_object_set_new(o, "fpr", cli_json_real(p->plan.rate));
    if (p->plan.caution) json_object_set_new(o, "caution", json_string(p->plan.caution));
    if (p->plan.rate_alike > 0) {
        json_object_set_new(o, "fpr_alike", cli_json_real(p->plan.rate_alike));
    }
    json_object_set_new(o, "bound", cli_json_real(p->plan.bound));
    return o;
}

static void print_json(const cli_settings *s, const cli_plans *p) {
    cli_report r = cli_report_begin(true);
    if (s->keys) cli_report_count(&r, NULL, "keys", s->keys);
    if (s->fpr > 0) cli_report_rate(&r, NULL, "fpr", s->fpr);
    if (s->bytes) cli_report_count(&r, NULL, "bytes", s->bytes);
    if (s->universe) cli_report_count(&r, NULL, "universe", s->universe);
    cli_report_flag(&r, NULL, "possible", p->any_possible);
    if (s->names && p->chosen.possible) {
        cli_report_rate(&r, NULL, "fpr_4_labels", cli_plan_name_rate(&p->chosen.plan, 4));
    }
    cli_report_json(&r, "chosen", plan_json(&p->chosen));
    json_t *kinds = json_array(), *curve = json_array();
    for (size_t i = 0; i < p->count; i++) json_array_append_new(kinds, plan_json(&p->at[i]));
    cli_report_json(&r, "kinds", kinds);
    for (int i = 0; i < CLI_CURVE && p->chosen.possible && !p->chosen.format; i++) {
        uint64_t keys = (uint64_t)(cli_curve[i] * (double)p->chosen.plan.capacity);
        json_t *point = json_object();
        json_object_set_new(point, "keys", cli_json_count(keys));
        json_object_set_new(point, "fpr", cli_json_real(umbel_plan_rate(&p->chosen.plan, keys)));
        json_array_append_new(curve, point);
    }
    cli_report_json(&r, "curve", curve);
    cli_report_end(&r);
}

static int run(const cli_settings *given) {
    cli_settings with_rate = *given;
    const cli_settings *s = &with_rate;
    cli_expect_args(s, 0, 0);
    cli_exclude(s, OPT_NAMES, OPT_FORMAT);
    bool foreign = s->format > UMBEL_FMT_NATIVE;
    bool alone = (s->keys != 0) != (s->bytes != 0);
    bool exact = s->universe && s->keys; /* then the rest follows */
    cli_exclude(s, OPT_UNIVERSE_SIZE, OPT_FORMAT);
    if (s->universe) cli_need_universe_kind(s->kind);
    if (!foreign && alone && !exact && !(s->fpr > 0)) with_rate.fpr = CLI_DEFAULT_FPR;
    if (!foreign && !exact && (s->keys != 0) + (s->fpr > 0) + (s->bytes != 0) < 2) {
        cli_die("plan", "as in umbel plan -n 2e9 -p 1%",
                "two of -n KEYS, -p RATE and -m SIZE are needed");
    }
    cli_plans p = {0};
    if (foreign) {
        solve_format(s, &p);
    } else {
        solve_all(s, &p);
    }
    if (s->json) {
        print_json(s, &p);
    } else {
        cli_plan_report_print(s, &p);
        bool plot = p.chosen.possible && !foreign && (s->plot || isatty(STDOUT_FILENO));
        if (plot) cli_plan_report_plot(&p.chosen.plan);
        cli_output_finish_stdio();
    }
    return p.any_possible ? CLI_YES : CLI_NO;
}

const cli_command cli_command_plan = {
    .name = "plan",
    .summary = "show what is possible: keys, false-positive rate, memory",
    .synopsis = "[-n KEYS] [-p RATE] [-m SIZE] [--kind KIND] [OPTION]...",
    .examples = "# What does a rate of 1% cost?\n"
                "umbel plan -n 2e9 -p 1%\n"
                "# What can 500 MiB do?\n"
                "umbel plan -n 2e9 -m 500MiB\n"
                "# How many keys does it hold?\n"
                "umbel plan -m 500MiB -p 1%\n"
                "# A block list: how often is a name wrong, which is asked with its parents?\n"
                "umbel plan -n 2.2M -p 1e-6 --domains\n"
                "# A list that is never wrong about 8 million good keys that are known\n"
                "umbel plan -n 117e3 --universe 8.16e6\n",
    .text =
        "Given two of keys, false-positive rate and memory, computes the third, for each kind "
        "of filter by its own exact model. Given all three, says whether they are possible "
        "together; given keys or memory alone, takes a rate of 1%, as build does. With --format, shows what another system would build and whether that "
        "keeps the rate.",
    .exits = "0 possible, 1 no kind can do it, 2 error",
    .options = options,
    .run = run,
};
