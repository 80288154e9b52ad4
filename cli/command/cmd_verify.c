/* SPDX-License-Identifier: MIT
 *
 * cmd_verify.c - umbel verify: checksums, keys that must be present, the false-positive rate
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/tally.h"
#include "command/command.h"
#include "filter/filter_bytes.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/filter_state.h"
#include "filter/lookup.h"
#include "filter/signed_file.h"
#include "report/report.h"
#include "umbel_delta.h"

static const uint8_t options[] = {
    OPT_PRESENT,    OPT_ABSENT,  OPT_THREADS,    OPT_QUIET, OPT_JSON,         OPT_SECRET_FILE,
    OPT_MAX_MEMORY, OPT_TRUSTED, OPT_NOT_BEFORE, OPT_HELP,  CLI_LINE_OPTIONS, CLI_FORMAT_PARAMETERS,
    OPT_END};

typedef struct tally {
    const umbel_lookup *list;
    uint64_t hits, lines;
    int status;             /* of the lines that were read */
    char first_missing[81]; /* printable start of the first line that is missing */
} tally;

static void look_up(void *ctx, cli_batch *b) {
    const tally *t = ctx;
    (void)umbel_lookup_keys(t->list, b->keys, NULL, b->lines, NULL, b->hits, NULL, NULL);
}

static void keep_missing(tally *t, const cli_batch *b, size_t i) {
    size_t len = b->ends[i] - b->starts[i], n = 0;
    for (; n < len && n + 1 < sizeof t->first_missing; n++) {
        uint8_t c = b->text[b->starts[i] + n];
        t->first_missing[n] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    t->first_missing[n] = '\0';
}

static void count(void *ctx, cli_batch *b) {
    tally *t = ctx;
    uint64_t hits = 0;
    for (size_t i = 0; i < b->lines; i++) hits += b->hits[i];
    if (hits < b->lines && t->hits == t->lines) {
        keep_missing(t, b, (size_t)((uint8_t *)memchr(b->hits, 0, b->lines) - b->hits));
    }
    t->hits += hits;
    t->lines += b->lines;
}

/* The filter and the deltas beside it, asked about keys alone, not about their parents. */
static umbel_lookup *list_of(const cli_settings *s, const umbel_filter *f) {
    umbel_lookup *list = NULL;
    umbel_diag diag;
    umbel_err e = cli_list_lookup(f, s->args[0], "line", cli_guard_of(s), &list, &diag);
    if (e) cli_die_err(s->args[0], e, &diag, "the deltas beside it");
    return list;
}

static tally look_up_file(const cli_settings *s, const umbel_lookup *list, const char *path) {
    const umbel_filter *f = umbel_lookup_filter(list);
    umbel_recipe *recipe = cli_recipe_of(f, s->args[0], s);
    cli_feed feed = cli_feed_of(s, &path, 1, &recipe);
    feed.activity = s->quiet ? NULL : "verifying";
    tally t = {.list = list};
    cli_job job = {look_up, count, &t};
    cli_lines read = cli_pipeline(&feed, &job);
    t.status = cli_misfits_status(&read, recipe, "skipped", CLI_YES);
    umbel_recipe_free(recipe);
    return t;
}

static int check_present(cli_report *r, const cli_settings *s, const umbel_lookup *list) {
    tally t = look_up_file(s, list, s->present);
    char text[160], keys[UMBEL_QUANTITY], missing[UMBEL_QUANTITY];
    if (t.hits == t.lines) {
        snprintf(text, sizeof text, "%s, none missing", cli_count_noun(t.lines, "key", keys));
    } else {
        snprintf(text, sizeof text, "%s of %s missing; the first is %s",
                 umbel_count_text(t.lines - t.hits, missing), cli_count_noun(t.lines, "key", keys),
                 t.first_missing);
    }
    cli_report_text(r, "present", NULL, text);
    cli_report_count(r, NULL, "present", t.lines);
    cli_report_count(r, NULL, "missing", t.lines - t.hits);
    return t.hits == t.lines ? t.status : CLI_NO;
}

/* Three standard deviations: a filter that keeps its promise fails at most once in 740
 * measurements, and usually far less often. */
static int check_absent(cli_report *r, const cli_settings *s, const umbel_lookup *list) {
    cli_state state = cli_state_of(umbel_lookup_filter(list));
    umbel_delta_info deltas;
    umbel_lookup_deltas(list, &deltas);
    const umbel_info *info = &state.info;
    bool overfull = state.health.overfull;
    tally t = look_up_file(s, list, s->absent);
    double rate = t.lines ? (double)t.hits / (double)t.lines : 0;
    cli_interval likely = cli_wilson(t.hits, t.lines, 1.96);
    char text[160], hits[UMBEL_QUANTITY], keys[UMBEL_QUANTITY], measured[UMBEL_QUANTITY];
    char low[UMBEL_QUANTITY], high[UMBEL_QUANTITY];
    snprintf(text, sizeof text, "%s of %s found", umbel_count_text(t.hits, hits),
             cli_count_noun(t.lines, "key", keys));
    cli_report_text(r, "absent", NULL, text);
    snprintf(text, sizeof text, "%s (95%% confidence: %s to %s)", umbel_rate_text(rate, measured),
             umbel_rate_text(likely.low, low), umbel_rate_text(likely.high, high));
    cli_report_text(r, "rate measured", NULL, text);
    cli_report_rate_now(r, "rate expected", &state.health);
    cli_report_count(r, NULL, "absent", t.lines);
    cli_report_count(r, NULL, "false_positives", t.hits);
    cli_report_json(r, "fpr_measured", cli_json_real(rate));
    cli_report_json(r, "fpr_low", cli_json_real(likely.low));
    cli_report_json(r, "fpr_high", cli_json_real(likely.high));
    if (!(info->fpr > 0)) return t.status;
    cli_report_rate(r, "rate promised", "fpr", info->fpr + deltas.fpr);
    /* Another system's sizing may give a higher rate than was asked for. */
    bool foreign = info->format != UMBEL_FMT_NATIVE;
    double limit = foreign && !overfull ? fmax(info->fpr, state.now.rate) : info->fpr;
    bool kept = cli_wilson(t.hits, t.lines, 3).low <= limit + deltas.fpr;
    snprintf(text, sizeof text, "broken: the filter %s", cli_overfull_text(&state));
    cli_report_text(r, "promise", NULL,
                    kept && limit > info->fpr ? "kept as far as this format's sizing allows"
                    : kept                    ? "kept"
                    : overfull                ? text
                                              : "broken, or these keys were added");
    cli_report_flag(r, NULL, "promise_kept", kept);
    return kept ? t.status : CLI_NO;
}

static void report_signature(cli_report *r, const cli_signature *is) {
    char text[64], key[17], comment[sizeof is->comment];
    snprintf(key, sizeof key, "%016" PRIX64, is->key);
    snprintf(text, sizeof text, "OK, by key %s, number %" PRIu64, key, is->number);
    cli_report_text(r, "signature", NULL, text);
    cli_report_text(r, NULL, "signed_by", key);
    cli_report_count(r, NULL, "signed_number", is->number);
    cli_report_text(r, NULL, "signed_comment", is->comment);
    strcpy(comment, is->comment);
    for (char *tab = comment; (tab = strchr(tab, '\t')); tab++) *tab = ' ';
    cli_report_text(r, "trusted comment", NULL, comment);
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, 1);
    const char *path = s->args[0];
    bool summed;
    umbel_filter *f = cli_filter_verify(path, s, &summed);
    cli_signature signature = {0}; /* of the filter: those of deltas come after it */
    if (cli_guard_of(s)) signature = *cli_signature_last();
    umbel_lookup *list = f ? list_of(s, f) : NULL;
    umbel_delta_info deltas = {0};
    if (list) umbel_lookup_deltas(list, &deltas);
    cli_report r = cli_report_begin(s->json);
    r.silent = s->quiet;
    cli_report_text(&r, "file", "file", cli_filter_name(path));
    cli_report_text(&r, "checksums", NULL, summed ? "OK" : "none in this format");
    cli_report_flag(&r, NULL, "checksums", summed);
    cli_report_flag(&r, NULL, "whole", true);
    if (deltas.number) cli_report_count(&r, "deltas", NULL, deltas.number);
    if (cli_guard_of(s)) report_signature(&r, &signature);
    int present = s->present ? check_present(&r, s, list) : CLI_YES;
    int absent = s->absent ? check_absent(&r, s, list) : CLI_YES;
    cli_report_end(&r);
    umbel_lookup_free(list);
    umbel_free(f);
    return present == CLI_NO || absent == CLI_NO ? CLI_NO : present ? present : absent;
}

const cli_command cli_command_verify = {
    .name = "verify",
    .summary = "check a filter's checksums, its keys and its false-positive rate",
    .synopsis = "FILTER [--present FILE] [--absent FILE] [--key KEY] [OPTION]...",
    .examples = "# Is the file undamaged?\n"
                "umbel verify blocklist.umb\n"
                "# Is every key present, and how often is the answer wrong for others?\n"
                "umbel verify blocklist.umb --present urls.txt --absent other-urls.txt\n"
                "# Who made it?\n"
                "umbel verify --key list.pub blocklist.umb\n",
    .text =
        "FILTER may be - for standard input. Verifies every checksum, for which no secret is needed, and those of the deltas beside FILTER (umbel "
        "apply), for which it is; of a "
        "format that has none it proves no more than that it can be read, and says so. --present proves that there "
        "are no false negatives. --absent measures the false-positive rate with keys that "
        "were not added, gives the range in which the true rate lies, and says whether the "
        "promise is kept. All of this is about FILTER alone; umbel info reads the deltas beside it, and umbel "
        "check --key who signed them.\n\n"
        "Checksums are against accidents. --key proves who made the file, by the signature in FILTER.minisig "
        "(umbel sign, minisign), and shows its trusted comment; a file that is not signed by KEY is an error.",
    .exits = "0 all is well, 1 a key is missing or the promise is broken, 2 error (including "
             "damage), 3 some lines had no key",
    .options = options,
    .run = run,
};
