/* SPDX-License-Identifier: MIT */
#include "filter/add_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/tally.h"
#include "filter/filter_state.h"
#include "options/filter_options.h"

/* A lower bound on the keys already in the filter: formats without a stored count report 0 even if
 * there are some. */
static double keys_before(const umbel_filter *f, const umbel_info *info) {
    umbel_measurement now;
    if (!info->keys_added && (info->format == UMBEL_FMT_NATIVE || umbel_is_empty(f))) return 0;
    umbel_measure(f, &now);
    return isfinite(now.keys) ? fmax(now.keys - 3 * now.keys_error, 0) : INFINITY;
}

cli_add_job cli_add_job_new(umbel_filter *f, const char *name, const cli_settings *s) {
    cli_add_job a = {.filter = f, .name = name};
    umbel_info info;
    umbel_describe(f, &info);
    /* Filters that grow or forget have no plan to exceed. */
    if (!info.grows && info.kind != UMBEL_KIND_WINDOW) a.capacity = info.capacity;
    a.strict = s->strict;
    a.adds_before = info.keys_added;
    a.warn_early = true;
    if (a.capacity) a.keys_before = keys_before(f, &info);
    a.limit = s->max_memory;
    a.hash_ahead = info.takes_hashes && s->threads > 1;
    return a;
}

void cli_add_job_check_error(const cli_add_job *a, umbel_err e) {
    if (!e) return;
    umbel_info info;
    umbel_describe(a->filter, &info);
    if ((e == UMBEL_EFULL || e == UMBEL_ELIMIT) && a->limit) {
        char now[UMBEL_QUANTITY];
        cli_die(a->name, "-n KEYS, a plan for all keys, uses the least memory",
                "has to grow from %s to more than --max-memory allows",
                umbel_size_text(info.bytes, now));
    }
    if (e == UMBEL_ELIMIT) {
        char now[UMBEL_QUANTITY];
        cli_die(a->name, "--max-memory SIZE allows it, if you trust the file",
                "would grow from %s to more than 64 times that", umbel_size_text(info.bytes, now));
    }
    if (e == UMBEL_EFROZEN) {
        cli_die(a->name, "build it again from all of its keys",
                "%s filters are built once and cannot be changed", umbel_kind_name(info.kind));
    }
    umbel_format_info format;
    if (e == UMBEL_EINVAL && umbel_format_describe(info.format, &format)) {
        cli_die(a->name,
                format.key_len ? "--type says what lines stand for"
                               : "--skip-empty leaves empty lines out",
                "a key's length does not fit the %s format", format.name);
    }
    umbel_diag diag = {0};
    (void)umbel_damage(a->filter, &diag);
    cli_die_err(a->name, e, &diag, NULL);
}

/* Errors or warnings: of too many keys while they are added; at the end, with the state that
 * they led to, also of a rate above the promise. */
static void exceed(cli_add_job *a, const cli_state *end) {
    char what[240], plan[UMBEL_QUANTITY], rate[UMBEL_QUANTITY], promised[UMBEL_QUANTITY];
    bool above = end && end->info.fpr > 0 && end->now.rate > end->info.fpr;
    if (above) {
        const char *state = cli_overfull_text(end);
        bool unlucky = strncmp(state, "exceeds", 7) == 0; /* with not one key too many */
        snprintf(what, sizeof what, "%s: the false-positive rate is %s, not %s%s", state,
                 umbel_rate_text(end->now.rate, rate), umbel_rate_text(end->info.fpr, promised),
                 unlucky ? "; by chance: another --seed or a slightly larger -n avoids it" : "");
    } else {
        snprintf(what, sizeof what, "more keys than the %s planned",
                 umbel_count_text(a->capacity, plan));
    }
    if (a->strict) cli_die(a->name, "nothing was saved; -n KEYS plans for more", "%s", what);
    if (above || !a->warned) cli_warn("plan_exceeded", a->name, "%s", what);
    a->warned = true;
}

/* Warns, or exits if `strict`, when the filter certainly holds more keys than planned: every key
 * that changes it is a new one.  In constant time; at the end, measuring also shows when keys that
 * changed nothing, or an unlucky filter, let the rate pass the promise. */
static void check_capacity(cli_add_job *a) {
    umbel_info info;
    if (!a->capacity || a->warned) return;
    umbel_describe(a->filter, &info);
    if (info.kind == UMBEL_KIND_COUNTING) return; /* counts every add */
    double added =
        info.keys_added > a->adds_before ? (double)(info.keys_added - a->adds_before) : 0;
    if (a->keys_before + added > (double)a->capacity + 0.5) exceed(a, NULL);
}

/* Reported once, by the run that passes 80%. */
static void warn_of_little_room(const cli_add_job *a, double keys) {
    double most = 0.8 * (double)a->capacity;
    char in[UMBEL_QUANTITY], plan[UMBEL_QUANTITY];
    if (!a->warn_early || a->warned) return;
    if (a->keys_before >= most || keys < most || keys > (double)a->capacity) return;
    double percent = floor(1000 * round(keys) / (double)a->capacity) / 10;
    cli_warn("plan_nearly_used", a->name, "%.*f%% of the plan is used up: %s of %s",
             percent == floor(percent) ? 0 : 1, percent,
             umbel_count_text((uint64_t)llround(keys), in),
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
    check_capacity(a);
}

cli_job cli_add_job_callbacks(cli_add_job *a) {
    return (cli_job){a->hash_ahead ? hash_keys : NULL, add_keys, a};
}

/* The fault is the format's, not that of the number of keys. */
static void warn_of_alike(const cli_add_job *a, const cli_state *end) {
    const umbel_info *info = &end->info;
    if (!cli_alike_fails(end)) return;
    umbel_foreign made = {.format = info->format, .capacity = info->capacity, .fpr = info->fpr};
    char is[UMBEL_QUANTITY], promised[UMBEL_QUANTITY], avoided[CLI_AVOIDED];
    cli_warn("keys_alike", a->name,
             "the false-positive rate for keys like these is %s, not %s: the format's hash hardly "
             "tells them apart where the number of bits is even%s",
             umbel_rate_text(end->now.rate_alike, is), umbel_rate_text(info->fpr, promised),
             cli_alike_avoided(made, avoided));
}

int cli_add_job_finish(cli_add_job *a) {
    check_capacity(a);
    if (a->capacity) {
        cli_state end = cli_state_of(a->filter);
        if (end.health.overfull) exceed(a, &end);
        warn_of_little_room(a, end.now.keys);
        warn_of_alike(a, &end);
    }
    return a->warned ? CLI_INCOMPLETE : CLI_YES;
}

uint64_t cli_keys_needed(const umbel_filter *f, uint64_t planned) {
    cli_state s = cli_state_of(f);
    /* Adds that changed it are different keys, unless it counts them; the bits tell the rest. */
    double least = s.info.kind == UMBEL_KIND_COUNTING ? 0 : (double)s.info.keys_added;
    double keys = ceil(fmax(s.now.keys + 4 * s.now.keys_error, least));
    if (!isfinite(keys) || keys > 0.75 * (double)planned) return 0;
    return keys > 1 ? (uint64_t)keys : 1;
}
