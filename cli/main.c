/* SPDX-License-Identifier: MIT
 *
 * main.c - the table of commands, and which of them runs
 */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "command/command.h"
#include "options/programs.h"
#include "pages/pages.h"
#include "report/report.h"

const cli_command *const cli_commands[] = {
    &cli_command_plan,   &cli_command_build,     &cli_command_check,   &cli_command_add,
    &cli_command_remove, &cli_command_uniq,      &cli_command_count,   &cli_command_diff,
    &cli_command_info,   &cli_command_verify,    &cli_command_merge,   &cli_command_cmp,
    &cli_command_fold,   &cli_command_intersect, &cli_command_convert, &cli_command_delta,
    &cli_command_apply,
#ifdef UMBEL_WITH_TABLE
    &cli_command_table,
#endif
    &cli_command_push,   &cli_command_serve,     &cli_command_sign,    NULL,
};

static const uint8_t umbel_options[] = {OPT_HELP, OPT_VERSION, OPT_END};

const cli_command cli_umbel = {
    .name = "umbel",
    .summary = "have I seen this key? Bloom filters for files and streams of lines",
    .synopsis = "COMMAND [OPTION]... [FILE]...",
    .examples = "# What would a blocklist of two billion URLs need?\n"
                "umbel plan -n 2e9 -p 1%\n"
                "# Build one, then check requests against it\n"
                "umbel build -p 0.1% -o blocklist.umb urls.txt\n"
                "umbel check blocklist.umb requests.log\n"
                "# Drop repeated lines from an endless stream, in a few bits per key\n"
                "crawler | umbel uniq -n 100M --state seen.umb > new-urls.txt\n",
    .text =
        "A Bloom filter answers \"have I seen this key?\" using a few bits per key. A \"no\" is "
        "certain; a \"yes\" may be wrong, at a false-positive rate that you choose when you "
        "build the filter.\n\n"
        "Keys are lines. Data goes to standard output, everything else to standard error. "
        "Input may be files or standard input, plain or compressed with gzip, zstd, bzip2, xz or lz4.",
    .exits = "0 yes or done, 1 no, 2 error, 3 done, but not for every line or not as promised",
    .options = umbel_options,
};

static const cli_command *command_named(const char *name) {
    for (const cli_command *const *c = cli_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0) return *c;
    }
    return NULL;
}

static _Noreturn void unknown_command(const char *name) {
    char hint[64] = "umbel --help lists them";
    cli_suggestion meant = {name, NULL, 0};
    for (const cli_command *const *c = cli_commands; *c; c++) cli_suggest(&meant, (*c)->name);
    if (meant.best) snprintf(hint, sizeof hint, "did you mean '%.20s'?", meant.best);
    const char *known = cli_hint_for(NULL, name);
    cli_die(NULL, known ? known : hint, "unknown command '%s'", name);
}

static const cli_command *need_command(const char *name) {
    const cli_command *c = command_named(name);
    if (!c) unknown_command(name);
    return c;
}

/* help [TOPIC | COMMAND [--all]]; for packaging, help --man [COMMAND] and --completion SHELL. */
static int help(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : NULL;
    bool man = what && strcmp(what, "--man") == 0;
    if (what && strcmp(what, "--completion") == 0) {
        if (argc < 3 || !cli_completion(argv[2], stdout)) {
            cli_die("help", "bash, zsh or fish", "unknown shell");
        }
    } else if (!what || !cli_help_topic(what, stdout)) {
        const char *name = man ? (argc > 2 ? argv[2] : NULL) : what;
        const cli_command *c =
            !name || strcmp(name, "umbel") == 0 ? &cli_umbel : need_command(name);
        bool all = argc > 2 && strcmp(argv[2], "--all") == 0;
        (man ? cli_man_page : all ? cli_help_all : cli_help)(c, stdout);
    }
    cli_output_finish_stdio();
    return CLI_YES;
}

static int run(const cli_settings *s) {
    return cli_report_run(s->command->run, s);
}

int main(int argc, char **argv) {
    cli_begin();
    if (argc < 2) {
        cli_help(&cli_umbel, stderr);
        return CLI_ERROR;
    }
    if (strcmp(argv[1], "help") == 0) return help(argc - 1, argv + 1);
    bool top = argv[1][0] == '-'; /* umbel's own options */
    const cli_command *c = top ? &cli_umbel : need_command(argv[1]);
    cli_settings s;
    int status = CLI_YES;
    cli_parse(c, top ? 2 : argc - 1, top ? argv : argv + 1, &s);
    if (s.version) {
        printf("umbel %s\n", umbel_version());
        cli_output_finish_stdio();
    } else if (s.help || top) {
        cli_help(c, stdout);
        cli_output_finish_stdio();
    } else if (c->run) {
        status = cli_run(run, &s);
    } else {
        cli_become(c->name, argv + 1);
    }
    cli_settings_free(&s);
    return status;
}
