/* SPDX-License-Identifier: MIT
 *
 * uniq_state.h - the memory of umbel uniq: a filter, perhaps with a clock
 */
#ifndef CLI_UNIQ_STATE_H
#define CLI_UNIQ_STATE_H

#include "options/options.h"
#include "umbel.h"
#include "umbel_text.h"

typedef struct cli_uniq_state {
    umbel_filter *filter;
    bool fresh;        /* made now: without keys */
    umbel_clock clock; /* step 0: none */
} cli_uniq_state;

/* Opens --state, or makes the filter that the options describe.  Exits if they are inconsistent, or
 * if the state does not forget as --window says. */
cli_uniq_state cli_uniq_state_open(const cli_settings *s);

/* How many steps have been completed since the clock was last read (0 without a clock), to be
 * passed to cli_uniq_state_advance, which forgets them. */
uint64_t cli_uniq_state_steps_due(cli_uniq_state *u);
void cli_uniq_state_advance(cli_uniq_state *u, uint64_t steps);

/* Writes the filter and the time of its clock to --state, if given. */
void cli_uniq_state_save(cli_uniq_state *u, const cli_settings *s);

#endif
