/* SPDX-License-Identifier: MIT
 *
 * dcso_gzip.h - reads gzipped bytes piece by piece, so that whoever reads decides how much memory
 *               the contents deserve
 */
#ifndef UMBELI_DCSO_GZIP_H
#define UMBELI_DCSO_GZIP_H

#include <zlib.h>

#include "core/memory.h"

/* Deflate turns one byte into at most so many. */
enum { UMBELI_GUNZIP_RATIO = 1032 };

typedef struct umbeli_gunzip {
    z_stream z;
    umbeli_memory memory;
    const uint8_t *bytes;
    size_t len, fed; /* fed: handed to zlib so far */
    bool ended;      /* all members were read to their ends */
    umbel_err error;
    const char *what;
} umbeli_gunzip;

/* The bytes must outlive the reader.  End it also when this fails. */
umbel_err umbeli_gunzip_start(umbeli_gunzip *g, const umbeli_memory *memory, const uint8_t *bytes,
                              size_t len);

/* Up to n bytes; fewer only at the end of the contents or when g->error is set, in which case
 * g->what says why. */
size_t umbeli_gunzip_read(umbeli_gunzip *g, void *to, size_t n);

/* All that is left, up to `most` bytes, in memory that is the caller's to delete.  UMBEL_ELIMIT when
 * there is more. */
umbel_err umbeli_gunzip_rest(umbeli_gunzip *g, uint64_t most, uint8_t **bytes, size_t *len);

/* How many gzipped bytes were used. */
uint64_t umbeli_gunzip_offset(const umbeli_gunzip *g);
void umbeli_gunzip_end(umbeli_gunzip *g);

#endif
