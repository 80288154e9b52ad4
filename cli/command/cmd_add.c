/* SPDX-License-Identifier: MIT
 *
 * cmd_add.c - umbel add: add lines to a filter
 */
#include "command/command.h"
#include "filter/add_job.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/update_lock.h"
#include "report/report.h"

static const uint8_t options[] = {
    OPT_GIVEN_KEY, OPT_STRICT,       OPT_SECRET_FILE,       OPT_THREADS,
    OPT_QUIET,     OPT_JSON,         OPT_LOCK_WAIT,         OPT_MAX_MEMORY,
    OPT_HELP,      CLI_LINE_OPTIONS, CLI_FORMAT_PARAMETERS, OPT_END};

static int run(const cli_settings *s) {
    cli_expect_args(s, 1, -1);
    const char *path = s->args[0];
    cli_refuse_as_input(path, s->args + 1, s->nargs - 1);
    cli_update_lock(path, s);
    umbel_filter *f = cli_filter_edit(path, s);
    umbel_recipe *recipe = cli_recipe_of(f, path, s);
    cli_feed feed = cli_feed_of(s, s->args + 1, s->nargs - 1, &recipe);
    umbel_info info;
    umbel_describe(f, &info);
    cli_add_job adding = cli_add_job_new(f, path, s);
    cli_job job = cli_add_job_callbacks(&adding);
    feed.activity = s->quiet ? NULL : "adding";
    feed.filling = f;
    feed.capacity = adding.capacity;
    cli_lines read = cli_pipeline(&feed, &job);
    int status = cli_add_job_finish(&adding);
    cli_filter_save_edited(f, info.format, path);
    cli_summary(f, s, &read);
    status = cli_misfits_status(&read, recipe, "skipped", status);
    umbel_recipe_free(recipe);
    umbel_free(f);
    return status;
}

const cli_command cli_command_add = {
    .name = "add",
    .summary = "add lines to a filter",
    .synopsis = "FILTER [OPTION]... [-e KEY]... [FILE]...",
    .examples = "umbel add blocklist.umb new-urls.txt\n"
                "# Fail rather than exceed the promised rate\n"
                "umbel add --strict blocklist.umb new-urls.txt\n",
    .text =
        "Lines become keys in the same way as when the filter was built. A warning is printed "
        "by the run that fills 80% of the plan and whenever the plan is exceeded; with --strict the filter "
        "is left unchanged instead of exceeding the plan.\n\n"
        "The file is replaced in one step at the end; after an error it is unchanged.",
    .exits = CLI_EXITS_LINES,
    .options = options,
    .run = run,
};
