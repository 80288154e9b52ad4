/* SPDX-License-Identifier: MIT
 *
 * command.h - what main.c knows about a command
 *
 * Each command is a file, cmd_NAME.c, that defines cli_command_NAME; main.c lists them.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdio.h>

#include "options/options.h"
#include "report/error.h"

struct cli_command {
    const char *name;
    const char *summary;  /* one line, for lists */
    const char *synopsis; /* after the name */
    const char *examples; /* lines of shell, `# comment` above each */
    const char *text;     /* paragraphs, an empty line between them */
    const char *exits;    /* what the exit status means */
    const uint8_t *options;
    int (*run)(const cli_settings *s);
};

extern const cli_command cli_command_plan, cli_command_build, cli_command_add, cli_command_check,
    cli_command_uniq, cli_command_remove, cli_command_info, cli_command_verify, cli_command_merge,
    cli_command_intersect, cli_command_cmp, cli_command_fold, cli_command_convert,
    cli_command_table, cli_command_push, cli_command_bench;

/* The list in main.c, terminated by NULL. */
extern const cli_command *const cli_commands[];
const cli_command *cli_command_named(const char *name);

/* umbel itself as a command, for its help and its man page. */
extern const cli_command cli_umbel;

/* Pages generated from the tables: help.c, man_page.c, completion.c. */
void cli_help(const cli_command *c, FILE *to);
void cli_man_page(const cli_command *c, FILE *to);
bool cli_completion(const char *shell, FILE *to);

/* The help of an option and the names that it takes, in `out`. */
char *cli_option_help(const cli_option *o, char *out, size_t cap);

/* The values that an option takes, separated by `separator`: "" for a file, NULL for anything;
 * `room` has CLI_NAMES bytes. */
const char *cli_values_of(const cli_option *o, const char *separator, char *room);

/* Options shared by the commands that read lines or make filters.  Each group has its heading:
 * groups come after the options without one. */
#define CLI_LINE_OPTIONS                                                                      \
    OPT_HEADING_LINES, OPT_NULL, OPT_CRLF, OPT_SKIP_EMPTY, OPT_DELIMITER, OPT_FIELD, OPT_CSV, \
        OPT_HEADER, OPT_MISSING_EMPTY, OPT_TRIM, OPT_LOWER, OPT_UPPER, OPT_MAX_LINE
/* build lists the other parameters of formats among its own. */
#define CLI_FORMAT_OPTIONS                                                                \
    OPT_HEADING_FOREIGN, OPT_FORMAT, OPT_BITS_PER_KEY, OPT_INT, OPT_STRATEGY, OPT_FUNNEL, \
        OPT_TYPE, OPT_EXPANSION, OPT_NONSCALING, OPT_VARIANT
/* What a filter's bytes may not record but reading it needs. */
#define CLI_SHAPE_OPTIONS \
    OPT_KEYS, OPT_FPR, OPT_HASHES, OPT_SEED, OPT_BITS_PER_KEY, OPT_INT, OPT_VARIANT
#define CLI_FORMAT_PARAMETERS OPT_HEADING_FOREIGN, OPT_FORMAT, CLI_SHAPE_OPTIONS
#define CLI_TYPE_OPTIONS OPT_TYPE, OPT_FUNNEL

#define CLI_EXITS_DONE "0 done, 2 error"

#endif
