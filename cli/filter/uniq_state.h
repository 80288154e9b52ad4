/* SPDX-License-Identifier: MIT
 *
 * uniq_state.h - what umbel uniq remembers lines in: a filter, perhaps with a clock
 */
#ifndef CLI_UNIQ_STATE_H
#define CLI_UNIQ_STATE_H

#include "filter/window_clock.h"
#include "options/options.h"
#include "umbel.h"

typedef struct cli_uniqstate {
    umbel_filter *filter;
    cli_clockwork clock; /* step 0: none */
} cli_uniqstate;

/* Opens --state, or makes the filter that the options describe.  Ends the program when they make
 * no sense, or when the state forgets otherwise than --window says. */
cli_uniqstate cli_uniqstate_open(const cli_settings *s);

/* Looks at the clock: how many generations have ended since it was last looked at (0 without a
 * clock).  They are for cli_uniqstate_advance to forget. */
uint64_t cli_uniqstate_due(cli_uniqstate *u);
void cli_uniqstate_advance(cli_uniqstate *u, uint64_t steps);

/* Writes it to --state, if that was given, with the time that its clock has come to. */
void cli_uniqstate_save(cli_uniqstate *u, const cli_settings *s);

#endif
