/* SPDX-License-Identifier: MIT
 *
 * atomic_file.h - the temporary file that atomically replaces a target
 *
 * There is one name per target, PATH.umbel-tmp, and its writer holds a lock on the file (flock).
 * So saves to one target are serialised across processes and threads, and the file of a killed one,
 * which is no longer locked, is removed by the next: there is never more than one.  An existing
 * file is never written to, so a link planted under the name is harmless.
 *
 * Until it is complete the file is open to its owner alone (0600).  A save waits only for the lock
 * of such a file that we own: someone who can merely create files in the directory, or read this
 * one, cannot keep it waiting.
 *
 * Where the system or the file system has no locks, or the name belongs to someone else's file, the
 * name is PATH.umbel-tmp-PID-N, and what a killed process leaves there stays.  Where the target's
 * name is too long for a suffix, a hash of it takes its place: .HASH.umbel-tmp.
 */
#ifndef UMBELI_ATOMIC_FILE_H
#define UMBELI_ATOMIC_FILE_H

#include <sys/stat.h>

#include "api/file_attributes.h"
#include "umbel.h"

typedef struct umbeli_temporary {
    int fd;                       /* for writing, empty at first */
    char *name;                   /* with room for that of its directory */
    size_t base;                  /* where in it the name within its directory begins */
    umbeli_attributes attributes; /* that it gets at the end */
} umbeli_temporary;

/* Waits for its turn.  `replaced` is the existing file, NULL: none.  Ends with
 * umbeli_temporary_place or _drop. */
umbel_err umbeli_temporary_open(const char *path, const struct stat *replaced,
                                umbeli_temporary *out, umbel_diag *diag);

/* Gives it the attributes of the file that it replaces (file_attributes.h), syncs it, gives it the
 * name `path` and syncs the directory.  A failure before the rename drops it.  After UMBEL_OK,
 * diag->what is NULL or says what could not be kept, if the caller has cleared it. */
umbel_err umbeli_temporary_place(umbeli_temporary *t, const char *path, umbel_diag *diag);

void umbeli_temporary_drop(umbeli_temporary *t);

#endif
