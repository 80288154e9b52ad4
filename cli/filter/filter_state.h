/* SPDX-License-Identifier: MIT
 *
 * filter_state.h - what a filter is, what its bits show, and whether it keeps its promise
 */
#ifndef CLI_FILTER_STATE_H
#define CLI_FILTER_STATE_H

#include "umbel.h"

typedef struct cli_state {
    umbel_info info;
    umbel_measurement now;
    umbel_health health;
} cli_state;

/* Reads all bits. */
cli_state cli_state_of(const umbel_filter *f);

/* Why a filter is overfull: "holds more keys than planned" or, with not one key too many, "exceeds
 * the promised rate", as one in a thousand does. */
const char *cli_overfull_text(const cli_state *s);

/* "0.98%", or "below 0.0023%" where no more is known of the live rate; `out` has CLI_RATE_NOW
 * bytes. */
enum { CLI_RATE_NOW = 64 };
char *cli_rate_now_text(const umbel_health *health, char *out);

/* Absent keys like those in the filter are found more than ten times as often as promised.  Chance
 * does not explain that: the format's hash hardly tells them apart. */
bool cli_alike_fails(const cli_state *s);

#endif
