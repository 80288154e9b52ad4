/* SPDX-License-Identifier: MIT
 *
 * add_job.c - a pipeline job that adds every key to a filter and warns when the plan is exceeded
 */
#include "filter/add_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options/quantity.h"
#include "report/error.h"
#include "report/report.h"

/* Given a million hashes the library sorts them by position before adding, which hides the
 * latency of memory once a filter is larger than the caches, and divides them among threads.
 * Eight bytes per key here and sixteen there stay within the 64 MiB that a command may use
 * besides its filter. */
enum { BULK = 1 << 20, BEYOND_CACHES = 32 << 20 };

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
    a.collect = umbel_takes_hashes(f) && info.bytes > BEYOND_CACHES;
    a.hash_ahead = a.collect || (umbel_takes_hashes(f) && s->threads > 1);
    if (a.collect) a.bulk = cli_alloc(BULK * sizeof *a.bulk);
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

static void add_bulk(cli_add_job *a) {
    cli_add_job_check_error(a, umbel_add_hashes(a->filter, a->bulk, a->bulk_len, NULL, NULL, NULL));
    a->bulk_len = 0;
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
    if (!a->hash_ahead) {
        cli_add_job_check_error(a, umbel_add_many(a->filter, b->keys, b->lines, NULL, NULL, NULL));
    } else if (!a->collect) {
        cli_add_job_check_error(a,
                                umbel_add_hashes(a->filter, b->hashes, b->lines, NULL, NULL, NULL));
    }
    for (size_t done = 0; a->collect && done < b->lines;) {
        size_t n = BULK - a->bulk_len < b->lines - done ? BULK - a->bulk_len : b->lines - done;
        memcpy(a->bulk + a->bulk_len, b->hashes + done, n * sizeof *a->bulk);
        a->bulk_len += n;
        done += n;
        if (a->bulk_len == BULK) add_bulk(a);
    }
    cli_add_job_check_capacity(a);
}

cli_job cli_add_job_callbacks(cli_add_job *a) {
    return (cli_job){a->hash_ahead ? hash_keys : NULL, add_keys, a};
}

void cli_add_job_finish(cli_add_job *a) {
    if (a->bulk_len) add_bulk(a);
    cli_add_job_check_capacity(a);
    warn_of_little_room(a);
    free(a->bulk);
    a->bulk = NULL;
}
