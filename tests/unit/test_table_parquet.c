/* SPDX-License-Identifier: MIT
 *
 * Parquet files: one that DuckDB wrote; footers written here field by field, valid and not
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "native_file.h"
#include "umbel_table.h"

static umbel_table *read_whole(const uint8_t *bytes, size_t len) {
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_table_read(bytes, len, NULL, NULL, &t, &diag);
    if (e)
        fail_msg("%s: %s at %llu", umbel_err_name(e), sentence(&diag),
                 (unsigned long long)diag.offset);
    return t;
}

static umbel_table_answer ask(const umbel_table *t, const char *column, const char *text) {
    uint8_t key[64];
    size_t len;
    umbel_table_answer answer;
    umbel_diag diag = {0};
    if (umbel_table_key(t, column, NULL, text, strlen(text), key, sizeof key, &len, &diag)) {
        fail_msg("'%s': %s", text, sentence(&diag));
    }
    assert_int_equal(umbel_table_check(t, column, key, len, NULL, &answer, NULL), UMBEL_OK);
    return answer;
}

/* ---- A file of DuckDB's ---- */

static void reads_duckdb(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("parquet/duckdb_t.parquet", &len);
    umbel_table *t = read_whole(bytes, len);
    assert_int_equal(umbel_table_system_of(t), UMBEL_TABLE_PARQUET);
    assert_int_equal(umbel_table_fault(t, 0, NULL), UMBEL_OK);
    golden_table want = golden_table_open("parquet/filters.tsv");
    while (golden_table_next(&want)) {
        const char *column = want.column[0], *type = want.column[4];
        umbel_table_place p;
        size_t i = 0;
        for (; i < umbel_table_count(t); i++) {
            umbel_table_place_of(t, i, &p);
            if (strcmp(p.column, column) == 0) break;
        }
        assert_true(i < umbel_table_count(t));
        assert_int_equal(p.state, UMBEL_TABLE_FILTER);
        assert_int_equal(p.offset, strtoul(want.column[1], NULL, 10));
        assert_int_equal(p.len, strtoul(want.column[2], NULL, 10));
        assert_string_equal(p.type, type);
        assert_true(p.keys > 0);
        umbel_filter *f = NULL;
        umbel_info info;
        assert_int_equal(umbel_table_filter(t, i, &f, NULL), UMBEL_OK);
        umbel_describe(f, &info);
        assert_int_equal(info.bits, strlen(want.column[6]) / 2 * 8);
        umbel_free(f);
        unsigned n = (unsigned)strtoul(want.column[5], NULL, 10), wrong = 0;
        for (unsigned v = 0; v < 1000; v++) {
            char text[32];
            bool number = strcmp(type, "string") != 0, real = type[0] == 'd' || type[0] == 'f';
            snprintf(text, sizeof text,
                     real     ? "%g"
                     : number ? "%.0f"
                              : "val%.0f",
                     real ? v / 4.0 : (double)v);
            bool found = ask(t, column, text).may_contain;
            if (v < n) assert_true(found);
            wrong += found && v >= n;
        }
        assert_true(wrong < 100);
    }
    assert_true(want.rows == 5);
    golden_table_close(&want);
    assert_int_equal(umbel_table_check(t, NULL, "a", 1, NULL, NULL, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_table_check(t, "no", "a", 1, NULL, NULL, NULL), UMBEL_EINVAL);
    umbel_table_close(t);
    free(bytes);
}

static void truncated_everywhere(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("parquet/duckdb_t.parquet", &len);
    umbel_table_hints hints = {.system = UMBEL_TABLE_PARQUET};
    for (size_t n = 0; n < len; n++) {
        uint8_t *exact = malloc(n ? n : 1);
        umbel_table *t = NULL;
        memcpy(exact, bytes, n);
        umbel_diag diag = {0};
        assert_int_equal(umbel_table_read(exact, n, &hints, NULL, &t, &diag), UMBEL_ECORRUPT);
        assert_int_equal(diag.offset, n < 4 ? 0 : n - 4);
        free(exact);
    }
    free(bytes);
}

static void random_damage(void **state) {
    (void)state;
    uint64_t seed = 7;
    print_message("# seed %llu\n", (unsigned long long)seed);
    size_t len;
    uint8_t *bytes = golden_file("parquet/duckdb_t.parquet", &len), *copy = malloc(len);
    size_t footer = native_get(bytes, len - 8, 4);
    for (unsigned round = 0; round < 3000; round++) {
        memcpy(copy, bytes, len);
        for (unsigned i = 0; i < 1 + round % 5; i++) {
            copy[len - 8 - 1 - foreign_random(&seed) % footer] = (uint8_t)foreign_random(&seed);
        }
        foreign_memory m;
        foreign_memory_start(&m, 1 << 22, 0);
        umbel_table *t = NULL;
        assert_int_equal(umbel_table_read(copy, len, NULL, &m.opts, &t, NULL), UMBEL_OK);
        for (size_t i = 0; i < umbel_table_count(t); i++) {
            umbel_table_place p;
            umbel_filter *f = NULL;
            umbel_table_place_of(t, i, &p);
            if (p.state != UMBEL_TABLE_FILTER) continue;
            assert_true(p.offset + p.len <= len);
            assert_int_equal(umbel_table_filter(t, i, &f, NULL), UMBEL_OK);
            umbel_contains(f, "a", 1);
            umbel_free(f);
        }
        umbel_table_close(t);
        assert_int_equal(m.blocks, 0);
    }
    free(copy);
    free(bytes);
}

/* ---- Footers written here ---- */

/* "PAR1", a filter of 32 bytes that matches everything, then whatever is written. */
typedef struct file {
    uint8_t bytes[4096];
    size_t len, footer;
} file;

enum { FILTER_AT = 4, FILTER_LEN = 47, I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

static void put(file *f, unsigned byte) {
    f->bytes[f->len++] = (uint8_t)byte;
}

static void start(file *f) {
    static const uint8_t head[] = {0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c,
                                   0,    0,    0x1c, 0x1c, 0, 0, 0};
    memcpy(f->bytes, "PAR1", 4);
    memcpy(f->bytes + 4, head, sizeof head);
    memset(f->bytes + 4 + sizeof head, 0xff, 32);
    f->len = f->footer = FILTER_AT + FILTER_LEN;
}

/* Fields carry their whole number: 0 in the upper half, then zigzag. */
static void field(file *f, unsigned id, unsigned type) {
    put(f, type);
    put(f, id * 2);
}

static void number(file *f, int64_t value) {
    uint64_t zigzag = (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
    for (; zigzag >= 0x80; zigzag >>= 7) put(f, (unsigned)(zigzag & 0x7f) | 0x80);
    put(f, (unsigned)zigzag);
}

static void list(file *f, unsigned count, unsigned type) {
    put(f, count << 4 | type);
}

static void name(file *f, const char *text) {
    put(f, (unsigned)strlen(text));
    for (; *text; text++) put(f, (unsigned char)*text);
}

static void finish(file *f) {
    size_t footer = f->len - f->footer;
    native_set(f->bytes, f->len, 4, footer);
    memcpy(f->bytes + f->len + 4, "PAR1", 4);
    f->len += 8;
}

/* A schema of a root and one leaf of this physical type; the caller adds its other fields. */
static void open_schema(file *f, int physical) {
    start(f);
    field(f, 2, LIST);
    list(f, 2, STRUCT);
    field(f, 5, I32);
    number(f, 1);
    put(f, 0);
    field(f, 1, I32);
    number(f, physical);
}

/* One row group with one column chunk up to its metadata, which stays open. */
static void open_chunk(file *f) {
    put(f, 0); /* of the leaf */
    field(f, 4, LIST);
    list(f, 1, STRUCT);
    field(f, 1, LIST);
    list(f, 1, STRUCT);
    field(f, 3, STRUCT);
    field(f, 3, LIST);
    list(f, 2, BINARY);
    name(f, "a");
    name(f, "b");
}

static void close_all(file *f) {
    for (unsigned i = 0; i < 4; i++) put(f, 0); /* metadata, chunk, row group, footer */
    finish(f);
}

static void filter_at(file *f, int64_t offset, int64_t len) {
    field(f, 14, I64);
    number(f, offset);
    if (len >= 0) {
        field(f, 15, I32);
        number(f, len);
    }
}

static void place_is(const file *f, umbel_table_state state, const char *fault) {
    umbel_table *t = read_whole(f->bytes, f->len);
    umbel_table_place p;
    umbel_diag diag = {0};
    assert_int_equal(umbel_table_count(t), 1);
    umbel_table_place_of(t, 0, &p);
    assert_int_equal(p.state, state);
    umbel_table_fault(t, 0, &diag);
    if (fault ? !diag.what || !strstr(sentence(&diag), fault) : diag.what != NULL) {
        fail_msg("'%s'", sentence(&diag) ? diag.what : "no fault");
    }
    if (fault) assert_true(diag.offset > f->footer && diag.offset < f->len);
    assert_true(ask(t, "a.b", "1").may_contain);
    umbel_table_close(t);
}

static void filters_and_lengths(void **state) {
    (void)state;
    static const struct {
        int64_t offset, len;
        umbel_table_state state;
        const char *fault;
    } cases[] = {
        {FILTER_AT, FILTER_LEN, UMBEL_TABLE_FILTER, NULL},
        {FILTER_AT, -1, UMBEL_TABLE_FILTER, NULL}, /* files before format 2.10 */
        {FILTER_AT, FILTER_LEN + 1, UMBEL_TABLE_UNREADABLE, "not the filter's own"},
        {FILTER_AT, FILTER_LEN - 1, UMBEL_TABLE_UNREADABLE, "reach beyond"},
        {FILTER_AT, 3, UMBEL_TABLE_UNREADABLE, "cut off"},
        {FILTER_AT, 100000, UMBEL_TABLE_UNREADABLE, "bloom_filter_length"},
        {FILTER_AT + 20, -1, UMBEL_TABLE_UNREADABLE, ""},
        {1000000, -1, UMBEL_TABLE_UNREADABLE, "bloom_filter_offset"},
        {INT64_MAX, 47, UMBEL_TABLE_UNREADABLE, "bloom_filter_offset"},
        {-1, 47, UMBEL_TABLE_UNREADABLE, "bloom_filter_offset"},
        {0, 47, UMBEL_TABLE_UNREADABLE, "bloom_filter_offset"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        file f;
        open_schema(&f, 1);
        open_chunk(&f);
        filter_at(&f, cases[i].offset, cases[i].len);
        close_all(&f);
        place_is(&f, cases[i].state, cases[i].fault);
    }
    file f;
    open_schema(&f, 1);
    open_chunk(&f);
    close_all(&f);
    place_is(&f, UMBEL_TABLE_NONE, NULL);
}

/* A chunk with a readable filter, left open for what follows its metadata. */
static void open_after_metadata(file *f) {
    open_schema(f, 1);
    open_chunk(f);
    filter_at(f, FILTER_AT, FILTER_LEN);
    put(f, 0);
}

static void encrypted_columns(void **state) {
    (void)state;
    file f;
    open_after_metadata(&f);
    field(&f, 9, BINARY); /* encrypted_column_metadata is the only sign of it */
    name(&f, "x");
    for (unsigned i = 0; i < 3; i++) put(&f, 0);
    finish(&f);
    place_is(&f, UMBEL_TABLE_UNREADABLE, "encrypted");
    open_after_metadata(&f);
    field(&f, 7, I32); /* the field before these two does not indicate it */
    number(&f, 5);
    for (unsigned i = 0; i < 3; i++) put(&f, 0);
    finish(&f);
    place_is(&f, UMBEL_TABLE_FILTER, NULL);
    open_after_metadata(&f);
    field(&f, 8, STRUCT); /* crypto_metadata: 1 ENCRYPTION_WITH_FOOTER_KEY */
    field(&f, 1, STRUCT);
    for (unsigned i = 0; i < 5; i++) put(&f, 0);
    finish(&f);
    place_is(&f, UMBEL_TABLE_UNREADABLE, "encrypted");
    /* An encrypted footer shows nothing at all. */
    f.bytes[f.len - 1] = 'E';
    umbel_table *t = NULL;
    umbel_diag diag;
    assert_int_equal(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, &diag), UMBEL_EVERSION);
    assert_int_equal(diag.offset, f.len - 4);
    assert_non_null(strstr(sentence(&diag), "encrypted"));
}

/* The footer makes no sense, but the error says where, in little memory and time. */
static void footer_fault(const file *f, const char *what) {
    foreign_memory m;
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    foreign_memory_start(&m, 1 << 20, 0);
    assert_int_equal(umbel_table_read(f->bytes, f->len, NULL, &m.opts, &t, NULL), UMBEL_OK);
    assert_int_equal(umbel_table_fault(t, 0, &diag), UMBEL_ECORRUPT);
    if (!strstr(sentence(&diag), what)) fail_msg("'%s'", sentence(&diag));
    assert_true(diag.offset >= f->footer && diag.offset <= f->len);
    umbel_table_close(t);
    assert_int_equal(m.blocks, 0);
}

static void thrift_bombs(void **state) {
    (void)state;
    file f;
    start(&f); /* nested endlessly */
    for (unsigned i = 0; i < 1500; i++) field(&f, 7, STRUCT);
    finish(&f);
    footer_fault(&f, "deeply");
    start(&f); /* lists of lists */
    field(&f, 7, LIST);
    for (unsigned i = 0; i < 1500; i++) list(&f, 1, LIST);
    finish(&f);
    footer_fault(&f, "deeply");
    for (unsigned id = 2; id <= 4; id += 2) { /* two billion elements in a few bytes */
        start(&f);
        field(&f, id, LIST);
        put(&f, 0xfc);
        for (unsigned i = 0; i < 4; i++) put(&f, 0xff);
        put(&f, 7);
        finish(&f);
        footer_fault(&f, "more values than bytes");
    }
    start(&f); /* a string of two billion bytes */
    field(&f, 6, BINARY);
    for (unsigned i = 0; i < 4; i++) put(&f, 0xff);
    put(&f, 7);
    finish(&f);
    footer_fault(&f, "cut off");
    start(&f); /* row groups of integers */
    field(&f, 4, LIST);
    list(&f, 1, I32);
    put(&f, 2);
    finish(&f);
    footer_fault(&f, "structs");
    start(&f); /* a chunk, but no column */
    field(&f, 2, LIST);
    list(&f, 1, STRUCT);
    field(&f, 5, I32);
    number(&f, 1);
    open_chunk(&f);
    close_all(&f);
    footer_fault(&f, "more column chunks");
}

static void a_footer_longer_than_the_file(void **state) {
    (void)state;
    file f;
    open_schema(&f, 1);
    open_chunk(&f);
    close_all(&f);
    umbel_table *t = NULL;
    umbel_diag diag;
    native_set(f.bytes, f.len - 8, 4, f.len - 11);
    assert_int_equal(umbel_table_read(f.bytes, f.len, NULL, NULL, &t, &diag), UMBEL_ECORRUPT);
    assert_int_equal(diag.offset, f.len - 8);
}

/* ---- Types ---- */

typedef struct logical {
    int physical, converted, logical, unit; /* -1: absent */
    int scale;
    const char *type, *text, *hex; /* hex NULL: refused */
} logical;

static void put_logical(file *f, const logical *c) {
    if (c->converted >= 0) {
        field(f, 6, I32);
        number(f, c->converted);
    }
    if (c->scale >= 0) {
        field(f, 7, I32);
        number(f, c->scale);
    }
    if (c->logical < 0) return;
    field(f, 10, STRUCT);
    field(f, (unsigned)c->logical, STRUCT);
    if (c->unit >= 0) {
        field(f, 1, 1); /* isAdjustedToUTC, true */
        field(f, 2, STRUCT);
        field(f, (unsigned)c->unit, STRUCT);
        put(f, 0);
        put(f, 0);
    }
    put(f, 0);
    put(f, 0);
}

static void types_of_values(void **state) {
    (void)state;
    static const logical cases[] = {
        {1, -1, -1, -1, -1, "int32", "-2", "feffffff"},
        {1, 11, -1, -1, -1, "uint32", "255", "ff000000"},
        {1, 13, -1, -1, -1, "uint32", "4294967295", "ffffffff"},
        {1, 15, -1, -1, -1, "int32", "-128", "80ffffff"},
        {2, 14, -1, -1, -1, "uint64", "18446744073709551615", "ffffffffffffffff"},
        {1, 6, -1, -1, -1, "date", "1970-01-11", "0a000000"},
        {1, -1, 6, -1, -1, "date", "1969-12-31", "ffffffff"},
        {1, -1, 6, -1, -1, "date", "2023-02-29", NULL},
        {1, -1, 6, -1, -1, "date", "2000-02-29", "082b0000"},
        {2, 9, -1, -1, -1, "timestamp", "1970-01-01 00:00:01", "e803000000000000"},
        {2, 9, -1, -1, -1, "timestamp", "1970-01-01 00:00:00.0001", NULL},
        {2, 10, -1, -1, -1, "timestamp", "1970-01-01 00:00:01.5", "60e3160000000000"},
        {2, 10, -1, -1, -1, "timestamp", "1970-01-01 00:00:00.0000001", NULL},
        {2, -1, 8, 1, -1, "timestamp", "1970-01-01 00:00:01.5", "dc05000000000000"},
        {2, -1, 8, 2, -1, "timestamp", "1970-01-01 00:00:01.5", "60e3160000000000"},
        {2, -1, 8, 3, -1, "timestamp", "1970-01-01 00:00:00.000000001", "0100000000000000"},
        {2, -1, 8, 2, -1, "timestamp", "1970-01-01 00:00:00.0000001", NULL},
        {2, -1, 8, 2, -1, "timestamp", "1970-01-01 24:00", NULL},
        {1, 5, -1, -1, 2, "decimal", "-12.5", "1efbffff"},
        {1, 5, -1, -1, 2, "decimal", "12.345", NULL},
        {1, 5, -1, -1, 2, "decimal", "99999999.99", NULL},
        {2, 5, -1, -1, 0, "decimal", "7", "0700000000000000"},
        {7, -1, 14, -1, -1, "uuid", "00112233-4455-6677-8899-aabbccddeeff",
         "00112233445566778899aabbccddeeff"},
        {4, -1, -1, -1, -1, "float", "0.5", "0000003f"},
        {5, -1, -1, -1, -1, "double", "0.5", "000000000000e03f"},
        {6, 0, 1, -1, -1, "string", "x", "78"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const logical *c = &cases[i];
        file f;
        open_schema(&f, c->physical);
        put_logical(&f, c);
        open_chunk(&f);
        close_all(&f);
        umbel_table *t = read_whole(f.bytes, f.len);
        umbel_table_place p;
        umbel_table_place_of(t, 0, &p);
        assert_string_equal(p.type, c->type);
        assert_string_equal(p.column, "a.b");
        uint8_t key[32];
        size_t len, want_len;
        umbel_err e =
            umbel_table_key(t, NULL, NULL, c->text, strlen(c->text), key, sizeof key, &len, NULL);
        if (c->hex) {
            uint8_t *want = golden_hex(c->hex, &want_len);
            if (e) fail_msg("%s '%s' is refused", c->type, c->text);
            assert_int_equal(len, want_len);
            assert_memory_equal(key, want, len);
            free(want);
        } else if (e != UMBEL_EINVAL) {
            fail_msg("%s '%s' is taken", c->type, c->text);
        }
        assert_int_equal(umbel_table_key(t, "a.b", "nonsense", "1", 1, key, 32, &len, NULL),
                         UMBEL_EINVAL);
        umbel_table_close(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_duckdb),
        cmocka_unit_test(truncated_everywhere),
        cmocka_unit_test(random_damage),
        cmocka_unit_test(filters_and_lengths),
        cmocka_unit_test(encrypted_columns),
        cmocka_unit_test(thrift_bombs),
        cmocka_unit_test(a_footer_longer_than_the_file),
        cmocka_unit_test(types_of_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
