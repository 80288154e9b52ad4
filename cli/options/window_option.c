/* SPDX-License-Identifier: MIT
 *
 * window_option.c - --window: a number of keys, or a duration and its steps
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "options/filter_options.h"
#include "umbel_text.h"

static uint64_t ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

bool cli_window_parse(const char *text, cli_window *out) {
    const char *slash = strchr(text, '/');
    char first[UMBEL_QUANTITY];
    uint64_t keys = 0, duration = 0, step = 0;
    if (!slash) {
        if (umbel_parse_count(text, &keys, NULL)) return false;
        *out = (cli_window){.keys = keys};
        return true;
    }
    if ((size_t)(slash - text) >= sizeof first) return false;
    memcpy(first, text, (size_t)(slash - text));
    first[slash - text] = '\0';
    if (umbel_parse_duration(first, &duration, NULL) ||
        umbel_parse_duration(slash + 1, &step, NULL)) {
        return false;
    }
    if (step > duration) return false;
    *out = (cli_window){.step = step, .generations = ceil_div(duration, step)};
    return true;
}

uint64_t cli_window_min_step(uint64_t duration) {
    uint64_t min = ceil_div(duration, CLI_GENERATIONS_MAX);
    uint64_t unit = min > 86400 ? 86400 : min > 3600 ? 3600 : min > 60 ? 60 : 1;
    return ceil_div(min, unit) * unit;
}

static _Noreturn void refuse_many_steps(const char *shown, const char *text, const cli_window *w) {
    char hint[2 * UMBEL_QUANTITY], steps[UMBEL_QUANTITY], good[UMBEL_QUANTITY],
        step[UMBEL_QUANTITY];
    uint64_t duration = w->step * w->generations;
    snprintf(hint, sizeof hint, "%.20s/%.20s would work", umbel_duration_text(duration, good),
             umbel_duration_text(cli_window_min_step(duration), step));
    cli_die(shown, hint, "'%s' is %s steps, but at most %d are possible", text,
            umbel_count_text(w->generations, steps), CLI_GENERATIONS_MAX);
}

cli_window cli_window_named(const char *shown, const char *text) {
    cli_window w = {0};
    bool clock = strchr(text, '/') != NULL, ok = cli_window_parse(text, &w);
    if (!ok && clock) {
        cli_die(shown, "such as 24h/1h, 7d/1d or 90m/10m; units are s, m, h, d and w",
                "'%s' is not DURATION/STEP", text);
    }
    if (!ok) {
        cli_die(shown, "such as 1M for the last million keys, 24h/1h for the last day",
                "'%s' is neither a number of keys nor DURATION/STEP", text);
    }
    if (clock && w.generations > CLI_GENERATIONS_MAX) refuse_many_steps(shown, text, &w);
    if (!clock && !w.keys) cli_die(shown, "such as 1M", "must be at least 1");
    return w;
}

cli_window cli_every_named(const char *shown, const char *text) {
    cli_window w = {0};
    bool by_time = *text && strchr("smhdw", text[strlen(text) - 1]);
    umbel_err e = by_time ? umbel_parse_duration(text, &w.step, NULL)
                          : umbel_parse_count(text, &w.keys, NULL);
    if (e || !(w.step || w.keys)) {
        cli_die(shown, "such as 1M lines or 10m",
                "'%s' is neither a number of lines nor a duration", text);
    }
    return w;
}
