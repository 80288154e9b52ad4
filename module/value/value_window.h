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

#include "umbel_text.h"
#include "value/value.h"

enum { BF_CLOCK_TEXT = UMBEL_QUANTITY + 24 };

/* DURATION/STEP, or DURATION in eight steps: numbers with s, m, h, d or w (none: seconds).
 * `@TIME` after that is when the newest generation began.  NULL, or the text of an error reply. */
const char *bf_clock_parse(const char *text, umbel_clock *out);

/* The text that bf_clock_parse reads, without or with the time; returns it. */
char *bf_clock_text(const umbel_clock *clock, bool with_time, char out[BF_CLOCK_TEXT]);

/* Step 0: it does not go by the clock. */
umbel_clock bf_value_clock(const bf_value *v);

/* Forgets that many generations. */
umbel_err bf_value_advance(bf_value *v, uint64_t generations, const umbel_clock *clock);

#endif
