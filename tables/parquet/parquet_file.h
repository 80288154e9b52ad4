/* SPDX-License-Identifier: MIT
 *
 * parquet_file.h - the Bloom filters of a Parquet file
 *
 *   parquet_file.c    places of filters, keys
 *   parquet_footer.c  FileMetaData: schema and column chunks, as much of them as is needed
 */
#ifndef UMBELI_PARQUET_FILE_H
#define UMBELI_PARQUET_FILE_H

#include "tables/table.h"

/* Parquet's physical types. */
enum {
    UMBELI_PARQUET_BOOLEAN = 0,
    UMBELI_PARQUET_INT32 = 1,
    UMBELI_PARQUET_INT64 = 2,
    UMBELI_PARQUET_INT96 = 3,
    UMBELI_PARQUET_FLOAT = 4,
    UMBELI_PARQUET_DOUBLE = 5,
    UMBELI_PARQUET_BYTE_ARRAY = 6,
    UMBELI_PARQUET_FIXED = 7
};

/* What a column's values mean, as far as it affects how they are written as text. */
typedef enum umbeli_meaning {
    UMBELI_MEANS_PLAIN,
    UMBELI_MEANS_UNSIGNED,
    UMBELI_MEANS_DATE,
    UMBELI_MEANS_TIMESTAMP, /* digits: 3, 6 or 9 */
    UMBELI_MEANS_DECIMAL,   /* digits: the scale */
    UMBELI_MEANS_UUID
} umbeli_meaning;

/* A leaf of the schema. */
typedef struct umbeli_column {
    char *path; /* dots between names; NULL until a column chunk gives it */
    int32_t physical, fixed_len;
    umbeli_meaning meaning;
    uint32_t digits;
} umbeli_column;

/* What the footer says of one column chunk. */
typedef struct umbeli_chunk {
    uint64_t row_group;
    uint32_t column; /* index of the leaf */
    bool encrypted;
    uint64_t values;
    int64_t offset, len; /* of the filter; -1: not given */
    uint64_t at;         /* offset in the file where this was given */
} umbeli_chunk;

typedef struct umbeli_columns {
    umbeli_column *columns;
    size_t count, cap;
    uint64_t filters; /* bytes of all filters */
} umbeli_columns;

/* Reads the footer, fills t->own (an umbeli_columns) and calls `each` for the column chunks in
 * order; damage inside the footer is noted, and what was read before it stays. */
umbel_err umbeli_columns_footer(umbel_table *t, uint64_t start, uint64_t len,
                                umbel_err (*each)(umbel_table *t, const umbeli_chunk *chunk));

#endif
