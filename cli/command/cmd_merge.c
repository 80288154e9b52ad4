/* SPDX-License-Identifier: MIT
 *
 * cmd_merge.c - umbel merge and umbel intersect: combine several filters into one
 */
#include <string.h>

#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_state.h"
#include "make/good_keys.h"
#include "report/report.h"

static const uint8_t options[] = {
    OPT_OUTPUT,     OPT_FORCE, OPT_SECRET_FILE,       OPT_QUIET, OPT_JSON, OPT_LOCK_WAIT,
    OPT_MAX_MEMORY, OPT_HELP,  CLI_FORMAT_PARAMETERS, OPT_END};

typedef umbel_err combine(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);

static int combine_all(const cli_settings *s, combine *step) {
    cli_expect_args(s, 2, -1);
    cli_filter_claim_output(s);
    umbel_filter *into = cli_filter_load(s->args[0], s);
    umbel_info info;
    umbel_describe(into, &info);
    uint64_t exceptions = info.exceptions;
    for (int i = 1; i < s->nargs; i++) {
        umbel_filter *from = cli_filter_open(s->args[i], s);
        umbel_diag diag = {0};
        umbel_describe(from, &info);
        exceptions += info.exceptions;
        umbel_err e = step(into, from, &diag);
        if (e) {
            cli_die_err(s->args[i], e, &diag,
                        e != UMBEL_EMISMATCH ? NULL
                        : strcmp(diag.field, "recipe") == 0
                            ? "umbel info shows how"
                            : "only filters with the same layout, size and seed can be combined");
        }
        umbel_free(from);
    }
    umbel_describe(into, &info);
    cli_filter_save(into, info.format, s->output);
    cli_state state = cli_state_of(into);
    if (state.health.overfull) {
        cli_warn("plan_exceeded", s->output, "%s; umbel info shows the live rate",
                 cli_overfull_text(&state));
    }
    cli_summary(into, s, NULL);
    int status = state.health.overfull ? CLI_INCOMPLETE : CLI_YES;
    status = cli_good_keys_status(into, s->output, exceptions, status);
    umbel_free(into);
    return status;
}

static int run_merge(const cli_settings *s) {
    return combine_all(s, umbel_merge);
}

static int run_intersect(const cli_settings *s) {
    return combine_all(s, umbel_intersect);
}

const cli_command cli_command_merge = {
    .name = "merge",
    .summary = "combine several filters into one with the keys of all",
    .synopsis = "-o OUT FILTER FILTER... [OPTION]...",
    .examples = "umbel merge -o week.umb monday.umb tuesday.umb wednesday.umb\n",
    .text =
        "The filters must have the same kind, size, hash and seed: build them with the same "
        "-n, -p and --kind, planned for all keys together. Anything else is refused, because "
        "bits cannot be hashed again. Exceptions (build --never) are dropped, with a warning.\n\n"
        "With -f, OUT may be one of the filters. Commands that change one file take turns: the "
        "second waits until the first has ended, and says so.",
    .exits = CLI_EXITS_KEPT,
    .options = options,
    .run = run_merge,
};

const cli_command cli_command_intersect = {
    .name = "intersect",
    .summary = "combine several filters into one with the keys they share",
    .synopsis = "-o OUT FILTER FILTER... [OPTION]...",
    .examples = "umbel intersect -o both.umb monday.umb tuesday.umb\n",
    .text = "Every common key stays in; the false-positive rate is at most that of the best of "
            "the filters. They must have the same kind, size, hash and seed.",
    .exits = CLI_EXITS_KEPT,
    .options = options,
    .run = run_intersect,
};
