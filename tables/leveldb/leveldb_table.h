/* SPDX-License-Identifier: MIT
 *
 * leveldb_table.h - LevelDB's table file: blocks with checksums, found through a footer
 *
 *   [data block]... [filter block] [metaindex block] [index block] [footer, 48 bytes]
 *
 *   leveldb_table.c          footer, blocks by name, data blocks, which block a key would be in
 *   leveldb_filters.c        reading the filter block
 *   leveldb_block.c          one block: checksum, decompression, entries
 *   leveldb_filter_writer.c  writing the filter block
 */
#ifndef UMBELI_LEVELDB_TABLE_H
#define UMBELI_LEVELDB_TABLE_H

#include "core/bytes.h"
#include "tables/unpack.h"

enum { UMBELI_SSTABLE_FOOTER = 48, UMBELI_SSTABLE_TRAILER = 5, UMBELI_SSTABLE_BASE_LG = 11 };

/* Where a block is; size without the trailer. */
typedef struct umbeli_handle {
    uint64_t offset, size;
} umbeli_handle;

/* Two varints; false when one of them is cut off or longer than 64 bits. */
bool umbeli_take_handle(umbeli_reader *r, umbeli_handle *h);

/* The contents of a block. */
typedef struct umbeli_block {
    const uint8_t *bytes;
    size_t len;
    uint64_t offset;   /* of the block in the file */
    uint8_t *unpacked; /* owns the bytes if they were compressed */
} umbeli_block;

/* Whether the block and its trailer are before the footer, which has this many bytes. */
bool umbeli_block_inside(const umbel_table *t, umbeli_handle h, size_t footer);

/* umbeli_unpack into a block at this offset of the file. */
umbel_err umbeli_block_unpack(umbel_table *t, umbeli_packing packing, umbeli_reader packed,
                              uint64_t claim, uint64_t offset, umbeli_block *out, umbel_diag *diag);

/* Checks the handle, the checksum and the type. */
umbel_err umbeli_block_read(umbel_table *t, umbeli_handle h, umbeli_block *out, umbel_diag *diag);
void umbeli_block_end(umbel_table *t, umbeli_block *b);

/* Iterates over the entries of a block; each key shares a prefix with the one before. */
typedef struct umbeli_entries {
    umbeli_reader in; /* up to the restart offsets */
    size_t key_len;   /* of the last entry read */
    size_t shared;
    const uint8_t *suffix, *value; /* follows `shared` bytes of the previous key */
    size_t suffix_len, value_len;
    bool values;       /* entries say how long their values are; otherwise the caller reads the
                        * values */
    const char *wrong; /* NULL: nothing so far; otherwise at in.pos */
} umbeli_entries;

umbeli_entries umbeli_entries_of(const umbeli_block *b);
bool umbeli_entries_next(umbeli_entries *it);

/* Keeps the first `room` bytes of the current key, of which `key` has those of the previous one. */
void umbeli_entries_key(const umbeli_entries *it, uint8_t *key, size_t room);

typedef enum umbeli_policy {
    UMBELI_POLICY_NONE,
    UMBELI_POLICY_BUILTIN, /* leveldb.BuiltinBloomFilter2 */
    UMBELI_POLICY_SPLIT    /* umbel.SplitBlock: Parquet's blocks and one byte, UMBELI_SPLIT_TAG */
} umbeli_policy;

enum { UMBELI_SPLIT_TAG = 1 };

typedef struct umbeli_sstable {
    umbeli_block index, filters; /* bytes NULL: unreadable */
    umbeli_policy policy;
    uint8_t base_lg; /* below 64 */
} umbeli_sstable;

/* Adds a place for each filter of the filter block; an invalid one is noted and gets none. */
umbel_err umbeli_sstable_filters(umbel_table *t);

/* umbeli_table_ops.filter */
umbel_err umbeli_sstable_filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                                umbel_diag *diag);

/* Compares the keys of a block with one, in order: key is memory for the longest. */
typedef struct umbeli_seek {
    const uint8_t *target;
    size_t len;
    uint8_t *key; /* of the entry read last */
    size_t equal; /* length of the prefix it shares with the target */
} umbeli_seek;

/* Whether the first `user` bytes of this entry's key, the next of the block, are before, equal to
 * or after the target: negative, 0 or positive. */
int umbeli_seek_compare(umbeli_seek *s, const umbeli_entries *it, size_t user);

#endif
