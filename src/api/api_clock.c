/* SPDX-License-Identifier: MIT
 *
 * api_clock.c - windows that forget by the clock
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/diag.h"
#include "umbel_text.h"

static const char step_name[] = "window.step", advanced_name[] = "window.advanced";

char *umbel_clock_text(const umbel_clock *clock, char *out) {
    char duration[UMBEL_QUANTITY], step[UMBEL_QUANTITY];
    umbel_duration_text(clock->step * clock->generations, duration);
    umbel_duration_text(clock->step, step);
    snprintf(out, UMBEL_QUANTITY, "%.18s/%.18s", duration, step);
    return out;
}

static bool seconds(const char *text, uint64_t *out) {
    return text && strspn(text, "0123456789") == strlen(text) &&
           !umbel_parse_count(text, out, NULL);
}

umbel_err umbel_get_clock(const umbel_filter *filter, umbel_clock *out, umbel_diag *diag) {
    umbel_info info;
    umbel_clock clock = {0};
    *out = clock;
    umbel_describe(filter, &info);
    if (info.kind != UMBEL_KIND_WINDOW) return UMBEL_OK;
    out->generations = clock.generations = info.generations;
    const char *step = umbel_get_meta(filter, step_name);
    if (!step) return UMBEL_OK;
    if (!seconds(step, &clock.step) || clock.step < 1 || clock.step > UMBEL_DURATION_MAX ||
        !seconds(umbel_get_meta(filter, advanced_name), &clock.advanced)) {
        return umbeli_invalid(diag, "window.step, window.advanced: not valid clock settings");
    }
    *out = clock;
    return UMBEL_OK;
}

static umbel_err put(umbel_filter *filter, const char *name, uint64_t value, umbel_diag *diag) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return umbel_set_meta(filter, name, text, diag);
}

umbel_err umbel_set_clock(umbel_filter *filter, const umbel_clock *clock, umbel_diag *diag) {
    umbel_err e = put(filter, step_name, clock->step, diag);
    return e ? e : put(filter, advanced_name, clock->advanced, diag);
}

uint64_t umbel_clock_steps(umbel_clock *clock, uint64_t now) {
    if (now < clock->advanced) {
        if (clock->advanced - now > clock->step) clock->advanced = now;
        return 0;
    }
    uint64_t steps = (now - clock->advanced) / clock->step;
    clock->advanced += steps * clock->step;
    return steps > clock->generations ? clock->generations + 1 : steps;
}
