/* SPDX-License-Identifier: MIT */
#include "value/value_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "umbel_text.h"

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

const char *bf_clock_parse(const char *text, umbel_clock *out) {
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
    *out = (umbel_clock){
        .step = step,
        .advanced = at,
        .generations = (duration + step - 1) / step,
    };
    return NULL;
}

char *bf_clock_text(const umbel_clock *c, bool with_time, char out[BF_CLOCK_TEXT]) {
    umbel_clock_text(c, out);
    size_t n = strlen(out);
    if (with_time) snprintf(out + n, BF_CLOCK_TEXT - n, "@%" PRIu64, c->advanced);
    return out;
}

/* ---- In the value ---- */

umbel_clock bf_value_clock(const bf_value *v) {
    umbel_clock clock = {.generations = v->window};
    if (v->window) (void)umbel_get_clock(v->filter, &clock, NULL); /* or step 0 */
    return clock;
}

umbel_err bf_value_advance(bf_value *v, uint64_t generations, const umbel_clock *clock) {
    umbel_err e = umbel_set_clock(v->filter, clock, NULL);
    for (uint64_t i = 0; i < generations && i <= clock->generations && !e; i++) {
        e = umbel_advance(v->filter, NULL);
    }
    return e;
}
