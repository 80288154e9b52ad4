/* SPDX-License-Identifier: MIT
 *
 * clickhouse_index.h - ClickHouse's bloom_filter(p) index: sizes, value hashes, granules
 *
 * Not the BloomFilter class with other parameters: values are hashed to 64 bits first, by type, and
 * each probe mixes that hash with its own constant.
 */
#ifndef UMBELI_CLICKHOUSE_INDEX_H
#define UMBELI_CLICKHOUSE_INDEX_H

#include "core/bytes.h"
#include "kind/classic/classic.h"
#include "umbel_foreign.h"

typedef struct umbeli_clickhouse_best {
    uint32_t bits_per_row, hashes;
} umbeli_clickhouse_best;

/* calculationBestPractices, in its current or its pre-2024 form; fpr in [0,1]. */
umbeli_clickhouse_best umbeli_clickhouse_best_of(double fpr, bool pre2024);

/* The hash of a value of a numeric type; 0, which ClickHouse also adds for empty arrays, has the
 * hash 0. */
uint64_t umbeli_clickhouse_number(const void *value, size_t len);

/* The head of a granule: total_rows, and the bytes of each indexed column after it. */
typedef struct umbeli_clickhouse_granule {
    uint64_t rows, column_bytes;
} umbeli_clickhouse_granule;

umbel_err umbeli_clickhouse_granule_head(umbeli_reader *r, uint32_t bits_per_row,
                                         umbeli_clickhouse_granule *granule, umbel_diag *diag);

/* create, decode_as, size and encode of a granule with one column. */
umbel_err umbeli_clickhouse_index_shape(const umbel_foreign *params, umbeli_shape *shape,
                                        umbel_diag *diag);
const umbeli_scheme *umbeli_clickhouse_index_scheme(const umbel_foreign *params);
umbel_err umbeli_clickhouse_index_bits(const umbel_foreign *like, const uint8_t *bytes, size_t len,
                                       umbeli_shape *shape, const uint8_t **bits, umbel_diag *diag);
uint64_t umbeli_clickhouse_index_size(const umbel_filter *f);
void umbeli_clickhouse_index_encode(const umbel_filter *f, umbeli_writer *w);

#endif
