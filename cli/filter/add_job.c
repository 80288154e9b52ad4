/* SPDX-License-Identifier: MIT
 *
 * add_job.c - a pipeline job that adds every key to a filter and warns when the plan is exceeded
 */
#include "filter/add_job.h"

#include <math.h>

#include "options/quantity.h"
#include "report/error.h"
#include "report/report.h"

cli_add_job cli_add_job_new(umbel_filter *f, const char *name, const cli_settings *s) {
    cli_add_job a = {.filter = f, .name = name};
    umbel_info info;
    umbel_describe(f, &info);
    /* Filters that grow or forget have no plan to exceed. */
    if (!info.grows && info.kind != UMBEL_KIND_WINDOW) a.capacity = info.capacity;
    a.strict = s->strict;
    a.keys_before = info.keys_added;
    a.warn_early = true;
    a.quiet = s->quiet;
    a.limit = s->max_memory;
    a.hash_ahead = umbel_takes_hashes(f) && s->threads > 1;
    return a;
}

void cli_add_job_check_error(const cli_add_job *a, umbel_err e) {
    if (!e) return;
    umbel_info info;
    umbel_describe(a->filter, &info);
    if ((e == UMBEL_EFULL || e == UMBEL_ELIMIT) && a->limit) {
        char now[CLI_QUANTITY];
        cli_die(a->name, "-n KEYS, a plan for all keys, uses the least memory",
                "has to grow from %s to more than --max-memory allows",
                cli_size_text(info.bytes, now));
    }
    cli_die_err(a->name, e, NULL,
                e == UMBEL_EFROZEN ? "static filters cannot change: build it again" : NULL);
}

void cli_add_job_check_capacity(cli_add_job *a) {
    if (!a->capacity) return;
    uint64_t keys = cli_keys_added(a->filter);
    char plan[CLI_QUANTITY];
    if (keys > a->capacity && a->strict) {
        cli_die(a->name, "nothing was saved; --keys plans for more",
                "more keys than the %s planned", cli_count_text(a->capacity, plan));
    }
    if (a->quiet || keys <= a->capacity || a->warned) return;
    a->warned = true;
    cli_warn(a->name,
             "warning: more keys than the %s planned; the false-positive rate exceeds the promise",
             cli_count_text(a->capacity, plan));
}

/* Once, by the run that passes 80%. */
static void warn_of_little_room(const cli_add_job *a) {
    uint64_t keys = cli_keys_added(a->filter), most = a->capacity - a->capacity / 5;
    char in[CLI_QUANTITY], plan[CLI_QUANTITY];
    if (!a->capacity || a->quiet || !a->warn_early) return;
    if (a->keys_before >= most || keys < most || keys > a->capacity) return;
    double percent = floor(1000 * (double)keys / (double)a->capacity) / 10;
    cli_warn(a->name, "warning: %.*f%% of the plan is used up: %s of %s",
             percent == floor(percent) ? 0 : 1, percent, cli_count_text(keys, in),
             cli_count_noun(a->capacity, "key", plan));
}

static void hash_keys(void *ctx, cli_batch *b) {
    const cli_add_job *a = ctx;
    umbel_hash_many(a->filter, b->keys, b->lines, b->hashes, NULL);
}

static void add_keys(void *ctx, cli_batch *b) {
    cli_add_job *a = ctx;
    umbel_err e = a->hash_ahead ? umbel_add_hashes(a->filter, b->hashes, b->lines, NULL, NULL, NULL)
                                : umbel_add_many(a->filter, b->keys, b->lines, NULL, NULL, NULL);
    cli_add_job_check_error(a, e);
    cli_add_job_check_capacity(a);
}

cli_job cli_add_job_callbacks(cli_add_job *a) {
    return (cli_job){a->hash_ahead ? hash_keys : NULL, add_keys, a};
}

void cli_add_job_finish(cli_add_job *a) {
    cli_add_job_check_capacity(a);
    warn_of_little_room(a);
}
