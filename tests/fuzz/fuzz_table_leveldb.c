/* SPDX-License-Identifier: MIT
 *
 * fuzz_table_leveldb.c - the reader of LevelDB tables: the input is the table, whose checksums are
 * corrected first, because no fuzzer guesses them
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "tables/crc32c.h"
#include "tables/leveldb/leveldb_table.h"
#include "target.h"

enum { MAX_BLOCKS = 200 };

static void seal(uint8_t *bytes, size_t len, umbeli_handle h) {
    uint64_t end = len - UMBELI_SSTABLE_FOOTER;
    if (h.offset > end || h.size > end - h.offset ||
        end - h.offset - h.size < UMBELI_SSTABLE_TRAILER) {
        return;
    }
    uint8_t *block = bytes + h.offset;
    umbeli_store_le32(block + h.size + 1,
                      umbeli_crc32c_mask(umbeli_crc32c(block, (size_t)h.size + 1)));
}

/* Also the blocks whose handles are the values of this block's entries. */
static void seal_with_children(uint8_t *bytes, size_t len, umbeli_handle h) {
    seal(bytes, len, h);
    if (h.offset > len || h.size > len - h.offset) return;
    umbeli_block block = {.bytes = bytes + h.offset, .len = (size_t)h.size};
    umbeli_entries it = umbeli_entries_of(&block);
    for (unsigned i = 0; i < MAX_BLOCKS && umbeli_entries_next(&it); i++) {
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        umbeli_handle child;
        if (umbeli_take_handle(&r, &child)) seal(bytes, len, child);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    umbel_table_hints hints = {.system = UMBEL_TABLE_LEVELDB};
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy) return 0;
    if (len) memcpy(copy, bytes, len);
    if (len >= UMBELI_SSTABLE_FOOTER) {
        umbeli_store_le64(copy + len - 8, UINT64_C(0xdb4775248b80fb57));
        umbeli_reader r = umbeli_reader_over(copy + len - UMBELI_SSTABLE_FOOTER, 40);
        umbeli_handle meta, index;
        if (umbeli_take_handle(&r, &meta) && umbeli_take_handle(&r, &index)) {
            seal_with_children(copy, len, meta);
            seal_with_children(copy, len, index);
        }
    }
    use_table(copy, len, &hints);
    free(copy);
    return 0;
}
