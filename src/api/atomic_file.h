/* SPDX-License-Identifier: MIT
 *
 * atomic_file.h - the temporary file that atomically replaces a target
 *
 * There is one name per target, PATH.umbel-tmp, and its writer holds a lock on the file (flock).
 * So saves to one target are serialised across processes and threads, and the file of a killed one,
 * which is no longer locked, is removed by the next: there is never more than one.  An existing
 * file is never written to, so a link planted under the name is harmless.
 *
 * Where the system or the file system has no locks, or the name is taken and cannot be removed, the
 * name is PATH.umbel-tmp-PID-N, and the file of a killed process stays.
 */
#ifndef UMBELI_ATOMIC_FILE_H
#define UMBELI_ATOMIC_FILE_H

#include "umbel.h"

typedef struct umbeli_temporary {
    int fd;      /* for writing, empty at first */
    char *name;  /* with room for the directory's name */
    size_t base; /* where its last component begins */
} umbeli_temporary;

/* Waits for its turn.  `mode` -1: as for any new file.  umbeli_temporary_place or _drop must
 * follow. */
umbel_err umbeli_temporary_open(const char *path, long mode, umbeli_temporary *out,
                                umbel_diag *diag);

/* Syncs it, renames it to `path` and syncs the directory.  A failure before the rename drops it. */
umbel_err umbeli_temporary_place(umbeli_temporary *t, const char *path, umbel_diag *diag);

void umbeli_temporary_drop(umbeli_temporary *t);

#endif
