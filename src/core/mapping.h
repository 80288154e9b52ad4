/* SPDX-License-Identifier: MIT
 *
 * mapping.h - the bytes of a file, mapped for reading or for changes that the file does not see
 *
 * Without mmap they are read into malloc'ed memory instead, so that views of a file still work;
 * they then take the file's size in memory, which umbel_opts.max_bytes does not limit.
 */
#ifndef UMBELI_MAPPING_H
#define UMBELI_MAPPING_H

#include "umbel.h"

typedef struct umbeli_mapping {
    void *bytes; /* NULL for an empty file */
    size_t len;
} umbeli_mapping;

/* Maps a regular file, read-only.  UMBEL_EIO for anything else, with the reason in diag->sys;
 * UMBEL_ENOMEM where files are read instead.  The caller's errno is preserved. */
umbel_err umbeli_mapping_open(const char *path, umbeli_mapping *out, umbel_diag *diag);

/* The same, but the bytes may be written to: a page is copied when it first is, and the file stays
 * as it was. */
umbel_err umbeli_mapping_open_private(const char *path, umbeli_mapping *out, umbel_diag *diag);

/* A hint: the bytes will be read once, from front to back. */
void umbeli_mapping_sequential(const umbeli_mapping *m);

/* NULL is allowed.  Takes pointer and length so that it can serve as umbel_filter.unmap. */
void umbeli_mapping_close(void *bytes, size_t len);

#endif
