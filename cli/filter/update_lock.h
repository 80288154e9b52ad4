/* SPDX-License-Identifier: MIT
 *
 * update_lock.h - commands that change one file take turns
 *
 * A command that loads a filter, changes it and saves it holds a lock (flock) on PATH.umbel-lock
 * from before it loads until it ends; the file itself cannot carry the lock, since each save
 * replaces it.  The lock file is removed at the end; the next command takes over, and removes,
 * one that a killed command left.
 *
 * Whoever can open a file can lock it forever, so a lock file is honoured only if all who can open
 * it may write to the filter as well: it belongs to us or to the filter's owner (or group, if the
 * group may write), and nobody else can open it.  Otherwise PATH.umbel-lock-1 and so on are tried.
 * So strangers who may create files in the directory cannot keep anybody waiting, but
 * they can take every name, and then nothing is locked: update files where only you can write.
 */
#ifndef CLI_UPDATE_LOCK_H
#define CLI_UPDATE_LOCK_H

#include "options/options.h"

/* Waits for its turn to change the file, and says so unless -q is given.  For one file per run;
 * no-op for "-", for non-regular files, and on repeated calls. */
void cli_update_lock(const char *path, const cli_settings *s);

#endif
