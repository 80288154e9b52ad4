/* SPDX-License-Identifier: MIT
 *
 * cmd_convert.c - umbel convert: the same bits in another file format
 */
#include <stdio.h>

#include "base/error.h"
#include "command/command.h"
#include "filter/filter_file.h"
#include "report/report.h"
#include "umbel_foreign.h"

static const uint8_t options[] = {OPT_OUTPUT,      OPT_FORCE,           OPT_FROM, OPT_TO,
                                  OPT_SECRET_FILE, OPT_QUIET,           OPT_JSON, OPT_MAX_MEMORY,
                                  OPT_HELP,        OPT_HEADING_FOREIGN, OPT_KEYS, CLI_SHAPE_OPTIONS,
                                  OPT_END};

/* The message names --to: neither file is to blame. */
static _Noreturn void refuse(const umbel_filter *f, umbel_format to) {
    umbel_diag diag = {0};
    char where[64];
    umbel_err e = umbel_encode(f, to, NULL, 0, &diag);
    snprintf(where, sizeof where, "--to %s", umbel_format_name(to));
    cli_die_err(where, e, &diag, NULL);
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, 1);
    cli_filter_claim_output(s);
    cli_settings in = *s;
    in.format = s->from;
    umbel_filter *f = cli_filter_load(s->args[0], &in);
    umbel_info info;
    umbel_describe(f, &info);
    umbel_format to = s->to ? s->to : info.format;
    if (!umbel_encoded_size(f, to)) refuse(f, to);
    cli_filter_save(f, to, s->output);
    cli_summary(f, s, NULL);
    umbel_free(f);
    return CLI_YES;
}

const cli_command cli_command_convert = {
    .name = "convert",
    .summary = "rewrite a filter's bits in another file format",
    .synopsis = "[--from FORMAT] [--to FORMAT] -o OUT IN [OPTION]...",
    .examples = "# Write a compressed DCSO filter as an uncompressed one\n"
                "umbel convert -o plain.bloom packed.bloom\n"
                "# The same in place\n"
                "umbel convert -f -o list.bloom list.bloom\n",
    .text =
        "Only the bytes around the bits change: a filter is written in its own format again, "
        "uncompressed, or in another with the same hash (leveldb and corekv). Other formats "
        "are refused, because bits cannot be hashed again: build such a filter from its keys.\n\n"
        "OUT may be IN itself, with -f: the file is replaced in one step, and after an error "
        "it is the old one.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
