/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "uniq/uniq_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tally.h"
#include "filter/filter_file.h"
#include "filter/filter_recipe.h"
#include "filter/update_lock.h"
#include "options/recipe_options.h"

static const uint64_t default_keys = 10000000, first_layer = 1000000, small_layer = 100000;
static const double default_fpr = 0.001;
static const double costly_fpr = 0.0001; /* below, layers take several times the memory ... */
static const double growing_fpr = 1e-8;  /* ... and below this, more than anyone has */

uint64_t cli_uniq_now(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0 || t.tv_sec < 0) return 0;
    return (uint64_t)t.tv_sec;
}

/* Reports what a filter of fixed memory is planned for, unless the user has chosen that, and
 * refuses plans that nobody can want. */
static void print_plan(const umbel_filter *f, const cli_settings *s) {
    umbel_info info;
    char size[UMBEL_QUANTITY], rate[UMBEL_QUANTITY], keys[UMBEL_QUANTITY];
    umbel_describe(f, &info);
    umbel_rate_text(info.fpr, rate);
    cli_count_noun(info.capacity, "key", keys);
    umbel_size_text(info.bytes, size);
    if (info.fpr > 0.5) {
        cli_die("uniq", "more memory, or fewer keys", "%s for %s would lose %s of the new lines",
                size, keys, rate);
    }
    bool chosen = cli_given(s, OPT_WINDOW) || cli_given(s, OPT_KIND) || s->keys;
    if (info.grows || s->quiet || chosen) return;
    cli_note("uniq",
             "memory is fixed at %s: the false-positive rate stays below %s for up to %s (-n KEYS "
             "plans for another number)",
             size, rate, keys);
}

static umbel_filter *make(const cli_settings *s) {
    const cli_window *w = &s->window;
    bool window = cli_given(s, OPT_WINDOW);
    umbel_params params = {.kind = s->kind,
                           .capacity = s->keys,
                           .fpr = s->fpr,
                           .bytes = s->bytes,
                           .seed = cli_seed_of(s, UMBEL_FMT_NATIVE)};
    /* Nobody knows how many keys a stream has: the filter grows unless the memory is fixed or an
     * error is wanted. */
    bool grows = !cli_given(s, OPT_KIND) && !window && !s->bytes && !s->strict &&
                 !(s->fpr > 0 && s->fpr < growing_fpr);
    if (grows) {
        params.kind = UMBEL_KIND_SCALABLE;
        params.scalable.expansion = 2; /* filters only: packed hashes are smaller, but adds wait */
    }
    if (window) params.kind = UMBEL_KIND_WINDOW;
    if (w->keys) params.capacity = w->keys;
    if (params.bytes && !params.capacity && !(params.fpr > 0)) params.fpr = default_fpr;
    bool planned = params.capacity || (params.bytes && params.fpr > 0);
    if (w->step) {
        params.window.manual = 1;
        params.window.generations = (uint32_t)w->generations;
        if (!planned) {
            cli_die("--window", "-n KEYS",
                    "needs the maximum number of different keys within the duration");
        }
    }
    uint64_t first = s->fpr > 0 && s->fpr < costly_fpr ? small_layer : first_layer;
    if (!planned) params.capacity = grows ? first : default_keys;
    if (!params.bytes && !(params.fpr > 0)) params.fpr = default_fpr;
    umbel_opts opts = cli_opts_of(s);
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
    print_plan(f, s);
    umbel_recipe *recipe = cli_recipe_given(s);
    cli_filter_set_meta(f, s, recipe);
    umbel_recipe_free(recipe);
    return f;
}

/* A state keeps its own window. */
static void refuse_other_window(const char *path, const cli_window *w, const umbel_clock *own) {
    if (!own->step) {
        if (!w->step) return;
        cli_die(path, "use another --state to start over", "does not forget by the clock");
    }
    char is[UMBEL_QUANTITY], wanted[UMBEL_QUANTITY], hint[2 * UMBEL_QUANTITY];
    snprintf(hint, sizeof hint, "--window %s continues it", umbel_clock_text(own, is));
    if (w->keys) cli_die(path, hint, "forgets by the clock, not after a number of keys");
    if (!w->step) return;
    if (own->step != w->step || own->generations != w->generations) {
        cli_die(path, hint, "was made with a window other than %s",
                umbel_clock_text(&(umbel_clock){.step = w->step, .generations = w->generations},
                                 wanted));
    }
}

static umbel_filter *load(const cli_settings *s, umbel_clock *clock) {
    const cli_window *w = &s->window;
    umbel_filter *f = cli_filter_edit(s->state, s);
    umbel_info info;
    umbel_describe(f, &info);
    if (umbel_get_clock(f, clock, NULL)) {
        cli_die(s->state, "umbel info shows its metadata", "does not record when it last forgot");
    }
    refuse_other_window(s->state, w, clock);
    if (w->keys && info.kind != UMBEL_KIND_WINDOW) {
        cli_die(s->state, "use another --state to start over", "forgets nothing: it has no window");
    }
    bool fixed = !info.grows && info.kind != UMBEL_KIND_WINDOW;
    bool kind = cli_given(s, OPT_KIND) && (s->kind ? s->kind != info.kind : !fixed);
    bool other = (s->keys && !info.grows && s->keys != info.capacity) ||
                 (w->keys && w->keys != info.capacity) ||
                 (s->bytes && (info.grows || s->bytes < info.bytes)) ||
                 (s->fpr > 0 && s->fpr != info.fpr) || kind ||
                 (cli_given(s, OPT_SEED) && s->seed != info.seed);
    if (other) {
        cli_warn("plan_ignored", s->state,
                 "already exists: its own plan applies, not the one given here");
    }
    return f;
}

static const char time_name[] = "window.time"; /* in the metadata */

/* A state that goes by the time in the line goes on like that, and no other can begin to. */
static void refuse_other_time(const cli_settings *s, const char *own, const char *given) {
    if (!own) {
        cli_die(s->state, "use another --state to start over",
                "goes by this machine's clock, not by the time in the line");
    }
    if (strcmp(own, given) != 0) {
        cli_die(s->state, "its own --time-key is applied without giving it",
                "has the time of its lines elsewhere: %s", own);
    }
}

static umbel_recipe *time_recipe(const cli_uniq_state *u, const cli_settings *s) {
    const char *own = umbel_get_meta(u->filter, time_name), *keys = umbel_get_recipe(u->filter);
    if (!s->time_key) return own ? cli_recipe_named(s->state, own) : NULL;
    if (!u->clock.step) cli_die("--time-key", "such as 24h/1h", "needs --window DURATION/STEP");
    char *text = cli_time_text(s, keys);
    umbel_recipe *time = cli_recipe_named("--time-key", text),
                 *key = cli_recipe_named("uniq", keys);
    if (umbel_recipe_traits(time) & ~umbel_recipe_traits(key) & UMBEL_RECIPE_HEADER) {
        cli_die("--time-key", "-k NAME, or --header", "'%s' is a column, but there is no header",
                s->time_key);
    }
    umbel_recipe_free(key);
    free(text);
    umbel_diag diag = {0};
    const char *where = umbel_recipe_text(time);
    if (!u->fresh) refuse_other_time(s, own, where);
    umbel_err e = u->fresh ? umbel_set_meta(u->filter, time_name, where, &diag) : UMBEL_OK;
    if (e) cli_die_err("--time-key", e, &diag, NULL);
    return time;
}

cli_uniq_state cli_uniq_state_open(const cli_settings *s) {
    if (s->window.keys) cli_exclude(s, OPT_WINDOW, OPT_KEYS);
    cli_uniq_state u = {.clock = {.step = s->window.step, .generations = s->window.generations}};
    if (s->state) cli_update_lock(s->state, s);
    if (s->state && access(s->state, F_OK) == 0) {
        u.filter = load(s, &u.clock);
    } else {
        u.filter = make(s);
        u.fresh = true;
    }
    u.time = time_recipe(&u, s);
    if (u.fresh && !u.time) u.clock.advanced = cli_uniq_now();
    return u;
}

uint64_t cli_uniq_state_steps_due(cli_uniq_state *u, uint64_t now) {
    return u->clock.step ? umbel_clock_steps(&u->clock, now) : 0;
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
    umbel_err e = u->clock.step ? umbel_set_clock(u->filter, &u->clock, &diag) : UMBEL_OK;
    if (e) cli_die_err(s->state, e, &diag, NULL);
    cli_filter_save_edited(u->filter, UMBEL_FMT_NATIVE, s->state);
}
