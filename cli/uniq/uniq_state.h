/* SPDX-License-Identifier: MIT
 *
 * uniq_state.h - the memory of umbel uniq: a filter, perhaps with a clock
 */
#ifndef CLI_UNIQ_STATE_H
#define CLI_UNIQ_STATE_H

#include "options/options.h"
#include "umbel.h"
#include "umbel_recipe.h"
#include "umbel_text.h"

typedef struct cli_uniq_state {
    umbel_filter *filter;
    bool fresh;         /* made now: without keys */
    umbel_clock clock;  /* step 0: none; advanced 0: it begins with the first time in a line */
    umbel_recipe *time; /* where lines have their time; NULL: the clock is this machine's */
} cli_uniq_state;

/* Opens --state, or makes the filter that the options describe.  Exits if they are inconsistent, or
 * if the state does not forget as --window says. */
cli_uniq_state cli_uniq_state_open(const cli_settings *s);

/* What this machine's clock says. */
uint64_t cli_uniq_now(void);

/* How many steps have been completed by then (0 without a clock) since this was last asked, to be
 * passed to cli_uniq_state_advance, which forgets them. */
uint64_t cli_uniq_state_steps_due(cli_uniq_state *u, uint64_t now);
void cli_uniq_state_advance(cli_uniq_state *u, uint64_t steps);

/* Writes the filter and the time of its clock to --state, if given. */
void cli_uniq_state_save(cli_uniq_state *u, const cli_settings *s);

#endif
