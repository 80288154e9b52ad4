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
#include "tables/crc32c.h"
#include "umbel_table.h"
#include "watched_memory.h"

static umbel_table_hints hints;
static size_t min; /* locations that must be found */

static watched_memory memory;

/* Everything that `umbel table` does: every filter is measured, a key looked up. */
static void use_table(const text *t) {
    umbel_table *table = NULL;
    umbel_diag diag = {0};
    watch_memory(&memory, 0);
    umbel_err e = umbel_table_read(t->bytes, t->len, &hints, &memory.opts, &table, &diag);
    if (e) fail_msg("%s at %llu", sentence(&diag), (unsigned long long)diag.offset);
    size_t count = umbel_table_count(table);
    assert_true(count >= min);
    for (size_t i = 0; i < count; i++) {
        umbel_table_place place;
        umbel_measurement now;
        umbel_filter *f = NULL;
        umbel_table_place_of(table, i, &place);
        if (place.state != UMBEL_TABLE_FILTER) continue;
        assert_ok(umbel_table_filter(table, i, &f, NULL));
        umbel_measure(f, &now);
        umbel_free(f);
    }
    umbel_table_answer answer;
    (void)umbel_table_check(table, NULL, "key", 3, NULL, &answer, NULL);
    umbel_table_close(table);
}

/* The worst files: at most this many steps and bytes of memory per byte of the file. */
enum { STEPS_PER_BYTE = 500, BYTES_PER_BYTE = 300, BYTES = 1 << 20 };

static void assert_in_proportion(const char *name, const text *t) {
    uint64_t before = steps_taken();
    use_table(t);
    uint64_t taken = steps_taken() - before;
    print_message("# %-36s %9zu bytes %10llu steps, %9zu bytes of memory\n", name, t->len,
                  (unsigned long long)taken, memory.peak);
    assert_true(taken <= STEPS_PER_BYTE * (uint64_t)t->len + BYTES);
    assert_true(memory.peak <= BYTES_PER_BYTE * t->len + BYTES);
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

/* What follows the data: these filters, metaindex, index, footer. */
static void finish_leveldb(text *t, const text *filters, text *index) {
    text meta = {0};
    handle h = put_block(t, filters);
    put_entry(&meta, "filter.leveldb.BuiltinBloomFilter2", h);
    put_restarts(&meta);
    put_restarts(index);
    handle m = put_block(t, &meta), x = put_block(t, index);
    size_t footer = t->len;
    text_varint(t, m.offset), text_varint(t, m.size);
    text_varint(t, x.offset), text_varint(t, x.size);
    while (t->len < footer + 40) text_byte(t, 0);
    text_put(t, "\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
    free(meta.bytes);
}

/* Blocks of 2 KiB that are not there, a filter for each, and an index over them. */
static void make_leveldb(text *t, size_t blocks) {
    umbel_leveldb_block *builder = NULL;
    assert_ok(umbel_leveldb_block_new(10, NULL, &builder, NULL));
    text filters = {0}, index = {0};
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
    finish_leveldb(t, &filters, &index);
    free(filters.bytes), free(index.bytes);
    min = blocks / 2;
}

/* One filter of `len` bytes, to which every second of `len` pairs of offsets points, or offsets for
 * data that is not there. */
static void make_shared_leveldb(text *t, size_t len, bool beyond) {
    text filters = {0}, index = {0};
    for (size_t i = 0; i < (beyond ? 0 : 2 * len); i++) text_byte(t, 0);
    for (size_t i = 0; i + 1 < len; i++) text_byte(&filters, 0xff);
    text_byte(&filters, 30);
    uint8_t offset[4];
    for (size_t i = 0; i < 2 * len; i++) {
        umbeli_store_le32(offset, i % 2 && !beyond ? (uint32_t)len : 0);
        text_put(&filters, offset, 4);
    }
    umbeli_store_le32(offset, (uint32_t)len);
    text_put(&filters, offset, 4);
    text_byte(&filters, 0); /* each covers one byte of the data */
    finish_leveldb(t, &filters, &index);
    free(filters.bytes), free(index.bytes);
}

static void hostile_leveldb(void **state) {
    (void)state;
    hints = (umbel_table_hints){0};
    min = 1;
    for (int beyond = 0; beyond < 2; beyond++) {
        text t = {0};
        make_shared_leveldb(&t, 40000, beyond);
        assert_in_proportion(beyond ? "leveldb, filters beyond the data" : "leveldb, one for all",
                             &t);
        free(t.bytes);
    }
}

static void leveldb(void **state) {
    (void)state;
    hints = (umbel_table_hints){0};
    assert_linear(&(parser){"leveldb table", 300, make_leveldb, use_table});
}

/* ---- RocksDB ------------------------------------------------------------------------------ */

/* Partitions of one line each; `shared`: all of them the same, of many lines. */
static void make_partitions(text *t, size_t parts, bool shared) {
    text index = {0}, meta = {0}, line = {0};
    char key[32];
    handle h = {0};
    for (size_t i = 0; i < (shared ? 64 * parts : 64); i++) text_byte(&line, 0x55);
    text_put(&line, "\xff\0\6\0", 5);
    for (size_t i = 0; i < parts; i++) {
        if (i == 0 || !shared) h = put_block(t, &line);
        snprintf(key, sizeof key, "k%08zu", i);
        put_entry(&index, key, h);
    }
    put_restarts(&index);
    put_entry(&meta, "partitionedfilter.rocksdb.BuiltinBloomFilter", put_block(t, &index));
    put_restarts(&meta);
    handle m = put_block(t, &meta);
    size_t footer = t->len;
    text_byte(t, 1); /* CRC-32C */
    text_varint(t, m.offset), text_varint(t, m.size), text_varint(t, h.offset);
    text_varint(t, h.size);
    while (t->len < footer + 41) text_byte(t, 0);
    text_put(t, "\3\0\0\0\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", 12);
    free(index.bytes), free(meta.bytes), free(line.bytes);
    min = shared ? 1 : parts / 2;
}

static void make_rocksdb(text *t, size_t parts) {
    make_partitions(t, parts, false);
}

static void rocksdb(void **state) {
    (void)state;
    hints = (umbel_table_hints){0};
    assert_linear(&(parser){"rocksdb table", 2000, make_rocksdb, use_table});
}

static void hostile_rocksdb(void **state) {
    (void)state;
    text t = {0};
    hints = (umbel_table_hints){0};
    make_partitions(&t, 3000, true);
    assert_in_proportion("rocksdb, one filter for all", &t);
    free(t.bytes);
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
    assert_linear(&(parser){"clickhouse index", 300, make_clickhouse, use_table});
    assert_linear(&(parser){"clickhouse index, tiny blocks", 2048, make_tiny_blocks, use_table});
}

/* Marks that all point to one granule. */
static void hostile_clickhouse(void **state) {
    (void)state;
    enum { MARKS = 20000, GRANULE = 65536 };
    text t = {0}, marks = {0};
    uint8_t *granule = calloc(1, GRANULE), mark[24] = {[16] = 1};
    assert_non_null(granule);
    put_compressed(&t, granule, GRANULE);
    for (size_t i = 0; i < MARKS; i++) text_put(&marks, mark, sizeof mark);
    hints = (umbel_table_hints){
        .index = "tokenbf_v1(65536, 2, 0)", .marks = marks.bytes, .marks_len = marks.len};
    min = 1;
    assert_in_proportion("clickhouse, one granule for all", &t);
    free(granule), free(t.bytes), free(marks.bytes);
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

/* Row groups of one column, whose chunks all have the filter at byte 4, which is already there. */
static void put_shared_filter(text *t, size_t groups) {
    size_t footer = t->len;
    field(t, 2, LIST), list(t, 2, STRUCT);
    field(t, 5, I32), text_varint(t, 2), text_byte(t, 0);
    put_leaf(t);
    field(t, 4, LIST), list(t, groups, STRUCT);
    for (size_t g = 0; g < groups; g++) {
        field(t, 1, LIST), list(t, 1, STRUCT);
        field(t, 3, STRUCT), field(t, 14, I64), text_varint(t, 8); /* 4, zigzag */
        text_put(t, "\0\0\0", 3);
    }
    text_byte(t, 0);
    uint8_t len[4];
    umbeli_store_le32(len, (uint32_t)(t->len - footer));
    text_put(t, len, 4);
    text_put(t, "PAR1", 4);
}

static void hostile_parquet(void **state) {
    (void)state;
    static const uint8_t unions[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0};
    enum { GROUPS = 20000, FIELDS = 200000, BITS = 1 << 18 };
    hints = (umbel_table_hints){0};
    min = GROUPS;
    text t = {0};
    text_put(&t, "PAR1", 4);
    text_byte(&t, 0x15), text_varint(&t, 2 * 32);
    text_put(&t, unions, sizeof unions);
    text_byte(&t, 0x19), list(&t, FIELDS, STRUCT);
    for (size_t i = 0; i < FIELDS + 1 + 32; i++) text_byte(&t, 0);
    put_shared_filter(&t, GROUPS);
    assert_in_proportion("parquet, one long header for all", &t);
    free(t.bytes);

    t = (text){0};
    text_put(&t, "PAR1", 4);
    text_byte(&t, 0x15), text_varint(&t, 2 * BITS);
    text_put(&t, unions, sizeof unions);
    for (size_t i = 0; i < 1 + BITS; i++) text_byte(&t, 0);
    put_shared_filter(&t, GROUPS);
    assert_in_proportion("parquet, one filter for all", &t);
    free(t.bytes);
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
        cmocka_unit_test(leveldb),    cmocka_unit_test(hostile_leveldb),
        cmocka_unit_test(rocksdb),    cmocka_unit_test(hostile_rocksdb),
        cmocka_unit_test(clickhouse), cmocka_unit_test(hostile_clickhouse),
        cmocka_unit_test(parquet),    cmocka_unit_test(hostile_parquet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
