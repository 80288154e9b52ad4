/* SPDX-License-Identifier: MIT
 *
 * cmd_check.c - umbel check: print the lines that may be in a filter
 */
#define _DEFAULT_SOURCE /* explicit_bzero */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ask.h"
#include "check/check_run.h"
#include "command/command.h"
#include "filter/filter_bytes.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/mapped_guard.h"
#include "filter/signed_file.h"
#include "lines/spool.h"
#include "options/recipe_options.h"

static const uint8_t options[] = {
    OPT_CHECK_KEY,     OPT_ASK,         OPT_INVERT,        OPT_COUNT,          OPT_QUIET_MATCH,
    OPT_FILES,         OPT_OTHER_FILES, OPT_MAX_COUNT,     OPT_ONLY_MATCHING,  OPT_LINE_NUMBER,
    OPT_WITH_FILENAME, OPT_MARK,        OPT_ALSO,          OPT_ANNOTATE,       OPT_JSON,
    OPT_JSON_LINES,    OPT_VERIFY_WITH, OPT_LINE_BUFFERED, OPT_FOLLOW_FILTER,  OPT_UNCHECKED,
    OPT_THREADS,       OPT_HELP,        OPT_SECRET_FILE,   OPT_SPOOL,          OPT_MAX_MEMORY,
    OPT_TRUSTED,       OPT_NOT_BEFORE,  CLI_LINE_OPTIONS,  CLI_CHECKED_FORMAT, OPT_END};

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

/* Records are split before any key is made. */
static void refuse_other_records(const char *path, const umbel_recipe *first,
                                 const umbel_recipe *other) {
    if (cli_recipe_same_records(first, other)) return;
    cli_die(path, "-k, --csv and --header replace what they say",
            "its recipe splits the input differently from that of the first filter: %s",
            umbel_recipe_text(other));
}

static void open_filters(cli_check *c, bool reads_lines) {
    const cli_settings *s = c->s;
    bool any_keyed = !s->secret;
    c->lookup.guard = cli_guard_of(s);
    for (size_t i = 0; i <= s->also.count; i++) {
        const char *path = i ? s->also.at[i - 1] : s->args[0];
        bool keyed;
        umbel_filter *f = cli_filter_open_mixed(path, s, &keyed);
        any_keyed |= keyed;
        umbel_recipe *recipe = cli_recipe_of(f, path, s);
        cli_lookup_add(&c->lookup, f, path, recipe);
        if (reads_lines) refuse_other_records(path, c->lookup.recipes[0], recipe);
    }
    if (!any_keyed) cli_die("--secret-file", "leave it out", "none of the filters is keyed");
}

/* FILE is read by the filter's own recipe: it has the form of what the filter was built from. */
static int read_exact(cli_check *c, cli_exact *exact, cli_feed *feed) {
    const char *file = c->s->verify_with;
    umbel_filter *f = c->lookup.at[0].filter;
    umbel_info info;
    umbel_describe(f, &info);
    cli_feed_spool(feed, c->s->tmp); /* it is read twice */
    umbel_recipe *recipe = info.format == UMBEL_FMT_NATIVE ? cli_recipe_stored(f, c->s->args[0])
                                                           : cli_recipe_of(f, file, c->s);
    int status = cli_exact_read(exact, c->s, &c->lookup, *feed, file, recipe);
    umbel_recipe_free(recipe);
    return status;
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    bool asks = s->mode[GROUP_INPUT] == INPUT_ASKED;
    cli_mode shows = s->mode[GROUP_SHOW];
    if (asks && s->nargs > 1) cli_die("--ask", NULL, "looks up one key, not a FILE of lines");
    bool failed = false, reads_lines = s->nargs > 1 || (!s->given_keys.count && !asks);
    refuse_two_uses_of_stdin(s, reads_lines);
    if (cli_check_prints(s)) cli_refuse_as_input("-", s->args + 1, s->nargs - 1);
    cli_check c = {.s = s,
                   .show = shows,
                   .invert = s->invert,
                   .json = s->mode[GROUP_FORM] == FORM_JSON,
                   .per_file = cli_check_per_file(s)};
    cli_feed feed = cli_feed_of(s, s->args + 1, s->nargs - 1, c.lookup.recipes);
    feed.use = (umbel_recipe_use)(feed.use | UMBEL_USE_LOOKUP);
    c.feed = &feed;
    cli_exact exact = {0};
    cli_follow follow;
    open_filters(&c, reads_lines);
    feed.nrecipes = c.lookup.count;
    feed.eager = true;
    feed.failed = &failed;
    feed.skips_missing = false; /* -v prints them */
    feed.may_end = shows == SHOW_STATUS;
    feed.enough = &c.enough;
    if (shows != SHOW_STATUS && (!cli_check_prints(s) || !isatty(STDOUT_FILENO))) {
        feed.activity = "checking";
    }
    const char *typed =
        asks ? cli_ask("--ask", "Key (not shown): ", "-e KEY, or a FILE of lines") : NULL;
    const cli_text_list asked = {&typed, 1};
    if (typed) {
        feed.given = &asked;
        feed.given_name = "--ask";
    }
    int status = s->verify_with ? read_exact(&c, &exact, &feed) : CLI_YES;
    if (s->follow_filter) {
        cli_follow_init(&follow, s, &c.lookup);
        c.follow = &follow;
    }
    failed = false; /* the second reading would warn again */
    cli_job job = cli_check_job(&c);
    cli_lines read = cli_pipeline(&feed, &job);
    cli_check_end(&c, &read);
    if (typed) explicit_bzero((char *)(uintptr_t)typed, strlen(typed));
    free((char *)(uintptr_t)typed);
    cli_mappings_unchanged("answers may be wrong");
    if (c.header.mixed) status = CLI_INCOMPLETE;
    if (!status) status = c.matches ? CLI_YES : CLI_NO;
    status = cli_misfits_status(&read, c.lookup.recipes[0], "not looked up", status);
    cli_exact_free(&exact);
    cli_lookup_free(&c.lookup);
    free(feed.spooled);
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
                "# Is this password in a list of leaked ones?\n"
                "umbel check --ask leaked.umb\n"
                "# A filter from the web\n"
                "curl -s https://example.org/list.umb | umbel check - requests.txt\n"
                "# A column that says yes or no, for all lines\n"
                "umbel check --mark --csv -k email users.umb orders.csv > marked.csv\n"
                "# No false positives: candidates are compared with the list itself\n"
                "umbel check --verify-with urls.txt blocklist.umb requests.txt\n",
    .text =
        "Lines printed without -v may be in the filter; how often such an answer is wrong is "
        "the false-positive rate, shown by umbel info. Lines printed with -v are certainly "
        "not in it.\n\n"
        "FILTER may be - for standard input. A FILE that cannot be read is reported and "
        "skipped, and the exit status is 2. With -e and without FILE, no lines are read.\n\n"
        "With --ask a key is typed on the terminal, even if standard input is something else. It is "
        "neither shown nor stored: the answer is a line per filter, and the exit status.\n\n"
        "Lines become keys in the same way as when the filter was built. A field given here "
        "replaces the recorded one, because the key may be elsewhere in these files; lines "
        "are always printed whole, a header once. A line that does not have the field is in no "
        "filter: -v prints it, a warning says how many there were, and the exit status is 3.\n\n"
        "--line-number and -H print what grep -n -H prints: FILE:NUMBER:LINE. With -c, -H prints one count per FILE, "
        "FILE:COUNT; -c alone prints one for all. --mark prints all lines, with yes or no and the "
        "delimiter (-t, a comma with --csv, a tab otherwise) before each, and \"found\" before a "
        "header.\n\n"
        "--verify-with FILE makes the answers exact: candidates are collected first, then FILE is "
        "read for them, then the lines are read again. Memory grows with the number of distinct "
        "candidates; lines from a pipe are kept in a file (--tmp) in between.\n\n"
        "Output is written when the input pauses, so it works after tail -F. With "
        "--follow-filter, a FILTER that is replaced (by umbel build -f, by mv) is used from the "
        "next line on; one that cannot be read is reported, and the old one stays.\n\n"
        "With --key a FILTER is an error unless KEY has signed it (umbel sign); --follow-filter then refuses "
        "what is not signed, and a smaller number than that of the one in use. Such a file is read into "
        "memory, not mapped, so that what was signed is what answers.\n\n"
        "With --also, a line is selected if any of the filters has it. Keyed filters among "
        "them must have been built with the secret in --secret-file; the others ignore it.",
    .exits =
        "0 some line was selected, 1 none, 2 error, 3 some lines had no key (with -q, 0 as soon "
        "as a line was selected)",
    .prints_lines = true,
    .options = options,
    .run = run,
};
