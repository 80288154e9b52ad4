/* SPDX-License-Identifier: MIT */
#include "value/value_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_meta.h"
#include "umbel_quantity.h"

#define BAD_WINDOW "ERR window must be 1 to 255 generations, or a duration and a step (24h/1h)"

enum { GENERATIONS_MAX = 255, USUAL = 8 };
static const uint64_t longest = UINT64_C(100) * 366 * 86400;

/* ---- As text ---- */

/* Reads a duration, or a number of seconds, up to one of `stops`, and moves *text there.  0: not a
 * duration. */
static uint64_t parse_duration(const char **text, const char *stops) {
    char copy[UMBEL_QUANTITY];
    uint64_t seconds = 0;
    size_t len = strcspn(*text, stops);
    if (len > sizeof copy - sizeof "s") return 0;
    memcpy(copy, *text, len);
    copy[len] = '\0';
    if (strspn(copy, "0123456789") == len) strcpy(copy + len, "s");
    *text += len;
    return !umbel_parse_duration(copy, &seconds, NULL) && seconds <= longest ? seconds : 0;
}

const char *bf_clock_parse(const char *text, bf_clock *out) {
    uint64_t duration = parse_duration(&text, "/@"), step = 0;
    if (*text == '/') {
        text++;
        step = parse_duration(&text, "@");
    } else {
        step = (duration + USUAL - 1) / USUAL;
    }
    uint64_t at = 0;
    if (*text == '@') {
        char *end = NULL;
        at = strtoull(text + 1, &end, 10);
        text = end;
    }
    if (*text || !duration || !step || (duration - 1) / step >= GENERATIONS_MAX) return BAD_WINDOW;
    *out = (bf_clock){
        .step = step,
        .advanced = at,
        .generations = (uint32_t)((duration + step - 1) / step),
    };
    return NULL;
}

void bf_clock_text(const bf_clock *c, bool with_time, char out[BF_CLOCK_TEXT]) {
    char duration[UMBEL_QUANTITY], step[UMBEL_QUANTITY];
    int n = snprintf(out, BF_CLOCK_TEXT, "%.12s/%.12s",
                     umbel_duration_text(c->step * c->generations, duration),
                     umbel_duration_text(c->step, step));
    if (with_time) snprintf(out + n, BF_CLOCK_TEXT - (size_t)n, "@%" PRIu64, c->advanced);
}

/* ---- In the value ---- */

static const char step_name[] = "window.step", advanced_name[] = "window.advanced";

static uint64_t number_of(const umbel_filter *f, const char *name) {
    const char *value = umbel_get_meta(f, name);
    return value ? strtoull(value, NULL, 10) : 0;
}

bf_clock bf_value_clock(const bf_value *v) {
    bf_clock clock = {.generations = v->window};
    if (!v->window) return clock;
    clock.step = number_of(v->filter, step_name);
    clock.advanced = number_of(v->filter, advanced_name);
    if (clock.step > longest) clock.step = 0;
    return clock;
}

umbel_err bf_value_set_clock(bf_value *v, const bf_clock *clock) {
    char step[24], advanced[24];
    snprintf(step, sizeof step, "%" PRIu64, clock->step);
    snprintf(advanced, sizeof advanced, "%" PRIu64, clock->advanced);
    umbel_err e = umbel_set_meta(v->filter, step_name, step, NULL);
    return e ? e : umbel_set_meta(v->filter, advanced_name, advanced, NULL);
}

uint32_t bf_clock_ended(bf_clock *c, uint64_t now) {
    if (now < c->advanced) {
        if (c->advanced - now > c->step) c->advanced = now;
        return 0;
    }
    uint64_t steps = (now - c->advanced) / c->step;
    c->advanced += steps * c->step;
    return steps > c->generations ? c->generations + 1 : (uint32_t)steps;
}

umbel_err bf_value_advance(bf_value *v, uint32_t generations, const bf_clock *clock) {
    umbel_err e = bf_value_set_clock(v, clock);
    for (uint32_t i = 0; i < generations && i <= clock->generations && !e; i++) {
        e = umbel_advance(v->filter, NULL);
    }
    return e;
}
