/* SPDX-License-Identifier: MIT
 *
 * clocknote.c - the clock of a window, kept among the notes of its filter
 */
#include "clocknote.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quantity.h"

static const char step_note[] = "window.step", advanced_note[] = "window.advanced";

static const char *find(const umbel_filter *f, const char *name) {
    const char *at = NULL, *value = NULL;
    for (size_t i = 0; umbel_meta_at(f, i, &at, &value); i++) {
        if (strcmp(at, name) == 0) return value;
    }
    return NULL;
}

static bool seconds(const char *text, uint64_t *out) {
    return text && strspn(text, "0123456789") == strlen(text) && cli_parse_count(text, out);
}

bool cli_clock_noted(const umbel_filter *f, const umbel_info *info, struct cli_clockwork *out) {
    const char *step = find(f, step_note);
    struct cli_clockwork c = {0};
    *out = c;
    if (info->kind != UMBEL_WINDOW || !step) return true;
    c.generations = info->parts - 1;
    if (!seconds(step, &c.step) || !seconds(find(f, advanced_note), &c.advanced)) return false;
    if (c.step < 1 || c.step > CLI_DURATION_MOST) return false;
    *out = c;
    return true;
}

static umbel_err put(umbel_filter *f, const char *name, uint64_t value, umbel_diag *diag) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return umbel_set_meta(f, name, text, diag);
}

umbel_err cli_clock_note(umbel_filter *f, const struct cli_clockwork *c, umbel_diag *diag) {
    umbel_err e = put(f, step_note, c->step, diag);
    return e ? e : put(f, advanced_note, c->advanced, diag);
}
