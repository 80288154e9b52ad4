/* SPDX-License-Identifier: MIT
 *
 * update_lock.h - commands that change one file take turns (umbel_update)
 *
 * A command that loads a filter, changes it and saves it holds the file's lock from before it loads
 * until it ends, by itself, with an error or by a signal that can be caught.
 */
#ifndef CLI_UPDATE_LOCK_H
#define CLI_UPDATE_LOCK_H

#include "options/options.h"

/* Waits for its turn to change the file, at most as long as --wait says, and reports that it waits:
 * at once, or after five seconds with -q.  For one file per run; no-op for "-" and on repeated
 * calls. */
void cli_update_lock(const char *path, const cli_settings *s);

/* Saves to the file that was locked: a filter, or bytes. */
umbel_err cli_update_save(const umbel_filter *f, umbel_format format, umbel_diag *diag);
umbel_err cli_update_bytes(const void *bytes, size_t len, umbel_diag *diag);

#endif
