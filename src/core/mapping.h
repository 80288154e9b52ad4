/* SPDX-License-Identifier: MIT
 *
 * mapping.h - the bytes of a file, mapped for reading or for changes that the file does not see
 *
 * Without mmap they are read into malloc'ed memory instead, so that views of a file still work;
 * they then take the file's size in memory, which umbel_opts.max_bytes does not limit.
 */
#ifndef UMBELI_MAPPING_H
#define UMBELI_MAPPING_H

#include "core/settings.h"
#include "umbel.h"

typedef struct umbeli_mapping {
    void *bytes; /* NULL for an empty file */
    size_t len;
} umbeli_mapping;

/* Opens a file for reading and closes it.  Here and below the caller's errno is preserved. */
umbel_err umbeli_open(const char *path, int *fd, umbel_diag *diag);
void umbeli_close(int fd);

/* Maps the regular file behind a descriptor, which may be closed afterwards: read-only, or, if
 * `privately`, for writing: a page is copied when it is first written to, and the file stays as it
 * was.  UMBEL_EIO for anything except a regular file, with the reason in diag->sys; UMBEL_ENOMEM
 * where files are read instead. */
umbel_err umbeli_mapping_of(int fd, bool privately, umbeli_mapping *out, umbel_diag *diag);

/* Reads such a file into memory of the settings, to be freed with umbeli_delete: what happens to
 * the file then or later, such as truncation, is an error or nothing. */
umbel_err umbeli_bytes_of(int fd, const umbeli_settings *settings, umbeli_mapping *out,
                          umbel_diag *diag);

/* Maps the file of that name, read-only. */
umbel_err umbeli_mapping_open(const char *path, umbeli_mapping *out, umbel_diag *diag);

/* A hint: the bytes will be read once, from front to back. */
void umbeli_mapping_sequential(const umbeli_mapping *m);

/* NULL is allowed.  Takes pointer and length so that it can serve as umbel_filter.unmap. */
void umbeli_mapping_close(void *bytes, size_t len);

#endif
