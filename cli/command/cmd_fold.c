/* SPDX-License-Identifier: MIT
 *
 * cmd_fold.c - umbel fold: shrink a filter that was built too large
 */
#include "command/command.h"
#include "filter/filter_file.h"
#include "make/good_keys.h"
#include "report/report.h"
#include "umbel_text.h"

static const uint8_t options[] = {OPT_OUTPUT,     OPT_FORCE, OPT_FOLD_FPR, OPT_SECRET_FILE,
                                  OPT_FORMAT,     OPT_QUIET, OPT_JSON,     OPT_LOCK_WAIT,
                                  OPT_MAX_MEMORY, OPT_HELP,  OPT_END};

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, 1);
    if (!(s->fpr > 0)) cli_die("fold", "as in -p 1%", "-p RATE is missing");
    cli_filter_claim_output(s);
    umbel_filter *f = cli_filter_load(s->args[0], s);
    umbel_diag diag = {0};
    umbel_info info;
    umbel_describe(f, &info);
    uint64_t before = info.bytes, exceptions = info.exceptions;
    umbel_err e = umbel_fold(f, s->fpr, &diag);
    if (e == UMBEL_EINVAL) {
        char rate[UMBEL_QUANTITY], hint[UMBEL_QUANTITY + 32];
        umbel_measurement now;
        umbel_measure(f, &now);
        snprintf(hint, sizeof hint, "its false-positive rate is %s",
                 umbel_rate_text(now.rate, rate));
        cli_die_err(s->args[0], e, &diag, hint);
    }
    if (e) cli_die_err(s->args[0], e, &diag, NULL);
    umbel_describe(f, &info);
    if (info.bytes == before) {
        cli_warn("not_smaller", s->args[0],
                 "cannot be made smaller: the next size would exceed the rate, or there is none");
    }
    cli_filter_save(f, info.format, s->output);
    cli_summary(f, s, NULL);
    int status = cli_good_keys_status(f, s->output, exceptions, CLI_YES);
    umbel_free(f);
    return status;
}

const cli_command cli_command_fold = {
    .name = "fold",
    .summary = "shrink a filter that was built too large",
    .synopsis = "-p RATE -o OUT FILTER [OPTION]...",
    .examples = "# Planned for 100 million keys, but only 9 million came\n"
                "umbel fold -p 1% -o small.umb large.umb\n",
    .text =
        "Divides the size of the filter by the largest whole number that divides it evenly and "
        "leaves its live false-positive rate at or below RATE. No key is lost, but exceptions "
        "(build --never) are, with a warning. With -f, OUT may be FILTER itself.\n\n"
        "The divisors are fixed when the filter is built: 2, 4, 8, 16, 32 and 64 are among them if "
        "it has at least 256 KiB (blocked) or 512 KiB (line). The result usually has at most 1.6 "
        "times the size that its keys need, but a size with only large divisors does not fold far. "
        "If the lines are still available, umbel build makes a filter of the right size instead.",
    .exits = "0 done, 2 error, 3 done, but exceptions were dropped",
    .options = options,
    .run = run,
};
