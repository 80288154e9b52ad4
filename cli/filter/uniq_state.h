/* SPDX-License-Identifier: MIT
 *
 * uniq_state.h - what umbel uniq remembers lines in: a filter, perhaps with a clock
 */
#ifndef CLI_UNIQ_STATE_H
#define CLI_UNIQ_STATE_H

#include "filter/window_clock.h"
#include "options/options.h"
#include "umbel.h"

typedef struct cli_uniq_state {
    umbel_filter *filter;
    cli_window_clock clock; /* step 0: none */
} cli_uniq_state;

/* Opens --state, or makes the filter that the options describe.  Ends the program when they make
 * no sense, or when the state forgets otherwise than --window says. */
cli_uniq_state cli_uniq_state_open(const cli_settings *s);

/* Looks at the clock: how many generations have ended since it was last looked at (0 without a
 * clock).  They are for cli_uniq_state_advance to forget. */
uint64_t cli_uniq_state_steps_due(cli_uniq_state *u);
void cli_uniq_state_advance(cli_uniq_state *u, uint64_t steps);

/* Writes it to --state, if that was given, with the time that its clock has come to. */
void cli_uniq_state_save(cli_uniq_state *u, const cli_settings *s);

#endif
