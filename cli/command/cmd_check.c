/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - umbel check: print the lines that may be in a filter
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "filter/filter_bytes.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/lookup.h"
#include "filter/mapped_guard.h"
#include "lines/misfits.h"
#include "lines/selected_lines.h"
#include "options/recipe_options.h"
#include "report/report.h"

static const uint8_t options[] = {OPT_CHECK_KEY,         OPT_INVERT,     OPT_COUNT,
                                  OPT_QUIET_MATCH,       OPT_ALSO,       OPT_ANNOTATE,
                                  OPT_JSON_LINES,        OPT_THREADS,    OPT_HELP,
                                  OPT_SECRET_FILE,       OPT_MAX_MEMORY, CLI_LINE_OPTIONS,
                                  CLI_FORMAT_PARAMETERS, OPT_END};

typedef struct check_run {
    const cli_settings *s;
    cli_lookup lookup;
    cli_output out;
    uint64_t lines, matches;
    bool printed_header;
} check_run;

/* In place of a number of lines: they could not be looked up. */
static const size_t no_answer = SIZE_MAX;

typedef struct guarded_batch {
    const cli_lookup *lookup;
    cli_batch *batch;
} guarded_batch;

static void look_up_guarded(void *ctx) {
    const guarded_batch *g = ctx;
    cli_lookup_batch(g->lookup, g->batch);
}

static void look_up(void *ctx, cli_batch *b) {
    const check_run *c = ctx;
    guarded_batch g = {&c->lookup, b};
    if (!cli_guarded(look_up_guarded, &g)) b->lines = no_answer;
}

/* In its turn, so that all that was looked up before has been shown. */
static _Noreturn void end_without_answer(check_run *c) {
    if (c->out.used) cli_output_flush(&c->out);
    cli_die(c->s->args[0], "replace filters, do not overwrite them", "%sshrank while it was read",
            c->lookup.count > 1 ? "or one of --also " : "");
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether filter j has line i. */
static bool has_line(const check_run *c, const cli_batch *b, size_t i, size_t j) {
    return c->lookup.count == 1 ? b->hits[i] : (b->hashes[i] >> j) & 1;
}

static void annotate(check_run *c, const cli_batch *b, size_t i) {
    bool first = true;
    for (size_t j = 0; j < c->lookup.count; j++) {
        if (!has_line(c, b, i, j)) continue;
        const char *name = base_name(c->lookup.at[j].name);
        if (!first) cli_output_write(&c->out, ",", 1);
        cli_output_write(&c->out, name, strlen(name));
        first = false;
    }
    cli_output_write(&c->out, "\t", 1);
    cli_output_write(&c->out, b->text + b->starts[i], b->ends[i] + 1 - b->starts[i]);
}

static void print_json(check_run *c, const cli_batch *b, size_t i) {
    const char *line = (const char *)b->text + b->starts[i];
    json_t *names = json_array(), *o = json_object();
    for (size_t j = 0; j < c->lookup.count; j++) {
        if (has_line(c, b, i, j)) json_array_append_new(names, cli_json_text(c->lookup.at[j].name));
    }
    json_object_set_new(o, "line", cli_json_bytes(line, b->ends[i] - b->starts[i]));
    json_object_set_new(o, "filters", names);
    char *out = json_dumps(o, 0);
    if (!out) cli_die(NULL, NULL, "out of memory");
    cli_output_write(&c->out, out, strlen(out));
    cli_output_write(&c->out, "\n", 1);
    free(out);
    json_decref(o);
}

static void show(void *ctx, cli_batch *b) {
    check_run *c = ctx;
    uint8_t want = !c->s->invert;
    if (b->lines == no_answer) end_without_answer(c);
    if (!c->s->count && !c->s->quiet && !c->s->annotate && !c->s->json) {
        cli_output_header(&c->out, b, &c->printed_header);
        c->matches += cli_output_lines(&c->out, b, want);
        return;
    }
    for (size_t i = 0; i < b->lines; i++) {
        if (b->hits[i] != want) continue;
        c->matches++;
        if (c->s->quiet) _exit(CLI_YES); /* at once: other threads may be waiting for a slow pipe */
        if (c->s->annotate) annotate(c, b, i);
        if (c->s->json && !c->s->count) print_json(c, b, i);
    }
    if (b->idle) cli_output_flush(&c->out);
}

/* -e: the keys themselves, as one batch.  What is done to keys (--lower) is done to them, but
 * there is no line to take a field from. */
static cli_lines check_keys(check_run *c, uint8_t sep) {
    const cli_text_list *list = &c->s->check_keys;
    cli_batch b = {.lines = list->count, .recipes = c->lookup.recipes};
    size_t len = 0, room = 0;
    for (size_t i = 0; i < list->count; i++) len += strlen(list->at[i]) + 1;
    if (len > UINT32_MAX) cli_die("-e", NULL, "too long");
    uint8_t *text = cli_alloc(len), *next = text;
    b.text = text;
    b.block.len = len;
    b.starts = cli_alloc(b.lines * sizeof *b.starts);
    b.ends = cli_alloc(b.lines * sizeof *b.ends);
    b.keys = cli_alloc(b.lines * sizeof *b.keys);
    b.states = cli_alloc(b.lines);
    b.hashes = cli_alloc(b.lines * sizeof *b.hashes);
    b.hits = cli_alloc(b.lines);
    for (size_t i = 0; i < b.lines; i++) {
        size_t n = strlen(list->at[i]);
        b.starts[i] = (uint32_t)(next - text);
        b.ends[i] = b.starts[i] + (uint32_t)n;
        memcpy(next, list->at[i], n);
        next[n] = sep;
        next += n + 1;
    }
    c->lookup.use = UMBEL_USE_KEY;
    size_t found = cli_batch_keys(&b, c->lookup.recipes[0], UMBEL_USE_KEY, b.keys, b.states,
                                  &b.scratch, &room);
    cli_lookup_batch(&c->lookup, &b);
    show(c, &b);
    cli_lines read = {.count = b.lines, .malformed = {b.lines - found, "-e", 1}};
    for (size_t i = 0; i < b.lines && b.keys[i].data; i++) read.malformed.line = i + 2;
    free(text), free(b.starts), free(b.ends), free(b.keys), free(b.hashes), free(b.hits);
    free(b.scratch), free(b.states);
    return read;
}

/* Standard input is either lines or a filter. */
static void refuse_two_uses_of_stdin(const cli_settings *s, bool reads_lines) {
    bool filter = cli_is_stdin(s->args[0]), lines = reads_lines && s->nargs == 1;
    for (size_t i = 0; i < s->also.count; i++) filter |= cli_is_stdin(s->also.at[i]);
    for (int i = 1; i < s->nargs; i++) lines |= cli_is_stdin(s->args[i]);
    if (filter && lines) {
        cli_die("standard input", "give a FILE of lines, or -e KEY",
                "cannot be both the filter and the lines");
    }
}

static void print_counts(check_run *c) {
    char text[96];
    unsigned long long lines = c->lines, matches = c->matches;
    int n = c->s->json ? snprintf(text, sizeof text, "{\"lines\": %llu, \"selected\": %llu}\n",
                                  lines, matches)
                       : snprintf(text, sizeof text, "%llu\n", matches);
    cli_output_write(&c->out, text, (size_t)n);
}

/* What a record is must be known before the first key is made. */
static void refuse_other_records(const char *path, const umbel_recipe *first,
                                 const umbel_recipe *other) {
    if (cli_recipe_same_records(umbel_recipe_text(first), umbel_recipe_text(other))) return;
    cli_die(path, "-k, --csv and --header replace what they say",
            "its recipe reads other records than that of the first filter: %s",
            umbel_recipe_text(other));
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    cli_exclude(s, OPT_JSON_LINES, OPT_QUIET_MATCH);
    cli_exclude(s, OPT_JSON_LINES, OPT_ANNOTATE);
    cli_exclude(s, OPT_COUNT, OPT_QUIET_MATCH);
    cli_exclude(s, OPT_ANNOTATE, OPT_INVERT);
    cli_exclude(s, OPT_ANNOTATE, OPT_COUNT);
    cli_exclude(s, OPT_ANNOTATE, OPT_QUIET_MATCH);
    cli_exclude(s, OPT_CHECK_KEY, OPT_DIGESTS);
    bool failed = false, reads_lines = s->nargs > 1 || !s->check_keys.count;
    refuse_two_uses_of_stdin(s, reads_lines);
    if (!s->count && !s->quiet) cli_refuse_as_input("-", s->args + 1, s->nargs - 1);
    check_run c = {.s = s};
    bool any_keyed = !s->secret;
    cli_feed feed = cli_feed_of(s, s->args + 1, s->nargs - 1);
    for (size_t i = 0; i <= s->also.count; i++) {
        const char *path = i ? s->also.at[i - 1] : s->args[0];
        bool keyed;
        cli_mapping_watch(path);
        umbel_filter *f = cli_filter_open_mixed(path, s, &keyed);
        any_keyed |= keyed;
        umbel_recipe *recipe = cli_recipe_of(f, path, s);
        cli_lookup_add(&c.lookup, f, path, recipe);
        if (reads_lines) refuse_other_records(path, c.lookup.recipes[0], recipe);
    }
    if (!any_keyed) cli_die("--secret-file", "leave it out", "none of the filters is keyed");
    feed.recipes = c.lookup.recipes;
    feed.nrecipes = c.lookup.count;
    feed.eager = true;
    feed.failed = &failed;
    feed.skips_missing = false; /* -v prints them */
    if (!s->quiet && (s->count || !isatty(STDOUT_FILENO))) feed.activity = "checking";
    cli_job job = {look_up, show, &c};
    cli_lines keys = {0}, read = {0};
    if (s->check_keys.count) keys = check_keys(&c, feed.sep);
    c.lookup.use = feed.use;
    if (reads_lines) read = cli_pipeline(&feed, &job);
    c.lines = keys.count + read.count;
    if (s->count) print_counts(&c);
    if (c.out.used) cli_output_flush(&c.out);
    cli_mappings_unchanged("answers may be wrong");
    int status = c.matches ? CLI_YES : CLI_NO;
    status = cli_misfits_status(&keys, c.lookup.recipes[0], "not looked up", status);
    status = cli_misfits_status(&read, c.lookup.recipes[0], "not looked up", status);
    free(c.out.buffer);
    cli_lookup_free(&c.lookup);
    return failed ? CLI_ERROR : status;
}

const cli_command cli_command_check = {
    .name = "check",
    .summary = "print the lines that may be in a filter, or are certainly not",
    .synopsis = "FILTER [OPTION]... [-e KEY]... [FILE]...",
    .examples = "# Requests for blocked URLs\n"
                "umbel check blocklist.umb requests.txt\n"
                "# The URL is field 7 of a web server's log\n"
                "umbel check -k 7 blocklist.umb access.log.gz\n"
                "# Words that are in neither list\n"
                "umbel check -v --also names.umb words.umb text.txt\n"
                "# One key, in a script\n"
                "if umbel check -q orders.umb -e \"$order\"; then look_up \"$order\"; fi\n"
                "# A filter that is somewhere else\n"
                "curl -s https://example.org/list.umb | umbel check - requests.txt\n",
    .text =
        "Lines printed without -v may be in the filter; how often such an answer is wrong is "
        "the false-positive rate, shown by umbel info. Lines printed with -v are certainly "
        "not in it.\n\n"
        "FILTER may be - for standard input. A FILE that cannot be read is reported and "
        "skipped, and the exit status is 2. With -e and without FILE, no lines are read.\n\n"
        "Lines become keys in the same way as when the filter was built. A field given here "
        "replaces the recorded one, because the key may be elsewhere in these files; lines "
        "are always printed whole, a header once. A line that does not have the field is in no "
        "filter: -v prints it, a warning says how many there were, and the exit status is 3.\n\n"
        "With --also, a line is selected if any of the filters has it. Keyed filters among "
        "them must have been built with the secret in --secret-file; the others ignore it.",
    .exits =
        "0 some line was selected, 1 none, 2 error, 3 some lines had no key (with -q, 0 as soon "
        "as a line was selected)",
    .options = options,
    .run = run,
};
