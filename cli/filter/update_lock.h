/* SPDX-License-Identifier: MIT
 *
 * update_lock.h - commands that change one file take turns
 *
 * A command that loads a filter, changes it and saves it holds a lock (flock) on PATH.umbel-lock
 * from before it loads until it ends; the file itself cannot carry the lock, since each save
 * replaces it. The lock file is removed at the end; what a killed command leaves is taken over, and
 * removed, by the next.
 *
 * Whoever can open a file can lock it forever, so a lock file is honoured only if all who can open
 * it may write to the filter as well: it is ours or of the filter's owner (or group, if the group
 * may write), and open to nobody beyond those.  Otherwise the next of a few more names is used,
 * PATH.umbel-lock-1 and so on.  So in a directory where strangers may create files they cannot keep
 * anybody waiting, but they can take away the turns: update files where only you can write.
 */
#ifndef CLI_UPDATE_LOCK_H
#define CLI_UPDATE_LOCK_H

#include "options/options.h"

/* Waits for its turn to change the file, and says so unless -q is given.  For one file per run;
 * no-op for "-", for non-regular files, and on repeated calls. */
void cli_update_lock(const char *path, const cli_settings *s);

#endif
