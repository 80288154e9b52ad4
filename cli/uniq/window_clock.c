/* SPDX-License-Identifier: MIT */
#include "uniq/window_clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "umbel_meta.h"
#include "umbel_quantity.h"

uint64_t cli_window_clock_advance(cli_window_clock *c, uint64_t now) {
    if (now < c->advanced) {
        if (c->advanced - now > c->step) c->advanced = now;
        return 0;
    }
    uint64_t steps = (now - c->advanced) / c->step;
    c->advanced += steps * c->step;
    return steps > c->generations ? c->generations + 1 : steps;
}

char *cli_window_clock_text(const cli_window_clock *c, char *out) {
    char duration[UMBEL_QUANTITY], step[UMBEL_QUANTITY];
    umbel_duration_text(c->step * c->generations, duration);
    umbel_duration_text(c->step, step);
    snprintf(out, UMBEL_QUANTITY, "%.18s/%.18s", duration, step);
    return out;
}

static const char step_name[] = "window.step", advanced_name[] = "window.advanced";

static bool seconds(const char *text, uint64_t *out) {
    return text && strspn(text, "0123456789") == strlen(text) &&
           !umbel_parse_count(text, out, NULL);
}

bool cli_window_clock_load(const umbel_filter *f, const umbel_info *info, cli_window_clock *out) {
    const char *step = umbel_get_meta(f, step_name);
    cli_window_clock c = {0};
    *out = c;
    if (info->kind != UMBEL_KIND_WINDOW || !step) return true;
    c.generations = info->generations;
    if (!seconds(step, &c.step)) return false;
    if (!seconds(umbel_get_meta(f, advanced_name), &c.advanced)) return false;
    if (c.step < 1 || c.step > UMBEL_DURATION_MAX) return false;
    *out = c;
    return true;
}

static umbel_err put(umbel_filter *f, const char *name, uint64_t value, umbel_diag *diag) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return umbel_set_meta(f, name, text, diag);
}

umbel_err cli_window_clock_store(umbel_filter *f, const cli_window_clock *c, umbel_diag *diag) {
    umbel_err e = put(f, step_name, c->step, diag);
    return e ? e : put(f, advanced_name, c->advanced, diag);
}
