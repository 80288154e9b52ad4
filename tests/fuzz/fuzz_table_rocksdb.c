/* SPDX-License-Identifier: MIT
 *
 * fuzz_table_rocksdb.c - the reader of RocksDB's tables: the input is the table, whose checksums are
 * corrected first, because no fuzzer guesses them
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "tables/rocksdb/rocksdb_table.h"
#include "target.h"

enum { MAX_BLOCKS = 200 };

static void seal(const umbeli_rocks *own, uint8_t *bytes, size_t len, umbeli_handle h) {
    umbel_table t = {.len = len};
    if (!umbeli_rocks_inside(&t, h)) return;
    uint8_t *block = bytes + h.offset;
    umbeli_store_le32(block + h.size + 1,
                      umbeli_rocks_checksum(own, block, (size_t)h.size + 1, h.offset));
}

/* Also the blocks whose handles are the values of this block's entries, to a depth of two: the
 * metaindex names the index of the partitions. */
static void seal_with_children(const umbeli_rocks *own, uint8_t *bytes, size_t len, umbeli_handle h,
                               int depth) {
    seal(own, bytes, len, h);
    umbel_table t = {.len = len};
    if (depth == 0 || !umbeli_rocks_inside(&t, h)) return;
    umbeli_block block = {.bytes = bytes + h.offset, .len = (size_t)h.size};
    umbeli_rocks children = {.deltas = depth < 2 && own->version >= 4};
    umbeli_index_entries i = umbeli_index_of(&children, &block, true);
    for (unsigned n = 0; n < MAX_BLOCKS && umbeli_index_next(&i); n++) {
        seal_with_children(own, bytes, len, i.handle, depth - 1);
    }
}

/* Version 6: the footer has its own checksum, and says where the metaindex is by its size. */
static void seal_footer(umbeli_rocks *own, uint8_t *bytes, size_t len) {
    size_t at = len - UMBELI_ROCKS_FOOTER;
    uint8_t *footer = bytes + at;
    memcpy(footer + 1, "\x3e\0\x7a", 4);
    own->base = umbeli_load_le32(footer + 9);
    umbeli_handle meta = {.size = umbeli_load_le32(footer + 13)};
    if (meta.size + UMBELI_ROCKS_TRAILER <= at) {
        meta.offset = at - UMBELI_ROCKS_TRAILER - meta.size;
        seal_with_children(own, bytes, len, meta, 2);
    }
    umbeli_store_le32(footer + 5, 0);
    umbeli_store_le32(footer + 5, umbeli_rocks_checksum(own, footer, UMBELI_ROCKS_FOOTER, at));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    umbel_table_hints hints = {.system = UMBEL_TABLE_ROCKSDB};
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) return 0;
    if (len) memcpy(copy, bytes, len);
    if (len >= UMBELI_ROCKS_FOOTER) {
        uint8_t *footer = copy + len - UMBELI_ROCKS_FOOTER;
        umbeli_store_le64(copy + len - 8, UINT64_C(0x88e241b785f4cff7));
        umbeli_rocks own = {.version = umbeli_load_le32(footer + 41), .checksum = footer[0]};
        umbeli_reader r = umbeli_reader_over(footer + 1, 40);
        umbeli_handle meta, index;
        if (own.version >= 6) {
            seal_footer(&own, copy, len);
        } else if (umbeli_take_handle(&r, &meta) && umbeli_take_handle(&r, &index)) {
            seal_with_children(&own, copy, len, meta, 2);
            seal(&own, copy, len, index);
        }
    }
    use_table(copy, len, &hints);
    free(copy);
    return 0;
}
