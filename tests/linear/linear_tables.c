/* SPDX-License-Identifier: MIT
 *
 * linear_tables.c - tables of other systems with many filters, blocks, columns
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/bits.h"
#include "hash/foreign_hash.h"
#include "steps.h"
#include "tables/leveldb/crc32c.h"
#include "umbel_table.h"

static umbel_table_hints hints;
static size_t min; /* locations that must be found */

static void parse_table(const text *t) {
    umbel_table *table = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_table_read(t->bytes, t->len, &hints, NULL, &table, &diag);
    if (e) fail_msg("%s at %llu", sentence(&diag), (unsigned long long)diag.offset);
    assert_true(umbel_table_count(table) >= min);
    umbel_table_answer answer;
    assert_ok(umbel_table_check(table, NULL, "k", 1, NULL, &answer, NULL));
    umbel_table_close(table);
}

/* ---- LevelDB ------------------------------------------------------------------------------ */

typedef struct handle {
    uint64_t offset, size;
} handle;

static handle put_block(text *t, const text *contents) {
    handle h = {t->len, contents->len};
    text_put(t, contents->bytes, contents->len);
    text_byte(t, 0); /* not compressed */
    uint8_t crc[4];
    umbeli_store_le32(crc,
                      umbeli_crc32c_mask(umbeli_crc32c(t->bytes + h.offset, contents->len + 1)));
    text_put(t, crc, 4);
    return h;
}

static void put_entry(text *t, const char *key, handle h) {
    text value = {0};
    text_varint(&value, h.offset);
    text_varint(&value, h.size);
    text_varint(t, 0);
    text_varint(t, strlen(key));
    text_varint(t, value.len);
    text_put(t, key, strlen(key));
    text_put(t, value.bytes, value.len);
    free(value.bytes);
}

static void put_restarts(text *t) {
    static const uint8_t one[8] = {0, 0, 0, 0, 1, 0, 0, 0}; /* at 0, one of them */
    text_put(t, one, 8);
}

/* Blocks of 2 KiB that are not there, a filter for each, and an index over them. */
static void make_leveldb(text *t, size_t blocks) {
    umbel_leveldb_block *builder = NULL;
    assert_ok(umbel_leveldb_block_new(10, NULL, &builder, NULL));
    text filters = {0}, meta = {0}, index = {0};
    char key[32];
    /* The data comes first in the file, so that the handles of the index are right. */
    uint8_t *data = calloc(blocks, 2048);
    assert_non_null(data);
    text_put(t, data, blocks * 2048);
    free(data);
    for (size_t i = 0; i < blocks; i++) {
        assert_ok(umbel_leveldb_block_start(builder, i * 2048));
        snprintf(key, sizeof key, "k%08zu", i);
        assert_ok(umbel_leveldb_block_add(builder, key, strlen(key)));
        put_entry(&index, key, (handle){i * 2048, 2043});
    }
    const void *bytes = NULL;
    size_t len = 0;
    assert_ok(umbel_leveldb_block_finish(builder, &bytes, &len));
    text_put(&filters, bytes, len);
    umbel_leveldb_block_free(builder);
    handle h = put_block(t, &filters);
    put_entry(&meta, "filter.leveldb.BuiltinBloomFilter2", h);
    put_restarts(&meta);
    put_restarts(&index);
    handle m = put_block(t, &meta), x = put_block(t, &index);
    size_t footer = t->len;
    text_varint(t, m.offset), text_varint(t, m.size);
    text_varint(t, x.offset), text_varint(t, x.size);
    while (t->len < footer + 40) text_byte(t, 0);
    text_put(t, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    free(filters.bytes), free(meta.bytes), free(index.bytes);
    min = blocks / 2;
}

static void leveldb(void **state) {
    (void)state;
    hints = (umbel_table_hints){0};
    assert_linear(&(parser){"leveldb table", 300, make_leveldb, parse_table});
}

/* ---- ClickHouse --------------------------------------------------------------------------- */

static void put_compressed(text *t, const uint8_t *data, size_t len) {
    uint8_t *block = malloc(25 + len);
    assert_non_null(block);
    block[16] = 0x02; /* uncompressed */
    umbeli_store_le32(block + 17, (uint32_t)len + 9);
    umbeli_store_le32(block + 21, (uint32_t)len);
    memcpy(block + 25, data, len);
    umbeli_hash128 sum = umbeli_city128(block + 16, len + 9);
    umbeli_store_le64(block, sum.low);
    umbeli_store_le64(block + 8, sum.high);
    text_put(t, block, 25 + len);
    free(block);
}

static void make_clickhouse(text *t, size_t granules) {
    uint8_t granule[256];
    memset(granule, 0xa5, sizeof granule);
    for (size_t i = 0; i < granules; i++) put_compressed(t, granule, sizeof granule);
    min = granules;
}

/* A granule delivered one byte per block. */
static void make_tiny_blocks(text *t, size_t bytes) {
    static const uint8_t byte = 0xa5;
    for (size_t i = 0; i < bytes; i++) put_compressed(t, &byte, 1);
    min = bytes / 256;
}

static void clickhouse(void **state) {
    (void)state;
    hints = (umbel_table_hints){.index = "tokenbf_v1(256, 2, 0)"};
    assert_linear(&(parser){"clickhouse index", 300, make_clickhouse, parse_table});
    assert_linear(&(parser){"clickhouse index, tiny blocks", 2048, make_tiny_blocks, parse_table});
}

/* ---- Parquet ------------------------------------------------------------------------------ */

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

static void field(text *t, unsigned id, unsigned type) {
    text_byte(t, type);
    text_byte(t, id * 2);
}

static void list(text *t, size_t count, unsigned type) {
    text_byte(t, 0xf0 | type);
    text_varint(t, count);
}

static void put_leaf(text *t) {
    field(t, 1, I32), text_varint(t, 12); /* BYTE_ARRAY, zigzag */
    field(t, 4, BINARY), text_varint(t, 1), text_byte(t, 'a');
    text_byte(t, 0);
}

/* `columns` in each of `groups`, none with a filter. */
static void put_parquet(text *t, size_t columns, size_t groups) {
    text_put(t, "PAR1", 4);
    field(t, 2, LIST), list(t, columns + 1, STRUCT);
    field(t, 5, I32), text_varint(t, 2 * columns), text_byte(t, 0);
    for (size_t i = 0; i < columns; i++) put_leaf(t);
    field(t, 4, LIST), list(t, groups, STRUCT);
    for (size_t g = 0; g < groups; g++) {
        field(t, 1, LIST), list(t, columns, STRUCT);
        for (size_t i = 0; i < columns; i++) {
            field(t, 3, STRUCT);
            field(t, 3, LIST), list(t, 1, BINARY), text_varint(t, 1), text_byte(t, 'a');
            text_byte(t, 0); /* the metadata */
            text_byte(t, 0); /* the chunk */
        }
        text_byte(t, 0);
    }
    text_byte(t, 0);
    uint8_t len[4];
    umbeli_store_le32(len, (uint32_t)t->len - 4);
    text_put(t, len, 4);
    text_put(t, "PAR1", 4);
}

static void make_groups(text *t, size_t groups) {
    put_parquet(t, 2, groups);
}

static void make_columns(text *t, size_t columns) {
    put_parquet(t, columns, 2);
}

static void parse_footer(const text *t) {
    umbel_table *table = NULL;
    (void)umbel_table_read(t->bytes, t->len, &hints, NULL, &table, NULL);
    umbel_table_close(table);
}

static void parquet(void **state) {
    (void)state;
    hints = (umbel_table_hints){0};
    assert_linear(&(parser){"parquet, row groups", 500, make_groups, parse_footer});
    assert_linear(&(parser){"parquet, columns", 500, make_columns, parse_footer});
}

int linear_tables(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leveldb),
        cmocka_unit_test(clickhouse),
        cmocka_unit_test(parquet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
