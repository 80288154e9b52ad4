/* SPDX-License-Identifier: MIT
 *
 * mapping.h - the bytes of a file, mapped for reading
 *
 * Where nothing can be mapped they are read into memory of the C library's instead, so that views
 * of a file keep their meaning; they cost its size in memory then, which no umbel_opts.max_bytes
 * limits.
 */
#ifndef UMBELI_MAPPING_H
#define UMBELI_MAPPING_H

#include "umbel.h"

typedef struct umbeli_mapping {
    void *bytes; /* read-only; NULL for an empty file */
    size_t len;
} umbeli_mapping;

/* Maps a regular file.  UMBEL_EIO for anything else, with the reason in diag->sys; UMBEL_ENOMEM
 * where it is read.  The caller's errno stays as it is. */
umbel_err umbeli_mapping_open(const char *path, umbeli_mapping *out, umbel_diag *diag);

/* A hint: the bytes will be read once, from front to back. */
void umbeli_mapping_sequential(const umbeli_mapping *m);

/* NULL is fine.  Takes pointer and length so that it can be umbel_filter.unmap. */
void umbeli_mapping_close(void *bytes, size_t len);

#endif
