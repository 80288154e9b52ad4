/* SPDX-License-Identifier: MIT
 *
 * window_clock.h - when a window that forgets by the clock advances
 *
 * Nothing here reads the system's clock: the caller passes the time.
 */
#ifndef CLI_WINDOW_CLOCK_H
#define CLI_WINDOW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "umbel.h"

/* Steps follow each other from `advanced` on, whether or not the clock is read. */
typedef struct cli_window_clock {
    uint64_t step;        /* seconds; 0: no clock */
    uint64_t generations; /* steps that are remembered completely */
    uint64_t advanced;    /* when the newest generation began, in seconds since 1970 */
} cli_window_clock;

/* Advances over the steps completed since `advanced` and returns their number, at most generations
 * + 1, which forgets everything.  If the clock was set back, nothing is forgotten: by at most one
 * step, wait for it to catch up; by more, restart the step at `now`. */
uint64_t cli_window_clock_advance(cli_window_clock *c, uint64_t now);

/* 7d/1d; `out` has UMBEL_QUANTITY bytes. */
char *cli_window_clock_text(const cli_window_clock *c, char *out);

/* The clock in f's metadata, or step 0 if there is none; `info` describes f.  False if the metadata
 * is invalid. */
bool cli_window_clock_load(const umbel_filter *f, const umbel_info *info, cli_window_clock *out);

/* Stores the clock in f's metadata. */
umbel_err cli_window_clock_store(umbel_filter *f, const cli_window_clock *c, umbel_diag *diag);

#endif
