/* SPDX-License-Identifier: MIT
 *
 * value_window.h - windows that forget by the clock
 *
 * Such a value is a window whose generations are advanced by the caller.  Its metadata says how
 * many seconds a generation lasts and when the newest began; `umbel uniq --window 24h/1h` writes
 * the same two, so its files work here.
 */
#ifndef BF_VALUE_WINDOW_H
#define BF_VALUE_WINDOW_H

#include "value/value.h"

typedef struct bf_clock {
    uint64_t step;     /* seconds; 0: the window does not go by the clock */
    uint64_t advanced; /* when the newest generation began, in seconds since 1970 */
    uint32_t generations;
} bf_clock;

enum { BF_CLOCK_TEXT = 48 };

/* DURATION/STEP, or DURATION in eight steps: numbers with s, m, h, d or w (none: seconds).
 * `@TIME` after that is when the newest generation began.  NULL, or the text of an error reply. */
const char *bf_clock_parse(const char *text, bf_clock *out);

/* The text that bf_clock_parse reads, without or with the time. */
void bf_clock_text(const bf_clock *clock, bool with_time, char out[BF_CLOCK_TEXT]);

bf_clock bf_value_clock(const bf_value *v);
umbel_err bf_value_set_clock(bf_value *v, const bf_clock *clock);

/* How many generations have ended by now, at most one more than there are; *clock then says when
 * the newest began.  A clock that is set back ends none: time continues from there. */
uint32_t bf_clock_ended(bf_clock *clock, uint64_t now);

/* Forgets that many generations. */
umbel_err bf_value_advance(bf_value *v, uint32_t generations, const bf_clock *clock);

#endif
