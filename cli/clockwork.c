/* SPDX-License-Identifier: MIT
 *
 * clockwork.c - when a window that forgets by the clock moves on
 */
#include "clockwork.h"

#include <stdio.h>
#include <string.h>

#include "quantity.h"

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

bool cli_parse_clockwork(const char *text, struct cli_clockwork *out) {
    const char *slash = strchr(text, '/');
    char first[CLI_QUANTITY];
    if (!slash || (size_t)(slash - text) >= sizeof first) return false;
    memcpy(first, text, (size_t)(slash - text));
    first[slash - text] = '\0';
    uint64_t duration = 0, step = 0;
    if (!cli_parse_duration(first, &duration) || !cli_parse_duration(slash + 1, &step)) {
        return false;
    }
    if (step > duration) return false;
    out->step = step;
    out->generations = ceil_div(duration, step);
    return true;
}

uint64_t cli_clockwork_least_step(uint64_t duration) {
    uint64_t least = ceil_div(duration, CLI_GENERATIONS_MOST);
    uint64_t unit = least > 86400 ? 86400 : least > 3600 ? 3600 : least > 60 ? 60 : 1;
    return ceil_div(least, unit) * unit;
}

uint64_t cli_clockwork_turn(struct cli_clockwork *c, uint64_t now) {
    if (now < c->advanced) {
        if (c->advanced - now > c->step) c->advanced = now;
        return 0;
    }
    uint64_t steps = (now - c->advanced) / c->step;
    c->advanced += steps * c->step;
    return steps > c->generations ? c->generations + 1 : steps;
}

char *cli_clockwork_text(const struct cli_clockwork *c, char *out) {
    char duration[CLI_QUANTITY], step[CLI_QUANTITY];
    cli_duration_text(c->step * c->generations, duration);
    cli_duration_text(c->step, step);
    snprintf(out, CLI_QUANTITY, "%.18s/%.18s", duration, step);
    return out;
}
