/* SPDX-License-Identifier: MIT
 *
 * line_time.h - the time that a line of a log says
 */
#ifndef CLI_LINE_TIME_H
#define CLI_LINE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time at the beginning of a text, in whole seconds since 1970; false if there is none:
 *   2026-11-19T21:42:06Z   RFC 3339; also with a blank in place of T, a fraction after a point or a
 *                          comma, and +0100; without a zone it is UTC
 *   [19/Nov/2026:21:42:06 +0100]   the common log format
 *   1795124526, 1795124526.5       seconds since 1970; 13, 16 or 19 digits are milliseconds,
 *                                  microseconds or nanoseconds */
bool cli_line_time(const char *text, size_t len, uint64_t *seconds);

#endif
