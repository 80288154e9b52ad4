/* SPDX-License-Identifier: MIT
 *
 * unpack.h - decompression that allocates no more than the data proves it needs
 *
 * The decompressed size that a file states is only a claim.  Snappy data is walked through first,
 * LZ4 cannot expand more than 255 times and deflate not more than 1032 times, Zstandard and bzip2
 * are decompressed piece by piece: memory is allocated only as output is produced.
 */
#ifndef UMBELI_UNPACK_H
#define UMBELI_UNPACK_H

#include "tables/table.h"

typedef enum umbeli_packing {
    UMBELI_PACKED_SNAPPY,
    UMBELI_PACKED_LZ4, /* a raw block */
    UMBELI_PACKED_ZSTD,
    UMBELI_PACKED_DEFLATE, /* without a header */
    UMBELI_PACKED_BZIP2
} umbeli_packing;

typedef struct umbeli_unpacked {
    uint8_t *bytes; /* free with umbeli_delete */
    size_t len;
} umbeli_unpacked;

/* `claim` is the size that the file states, UINT64_MAX if it states none; any other size counts as
 * damage.  Counts against t->held.  `offset` is for the diagnostic. */
umbel_err umbeli_unpack(umbel_table *t, umbeli_packing packing, const uint8_t *bytes, size_t len,
                        uint64_t claim, uint64_t offset, umbeli_unpacked *out, umbel_diag *diag);

#endif
