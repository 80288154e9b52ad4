/* SPDX-License-Identifier: MIT
 *
 * atomic_file.h - the file beside a target that will take its place
 *
 * There is one name per target, PATH.umbel-tmp, and whoever writes under it holds a lock on the
 * file (flock).  So savers of one target take turns, in any number of processes and threads, and
 * what a killed one left, which nobody locks any more, is removed by the next: there is never more
 * than one.  Nothing that was there is ever written to: a link planted under the name leads
 * nowhere.
 *
 * Where the system or the file system knows no locks, or the name is taken by what cannot be
 * removed, the name is PATH.umbel-tmp-PID-N, and what a killed process leaves there stays.
 */
#ifndef UMBELI_ATOMIC_FILE_H
#define UMBELI_ATOMIC_FILE_H

#include "umbel.h"

typedef struct umbeli_temporary {
    int fd;      /* for writing, empty at first */
    char *name;  /* with room for that of its directory */
    size_t base; /* where in it the name within its directory begins */
} umbeli_temporary;

/* Waits for its turn.  `mode` -1: as any new file.  Ends with umbeli_temporary_place or _drop. */
umbel_err umbeli_temporary_open(const char *path, long mode, umbeli_temporary *out,
                                umbel_diag *diag);

/* Syncs it, gives it the name `path` and syncs the directory.  A failure before the renaming drops
 * it. */
umbel_err umbeli_temporary_place(umbeli_temporary *t, const char *path, umbel_diag *diag);

void umbeli_temporary_drop(umbeli_temporary *t);

#endif
