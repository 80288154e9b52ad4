/* SPDX-License-Identifier: MIT
 *
 * clickhouse_part.h - a skipping index in a part of ClickHouse's MergeTree
 *
 *   clickhouse_part.c        opening, filters, keys
 *   clickhouse_blocks.c      compressed blocks into one stream
 *   clickhouse_granules.c    granules in the stream, places of filters
 *   clickhouse_definition.c  the index's definition, which is not in the files
 */
#ifndef UMBELI_CLICKHOUSE_PART_H
#define UMBELI_CLICKHOUSE_PART_H

#include "tables/table.h"
#include "umbel_foreign.h"

/* ---- clickhouse_blocks.c ---- */

/* One compressed block and where its bytes begin in the stream. */
typedef struct umbeli_piece {
    uint64_t offset; /* in the file */
    size_t start;
    size_t unbroken; /* the stream has no lost block between here and there */
    bool lost;       /* damaged: nothing of it is in the stream */
} umbeli_piece;

typedef struct umbeli_chain {
    uint8_t *bytes;
    size_t len, cap;
    umbeli_piece *pieces;
    size_t npieces, pieces_cap;
} umbeli_chain;

/* True if there is a complete block with a valid checksum at the start. */
bool umbeli_chain_starts(const uint8_t *bytes, size_t len);

/* Decompresses all blocks; damaged ones are noted and left out. */
umbel_err umbeli_chain_read(umbel_table *t, const uint8_t *bytes, size_t len, umbeli_chain *out,
                            umbel_diag *diag);
void umbeli_chain_end(umbel_table *t, umbeli_chain *c);

/* ---- clickhouse_definition.c ---- */

typedef enum umbeli_index_kind {
    UMBELI_INDEX_TOKENS, /* tokenbf_v1 or, with ngram, ngrambf_v1 */
    UMBELI_INDEX_VALUES  /* bloom_filter */
} umbeli_index_kind;

typedef struct umbeli_index {
    umbeli_index_kind kind;
    uint32_t ngram;
    uint64_t bytes;        /* TOKENS: of a filter */
    uint32_t bits_per_row; /* VALUES */
    umbel_foreign like;    /* for umbel_decode */
} umbeli_index;

/* Parses a definition as written in CREATE TABLE. */
umbel_err umbeli_index_read(const char *text, umbeli_index *out, umbel_diag *diag);

/* The key of a value whose type is given by ClickHouse's or umbel's name. */
umbel_err umbeli_clickhouse_key(const char *type, umbel_key text, uint8_t *key, size_t cap,
                                size_t *key_len, umbel_diag *diag);

/* String and FixedString, also inside Array, Nullable and LowCardinality. */
bool umbeli_clickhouse_is_text(const char *type);

/* ---- clickhouse_granules.c ---- */

enum { UMBELI_MARK = 24, UMBELI_COLUMN_ROOM = 8 };

typedef struct umbeli_part {
    umbeli_index index;
    umbeli_chain stream, marks; /* marks.len 0: there are none */
    uint32_t columns;
    const char *type; /* of the values */
    char *type_copy;
    char (*names)[UMBELI_COLUMN_ROOM];
} umbeli_part;

/* Adds a place for each granule and column; damage is noted.  Fails only when out of memory. */
umbel_err umbeli_part_walk(umbel_table *t, umbel_diag *why);

#endif
