/* SPDX-License-Identifier: MIT
 *
 * sql_values.h - values of SQL as text: dates, timestamps, addresses, decimal numbers
 *
 * What is read is what PostgreSQL prints by default and what ISO 8601 writes, and nothing that
 * depends on a session's settings: two texts that PostgreSQL takes for the same value are read as
 * that value, or refused.
 */
#ifndef UMBELI_SQL_VALUES_H
#define UMBELI_SQL_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum { UMBELI_VALUE_BYTES = 17 }; /* that a value of fixed length has at most */

/* The key of the value that a text denotes; returns its length, 0: the text is not such a value. */
typedef size_t umbeli_value(const char *text, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]);
umbeli_value umbeli_date_value, umbeli_timestamp_value, umbeli_timestamptz_value, umbeli_inet_value;

/* The same for numbers with any count of digits; bytes has room for 2 * len + 16. */
size_t umbeli_numeric_value(const char *text, size_t len, uint8_t *bytes);

#endif
