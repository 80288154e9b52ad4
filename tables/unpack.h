/* SPDX-License-Identifier: MIT
 *
 * unpack.h - compressed bytes into memory that grows no faster than the data proves itself
 *
 * What a file says about its decompressed size is a claim.  Snappy data is walked through first,
 * LZ4 cannot grow beyond 255 times, Zstandard is decompressed piece by piece: memory is asked for
 * only where output comes.
 */
#ifndef UMBELI_UNPACK_H
#define UMBELI_UNPACK_H

#include "tables/table.h"

typedef enum umbeli_packing {
    UMBELI_PACKED_SNAPPY,
    UMBELI_PACKED_LZ4, /* a raw block */
    UMBELI_PACKED_ZSTD
} umbeli_packing;

typedef struct umbeli_unpacked {
    uint8_t *bytes; /* umbeli_delete it */
    size_t len;
} umbeli_unpacked;

/* `claim` is the size that the file gives, UINT64_MAX where it gives none; another size is damage.
 * Counts against t->held.  `offset` is for the diagnostic. */
umbel_err umbeli_unpack(umbel_table *t, umbeli_packing packing, const uint8_t *bytes, size_t len,
                        uint64_t claim, uint64_t offset, umbeli_unpacked *out, umbel_diag *diag);

#endif
