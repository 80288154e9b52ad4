/* SPDX-License-Identifier: MIT
 *
 * cmd_cmp.c - umbel cmp: how two filters relate
 */
#include <math.h>

#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "report/report.h"
#include "umbel_text.h"

static const uint8_t options[] = {
    OPT_QUIET, OPT_JSON, OPT_SECRET_FILE, OPT_MAX_MEMORY, OPT_HELP, CLI_FORMAT_PARAMETERS, OPT_END};

typedef struct relation {
    const char *word;
    double a, b, both, either, noise; /* keys, estimated */
} relation;

static void need(const char *name, umbel_err e, const umbel_diag *diag) {
    if (!e) return;
    cli_die_err(name, e, diag,
                e == UMBEL_EMISMATCH
                    ? "only filters with the same layout, size and seed can be compared"
                    : NULL);
}

/* Three standard deviations of an estimate from m bits (linear counting: n keys of k bits each,
 * load t = kn/m). */
static double noise_of(const umbel_info *i, double keys) {
    double m = (double)i->bits, k = i->hashes ? (double)i->hashes : 1;
    double t = k * keys / m;
    return 3 * sqrt(m * (exp(t) - t - 1)) / k;
}

static relation compare(const char *const *names, const umbel_filter *a, const umbel_filter *b) {
    umbel_diag diag = {0};
    umbel_info info;
    umbel_measurement x, y, u;
    bool a_in_b = false, b_in_a = false;
    umbel_err e = umbel_is_subset(a, b, &a_in_b, &diag);
    need(names[umbel_damage(a, NULL) ? 0 : 1], e, &diag);
    need(names[1], umbel_is_subset(b, a, &b_in_a, &diag), &diag);
    umbel_filter *both = NULL;
    need(names[0], umbel_copy(a, &both, &diag), &diag);
    need(names[1], umbel_merge(both, b, &diag), &diag);
    umbel_measure(a, &x);
    umbel_measure(b, &y);
    umbel_measure(both, &u);
    umbel_describe(both, &info);
    umbel_free(both);
    relation r = {.a = x.keys, .b = y.keys, .either = u.keys};
    /* What is certain comes before what was estimated. */
    if (a_in_b && b_in_a) r.b = r.a;
    if (a_in_b) r.either = r.b;
    if (b_in_a) r.either = r.a;
    r.both = fmax(0, r.a + r.b - r.either);
    r.noise = noise_of(&info, u.keys);
    r.word = a_in_b && b_in_a    ? "equal"
             : a_in_b            ? "subset"
             : b_in_a            ? "superset"
             : r.both <= r.noise ? "disjoint"
                                 : "overlapping";
    return r;
}

static void report_keys(cli_report *r, const char *label, const char *name, double keys) {
    char text[UMBEL_QUANTITY];
    cli_report_text(r, label, NULL,
                    isfinite(keys) ? umbel_count_text((uint64_t)llround(keys), text) : "unknown");
    cli_report_json(r, name, cli_json_real(keys));
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 2, 2);
    const char *const names[] = {s->args[0], s->args[1]};
    umbel_filter *a = cli_filter_open(names[0], s), *b = cli_filter_open(names[1], s);
    cli_need_same_keys(a, b, names[1]);
    relation rel = compare(names, a, b);
    cli_report r = cli_report_begin(s->json);
    r.silent = s->quiet;
    cli_report_text(&r, "relation", "relation", rel.word);
    report_keys(&r, "keys in the first", "keys_a", rel.a);
    report_keys(&r, "in the second", "keys_b", rel.b);
    report_keys(&r, "in both", "keys_both", rel.both);
    report_keys(&r, "in either", "keys_either", rel.either);
    report_keys(&r, "plus or minus", "keys_error", rel.noise);
    cli_report_real(&r, "similarity", "jaccard", rel.either > 0 ? rel.both / rel.either : 1, 4);
    cli_report_end(&r);
    bool equal = umbel_equal(a, b); /* compare has checked both */
    umbel_free(a);
    umbel_free(b);
    return equal ? CLI_YES : CLI_NO;
}

const cli_command cli_command_cmp = {
    .name = "cmp",
    .summary = "show how two filters relate and how similar they are",
    .synopsis = "FILTER FILTER [OPTION]...",
    .examples = "umbel cmp monday.umb tuesday.umb\n",
    .text = "Prints equal, subset (the first has only keys of the second), superset, overlapping "
            "or disjoint. The numbers of keys and their Jaccard similarity (keys in both divided "
            "by keys in either) are estimated from the bits; disjoint means that the "
            "estimated overlap is within the error.",
    .exits = "0 equal, 1 different, 2 error",
    .options = options,
    .run = run,
};
