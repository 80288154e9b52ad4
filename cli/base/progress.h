/* SPDX-License-Identifier: MIT
 *
 * progress.h - the line on the terminal that shows how far a command has come
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "umbel.h"

/* Shown only if standard error is a terminal.  `total` is the size of the input, 0 if unknown;
 * `filling` (or NULL) was planned for `capacity` keys. */
void cli_progress_begin(const char *activity, uint64_t total, const umbel_filter *filling,
                        uint64_t capacity);

/* Reports progress; drawn a few times per second. */
void cli_progress_bytes(uint64_t done);
void cli_progress(uint64_t lines);

/* For bytes sent to a server. */
void cli_progress_sent(uint64_t bytes);

/* Removes the line so that something else can be written. */
void cli_progress_hide(void);

/* Whether this stream may use colours: it is a terminal, and NO_COLOR is not set. */
bool cli_colours(int fd);

/* A monotonic clock, in seconds. */
double cli_clock(void);

#endif
