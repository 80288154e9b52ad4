/* SPDX-License-Identifier: MIT
 *
 * uniq_state.c - the memory of umbel uniq: a filter, perhaps with a clock
 */
#define _POSIX_C_SOURCE 200809L
#include "uniq/uniq_state.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/quantity.h"
#include "filter/filter_file.h"
#include "filter/update_lock.h"
#include "uniq/window_clock.h"

static const uint64_t default_keys = 10000000, first_layer = 1000000;
static const double default_fpr = 0.001;
static const double growing_fpr = 0.0001; /* below, layers take several times the memory */

/* What --window requests: a number of keys or a clock, or neither. */
typedef struct window_request {
    uint64_t keys;
    cli_window_clock clock;
} window_request;

static uint64_t now(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0 || t.tv_sec < 0) return 0;
    return (uint64_t)t.tv_sec;
}

static void refuse_many_steps(const char *text, const cli_window_clock *c) {
    char hint[2 * CLI_QUANTITY], steps[CLI_QUANTITY], good[CLI_QUANTITY], step[CLI_QUANTITY];
    uint64_t duration = c->step * c->generations;
    snprintf(hint, sizeof hint, "%.20s/%.20s would work", cli_duration_text(duration, good),
             cli_duration_text(cli_window_clock_min_step(duration), step));
    cli_die("--window", hint, "'%s' is %s steps, but at most %d are possible", text,
            cli_count_text(c->generations, steps), CLI_GENERATIONS_MAX);
}

static window_request window_request_of(const cli_settings *s) {
    window_request w = {0};
    if (!s->window) return w;
    cli_exclude(s, OPT_WINDOW, OPT_KIND);
    if (strchr(s->window, '/')) {
        if (!cli_window_clock_parse(s->window, &w.clock)) {
            cli_die("--window", "such as 24h/1h, 7d/1d or 90m/10m; units are s, m, h, d and w",
                    "'%s' is not DURATION/STEP", s->window);
        }
        if (w.clock.generations > CLI_GENERATIONS_MAX) refuse_many_steps(s->window, &w.clock);
        return w;
    }
    if (!cli_parse_count(s->window, &w.keys)) {
        cli_die("--window", "such as 1M for the last million keys, 24h/1h for the last day",
                "'%s' is neither a number of keys nor DURATION/STEP", s->window);
    }
    if (!w.keys) cli_die("--window", "such as 1M", "must be at least 1");
    cli_exclude(s, OPT_WINDOW, OPT_KEYS);
    return w;
}

static umbel_filter *make(const cli_settings *s, const window_request *w) {
    cli_key_rule rule = cli_key_rule_given(s);
    umbel_params params = {.kind = cli_kind_named(s->kind),
                           .capacity = s->keys,
                           .fpr = s->fpr,
                           .bytes = s->bytes,
                           .seed = s->seed,
                           .secret = cli_secret_of(s)};
    /* A stream has as many keys as it has: only those who fix the memory or want an error get a
     * filter that does not grow. */
    bool grows =
        !s->kind && !s->window && !s->bytes && !s->strict && !(s->fpr > 0 && s->fpr < growing_fpr);
    if (grows) params.kind = UMBEL_KIND_SCALABLE;
    if (s->window) params.kind = UMBEL_KIND_WINDOW;
    if (w->keys) params.capacity = w->keys;
    bool planned = params.capacity || (params.bytes && params.fpr > 0);
    if (w->clock.step) {
        params.window.manual = 1;
        params.window.generations = (uint32_t)w->clock.generations;
        if (!planned) {
            cli_die("--window", "-n KEYS",
                    "needs the maximum number of different keys within the duration");
        }
    }
    if (!planned) params.capacity = grows ? first_layer : default_keys;
    if (!params.bytes && !(params.fpr > 0)) params.fpr = default_fpr;
    umbel_opts opts = cli_opts_of(s);
    opts.secret = NULL; /* that of a new filter is among its parameters */
    umbel_diag diag = {0};
    umbel_filter *f = NULL;
    umbel_err e = umbel_create(&params, &opts, &f, &diag);
    if (e == UMBEL_ENOMEM) {
        cli_die_memory("uniq", &(cli_filter_params){.format = UMBEL_FMT_NATIVE,
                                                    .kind = params.kind,
                                                    .capacity = params.capacity,
                                                    .fpr = params.fpr,
                                                    .bytes = params.bytes});
    }
    if (e) cli_die_err("uniq", e, &diag, CLI_SEE_PLAN);
    cli_filter_set_meta(f, s, &rule);
    return f;
}

/* A state continues with its own window, never with another. */
static void refuse_other_window(const char *path, const window_request *w,
                                const cli_window_clock *own) {
    if (!own->step) {
        if (!w->clock.step) return;
        cli_die(path, "use another --state to start over", "does not forget by the clock");
    }
    char is[CLI_QUANTITY], wanted[CLI_QUANTITY], hint[2 * CLI_QUANTITY];
    snprintf(hint, sizeof hint, "--window %s continues it", cli_window_clock_text(own, is));
    if (w->keys) cli_die(path, hint, "forgets by the clock, not after a number of keys");
    if (!w->clock.step) return;
    if (own->step != w->clock.step || own->generations != w->clock.generations) {
        cli_die(path, hint, "was made with a window other than %s",
                cli_window_clock_text(&w->clock, wanted));
    }
}

static umbel_filter *load(const cli_settings *s, const window_request *w, cli_window_clock *clock) {
    umbel_filter *f = cli_filter_load(s->state, s);
    umbel_info info;
    umbel_describe(f, &info);
    if (!cli_window_clock_load(f, &info, clock)) {
        cli_die(s->state, "umbel info shows its metadata", "does not record when it last forgot");
    }
    refuse_other_window(s->state, w, clock);
    bool other = (s->keys && !info.grows && s->keys != info.capacity) ||
                 (w->keys && (w->keys != info.capacity || info.kind != UMBEL_KIND_WINDOW)) ||
                 (s->bytes && s->bytes < info.bytes) || (s->fpr > 0 && s->fpr != info.fpr);
    if (other && !s->quiet) {
        cli_warn(s->state, "already exists: its own plan applies, not the one given here");
    }
    return f;
}

cli_uniq_state cli_uniq_state_open(const cli_settings *s) {
    window_request w = window_request_of(s);
    cli_uniq_state u = {.clock = w.clock};
    if (s->state) cli_update_lock(s->state, s);
    if (s->state && access(s->state, F_OK) == 0) {
        u.filter = load(s, &w, &u.clock);
    } else {
        u.filter = make(s, &w);
        u.fresh = true;
        u.clock.advanced = now();
    }
    return u;
}

uint64_t cli_uniq_state_steps_due(cli_uniq_state *u) {
    return u->clock.step ? cli_window_clock_advance(&u->clock, now()) : 0;
}

void cli_uniq_state_advance(cli_uniq_state *u, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        umbel_err e = umbel_advance(u->filter, NULL);
        if (e) cli_die_err("uniq", e, NULL, NULL);
    }
}

void cli_uniq_state_save(cli_uniq_state *u, const cli_settings *s) {
    if (!s->state) return;
    umbel_diag diag = {0};
    umbel_err e = u->clock.step ? cli_window_clock_store(u->filter, &u->clock, &diag) : UMBEL_OK;
    if (e) cli_die_err(s->state, e, &diag, NULL);
    cli_filter_save(u->filter, UMBEL_FMT_NATIVE, s->state);
}
