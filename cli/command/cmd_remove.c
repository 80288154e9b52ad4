/* SPDX-License-Identifier: MIT
 *
 * cmd_remove.c - umbel remove: remove lines from a counting filter
 */
#include "base/tally.h"
#include "command/command.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/update_lock.h"
#include "report/report.h"

static const uint8_t options[] = {OPT_GIVEN_KEY, OPT_SECRET_FILE,  OPT_QUIET,
                                  OPT_JSON,      OPT_LOCK_WAIT,    OPT_MAX_MEMORY,
                                  OPT_HELP,      CLI_LINE_OPTIONS, OPT_END};

typedef struct removal {
    umbel_filter *filter;
    const char *name;
    uint64_t absent;
} removal;

static void remove_keys(void *ctx, cli_batch *b) {
    removal *r = ctx;
    for (size_t i = 0; i < b->lines; i++) {
        umbel_err e = umbel_remove(r->filter, b->keys[i].data, b->keys[i].len, NULL);
        if (e == UMBEL_EABSENT) {
            r->absent++;
        } else if (e == UMBEL_ENOTSUP || e == UMBEL_EFROZEN) {
            cli_die(r->name, "build it with --kind counting",
                    "keys cannot be removed from this kind");
        } else if (e) {
            cli_die_err(r->name, e, NULL, NULL);
        }
    }
}

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    cli_refuse_as_input(s->args[0], s->args + 1, s->nargs - 1);
    cli_update_lock(s->args[0], s);
    removal r = {.filter = cli_filter_edit(s->args[0], s), .name = s->args[0]};
    umbel_recipe *recipe = cli_recipe_of(r.filter, r.name, s);
    cli_feed feed = cli_feed_of(s, s->args + 1, s->nargs - 1, &recipe);
    feed.activity = s->quiet ? NULL : "removing";
    cli_job job = {NULL, remove_keys, &r};
    cli_lines read = cli_pipeline(&feed, &job);
    cli_filter_save_edited(r.filter, UMBEL_FMT_NATIVE, s->args[0]);
    char absent[UMBEL_QUANTITY];
    if (r.absent) {
        cli_warn("keys_absent", s->args[0], "%s %s not in the filter",
                 cli_count_noun(r.absent, "key", absent), r.absent == 1 ? "was" : "were");
    }
    cli_summary(r.filter, s, &read);
    int status = cli_misfits_status(&read, recipe, "skipped", r.absent ? CLI_NO : CLI_YES);
    umbel_recipe_free(recipe);
    umbel_free(r.filter);
    return status;
}

const cli_command cli_command_remove = {
    .name = "remove",
    .summary = "remove lines from a counting filter",
    .synopsis = "FILTER [OPTION]... [-e KEY]... [FILE]...",
    .examples = "umbel build --kind counting -n 1M -o sessions.umb open.txt\n"
                "umbel remove sessions.umb closed.txt\n",
    .text =
        "Keys that are certainly not in the filter are skipped and counted. Remove only keys "
        "that were added, and only as often as they were added: removing a false positive "
        "takes away counts of other keys, which may then be missed.\n\n"
        "The file is replaced in one step at the end; after an error it is unchanged. Commands that "
        "change one file take turns: the second waits until the first has ended, and says so.",
    .exits = "0 all keys were in the filter, 1 some were not, 2 error, 3 some lines had no key",
    .options = options,
    .run = run,
};
