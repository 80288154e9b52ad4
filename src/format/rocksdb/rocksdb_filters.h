/* SPDX-License-Identifier: MIT
 *
 * rocksdb_filters.h - RocksDB's filters: FastLocalBloom, the Bloom filter before it, Ribbon
 *
 *   rocksdb.c         the five bytes at the end, sizes, the codec
 *   rocksdb_bloom.c   where the two Bloom filters place a key, and their rates
 *   rocksdb_ribbon.c  looking up keys in a Ribbon filter
 */
#ifndef UMBELI_ROCKSDB_FILTERS_H
#define UMBELI_ROCKSDB_FILTERS_H

#include "format/codec.h"
#include "kind/classic/classic.h"

enum { UMBELI_ROCKSDB_LINE = 64, UMBELI_ROCKSDB_META = 5 };

/* ---- Bloom ---- */

extern const umbeli_scheme umbeli_scheme_rocksdb; /* bits: whole lines, at most 2^32 of them */

/* The filter of format versions below 5.  A line is any power of two of bytes: 64 on most machines,
 * 128 and 256 on some.  lines * line bytes * 8 are shape.bits. */
umbel_err umbeli_rocksdb_legacy_new(umbeli_shape shape, uint32_t lines, const uint8_t *borrow,
                                    const umbeli_settings *settings, umbel_filter **out,
                                    umbel_diag *diag);

/* The number of its lines; 0: this is not such a filter. */
uint32_t umbeli_rocksdb_legacy_lines(const umbel_filter *f);

/* The mean rate of FastLocalBloom filters after that many keys. */
double umbeli_rocksdb_rate(uint64_t lines, uint32_t hashes, uint64_t keys);

/* ---- Ribbon ---- */

/* What the last five bytes say; there are at least two blocks. */
typedef struct umbeli_ribbon_meta {
    uint32_t seed, blocks;
} umbeli_ribbon_meta;

umbel_err umbeli_ribbon_new(umbeli_ribbon_meta meta, uint64_t len, const uint8_t *borrow,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* False: this is not such a filter. */
bool umbeli_ribbon_meta_of(const umbel_filter *f, umbeli_ribbon_meta *meta);

#endif
