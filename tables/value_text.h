/* SPDX-License-Identifier: MIT
 *
 * value_text.h - values whose text is not just digits: dates, timestamps, decimals, UUIDs
 *
 * All return false, and leave the result untouched, when the text is not such a value.
 */
#ifndef UMBELI_VALUE_TEXT_H
#define UMBELI_VALUE_TEXT_H

#include "umbel.h"

/* 2024-02-29: days since 1970-01-01. */
bool umbeli_read_date(umbel_key text, int64_t *days);

/* 2024-02-29, optionally followed by " 12:30:05.25" or "T12:30:05.25Z", UTC: the time since 1970 in
 * units of 10^-digits seconds.  Also false for more than 9 digits, which a damaged file may ask
 * for. */
bool umbeli_read_time(umbel_key text, unsigned digits, int64_t *ticks);

/* -12.5 with scale 2: -1250; at most `scale` digits after the point. */
bool umbeli_read_decimal(umbel_key text, unsigned scale, int64_t *unscaled);

/* 32 hex digits, with or without dashes; bytes in the order printed. */
bool umbeli_read_uuid(umbel_key text, uint8_t bytes[16]);

#endif
