/* SPDX-License-Identifier: MIT
 *
 * command.h - the commands, and the groups of options that they share
 *
 * Each command is a file, cmd_NAME.c, that defines cli_command_NAME; main.c lists them.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/error.h"
#include "options/options.h"

extern const cli_command cli_command_plan, cli_command_build, cli_command_add, cli_command_check,
    cli_command_uniq, cli_command_remove, cli_command_info, cli_command_verify, cli_command_merge,
    cli_command_intersect, cli_command_cmp, cli_command_fold, cli_command_convert,
    cli_command_table, cli_command_push, cli_command_serve, cli_command_count, cli_command_diff,
    cli_command_sign, cli_command_delta, cli_command_apply;

/* uniq -c and --top, which remember no keys in a filter: cmd_count.c. */
int cli_uniq_counts(const cli_settings *s);

/* Options shared by the commands that read lines or make filters.  Each group has its heading:
 * groups come after the options without one. */
#define CLI_LINE_OPTIONS                                                                 \
    OPT_HEADING_LINES, OPT_NULL, OPT_SKIP_EMPTY, OPT_DELIMITER, OPT_FIELD, OPT_JSON_KEY, \
        OPT_WORDS, OPT_TYPE, OPT_DIGESTS, OPT_RECIPE, OPT_MAX_LINE
#define CLI_FORMAT_OPTIONS \
    OPT_HEADING_FOREIGN, OPT_FORMAT, OPT_BITS_PER_KEY, OPT_EXPANSION, OPT_NONSCALING, OPT_VARIANT
/* What a filter's bytes may not record but reading it needs. */
#define CLI_SHAPE_OPTIONS OPT_FPR, OPT_HASHES, OPT_SEED, OPT_BITS_PER_KEY, OPT_VARIANT
#define CLI_FORMAT_PARAMETERS OPT_HEADING_FOREIGN, OPT_FORMAT, OPT_KEYS, CLI_SHAPE_OPTIONS
/* For check, where -n numbers lines. */
#define CLI_CHECKED_FORMAT OPT_HEADING_FOREIGN, OPT_FORMAT, OPT_SHAPE_KEYS, CLI_SHAPE_OPTIONS

#define CLI_EXITS_DONE "0 done, 2 error"
#define CLI_EXITS_KEPT "0 done, 2 error, 3 done, but the promised rate is exceeded"
#define CLI_EXITS_LINES \
    "0 done, 2 error, 3 done, but some lines had no key or the promised rate is exceeded"

#endif
