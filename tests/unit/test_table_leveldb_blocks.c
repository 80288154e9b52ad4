/* SPDX-License-Identifier: MIT
 *
 * LevelDB tables made here, block by block: restart points, neighbours and memory at their limits
 */
#include "cases.h"

#include <string.h>

#include "any_filter.h"
#include "core/bits.h"
#include "foreign.h"
#include "tables/crc32c.h"
#include "tables/leveldb/leveldb_table.h"

enum { PLAIN = 0, SNAPPY = 1, ZSTD = 2 };
enum { DATA_BLOCK = 100, FILTERS = 90 };

typedef struct file {
    uint8_t bytes[4096];
    size_t len;
    umbeli_handle meta, index, filters;
} file;

static void put(file *f, const void *bytes, size_t len) {
    assert_true(len <= sizeof f->bytes - f->len);
    memcpy(f->bytes + f->len, bytes, len);
    f->len += len;
}

/* The trailer follows: the compression, and the checksum. */
static umbeli_handle put_block(file *f, uint8_t type, const void *bytes, size_t len) {
    umbeli_handle h = {f->len, len};
    uint8_t sum[4];
    put(f, bytes, len);
    put(f, &type, 1);
    umbeli_store_le32(sum, umbeli_crc32c_mask(umbeli_crc32c(f->bytes + h.offset, len + 1)));
    put(f, sum, 4);
    return h;
}

/* The contents as one literal of snappy, or as one raw block in a Zstandard frame; followed by some
 * zeros that belong to neither. */
static umbeli_handle put_packed(file *f, uint8_t type, const uint8_t *bytes, size_t len,
                                size_t more) {
    const uint8_t snappy[] = {(uint8_t)len, 60 << 2, (uint8_t)(len - 1)};
    const uint8_t zstd[] = {
        0x28, 0xb5, 0x2f, 0xfd, 0x20, (uint8_t)len, (uint8_t)(len << 3 | 1), (uint8_t)(len >> 5),
        0};
    uint8_t packed[256] = {0};
    size_t head = type == SNAPPY ? sizeof snappy : sizeof zstd;
    assert_true(len > 60 && len < 128);
    memcpy(packed, type == SNAPPY ? snappy : zstd, head);
    memcpy(packed + head, bytes, len);
    return put_block(f, type, packed, head + len + more);
}

static uint8_t *varint(uint8_t *to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* One entry that shares nothing: key, and the handle as its value. */
static uint8_t *put_entry(uint8_t *to, const char *key, umbeli_handle h) {
    uint8_t value[20];
    size_t key_len = strlen(key),
           value_len = (size_t)(varint(varint(value, h.offset), h.size) - value);
    *to++ = 0;
    *to++ = (uint8_t)key_len;
    *to++ = (uint8_t)value_len;
    memcpy(to, key, key_len);
    memcpy(to + key_len, value, value_len);
    return to + key_len + value_len;
}

/* Without restart points, which are not needed to read a block from its start. */
static size_t no_restarts(const uint8_t *from, uint8_t *to) {
    memset(to, 0, 4);
    return (size_t)(to + 4 - from);
}

static void put_footer(file *f) {
    uint8_t footer[UMBELI_SSTABLE_FOOTER] = {0};
    uint8_t *to = varint(varint(footer, f->meta.offset), f->meta.size);
    varint(varint(to, f->index.offset), f->index.size);
    umbeli_store_le64(footer + 40, UINT64_C(0xdb4775248b80fb57));
    put(f, footer, sizeof footer);
}

static void put_metaindex(file *f) {
    uint8_t block[64];
    uint8_t *end = put_entry(block, "filter.leveldb.BuiltinBloomFilter2", f->filters);
    f->meta = put_block(f, PLAIN, block, no_restarts(block, end));
}

/* ---- Restart points ---- */

static umbeli_entries entries_with(uint8_t *bytes, size_t len, uint32_t restarts) {
    umbeli_store_le32(bytes + len - 4, restarts);
    return umbeli_entries_of(&(umbeli_block){.bytes = bytes, .len = len});
}

static void restart_points_fit_their_block(void **state) {
    (void)state;
    umbeli_entries it;
    for (size_t len = 4; len <= 16; len++) {
        uint8_t bytes[16] = {0};
        uint32_t max = (uint32_t)(len / 4 - 1);
        it = entries_with(bytes, len, max); /* less than a word is left for entries */
        assert_null(it.wrong);
        assert_int_equal(umbeli_left(&it.in), len % 4);
        const uint32_t lies[] = {max + 1, max + 2, UINT32_MAX / 4, UINT32_MAX};
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            it = entries_with(bytes, len, lies[i]);
            assert_non_null(it.wrong);
            assert_false(umbeli_entries_next(&it));
        }
    }
    for (size_t len = 0; len < 4; len++) {
        const umbeli_block block = {.bytes = (const uint8_t *)"\0\0", .len = len};
        it = umbeli_entries_of(&block);
        assert_non_null(it.wrong);
        assert_int_equal(umbeli_left(&it.in), 0);
    }
}

static void an_index_of_lying_restart_points_is_told(void **state) {
    (void)state;
    for (uint8_t restarts = 1; restarts <= 2; restarts++) {
        file f = {.len = 0};
        const uint8_t none[4] = {0}, block[8] = {0, 0, 0, 0, restarts};
        umbel_table *t = NULL;
        umbel_diag fault = {0};
        f.meta = put_block(&f, PLAIN, none, sizeof none);
        f.index = put_block(&f, PLAIN, block, sizeof block);
        put_footer(&f);
        assert_ok(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, NULL));
        if (restarts == 1) {
            assert_int_equal(umbel_table_fault(t, 0, &fault), UMBEL_OK);
        } else {
            assert_int_equal(umbel_table_fault(t, 0, &fault), UMBEL_ECORRUPT);
            assert_non_null(strstr(fault.what, "restart points"));
            assert_int_equal(fault.offset, f.index.offset);
        }
        umbel_table_close(t);
    }
}

/* ---- Data blocks ---- */

/* Two blocks of keys and no filter; the handle of the second starts `earlier` bytes before it. */
static void two_blocks(file *f, uint64_t earlier) {
    uint8_t block[DATA_BLOCK] = {0}, index[64];
    umbeli_handle first = put_block(f, PLAIN, block, sizeof block);
    umbeli_handle second = put_block(f, PLAIN, block, sizeof block);
    second.offset -= earlier;
    f->meta = put_block(f, PLAIN, block, 4);
    uint8_t *end = put_entry(put_entry(index, "a12345678", first), "b12345678", second);
    f->index = put_block(f, PLAIN, index, no_restarts(index, end));
    put_footer(f);
}

static void data_blocks_do_not_overlap(void **state) {
    (void)state;
    const struct {
        uint64_t earlier;
        const char *fault;
    } cases[] = {{0, NULL},
                 {UMBELI_SSTABLE_TRAILER + 1, "inside the one before"}, /* by one byte */
                 {UMBELI_SSTABLE_TRAILER + DATA_BLOCK, "inside the one before"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f = {.len = 0};
        umbel_table *t = NULL;
        umbel_diag fault = {0};
        two_blocks(&f, cases[i].earlier);
        assert_ok(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, NULL));
        umbel_err e = umbel_table_fault(t, 0, &fault);
        if (cases[i].fault) {
            assert_int_equal(e, UMBEL_ECORRUPT);
            if (!strstr(fault.what, cases[i].fault)) fail_msg("case %zu: %s", i, fault.what);
            assert_int_equal(fault.offset, DATA_BLOCK + UMBELI_SSTABLE_TRAILER - cases[i].earlier);
        } else if (e) {
            fail_msg("case %zu: %s", i, fault.what);
        }
        umbel_table_close(t);
    }
}

/* Data ends where the filters begin. */
static void data_blocks_end_before_the_filters(void **state) {
    (void)state;
    for (uint64_t more = 0; more <= 1; more++) {
        file f = {.len = 0};
        uint8_t data[DATA_BLOCK] = {0}, index[64];
        umbel_table *t = NULL;
        umbel_diag fault = {0};
        /* A handle that reaches up to the filters takes the trailer for data, so its sum is wrong. */
        umbeli_handle block = put_block(&f, PLAIN, data, sizeof data);
        block.size += UMBELI_SSTABLE_TRAILER + more;
        f.filters = put_block(&f, PLAIN, "\0\0\0\0\x0b", 5);
        put_metaindex(&f);
        uint8_t *end = put_entry(index, "a12345678", block);
        f.index = put_block(&f, PLAIN, index, no_restarts(index, end));
        put_footer(&f);
        assert_ok(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, NULL));
        assert_int_equal(umbel_table_fault(t, 0, &fault), UMBEL_ECORRUPT);
        assert_non_null(strstr(fault.what, more ? "what follows the data" : "checksum"));
        umbel_table_close(t);
    }
}

/* ---- Decompressed ---- */

/* Three blocks of data, filters and index, all compressed; index and filters stay in memory, and
 * the return value is their length. */
static size_t put_compressed(file *f) {
    static const char *const keys[] = {"first 12345678", "second 12345678", "third 12345678"};
    uint8_t data[DATA_BLOCK] = {0}, filters[FILTERS] = {0}, index[128];
    uint8_t *end = index;
    for (int i = 0; i < 3; i++) {
        end = put_entry(end, keys[i], put_packed(f, SNAPPY, data, sizeof data, 0));
    }
    filters[FILTERS - 10] = 1; /* the only filter's probes, at its end */
    umbeli_store_le32(filters + FILTERS - 5, FILTERS - 9);
    filters[FILTERS - 1] = 11;
    f->filters = put_packed(f, SNAPPY, filters, sizeof filters, 0);
    put_metaindex(f);
    size_t index_len = no_restarts(index, end);
    f->index = put_packed(f, SNAPPY, index, index_len, 0);
    put_footer(f);
    return index_len + sizeof filters;
}

/* Every block alone is below each of these limits. */
static void blocks_share_the_limit(void **state) {
    (void)state;
    file f = {.len = 0};
    size_t held = put_compressed(&f);
    const struct {
        size_t limit;
        umbel_err want;
        uint64_t offset;
        size_t places;
    } cases[] = {
        {held - 1, UMBEL_ELIMIT, f.filters.offset, 0},
        {held, UMBEL_ELIMIT, 0, 1}, /* both, but no data block besides */
        {held + DATA_BLOCK - 1, UMBEL_ELIMIT, 0, 1},
        {held + DATA_BLOCK, UMBEL_OK, 0, 1}, /* one data block at a time */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foreign_memory m;
        umbel_table *t = NULL;
        umbel_diag fault = {0};
        foreign_memory_start(&m, 0, 0);
        m.opts.max_bytes = cases[i].limit;
        assert_ok(umbel_table_read(f.bytes, f.len, NULL, &m.opts, &t, NULL));
        assert_int_equal(umbel_table_fault(t, 0, &fault), cases[i].want);
        assert_int_equal(fault.offset, cases[i].offset);
        assert_int_equal(umbel_table_count(t), cases[i].places);
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
    }
}

static void compressed_bytes_end_with_the_block(void **state) {
    (void)state;
    static const char *const what[] = {[SNAPPY] = "snappy", [ZSTD] = "bytes after the frame"};
    for (uint8_t type = SNAPPY; type <= ZSTD; type++) {
        for (size_t more = 0; more <= 1; more++) {
            file f = {.len = 0};
            uint8_t index[DATA_BLOCK] = {0};
            umbel_table *t = NULL;
            umbel_diag fault = {0};
            f.meta = put_block(&f, PLAIN, index, 4);
            umbeli_store_le32(index + DATA_BLOCK - 4, DATA_BLOCK / 4 - 1);
            f.index = put_packed(&f, type, index, sizeof index, more);
            put_footer(&f);
            assert_ok(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, NULL));
            assert_int_equal(umbel_table_fault(t, 0, &fault), more ? UMBEL_ECORRUPT : UMBEL_OK);
            if (more) {
                if (!strstr(sentence(&fault), what[type])) fail_msg("says: %s", sentence(&fault));
                assert_int_equal(fault.offset, f.index.offset);
            }
            umbel_table_close(t);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restart_points_fit_their_block),
        cmocka_unit_test(an_index_of_lying_restart_points_is_told),
        cmocka_unit_test(data_blocks_do_not_overlap),
        cmocka_unit_test(data_blocks_end_before_the_filters),
        cmocka_unit_test(blocks_share_the_limit),
        cmocka_unit_test(compressed_bytes_end_with_the_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
