/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - umbel check: print the lines that may be in a filter
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/lookup.h"
#include "filter/mapped_guard.h"
#include "report/output.h"

static const uint8_t options[] = {
    OPT_INVERT,       OPT_COUNT,       OPT_QUIET_MATCH,       OPT_ALSO,
    OPT_ANNOTATE,     OPT_SECRET_FILE, CLI_FORMAT_PARAMETERS, CLI_TYPE_OPTIONS,
    CLI_LINE_OPTIONS, OPT_THREADS,     OPT_MAX_MEMORY,        OPT_HELP,
    OPT_END};

typedef struct check_run {
    const cli_settings *s;
    cli_lookup lookup;
    cli_output out;
    uint64_t matches;
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

static void annotate(check_run *c, const cli_batch *b, size_t i) {
    bool first = true;
    for (size_t j = 0; j < c->lookup.count; j++) {
        bool in = c->lookup.count == 1 ? b->hits[i] : (b->hashes[i] >> j) & 1;
        if (!in) continue;
        const char *name = base_name(c->lookup.at[j].name);
        if (!first) cli_output_write(&c->out, ",", 1);
        cli_output_write(&c->out, name, strlen(name));
        first = false;
    }
    cli_output_write(&c->out, "\t", 1);
    cli_output_write(&c->out, b->text + b->starts[i], b->ends[i] + 1 - b->starts[i]);
}

static void show(void *ctx, cli_batch *b) {
    check_run *c = ctx;
    uint8_t want = !c->s->invert;
    if (b->lines == no_answer) end_without_answer(c);
    if (!c->s->count && !c->s->quiet && !c->s->annotate) {
        c->matches += cli_output_lines(&c->out, b, want);
        return;
    }
    for (size_t i = 0; i < b->lines; i++) {
        if (b->hits[i] != want) continue;
        c->matches++;
        if (c->s->quiet) _exit(CLI_YES); /* at once: other threads may be waiting for a slow pipe */
        if (c->s->annotate) annotate(c, b, i);
    }
    if (b->idle) cli_output_flush(&c->out);
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    cli_exclude(s, OPT_COUNT, OPT_QUIET_MATCH);
    cli_exclude(s, OPT_ANNOTATE, OPT_INVERT);
    cli_exclude(s, OPT_ANNOTATE, OPT_COUNT);
    cli_exclude(s, OPT_ANNOTATE, OPT_QUIET_MATCH);
    if (!s->count && !s->quiet) cli_refuse_as_input("-", s->args + 1, s->nargs - 1);
    check_run c = {.s = s};
    bool any_keyed = !s->secret_file;
    cli_feed feed = cli_feed_of(s, s->args + 1, s->nargs - 1);
    for (size_t i = 0; i <= s->also.count; i++) {
        const char *path = i ? s->also.at[i - 1] : s->args[0];
        bool keyed;
        cli_mapping_watch(path);
        umbel_filter *f = cli_filter_open_mixed(path, s, &keyed);
        any_keyed |= keyed;
        cli_key_rule t = cli_key_rule_of(f, s);
        if (i == 0) feed.key_rule = t;
        cli_lookup_add(&c.lookup, f, path, &t);
    }
    if (!any_keyed) cli_die("--secret-file", "leave it out", "none of the filters is keyed");
    feed.eager = true;
    if (!s->quiet && !isatty(STDOUT_FILENO)) feed.activity = "checking";
    cli_job job = {look_up, show, &c};
    cli_pipeline(&feed, &job);
    if (s->count) {
        char text[32];
        int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)c.matches);
        cli_output_write(&c.out, text, (size_t)n);
    }
    if (c.out.used) cli_output_flush(&c.out);
    cli_mappings_unchanged();
    free(c.out.buffer);
    cli_lookup_free(&c.lookup);
    return c.matches ? CLI_YES : CLI_NO;
}

const cli_command cli_command_check = {
    .name = "check",
    .summary = "print the lines that may be in a filter, or are certainly not",
    .synopsis = "FILTER [OPTION]... [FILE]...",
    .examples = "# Requests for blocked URLs\n"
                "umbel check blocklist.umb requests.txt\n"
                "# The URL is field 7 of a web server's log\n"
                "umbel check -k 7 blocklist.umb access.log.gz\n"
                "# Words that are in neither list\n"
                "umbel check -v --also names.umb words.umb text.txt\n"
                "# In a script\n"
                "if echo \"$order\" | umbel check -q orders.umb; then look_up \"$order\"; fi\n",
    .text =
        "Lines printed without -v may be in the filter; how often such an answer is wrong is "
        "the false-positive rate, shown by umbel info. Lines printed with -v are certainly "
        "not in it.\n\n"
        "Lines become keys in the same way as when the filter was built. A field given here "
        "replaces the recorded one, because the key may be elsewhere in these files; lines "
        "are always printed whole.\n\n"
        "If a filter's file is overwritten or truncated in place meanwhile, what was printed so "
        "far stands and the exit status is 2. umbel itself replaces files, which disturbs "
        "nobody.\n\n"
        "With --also, a line is selected if any of the filters has it. Keyed filters among "
        "them must have been built with the secret in --secret-file; the others ignore it.",
    .exits = "0 some line was selected, 1 none, 2 error",
    .options = options,
    .run = run,
};
