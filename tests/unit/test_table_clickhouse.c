/* SPDX-License-Identifier: MIT
 *
 * ClickHouse's skipping indexes: files of a real part, real streams in blocks of every compression,
 * and damage
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

#include <lz4.h>
#include <zstd.h>

#include "any_filter.h"
#include "core/bits.h"
#include "foreign.h"
#include "golden.h"
#include "hash/foreign_hash.h"
#include "umbel_table.h"

enum { GRANULE_ROWS = 64, ROWS = 150, GRANULES = 3, NONE = 0x02, LZ4 = 0x82, ZSTD = 0x90 };

static const char tokens[] = "tokenbf_v1(256, 2, 0)";

/* Appends one compressed block; the checksum is computed here, as ClickHouse does it. */
typedef struct blocks {
    uint8_t bytes[16384];
    size_t len;
} blocks;

static void seal(uint8_t *block) {
    umbeli_hash128 sum = umbeli_city128(block + 16, umbeli_load_le32(block + 17));
    umbeli_store_le64(block, sum.low);
    umbeli_store_le64(block + 8, sum.high);
}

static void put_block(blocks *b, uint8_t method, const uint8_t *data, size_t len) {
    uint8_t *block = b->bytes + b->len, *to = block + 25;
    size_t room = sizeof b->bytes - b->len - 25, used = len;
    if (method == NONE) memcpy(to, data, len);
    if (method == LZ4) {
        used = (size_t)LZ4_compress_default((const char *)data, (char *)to, (int)len, (int)room);
    }
    if (method == ZSTD) used = ZSTD_compress(to, room, data, len, 1);
    block[16] = method;
    umbeli_store_le32(block + 17, (uint32_t)used + 9);
    umbeli_store_le32(block + 21, (uint32_t)len);
    seal(block);
    b->len += 25 + used;
}

static umbel_table *read_with(const uint8_t *bytes, size_t len, umbel_table_hints hints) {
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_table_read(bytes, len, &hints, NULL, &t, &diag);
    if (e)
        fail_msg("%s: %s at %llu", umbel_err_name(e), sentence(&diag),
                 (unsigned long long)diag.offset);
    return t;
}

static bool may(const umbel_table *t, const char *text, size_t granule) {
    uint8_t key[256], places[64] = {0};
    size_t len;
    umbel_diag diag = {0};
    if (umbel_table_key(t, NULL, NULL, text, strlen(text), key, sizeof key, &len, &diag)) {
        fail_msg("'%s': %s", text, sentence(&diag));
    }
    assert_true(umbel_table_count(t) <= sizeof places);
    assert_int_equal(umbel_table_check(t, NULL, key, len, places, NULL, NULL), UMBEL_OK);
    return places[granule];
}

static void no_faults(const umbel_table *t) {
    umbel_diag fault = {0};
    if (umbel_table_fault(t, 0, &fault)) fail_msg("%s", fault.what);
}

/* ---- Intact ---- */

static void reads_a_part(void **state) {
    (void)state;
    umbel_table *t = NULL;
    umbel_table_hints hints = {.index = tokens, .name = "tk"};
    assert_int_equal(umbel_table_open("tests/golden/table", &hints, NULL, &t, NULL), UMBEL_OK);
    no_faults(t);
    assert_int_equal(umbel_table_system_of(t), UMBEL_TABLE_CLICKHOUSE);
    assert_int_equal(umbel_table_count(t), GRANULES);
    golden_table rows = golden_table_open("clickhouse/rows.tsv");
    for (size_t row = 0; golden_table_next(&rows); row++) {
        assert_true(may(t, rows.column[0], row / GRANULE_ROWS));
    }
    assert_int_equal(rows.rows, ROWS);
    golden_table_close(&rows);
    assert_false(may(t, "never a word of these", 0));
    assert_true(may(t, "-_-", 0)); /* no token: nothing is ruled out */
    umbel_table_close(t);

    hints = (umbel_table_hints){.index = "bloom_filter(0.01)", .name = "bf_id", .type = "UInt64"};
    assert_int_equal(umbel_table_open("tests/golden/table", &hints, NULL, &t, NULL), UMBEL_OK);
    no_faults(t);
    assert_int_equal(umbel_table_count(t), GRANULES);
    size_t wrong = 0;
    for (unsigned id = 0; id < 1000; id++) {
        char text[16];
        snprintf(text, sizeof text, "%u", id);
        for (unsigned g = 0; g < GRANULES; g++) {
            bool there = id < ROWS && id / GRANULE_ROWS == g, found = may(t, text, g);
            assert_true(found || !there);
            wrong += found && !there;
        }
    }
    assert_true(wrong > 0 && wrong < 60); /* 1% of 2850 */
    umbel_table_place place;
    umbel_table_place_of(t, 2, &place);
    assert_int_equal(place.keys, 22);
    assert_int_equal(place.first, 2);
    assert_string_equal(place.column, "1");
    umbel_table_close(t);
}

/* The definition of a row of streams.tsv, as in CREATE TABLE. */
static void definition_of(const golden_table *s, char *out, size_t cap) {
    unsigned long size, hashes;
    char seed[32];
    if (strncmp(s->column[3], "index", 5) == 0 || strcmp(s->column[3], "array") == 0) {
        snprintf(out, cap, "bloom_filter(%s)", s->column[4]);
        return;
    }
    assert_int_equal(sscanf(s->column[4], "%lu %lu %31s", &size, &hashes, seed), 3);
    bool ngram = strcmp(s->column[3], "ngram4") == 0;
    snprintf(out, cap, "%s(%s%lu, %lu,%s )", ngram ? "ngrambf_v1" : "tokenbf_v1",
             ngram ? "4, " : "", size, hashes, seed);
}

/* Every value of every row is found in its granule, whatever the compression. */
static void reads_real_streams(void **state) {
    (void)state;
    static const uint8_t methods[] = {NONE, LZ4, ZSTD};
    golden_table s = golden_table_open("clickhouse/streams.tsv");
    while (golden_table_next(&s)) {
        char definition[80];
        definition_of(&s, definition, sizeof definition);
        size_t len, column = strtoul(s.column[1], NULL, 10);
        uint8_t *stream = golden_hex(s.column[5], &len);
        static blocks b;
        b.len = 0;
        /* Granules may span blocks. */
        for (size_t at = 0, n = 0; at < len; at += 100, n++) {
            put_block(&b, methods[n % 3], stream + at, len - at < 100 ? len - at : 100);
        }
        umbel_table *t = read_with(b.bytes, b.len,
                                   (umbel_table_hints){.index = definition, .type = s.column[2]});
        no_faults(t);
        assert_int_equal(umbel_table_count(t), GRANULES);
        golden_table rows = golden_table_open("clickhouse/rows.tsv");
        for (size_t row = 0; golden_table_next(&rows); row++) {
            const char *value = rows.column[column];
            if (strcmp(s.column[3], "array") == 0) continue;
            if (!may(t, value, row / GRANULE_ROWS)) fail_msg("%s: '%s'", s.column[0], value);
        }
        golden_table_close(&rows);
        umbel_table_close(t);
        free(stream);
    }
    assert_true(s.rows > 8);
    golden_table_close(&s);
}

/* Two columns of one index: their bits follow each other in each granule. */
static void several_columns(void **state) {
    (void)state;
    static blocks b;
    b.len = 0;
    size_t len;
    uint8_t *bytes = golden_file("table/skp_idx_tk.idx", &len);
    /* The filters of three granules as those of three columns. */
    umbel_table *t = read_with(bytes, len, (umbel_table_hints){.index = tokens, .columns = 3});
    assert_int_equal(umbel_table_count(t), 3);
    umbel_table_place place;
    umbel_table_place_of(t, 2, &place);
    assert_string_equal(place.column, "3");
    assert_int_equal(place.first, 0);
    uint8_t which[3];
    umbel_table_answer answer;
    assert_int_equal(umbel_table_check(t, "3", "user_0", 6, which, &answer, NULL), UMBEL_OK);
    assert_int_equal(umbel_table_check(t, NULL, "user_0", 6, which, NULL, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_table_check(t, "4", "user_0", 6, which, NULL, NULL), UMBEL_EINVAL);
    umbel_table_close(t);
    free(bytes);

    /* Two columns of values: 2 rows, 10 bits per row, 3 bytes each; made by hand from bf_e8. */
    static const uint8_t granule[] = {2, 0x44, 0x70, 0x2e, 0, 0, 0};
    put_block(&b, NONE, granule, sizeof granule);
    t = read_with(b.bytes, b.len,
                  (umbel_table_hints){.index = "bloom_filter(0.01)", .type = "Int8", .columns = 2});
    assert_int_equal(umbel_table_count(t), 2);
    uint8_t key[1] = {255}; /* -1, which the granule holds */
    assert_int_equal(umbel_table_check(t, "1", key, 1, which, &answer, NULL), UMBEL_OK);
    assert_true(which[0]);
    assert_true(!which[1]);
    assert_int_equal(answer.places, 1);
    assert_int_equal(umbel_table_check(t, "2", key, 1, which, &answer, NULL), UMBEL_OK);
    assert_false(answer.may_contain);
    umbel_table_close(t);
}

/* ---- Definitions and types ---- */

static void definitions(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "minmax",
        "tokenbf_v1",
        "tokenbf_v1(256, 2)",
        "tokenbf_v1(256, 2, 0",
        "tokenbf_v1(256, 2, 0) x",
        "tokenbf_v1(0, 2, 0)",
        "tokenbf_v1(1073741825, 2, 0)",
        "tokenbf_v1(256, 0, 0)",
        "tokenbf_v1(256, 2, -1)",
        "ngrambf_v1(0, 256, 2, 0)",
        "ngrambf_v1(256, 2, 0)",
        "bloom_filter(2)",
        "bloom_filter(x)",
        "bloom_filter(0.1, 2)",
        "bloom_filter(0.1)) ",
        "tokenbf_v1(1,1,1,1,1,1)",
        "tokenbf_v1(11111111111111111111111111111111111111111, 1, 1)",
        "tokenbf_v1(00000000000000000000000000000256, 2, 0)", /* 32 characters: one too many */
        "tokenbf_v1(256, 4294967296, 0)",
        "ngrambf_v1(4294967296, 256, 2, 0)",
    };
    static const char *const right[] = {
        "tokenbf_v1(0000000000000000000000000000256, 2, 0)",
        "tokenbf_v1(1, 1, 0)",
        "tokenbf_v1(1073741824, 1, 0)",
        "ngrambf_v1(1, 256, 2, 0)",
        "ngrambf_v1(4294967295, 256, 2, 0)",
        "tokenbf_v1(256, 4294967295, 0)",
    };
    size_t len;
    uint8_t *bytes = golden_file("table/skp_idx_tk.idx", &len);
    umbel_table *t = NULL;
    for (size_t i = 0; i <= sizeof wrong / sizeof wrong[0]; i++) {
        umbel_table_hints hints = {.index = i ? wrong[i - 1] : NULL};
        umbel_diag diag = {0};
        umbel_err e = umbel_table_read(bytes, len, &hints, NULL, &t, &diag);
        if (e != UMBEL_EINVAL) fail_msg("'%s' is taken", hints.index);
        assert_non_null(strstr(sentence(&diag), "index"));
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        umbel_table_close(read_with(bytes, len, (umbel_table_hints){.index = right[i]}));
    }
    free(bytes);
}

static void types_of_values(void **state) {
    (void)state;
    static const struct {
        const char *type, *text, *hex; /* hex NULL: refused */
    } cases[] = {
        {"UInt8", "200", "c8"},
        {"Int32", "-1", "ffffffff"},
        {"Nullable(Int16)", "-2", "feff"},
        {"Array(LowCardinality(String))", "abc", "616263"},
        {"FixedString(5)", "abc", "6162630000"},
        {"FixedString(2)", "abc", NULL},
        {"Date", "1970-01-02", "0100"},
        {"Date", "2149-06-06", "ffff"},
        {"Date", "2149-06-07", NULL},
        {"DateTime", "2023-11-14 22:13:20", "00f15365"},
        {"DateTime64", "1970-01-01 00:00:01.5", "dc05000000000000"},
        {"DateTime64(6)", "1970-01-01T00:00:01.5Z", "60e3160000000000"},
        {"UUID", "00112233-4455-6677-8899-aabbccddeeff", "ffeeddccbbaa99887766554433221100"},
        {"UUID", "00112233-4455-6677-8899-aabbccddee", NULL},
        {"Float64", "1", "000000000000f03f"},
        {"Decimal(9,2)", "1", NULL},
        {"Bool", "1", "01"},
    };
    size_t len, want_len, got;
    uint8_t *bytes = golden_file("table/skp_idx_bf_id.idx", &len), key[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_table *t = read_with(
            bytes, len, (umbel_table_hints){.index = "bloom_filter(0.01)", .type = cases[i].type});
        umbel_err e = umbel_table_key(t, NULL, NULL, cases[i].text, strlen(cases[i].text), key,
                                      sizeof key, &got, NULL);
        if (!cases[i].hex) {
            assert_int_equal(e, UMBEL_EINVAL);
        } else {
            uint8_t *want = golden_hex(cases[i].hex, &want_len);
            assert_int_equal(e, UMBEL_OK);
            assert_int_equal(got, want_len);
            assert_memory_equal(key, want, got);
            free(want);
        }
        umbel_table_close(t);
    }
    free(bytes);
}

/* ---- Damaged ---- */

static void first_fault(const umbel_table *t, umbel_err err, uint64_t offset, const char *what) {
    umbel_diag fault = {0};
    assert_int_equal(umbel_table_fault(t, 0, &fault), err);
    if (!strstr(fault.what, what) || fault.offset != offset) {
        fail_msg("'%s' at %llu", fault.what, (unsigned long long)fault.offset);
    }
}

/* Three granules in three blocks, with marks; the middle one is damaged. */
static void a_lost_block_costs_its_granule(void **state) {
    (void)state;
    static blocks b, marks;
    uint8_t stream[768], table[GRANULES * 24];
    b.len = marks.len = 0;
    for (size_t i = 0; i < sizeof stream; i++) stream[i] = (uint8_t)(i * 37);
    size_t starts[GRANULES];
    for (size_t g = 0; g < GRANULES; g++) {
        starts[g] = b.len;
        umbeli_store_le64(table + g * 24, b.len);
        umbeli_store_le64(table + g * 24 + 8, 0);
        umbeli_store_le64(table + g * 24 + 16, 1);
        put_block(&b, LZ4, stream + g * 256, 256);
    }
    put_block(&marks, ZSTD, table, sizeof table);
    umbel_table_hints hints = {.index = tokens, .marks = marks.bytes, .marks_len = marks.len};
    umbel_table *t = read_with(b.bytes, b.len, hints);
    no_faults(t);
    assert_int_equal(umbel_table_count(t), GRANULES);
    umbel_table_close(t);

    b.bytes[starts[1] + 30] ^= 1;
    t = read_with(b.bytes, b.len, hints);
    first_fault(t, UMBEL_ECORRUPT, starts[1], "checksum");
    assert_int_equal(umbel_table_count(t), GRANULES);
    for (size_t g = 0; g < GRANULES; g++) {
        umbel_table_place p;
        umbel_table_place_of(t, g, &p);
        assert_int_equal(p.state, g == 1 ? UMBEL_TABLE_UNREADABLE : UMBEL_TABLE_FILTER);
    }
    assert_true(may(t, "anything", 1));
    umbel_table_close(t);

    /* Without marks the position of the third granule is unknown. */
    hints.marks = NULL;
    t = read_with(b.bytes, b.len, hints);
    assert_int_equal(umbel_table_count(t), 1);
    umbel_table_answer answer;
    assert_int_equal(umbel_table_check(t, NULL, "anything", 8, NULL, &answer, NULL), UMBEL_OK);
    assert_true(answer.may_contain);
    umbel_table_close(t);
}

static void damaged_marks(void **state) {
    (void)state;
    size_t len, marks_len;
    uint8_t *bytes = golden_file("table/skp_idx_tk.idx", &len);
    uint8_t *marks = golden_file("table/skp_idx_tk.cmrk2", &marks_len);
    marks[40] ^= 1;
    umbel_table_hints hints = {.index = tokens, .marks = marks, .marks_len = marks_len};
    umbel_table *t = read_with(bytes, len, hints);
    first_fault(t, UMBEL_ECORRUPT, 0, "marks");
    assert_int_equal(umbel_table_count(t), GRANULES);
    umbel_table_close(t);
    /* Uncompressed marks, one of which points next to the granule, and one nowhere. */
    uint8_t plain[GRANULES * 24] = {0};
    umbeli_store_le64(plain + 24 + 8, 257);
    umbeli_store_le64(plain + 48, 99);
    hints.marks = plain;
    hints.marks_len = sizeof plain;
    t = read_with(bytes, len, hints);
    first_fault(t, UMBEL_ECORRUPT, 24, "not where the granule");
    assert_int_equal(umbel_table_fault(t, 1, NULL), UMBEL_ECORRUPT);
    umbel_table_close(t);
    free(bytes);
    free(marks);
}

static void sizes_that_lie(void **state) {
    (void)state;
    static const struct {
        uint8_t method;
        uint32_t claim;
        umbel_err err;
    } lies[] = {{NONE, 10, UMBEL_ECORRUPT},        {LZ4, 300, UMBEL_ECORRUPT},
                {LZ4, 200, UMBEL_ECORRUPT},        {LZ4, 0x7fffffff, UMBEL_ECORRUPT},
                {LZ4, UINT32_MAX, UMBEL_ECORRUPT}, {ZSTD, 300, UMBEL_ECORRUPT},
                {ZSTD, 200, UMBEL_ECORRUPT},       {ZSTD, UINT32_MAX, UMBEL_ECORRUPT},
                {0x91, 256, UMBEL_EVERSION}};
    uint8_t data[256];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * i);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        static blocks b;
        b.len = 0;
        put_block(&b, lies[i].method, data, sizeof data);
        umbeli_store_le32(b.bytes + 21, lies[i].claim);
        seal(b.bytes);
        foreign_memory m;
        foreign_memory_start(&m, 1 << 20, 0);
        umbel_table *t = NULL;
        umbel_table_hints hints = {.index = tokens};
        assert_int_equal(umbel_table_read(b.bytes, b.len, &hints, &m.opts, &t, NULL), UMBEL_OK);
        assert_int_equal(umbel_table_fault(t, 0, NULL), lies[i].err);
        assert_int_equal(umbel_table_count(t), 0);
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
    }
}

/* A real Zstandard bomb: 64 MiB of zeros in a few KB, refused at the limit. */
static void bombs_meet_the_limit(void **state) {
    (void)state;
    size_t len = (size_t)64 << 20;
    uint8_t *zeros = calloc(1, len);
    static blocks b;
    b.len = 0;
    put_block(&b, ZSTD, zeros, len);
    foreign_memory m;
    foreign_memory_start(&m, (size_t)4 << 20, 0);
    m.opts.max_bytes = 1 << 20;
    umbel_table *t = NULL;
    umbel_table_hints hints = {.index = tokens};
    assert_int_equal(umbel_table_read(b.bytes, b.len, &hints, &m.opts, &t, NULL), UMBEL_ELIMIT);
    assert_int_equal(m.blocks, 0);
    free(zeros);
}

/* Blocks that are each below the limit, and exceed it together. */
static void blocks_share_the_limit(void **state) {
    (void)state;
    static const uint8_t methods[] = {NONE, LZ4, ZSTD};
    uint8_t data[256];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 37);
    for (size_t i = 0; i < 3; i++) {
        static blocks b;
        b.len = 0;
        put_block(&b, methods[i], data, sizeof data);
        size_t second = b.len;
        put_block(&b, methods[i], data, sizeof data);
        umbel_table_hints hints = {.index = tokens};
        for (unsigned less = 0; less <= 1; less++) {
            foreign_memory m;
            umbel_table *t = NULL;
            umbel_diag diag = {0};
            foreign_memory_start(&m, 1 << 20, 0);
            m.opts.max_bytes = 2 * sizeof data - less;
            umbel_err e = umbel_table_read(b.bytes, b.len, &hints, &m.opts, &t, &diag);
            assert_int_equal(e, less ? UMBEL_ELIMIT : UMBEL_OK);
            if (less) assert_int_equal(diag.offset, second);
            if (!less) assert_int_equal(umbel_table_count(t), 2);
            umbel_table_close(t);
            assert_int_equal(m.blocks, 0);
        }
    }
}

static void truncated_everywhere(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("table/skp_idx_bf_id.idx", &len);
    umbel_table_hints hints = {.system = UMBEL_TABLE_CLICKHOUSE, .index = "bloom_filter(0.01)"};
    for (size_t n = 1; n < len; n++) {
        uint8_t *exact = malloc(n);
        memcpy(exact, bytes, n);
        umbel_table *t = read_with(exact, n, hints);
        first_fault(t, UMBEL_ECORRUPT, 0, "beyond the file");
        umbel_table_close(t);
        free(exact);
    }
    /* A definition other than the index's: the last granule does not fit. */
    hints.index = "tokenbf_v1(100, 2, 0)";
    umbel_table *t = read_with(bytes, len, hints);
    first_fault(t, UMBEL_ECORRUPT, 100, "another index definition");
    umbel_table_close(t);
    free(bytes);
}

static void random_damage(void **state) {
    (void)state;
    uint64_t seed = 42;
    print_message("# seed %llu\n", (unsigned long long)seed);
    size_t len;
    uint8_t *stream = NULL;
    golden_table s = golden_table_open("clickhouse/streams.tsv");
    while (golden_table_next(&s) && strcmp(s.column[0], "bf_s") != 0) {
    }
    stream = golden_hex(s.column[5], &len);
    golden_table_close(&s);
    for (unsigned round = 0; round < 2000; round++) {
        static blocks b;
        static const uint8_t methods[] = {NONE, LZ4, ZSTD};
        b.len = 0;
        put_block(&b, methods[round % 3], stream, len);
        for (unsigned i = 0; i < 3; i++) {
            b.bytes[21 + foreign_random(&seed) % (b.len - 21)] = (uint8_t)foreign_random(&seed);
        }
        seal(b.bytes);
        foreign_memory m;
        foreign_memory_start(&m, 1 << 22, 0);
        umbel_table *t = NULL;
        umbel_table_hints hints = {.index = "bloom_filter"};
        assert_int_equal(umbel_table_read(b.bytes, b.len, &hints, &m.opts, &t, NULL), UMBEL_OK);
        umbel_table_answer answer;
        assert_int_equal(umbel_table_check(t, NULL, "key-1", 5, NULL, &answer, NULL), UMBEL_OK);
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
    }
    free(stream);
}

static void directories(void **state) {
    (void)state;
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    umbel_table_hints hints = {.index = tokens};
    assert_int_equal(umbel_table_open("tests/golden/table", &hints, NULL, &t, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(sentence(&diag), "several"));
    hints.name = "none";
    assert_int_equal(umbel_table_open("tests/golden/table", &hints, NULL, &t, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(sentence(&diag), "no such"));
    assert_int_equal(umbel_table_open("tests/unit", NULL, NULL, &t, &diag), UMBEL_EINVAL);
    assert_int_equal(umbel_table_open("tests/nowhere", NULL, NULL, &t, &diag), UMBEL_EIO);
    assert_int_not_equal(diag.sys, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_part),         cmocka_unit_test(reads_real_streams),
        cmocka_unit_test(several_columns),      cmocka_unit_test(definitions),
        cmocka_unit_test(types_of_values),      cmocka_unit_test(a_lost_block_costs_its_granule),
        cmocka_unit_test(damaged_marks),        cmocka_unit_test(sizes_that_lie),
        cmocka_unit_test(bombs_meet_the_limit), cmocka_unit_test(blocks_share_the_limit),
        cmocka_unit_test(truncated_everywhere), cmocka_unit_test(random_damage),
        cmocka_unit_test(directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
