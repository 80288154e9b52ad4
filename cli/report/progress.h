/* SPDX-License-Identifier: MIT
 *
 * progress.h - the line on the terminal that tells how far a command has come
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "umbel.h"

/* Does nothing from here on unless standard error is a terminal.  total: bytes of input, 0:
 * unknown.  `filling` (or NULL) was planned for `capacity` keys. */
void cli_progress_begin(const char *activity, uint64_t total, const umbel_filter *filling,
                        uint64_t capacity);

/* How far it is; drawn a few times a second. */
void cli_progress_bytes(uint64_t done);
void cli_progress(uint64_t lines);

/* The same for bytes that are sent somewhere. */
void cli_progress_sent(uint64_t bytes);

/* Removes the line, so that something else can be written. */
void cli_progress_hide(void);

/* Whether this stream may have colours: a terminal, and no NO_COLOR. */
bool cli_colours(int fd);

/* A clock that only goes forward, in seconds. */
double cli_clock(void);

#endif
