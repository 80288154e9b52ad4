/* SPDX-License-Identifier: MIT
 *
 * run_push.c - umbel push: a filter, or shards made of lines, into a server
 */
#include "base/error.h"
#include "options/programs.h"
#include "push/push.h"
#include "report/report.h"

/* Otherwise a message would quote the URL, with its password. */
static void refuse_misplaced_url(const cli_settings *s) {
    for (int i = 0; i < s->nargs; i++) {
        if (cli_is_url(s->args[i])) cli_die("push", "as in --redis URL", "a URL follows --redis");
    }
}

static int run(const cli_settings *s) {
    refuse_misplaced_url(s);
    if (!s->redis) cli_die("push", "as in --redis localhost:6379", "--redis is missing");
    if (!s->redis_key || !*s->redis_key) cli_die("push", "as in --key urls", "--key is missing");
    if (!s->shards) cli_expect_args(s, 1, 1);
#ifdef UMBEL_WITH_HIREDIS
    return s->shards ? cli_push_shards(s) : cli_push_file(s);
#else
    cli_die("push", "install libhiredis-dev and rebuild", "this umbel was built without hiredis");
#endif
}

int cli_run_push(const cli_settings *s) {
    return cli_report_run(run, s);
}
