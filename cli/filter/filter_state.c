/* SPDX-License-Identifier: MIT */
#include "filter/filter_state.h"

#include <stdio.h>

#include "umbel_text.h"

cli_state cli_state_of(const umbel_filter *f) {
    cli_state s;
    umbel_describe(f, &s.info);
    umbel_measure(f, &s.now);
    umbel_judge(&s.info, &s.now, &s.health);
    return s;
}

const char *cli_overfull_text(const cli_state *s) {
    return s->health.beyond_plan ? "holds more keys than planned" : "exceeds the promised rate";
}

char *cli_rate_now_text(const umbel_health *health, char *out) {
    bool known = !(health->rate_below > 0);
    char rate[UMBEL_QUANTITY];
    umbel_rate_text(known ? health->rate : health->rate_below, rate);
    snprintf(out, CLI_RATE_NOW, known ? "%s" : "below %s", rate);
    return out;
}

bool cli_alike_fails(const cli_state *s) {
    return s->info.fpr > 0 && s->now.rate_alike > 10 * s->info.fpr;
}
