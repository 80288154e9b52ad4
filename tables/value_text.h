/* SPDX-License-Identifier: MIT
 *
 * value_text.h - values whose text is not just digits: dates, points in time, decimals, UUIDs
 *
 * All return false when the text is no such value, and leave the result alone.
 */
#ifndef UMBELI_VALUE_TEXT_H
#define UMBELI_VALUE_TEXT_H

#include "umbel.h"

/* 2024-02-29: days since 1970-01-01. */
bool umbeli_read_date(umbel_key text, int64_t *days);

/* 2024-02-29, or with " 12:30:05.25" or "T12:30:05.25Z" behind it, UTC: so many 10^-digits seconds
 * since 1970.  False also for more than 9 digits, which a damaged file may ask for. */
bool umbeli_read_time(umbel_key text, unsigned digits, int64_t *ticks);

/* -12.5 with scale 2: -1250; no more digits behind the point than the scale has. */
bool umbeli_read_decimal(umbel_key text, unsigned scale, int64_t *unscaled);

/* 32 hex digits, perhaps with dashes, as printed. */
bool umbeli_read_uuid(umbel_key text, uint8_t bytes[16]);

#endif
