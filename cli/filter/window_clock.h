/* SPDX-License-Identifier: MIT
 *
 * window_clock.h - when a window that forgets by the clock moves on
 *
 * Nothing here looks at a clock or a filter: time is what the caller says it is.
 */
#ifndef CLI_WINDOW_CLOCK_H
#define CLI_WINDOW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "umbel.h"

enum { CLI_GENERATIONS_MAX = 255 };

/* Step follows step from `advanced` on, whether or not somebody was there to see it. */
typedef struct cli_window_clock {
    uint64_t step;        /* seconds; 0: there is no clock */
    uint64_t generations; /* steps that are remembered whole */
    uint64_t advanced;    /* when the newest generation began, in seconds since 1970 */
} cli_window_clock;

/* DURATION/STEP, such as 24h/1h: as many generations as the duration has steps, rounded up;
 * that may be more than CLI_GENERATIONS_MAX.  `advanced` is left alone.  False, and nothing
 * changes, for other texts and for a step longer than the duration. */
bool cli_window_clock_parse(const char *text, cli_window_clock *out);

/* The least step, in the units people use, that divides the duration into few enough generations. */
uint64_t cli_window_clock_min_step(uint64_t duration);

/* How many steps were completed since `advanced`, which moves on with them; at most generations +
 * 1, as all is forgotten then.  When the clock was set back nothing is forgotten: by up to a step,
 * it is waited until it has caught up; by more, a full step begins at `now`. */
uint64_t cli_window_clock_advance(cli_window_clock *c, uint64_t now);

/* 7d/1d; `out` has CLI_QUANTITY bytes. */
char *cli_window_clock_text(const cli_window_clock *c, char *out);

/* The clock of f, which `info` describes; *out has step 0 when there is none.  False when there
 * are such notes but they make no sense. */
bool cli_window_clock_load(const umbel_filter *f, const umbel_info *info, cli_window_clock *out);

umbel_err cli_window_clock_store(umbel_filter *f, const cli_window_clock *c, umbel_diag *diag);

#endif
