/* SPDX-License-Identifier: MIT
 *
 * umbel_table.h - filters where they live: tables of LevelDB and RocksDB, ClickHouse parts,
 * Parquet files
 *
 *   umbel_table *t = NULL;
 *   umbel_err e = umbel_table_open("000005.ldb", NULL, NULL, &t, NULL);
 *   for (size_t i = 0; !e && i < umbel_table_count(t); i++) {
 *       umbel_table_place place;
 *       umbel_table_place_of(t, i, &place);                // blocks or rows, column, length
 *   }
 *   umbel_table_answer answer;
 *   if (!e) e = umbel_table_check(t, NULL, "ada", 3, NULL, &answer, NULL);
 *   umbel_table_close(t);
 *
 * Link with -lumbel-table (pkg-config umbel-table).  The rules of umbel.h hold here as well.
 * Damage that leaves the rest of a file readable is not an error: the rest can be used, and
 * umbel_table_fault reports what is wrong.  What a damaged filter covers may hold any key.
 */
#ifndef UMBEL_TABLE_H
#define UMBEL_TABLE_H

#include "umbel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types -------------------------------------------------------------------------------- */

typedef struct umbel_table umbel_table;

typedef enum umbel_table_system {
    UMBEL_TABLE_ANY = 0,        /* recognise it                                                  */
    UMBEL_TABLE_LEVELDB = 1,    /* a table of LevelDB: .ldb, .sst                                */
    UMBEL_TABLE_CLICKHOUSE = 2, /* a skipping index of a MergeTree part: skp_idx_*.idx           */
    UMBEL_TABLE_PARQUET = 3,    /* a Parquet file                                                */
    UMBEL_TABLE_ROCKSDB = 4     /* a block-based table of RocksDB: .sst, format versions 2 to 6  */
} umbel_table_system;

/* What the file itself does not say.  Zero means "not given". */
typedef struct umbel_table_hints {
    umbel_table_system system;
    const char *index; /* ClickHouse, required: as in the table's definition, "bloom_filter(0.01)",
                          "tokenbf_v1(256, 2, 0)" or "ngrambf_v1(4, 512, 3, 7)"                  */
    const char *type;  /* ClickHouse's bloom_filter: the column's type, see umbel_table_key; NULL:
                          string                                                                 */
    const char *name;  /* ClickHouse, a part's directory: the index, without skp_idx_; may be
                          NULL when there is only one                                            */
    const void *marks; /* ClickHouse: the file of marks.  umbel_table_open finds it itself       */
    size_t marks_len;
    uint32_t columns;  /* ClickHouse: columns of the index; 0: one                               */
    uint64_t reserved[4];
} umbel_table_hints;

typedef enum umbel_table_state {
    UMBEL_TABLE_FILTER = 0,    /* a filter                                                       */
    UMBEL_TABLE_EMPTY = 1,     /* there are no keys here: nothing can be found                   */
    UMBEL_TABLE_NONE = 2,      /* no filter was written: anything may be found                   */
    UMBEL_TABLE_UNREADABLE = 3 /* damaged, encrypted or of an unknown form: anything may be found */
} umbel_table_state;

/* Where a filter is and what it covers. */
typedef struct umbel_table_place {
    umbel_table_state state;
    const char *column;   /* Parquet: dots between nested names; ClickHouse: "1", "2" ...;
                             LevelDB, RocksDB: NULL                                              */
    const char *type;     /* how umbel_table_key reads values of this column                     */
    uint64_t offset, len; /* of the filter in the file; ClickHouse: in the decompressed index    */
    uint64_t first, end;  /* LevelDB: data blocks that start at these offsets; RocksDB: the same,
                             or the partition, from 0; ClickHouse: the granule; Parquet: the row
                             group.  `end` is exclusive                                          */
    uint64_t keys;        /* LevelDB: keys in these blocks; RocksDB: keys in the filter, unless
                             it is a partition; ClickHouse: distinct values; Parquet: values in
                             the column chunk; 0: unknown                                        */
    uint64_t reserved[2];
} umbel_table_place;

typedef struct umbel_table_answer {
    bool may_contain;    /* false: certainly not in this file                                    */
    uint64_t places;     /* number of places that may have it                                    */
    bool has_block;      /* LevelDB, RocksDB: a block of data would be read ...                  */
    uint64_t block, len; /* ... this one, without its trailer                                    */
    uint64_t reserved[2];
} umbel_table_answer;

/* What a file says about itself, such as "rocksdb.num.entries". */
typedef struct umbel_table_fact {
    const char *name, *text; /* live as long as the table; bytes that are not text are in hex     */
    uint64_t number;         /* if is_number                                                     */
    bool is_number;
    uint64_t reserved[2];
} umbel_table_fact;

/* ---- Reading ------------------------------------------------------------------------------ */

/* Reads a table from memory, which must outlive it unchanged.  hints and opts may be NULL;
 * opts->max_bytes limits what is held in memory, decompressed data and lists; 0: 1 GiB. */
UMBEL_API umbel_err umbel_table_read(const void *bytes, size_t len, const umbel_table_hints *hints,
                                     const umbel_opts *opts, umbel_table **out, umbel_diag *diag);

/* Reads a table from a file, which is mapped, or from the directory of a ClickHouse part. */
UMBEL_API umbel_err umbel_table_open(const char *path, const umbel_table_hints *hints,
                                     const umbel_opts *opts, umbel_table **out, umbel_diag *diag);
UMBEL_API void umbel_table_close(umbel_table *table); /* NULL is allowed */

UMBEL_API umbel_table_system umbel_table_system_of(const umbel_table *table);
UMBEL_API const char *umbel_table_system_name(umbel_table_system system); /* "leveldb"; or NULL  */

/* The places of a table, in file order. */
UMBEL_API size_t umbel_table_count(const umbel_table *table);
UMBEL_API void umbel_table_place_of(const umbel_table *table, size_t i, umbel_table_place *place);

/* The filter of a place, read-only, for every function of umbel.h.  Free it before the table is
 * closed.  UMBEL_ENOTSUP when the place's state is not UMBEL_TABLE_FILTER. */
UMBEL_API umbel_err umbel_table_filter(const umbel_table *table, size_t i, umbel_filter **out,
                                       umbel_diag *diag);

/* The i-th property of a RocksDB table, in the order of names; false after the last, and for other
 * systems. */
UMBEL_API bool umbel_table_fact_of(const umbel_table *table, size_t i, umbel_table_fact *fact);

/* The i-th fault of the file; UMBEL_OK after the last.  At most a hundred are kept. */
UMBEL_API umbel_err umbel_table_fault(const umbel_table *table, size_t i, umbel_diag *fault);

/* ---- Queries ------------------------------------------------------------------------------ */

/* Converts text to the key of a value as this table's system stores it.  type NULL: that of the
 * column.  Types are those of umbel_type (umbel_foreign.h) plus date (2024-02-29), timestamp
 * (2024-02-29 12:30:00.5, UTC, in the column's unit), decimal and uuid; for ClickHouse also its own
 * names, such as UInt64 or Date.  column NULL: the first.  A key has at most max(32, len) bytes. */
UMBEL_API umbel_err umbel_table_key(const umbel_table *table, const char *column, const char *type,
                                    const void *text, size_t len, void *key, size_t cap,
                                    size_t *key_len, umbel_diag *diag);

/* May the table hold this key, and where?  may[i], if not NULL, is 1 or 0 for each place.
 *   LevelDB     like its own reader: the index names one block, and that block's filter is queried
 *   RocksDB     the filter, or the partition that its index names, whatever range of keys the
 *               file has; if prefixes are in the filter instead of keys, the key's prefix
 *   ClickHouse  tokenbf_v1 and ngrambf_v1: every token of the key must be there
 *   Parquet     each row group
 * column may be NULL for LevelDB, RocksDB and tables with one column; UMBEL_EINVAL when there is
 * no such column. */
UMBEL_API umbel_err umbel_table_check(const umbel_table *table, const char *column, const void *key,
                                      size_t len, uint8_t *may, umbel_table_answer *answer,
                                      umbel_diag *diag);

/* ---- Writing LevelDB's filter block --------------------------------------------------------- */

/* Call these in the order of LevelDB's table builder, (start add*)* finish; the bytes are what it
 * writes. */
typedef struct umbel_leveldb_block umbel_leveldb_block;

UMBEL_API umbel_err umbel_leveldb_block_new(uint32_t bits_per_key, const umbel_opts *opts,
                                            umbel_leveldb_block **out, umbel_diag *diag);

/* The next data block starts at this offset of the file.  UMBEL_EINVAL when that is before the
 * previous one; UMBEL_EFULL when the filter block would exceed 4 GiB. */
UMBEL_API umbel_err umbel_leveldb_block_start(umbel_leveldb_block *block, uint64_t offset);
UMBEL_API umbel_err umbel_leveldb_block_add(umbel_leveldb_block *block, const void *key,
                                            size_t len);

/* The whole block without its trailer; the bytes live as long as the builder. */
UMBEL_API umbel_err umbel_leveldb_block_finish(umbel_leveldb_block *block, const void **bytes,
                                               size_t *len);
UMBEL_API void umbel_leveldb_block_free(umbel_leveldb_block *block);

#ifdef __cplusplus
}
#endif
#endif /* UMBEL_TABLE_H */
