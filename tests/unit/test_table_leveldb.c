/* SPDX-License-Identifier: MIT
 *
 * LevelDB tables: one that LevelDB wrote, read intact and damaged in every way; the filter block
 * written again, byte for byte
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "core/bits.h"
#include "foreign.h"
#include "golden.h"
#include "tables/crc32c.h"
#include "tables/leveldb/leveldb_table.h"

enum { KEYS = 300, FOOTER = UMBELI_SSTABLE_FOOTER };

/* A copy to damage, and where its parts are. */
typedef struct copy {
    uint8_t *bytes;
    size_t len;
    umbeli_handle meta, index, filters;
} copy;

static copy fresh(void) {
    copy c = {.bytes = golden_file("table/keys300.ldb", &c.len)};
    umbeli_reader r = umbeli_reader_over(c.bytes + c.len - FOOTER, FOOTER);
    assert_true(umbeli_take_handle(&r, &c.meta));
    assert_true(umbeli_take_handle(&r, &c.index));
    /* The only entry of the metaindex: three lengths of one byte, the name, the handle. */
    r = umbeli_reader_over(c.bytes + c.meta.offset + 3 + 34, 20);
    assert_true(umbeli_take_handle(&r, &c.filters));
    return c;
}

/* Recomputes the checksum of a block. */
static void seal(copy *c, umbeli_handle h) {
    uint8_t *end = c->bytes + h.offset + h.size;
    umbeli_store_le32(end + 1, umbeli_crc32c_mask(umbeli_crc32c(c->bytes + h.offset, h.size + 1)));
}

static umbel_table *read_copy(const copy *c) {
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    if (umbel_table_read(c->bytes, c->len, NULL, NULL, &t, &diag)) {
        fail_msg("%s at %llu", sentence(&diag), (unsigned long long)diag.offset);
    }
    return t;
}

static void key_of(unsigned i, char key[16]) {
    snprintf(key, 16, "key%06u", i);
}

static umbel_table_answer answer_of(const umbel_table *t, const char *key) {
    umbel_table_answer answer;
    assert_int_equal(umbel_table_check(t, NULL, key, strlen(key), NULL, &answer, NULL), UMBEL_OK);
    return answer;
}

static void finds_every_key(const umbel_table *t) {
    char key[16];
    for (unsigned i = 0; i < KEYS; i++) {
        key_of(i, key);
        if (!answer_of(t, key).may_contain) fail_msg("%s is lost", key);
    }
}

/* Exactly this fault, at this offset, among those of the damaged file, in which every key is still
 * found. */
static void faulty(copy *c, const char *what, uint64_t offset) {
    umbel_table *t = read_copy(c);
    umbel_diag fault = {0};
    bool found = false;
    for (size_t i = 0; umbel_table_fault(t, i, &fault); i++) {
        found = found || (strstr(sentence(&fault), what) && fault.offset == offset);
    }
    if (!found) {
        fail_msg("not '%s' at %llu, but '%s' at %llu", what, (unsigned long long)offset,
                 fault.what ? fault.what : "nothing", (unsigned long long)fault.offset);
    }
    finds_every_key(t);
    umbel_table_close(t);
    free(c->bytes);
}

/* ---- Intact ---- */

static void checksums(void **state) {
    (void)state;
    golden_table t = golden_table_open("table/crc32c_mask.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint32_t crc = umbeli_crc32c(bytes, len);
        assert_int_equal(crc, strtoul(t.column[1], NULL, 16));
        assert_int_equal(umbeli_crc32c_mask(crc), strtoul(t.column[2], NULL, 16));
        free(bytes);
    }
    assert_true(t.rows > 3);
    golden_table_close(&t);
}

static void reads_a_table(void **state) {
    (void)state;
    copy c = fresh();
    umbel_table *t = read_copy(&c);
    size_t block_len;
    uint8_t *block = golden_file("leveldb/filterblock.bin", &block_len);
    assert_int_equal(umbel_table_system_of(t), UMBEL_TABLE_LEVELDB);
    assert_string_equal(umbel_table_system_name(UMBEL_TABLE_LEVELDB), "leveldb");
    assert_int_equal(umbel_table_fault(t, 0, NULL), UMBEL_OK);
    uint64_t keys = 0, filters = 0;
    for (size_t i = 0; i < umbel_table_count(t); i++) {
        umbel_table_place p;
        umbel_table_place_of(t, i, &p);
        assert_int_equal(p.first, i * 2048);
        assert_int_equal(p.end, (i + 1) * 2048);
        keys += p.keys;
        filters += p.state == UMBEL_TABLE_FILTER;
        assert_true(p.state == UMBEL_TABLE_FILTER || (p.state == UMBEL_TABLE_EMPTY && !p.keys));
        if (p.state != UMBEL_TABLE_FILTER) {
            assert_int_equal(umbel_table_filter(t, i, NULL, NULL), UMBEL_ENOTSUP);
            continue;
        }
        /* At the reported location, the file has the bytes of the filter block. */
        assert_memory_equal(c.bytes + p.offset, block + (p.offset - c.filters.offset), p.len);
        umbel_filter *f = NULL;
        umbel_info info;
        assert_int_equal(umbel_table_filter(t, i, &f, NULL), UMBEL_OK);
        umbel_describe(f, &info);
        assert_int_equal(info.hashes, 6);
        assert_int_equal(info.bits, (p.len - 1) * 8);
        assert_true(info.bits >= p.keys * 10 && info.bits < p.keys * 10 + 64);
        umbel_free(f);
    }
    assert_int_equal(keys, KEYS);
    assert_true(filters > 3);
    finds_every_key(t);
    umbel_table_close(t);
    free(block);
    free(c.bytes);
}

static void names_the_block(void **state) {
    (void)state;
    copy c = fresh();
    umbel_table *t = read_copy(&c);
    uint64_t before = 0, absent = 0;
    char key[16];
    for (unsigned i = 0; i < KEYS; i++) {
        key_of(i, key);
        umbel_table_answer a = answer_of(t, key);
        assert_true(a.has_block && a.places == 1);
        assert_true(a.block >= before); /* keys are sorted, so are their blocks */
        before = a.block;
        /* The key itself is in the block: it is not compressed, and keys at restart points are
         * complete. */
        assert_true(a.block + a.len <= c.filters.offset);
        strcat(key, "x");
        a = answer_of(t, key);
        absent += a.may_contain;
        assert_int_equal(a.may_contain, a.has_block);
    }
    assert_true(before > 0);
    assert_true(absent < 20); /* 0.9% of 300 are expected */
    umbel_table_answer behind = answer_of(t, "zzz");
    assert_false(behind.may_contain);
    assert_false(behind.has_block);
    assert_int_equal(umbel_table_check(t, "a", "b", 1, NULL, NULL, NULL), UMBEL_EINVAL);
    umbel_table_close(t);
    free(c.bytes);
}

/* From the data blocks that LevelDB wrote to the filter block that LevelDB wrote. */
static void writes_the_filter_block(void **state) {
    (void)state;
    copy c = fresh();
    umbel_table *t = read_copy(&c);
    umbel_leveldb_block *b = NULL;
    const umbeli_sstable *own = t->own;
    assert_int_equal(umbel_leveldb_block_new(10, NULL, &b, NULL), UMBEL_OK);
    assert_int_equal(umbel_leveldb_block_start(b, 0), UMBEL_OK);
    umbeli_entries it = umbeli_entries_of(&own->index);
    unsigned keys = 0;
    while (umbeli_entries_next(&it)) {
        umbeli_handle h;
        umbeli_block data;
        umbeli_reader r = umbeli_reader_over(it.value, it.value_len);
        assert_true(umbeli_take_handle(&r, &h));
        assert_int_equal(umbeli_block_read(t, h, &data, NULL), UMBEL_OK);
        umbeli_entries entries = umbeli_entries_of(&data);
        uint8_t key[64];
        while (umbeli_entries_next(&entries)) {
            memcpy(key + entries.shared, entries.suffix, entries.suffix_len);
            assert_int_equal(umbel_leveldb_block_add(b, key, entries.key_len - 8), UMBEL_OK);
            keys++;
        }
        assert_int_equal(umbel_leveldb_block_start(b, h.offset + h.size + 5), UMBEL_OK);
        umbeli_block_end(t, &data);
    }
    assert_int_equal(keys, KEYS);
    size_t len, want_len;
    const void *bytes;
    uint8_t *want = golden_file("leveldb/filterblock.bin", &want_len);
    assert_int_equal(umbel_leveldb_block_start(b, 5), UMBEL_EINVAL); /* backwards */
    assert_int_equal(umbel_leveldb_block_finish(b, &bytes, &len), UMBEL_OK);
    assert_int_equal(len, want_len);
    assert_memory_equal(bytes, want, len);
    assert_int_equal(umbel_leveldb_block_add(b, "k", 1), UMBEL_EINVAL);
    umbel_leveldb_block_free(b);
    umbel_table_close(t);
    free(want);
    free(c.bytes);
}

static void filter_block_limits(void **state) {
    (void)state;
    umbel_leveldb_block *b = NULL;
    const void *bytes;
    size_t len;
    assert_int_equal(umbel_leveldb_block_new(UINT32_MAX, NULL, &b, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_leveldb_block_new(10, NULL, &b, NULL), UMBEL_OK);
    assert_int_equal(umbel_leveldb_block_start(b, UINT64_MAX), UMBEL_EFULL);
    assert_int_equal(umbel_leveldb_block_finish(b, &bytes, &len), UMBEL_OK);
    assert_int_equal(len, 5); /* LevelDB also writes an empty array and base_lg */
    assert_memory_equal(bytes, "\0\0\0\0\x0b", 5);
    umbel_leveldb_block_free(b);
    umbel_leveldb_block_free(NULL);
}

/* ---- Damaged ---- */

static void damage_is_told_with_its_place(void **state) {
    (void)state;
    copy c = fresh();
    c.bytes[c.filters.offset] ^= 1;
    faulty(&c, "checksum", c.filters.offset);
    c = fresh();
    c.bytes[c.meta.offset] ^= 1;
    faulty(&c, "checksum", c.meta.offset);
    c = fresh();
    c.bytes[c.index.offset] ^= 1;
    faulty(&c, "checksum", c.index.offset);
    c = fresh();
    c.bytes[7] ^= 1;
    faulty(&c, "checksum", 0);
    c = fresh();
    c.bytes[c.filters.offset + c.filters.size] = 9;
    seal(&c, c.filters);
    faulty(&c, "compressed in a way", c.filters.offset + c.filters.size);
}

static void damaged_filter_blocks(void **state) {
    (void)state;
    for (unsigned base_lg = 64; base_lg < 256; base_lg += 95) {
        copy c = fresh();
        uint64_t last = c.filters.offset + c.filters.size - 1;
        c.bytes[last] = (uint8_t)base_lg;
        seal(&c, c.filters);
        faulty(&c, "base_lg", last);
    }
    copy c = fresh();
    uint64_t end = c.filters.offset + c.filters.size;
    umbeli_store_le32(c.bytes + end - 5, (uint32_t)c.filters.size - 4);
    seal(&c, c.filters);
    faulty(&c, "array of offsets", end - 5);
    /* The first filter would end before it begins, then beyond the array. */
    c = fresh();
    uint64_t array = c.filters.offset + umbeli_load_le32(c.bytes + end - 5);
    umbeli_store_le32(c.bytes + array, 1000000);
    seal(&c, c.filters);
    faulty(&c, "backwards", array);
    c = fresh();
    umbeli_store_le32(c.bytes + array + 4, 1000000);
    seal(&c, c.filters);
    faulty(&c, "beyond the filters", array);
    /* The number of probes of the first filter. */
    for (unsigned k = 0; k <= 31; k += 31) {
        c = fresh();
        c.bytes[c.filters.offset + umbeli_load_le32(c.bytes + array + 4) - 1] = (uint8_t)k;
        seal(&c, c.filters);
        faulty(&c, "k: ", c.filters.offset);
    }
}

/* A table whose only block is the index, for arbitrary handles. */
static void put_footer(copy *c, umbeli_handle meta, umbeli_handle index) {
    uint64_t numbers[] = {meta.offset, meta.size, index.offset, index.size};
    uint8_t *to = c->bytes + c->len - FOOTER;
    memset(to, 0, 40);
    for (unsigned i = 0; i < 4; i++) {
        for (; numbers[i] >= 0x80; numbers[i] >>= 7) *to++ = (uint8_t)(numbers[i] | 0x80);
        *to++ = (uint8_t)numbers[i];
    }
}

static void lying_handles(void **state) {
    (void)state;
    static const umbeli_handle lies[] = {
        {0, UINT64_MAX >> 1}, {UINT64_MAX >> 1, 5}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    for (unsigned i = 0; i < 4; i++) {
        copy c = fresh();
        put_footer(&c, lies[i], c.index);
        faulty(&c, "beyond the file", lies[i].offset);
        if (i > 1) continue; /* two of the largest do not fit the footer */
        c = fresh();
        put_footer(&c, c.meta, lies[i]);
        faulty(&c, "beyond the file", lies[i].offset);
    }
    copy c = fresh();
    put_footer(&c, c.index, c.index);
    faulty(&c, "overlap", c.len - FOOTER);
}

static void refuses(const uint8_t *bytes, size_t len, umbel_table_system system, uint64_t offset) {
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    umbel_table_hints hints = {.system = system};
    assert_int_equal(umbel_table_read(bytes, len, &hints, NULL, &t, &diag), UMBEL_ECORRUPT);
    assert_null(t);
    assert_int_equal(diag.offset, offset);
    assert_non_null(diag.what);
}

static void truncated_everywhere(void **state) {
    (void)state;
    copy c = fresh();
    for (size_t len = 0; len < c.len; len++) {
        uint8_t *exact = malloc(len ? len : 1);
        memcpy(exact, c.bytes, len);
        refuses(exact, len, UMBEL_TABLE_LEVELDB, len < FOOTER ? len : len - 8);
        free(exact);
    }
    c.bytes[c.len - 1] ^= 1; /* the magic number */
    refuses(c.bytes, c.len, UMBEL_TABLE_LEVELDB, c.len - 8);
    refuses(c.bytes, c.len, UMBEL_TABLE_ANY, 0);
    c.bytes[c.len - 1] ^= 1;
    memset(c.bytes + c.len - FOOTER, 0xff, 40);
    refuses(c.bytes, c.len, UMBEL_TABLE_LEVELDB, c.len - FOOTER);
    free(c.bytes);
}

/* Blocks that claim to be compressed and enormous take no memory. */
static void compressed_sizes_that_lie(void **state) {
    (void)state;
    for (unsigned type = 1; type <= 2; type++) {
        copy c = fresh();
        static const uint8_t snappy[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, 0x61};
        static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00};
        memcpy(c.bytes + c.index.offset, type == 1 ? snappy : zstd,
               type == 1 ? sizeof snappy : sizeof zstd);
        c.bytes[c.index.offset + c.index.size] = (uint8_t)type;
        seal(&c, c.index);
        foreign_memory m;
        foreign_memory_start(&m, 1 << 20, 0);
        umbel_table *t = NULL;
        assert_int_equal(umbel_table_read(c.bytes, c.len, NULL, &m.opts, &t, NULL), UMBEL_OK);
        umbel_diag fault;
        assert_int_equal(umbel_table_fault(t, 0, &fault), UMBEL_ECORRUPT);
        assert_int_equal(fault.offset, c.index.offset);
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
        free(c.bytes);
    }
}

static void random_damage(void **state) {
    (void)state;
    uint64_t seed = 20240229, start = seed;
    print_message("# seed %llu\n", (unsigned long long)start);
    for (unsigned round = 0; round < 3000; round++) {
        copy c = fresh();
        umbeli_handle parts[] = {c.meta, c.index, c.filters};
        umbeli_handle h = parts[foreign_random(&seed) % 3];
        for (unsigned i = 0; i < 1 + round % 4; i++) {
            c.bytes[h.offset + foreign_random(&seed) % h.size] = (uint8_t)foreign_random(&seed);
        }
        seal(&c, h);
        foreign_memory m;
        foreign_memory_start(&m, 1 << 22, 0);
        umbel_table *t = NULL;
        assert_int_equal(umbel_table_read(c.bytes, c.len, NULL, &m.opts, &t, NULL), UMBEL_OK);
        answer_of(t, "key000123");
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
        free(c.bytes);
    }
}

static void failing_memory(void **state) {
    (void)state;
    copy c = fresh();
    umbel_err e = UMBEL_ENOMEM;
    for (size_t failing = 1; e; failing++) {
        foreign_memory m;
        umbel_table *t = NULL;
        foreign_memory_start(&m, 0, failing);
        e = umbel_table_read(c.bytes, c.len, NULL, &m.opts, &t, NULL);
        if (e) assert_int_equal(e, UMBEL_ENOMEM);
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
        assert_true(failing < 100);
    }
    free(c.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums),
        cmocka_unit_test(reads_a_table),
        cmocka_unit_test(names_the_block),
        cmocka_unit_test(writes_the_filter_block),
        cmocka_unit_test(filter_block_limits),
        cmocka_unit_test(damage_is_told_with_its_place),
        cmocka_unit_test(damaged_filter_blocks),
        cmocka_unit_test(lying_handles),
        cmocka_unit_test(truncated_everywhere),
        cmocka_unit_test(compressed_sizes_that_lie),
        cmocka_unit_test(random_damage),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
