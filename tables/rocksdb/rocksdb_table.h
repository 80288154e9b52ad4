/* SPDX-License-Identifier: MIT
 *
 * rocksdb_table.h - RocksDB's block-based table: LevelDB's blocks with other checksums, more
 * compression, properties, and filters of the whole file or in partitions
 *
 *   [data block]... [filter] [index] ... [properties] [metaindex] [footer, 53 bytes]
 *
 *   rocksdb_table.c       footer, metaindex, filters, queries
 *   rocksdb_block.c       one block: checksum, decompression; the entries of an index
 *   rocksdb_properties.c  what the file says about itself
 */
#ifndef UMBELI_ROCKSDB_TABLE_H
#define UMBELI_ROCKSDB_TABLE_H

#include "tables/leveldb/leveldb_table.h"

enum { UMBELI_ROCKS_FOOTER = 53, UMBELI_ROCKS_TRAILER = 5 };

typedef enum umbeli_rocks_order {
    UMBELI_ORDER_BYTES,   /* leveldb.BytewiseComparator */
    UMBELI_ORDER_REVERSE, /* rocksdb.ReverseBytewiseComparator */
    UMBELI_ORDER_UNKNOWN  /* the application's own: keys cannot be looked up */
} umbeli_rocks_order;

typedef enum umbeli_rocks_asks {
    UMBELI_ASKS_KEY,    /* whole keys are in the filter */
    UMBELI_ASKS_FIXED,  /* their first prefix_len bytes; shorter keys have no prefix */
    UMBELI_ASKS_CAPPED, /* the same, but shorter keys are their own prefix */
    UMBELI_ASKS_NOTHING /* prefixes that only the application can take */
} umbeli_rocks_asks;

typedef struct umbeli_rocks {
    uint32_t version;
    uint8_t checksum;
    uint32_t base; /* version 6: of the checksums; else 0 */

    umbeli_block index, filters; /* bytes NULL: none, or unreadable; filters: the whole filter, or
                                    the index of its partitions */
    bool partitioned;

    /* What the properties say. */
    bool user_keys, deltas;  /* keys of an index lack the sequence number; handles are deltas */
    uint32_t index_type;     /* as UMBELI_INDEX_... */
    uint64_t keys, data_len; /* 0: unknown */
    umbeli_rocks_order order;
    umbeli_rocks_asks asks;
    size_t prefix_len;
    umbel_table_fact *facts;
    size_t nfacts, facts_cap;
} umbeli_rocks;

enum { UMBELI_INDEX_TWO_LEVELS = 2, UMBELI_INDEX_FIRST_KEYS = 3 };

/* Whether the block and its trailer are in the file; and reading it, which also checks the checksum
 * and the type. */
bool umbeli_rocks_inside(const umbel_table *t, umbeli_handle h);
umbel_err umbeli_rocks_block(umbel_table *t, umbeli_handle h, umbeli_block *out, umbel_diag *diag);

/* The checksum of these bytes as the file's footer names it, for a block at this offset. */
uint32_t umbeli_rocks_checksum(const umbeli_rocks *own, const uint8_t *bytes, size_t len,
                               uint64_t offset);

/* The entries of an index; each has a handle. */
typedef struct umbeli_index_entries {
    umbeli_entries it;
    umbeli_handle handle;
    bool deltas, first_keys;
} umbeli_index_entries;

umbeli_index_entries umbeli_index_of(const umbeli_rocks *own, const umbeli_block *b, bool filters);
bool umbeli_index_next(umbeli_index_entries *it);

/* The first entry at or after the key: its number and handle; *found false: all entries are before
 * the key, and number and handle are those of the last.  UMBEL_ECORRUPT when the index is too
 * damaged to say. */
umbel_err umbeli_index_seek(const umbel_table *t, const umbeli_block *b, bool filters,
                            umbel_key key, bool *found, size_t *number, umbeli_handle *handle);

/* What the footer says, as facts; and the properties.  What is wrong with those is noted. */
umbel_err umbeli_rocks_footer_facts(umbel_table *t);
umbel_err umbeli_rocks_properties(umbel_table *t, umbeli_handle h);
void umbeli_rocks_facts_end(umbel_table *t);

#endif
