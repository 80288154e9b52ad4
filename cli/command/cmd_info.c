/* SPDX-License-Identifier: MIT
 *
 * cmd_info.c - umbel info: what a filter is and how full it is
 */
#include "command/command.h"
#include "filter/filter_bytes.h"
#include "filter/filter_file.h"
#include "report/delta_report.h"

static const uint8_t options[] = {OPT_JSON, OPT_SECRET_FILE,       OPT_MAX_MEMORY,
                                  OPT_HELP, CLI_FORMAT_PARAMETERS, OPT_END};

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    for (int i = 0; i < s->nargs; i++) {
        /* Every figure is computed from all bits, so damaged ones would falsify it. */
        umbel_filter *f = cli_filter_open_verified(s->args[i], s);
        cli_report r = cli_report_begin(s->json);
        if (i && !s->json) putchar('\n');
        cli_report_text(&r, "file", "file", cli_filter_name(s->args[i]));
        cli_describe(&r, f);
        cli_describe_deltas(&r, f, s->args[i]);
        cli_report_end(&r);
        umbel_free(f);
        if (i + 1 < s->nargs) cli_report_next();
    }
    return CLI_YES;
}

const cli_command cli_command_info = {
    .name = "info",
    .summary = "show what a filter is, how full it is and its live rate",
    .synopsis = "FILTER... [OPTION]...",
    .examples = "umbel info blocklist.umb\n"
                "# For programs\n"
                "umbel info --json blocklist.umb | jq .fpr_now\n",
    .text =
        "The live false-positive rate (\"rate now\") is computed from the bits that are set, so "
        "it holds whatever was promised. For small filters of some formats hashes are tried; where "
        "none of them is found, only a bound is known: \"below 0.002%\" (\"fpr_below\" in JSON). "
        "\"keys\" are the distinct keys in the filter, as well as can be known: counted, or "
        "estimated after a merge and in formats that store no count. "
        "\"room left\" is what remains of the plan. \"rate of like keys\" appears where the hash of "
        "a format (dcso) hardly tells keys of one form apart, and keys like those in the filter "
        "are found more than ten times as often as promised.\n\n"
        "FILTER may be - for standard input. With --json there is one object per filter.",
    .exits = CLI_EXITS_DONE,
    .options = options,
    .run = run,
};
