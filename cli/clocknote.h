/* SPDX-License-Identifier: MIT
 *
 * clocknote.h - the clock of a window, kept among the notes of its filter
 *
 * A filter that forgets by the clock is a manual window with two notes, seconds in decimal:
 *   window.step      how long a generation lasts
 *   window.advanced  when the newest one began, in UTC since 1970
 * So whoever opens it later knows how many steps were missed.
 */
#ifndef CLI_CLOCKNOTE_H
#define CLI_CLOCKNOTE_H

#include "clockwork.h"
#include "umbel.h"

/* The clock of f, which `info` describes; *out has step 0 when there is none.  False when there
 * are such notes but they make no sense. */
bool cli_clock_noted(const umbel_filter *f, const umbel_info *info, struct cli_clockwork *out);

umbel_err cli_clock_note(umbel_filter *f, const struct cli_clockwork *c, umbel_diag *diag);

#endif
