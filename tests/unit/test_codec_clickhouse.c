/* SPDX-License-Identifier: MIT
 *
 * ClickHouse's filters: index streams that a server wrote, rebuilt from the rows, and what is
 * refused
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec_check.h"
#include "format/clickhouse/clickhouse_index.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbeli_codec *const clickhouse = &umbeli_codec_clickhouse;

enum { ROWS = 150, PER_GRANULE = 64 };

typedef struct row_texts {
    golden_table table;
    char *cell[ROWS][GOLDEN_COLUMNS];
} row_texts;

static row_texts *read_rows(void) {
    row_texts *rows = calloc(1, sizeof *rows);
    rows->table = golden_table_open("clickhouse/rows.tsv");
    for (size_t i = 0; golden_table_next(&rows->table); i++) {
        assert_true(i < ROWS);
        memcpy(rows->cell[i], rows->table.column, sizeof rows->cell[i]);
    }
    assert_int_equal(rows->table.rows, ROWS);
    return rows;
}

static void add_tokens(umbel_filter *f, const char *text, uint32_t ngram) {
    umbel_key token;
    size_t pos = 0;
    while (umbel_clickhouse_token(text, strlen(text), ngram, &pos, &token)) {
        filter_add(f, token.data, token.len);
        assert_true(filter_contains(f, token.data, token.len));
    }
}

/* A granule of tokenbf_v1 or ngrambf_v1. */
static umbel_filter *token_granule(const golden_table *t, row_texts *rows, size_t first,
                                   size_t last, umbel_foreign *like) {
    unsigned long long size, hashes, seed;
    size_t column = strtoul(t->column[1], NULL, 10);
    assert_int_equal(sscanf(t->column[4], "%llu %llu %llu", &size, &hashes, &seed), 3);
    *like = (umbel_foreign){.bytes = size, .hashes = (uint32_t)hashes, .seed = seed};
    umbel_filter *f = codec_create(clickhouse, like);
    uint32_t ngram = strcmp(t->column[3], "ngram4") == 0 ? 4 : 0;
    for (size_t i = first; i < last; i++) add_tokens(f, rows->cell[i][column], ngram);
    return f;
}

/* The values of a granule, split at commas for arrays. */
static size_t values_of(const golden_table *t, row_texts *rows, size_t first, size_t last,
                        uint8_t keys[][64], size_t *lens) {
    size_t column = strtoul(t->column[1], NULL, 10), n = 0;
    bool array = strcmp(t->column[3], "array") == 0;
    umbel_type type;
    assert_true(umbel_type_named(t->column[2], &type));
    for (size_t i = first; i < last; i++) {
        const char *text = rows->cell[i][column];
        while (!array || *text) {
            size_t len = array ? strcspn(text, ",") : strlen(text);
            assert_int_equal(umbel_typed_key(type, text, len, keys[n], 64, &lens[n], NULL), 0);
            size_t twin = 0;
            while (lens[twin] != lens[n] || memcmp(keys[twin], keys[n], lens[n])) twin++;
            if (twin == n) n++;
            text += len + (text[len] == ',');
            if (!array) break;
        }
    }
    return n;
}

/* A granule of bloom_filter(p). */
static umbel_filter *index_granule(const golden_table *t, row_texts *rows, size_t first,
                                   size_t last, umbel_foreign *like) {
    static uint8_t keys[PER_GRANULE * 4][64];
    size_t lens[PER_GRANULE * 4];
    size_t n = values_of(t, rows, first, last, keys, lens);
    uint32_t variant = UMBEL_VARIANT_CLICKHOUSE_INDEX;
    if (strcmp(t->column[2], "string") != 0) variant |= UMBEL_VARIANT_CLICKHOUSE_NUMBERS;
    *like = (umbel_foreign){.capacity = n, .fpr = strtod(t->column[4], NULL), .variant = variant};
    umbel_filter *f = codec_create(clickhouse, like);
    for (size_t i = 0; i < n; i++) {
        filter_add(f, keys[i], lens[i]);
        assert_true(filter_contains(f, keys[i], lens[i]));
    }
    return f;
}

static void streams_are_the_servers(void **state) {
    (void)state;
    row_texts *rows = read_rows();
    golden_table t = golden_table_open("clickhouse/streams.tsv");
    while (golden_table_next(&t)) {
        size_t len, at = 0;
        uint8_t *stream = golden_hex(t.column[5], &len);
        bool tokens = strchr(t.column[4], ' ') != NULL;
        for (size_t first = 0; first < ROWS; first += PER_GRANULE) {
            size_t last = first + PER_GRANULE < ROWS ? first + PER_GRANULE : ROWS;
            umbel_foreign like;
            umbel_filter *f = tokens ? token_granule(&t, rows, first, last, &like)
                                     : index_granule(&t, rows, first, last, &like);
            uint64_t size = clickhouse->size(f);
            assert_true(at + size <= len);
            codec_is(clickhouse, &like, f, stream + at, size);
            codec_needs_every_byte(clickhouse, &like, stream + at, size);
            at += size;
            umbel_free(f);
        }
        assert_int_equal(at, len);
        free(stream);
    }
    assert_int_equal(t.rows, 13);
    golden_table_close(&t);
    golden_table_close(&rows->table);
    free(rows);
}

static void numbers_of_every_width(void **state) {
    (void)state;
    uint8_t bytes[32];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i + 1);
    uint8_t folded[8] = {0};
    memset(bytes + 24, 0xaa, 8); /* the top word does not count */
    for (size_t i = 0; i < 24; i++) folded[i % 8] ^= bytes[i];
    assert_int_equal(umbeli_clickhouse_number(bytes, 32), umbeli_clickhouse_number(folded, 8));
    for (size_t i = 0; i < 8; i++) folded[i] = bytes[i] ^ bytes[i + 8];
    assert_int_equal(umbeli_clickhouse_number(bytes, 16), umbeli_clickhouse_number(folded, 8));
    assert_int_equal(umbeli_clickhouse_number("\xff\xff\xff\xff", 4), 14731816277868330182u);
    assert_int_equal(umbeli_clickhouse_number("\xff", 1), 1297215527019907880u);
    assert_int_equal(umbeli_clickhouse_number(NULL, 0), 0);
}

static void granule_without_values(void **state) {
    (void)state;
    umbel_foreign like = {.capacity = 1, .fpr = 0.01, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_filter *f = codec_create(clickhouse, &like);
    assert_true(umbeli_clickhouse_add_hash(f, 0));
    assert_false(umbeli_clickhouse_add_hash(f, 0));
    umbel_foreign numbers = like;
    numbers.variant |= UMBEL_VARIANT_CLICKHOUSE_NUMBERS;
    umbel_filter *zero = codec_create(clickhouse, &numbers);
    filter_add(zero, "\0", 1); /* the number 0 also hashes to 0 */
    assert_memory_equal(f->data, zero->data, f->data_len);
    umbel_free(zero);
    umbel_free(f);
}

static void limits_of_the_class(void **state) {
    (void)state;
    umbel_free(codec_create(clickhouse, &(umbel_foreign){.bytes = 1, .hashes = 1}));
    umbel_free(codec_create(clickhouse, &(umbel_foreign){.bytes = 1u << 30, .hashes = 1}));
    umbel_filter *f = codec_create(
        clickhouse,
        &(umbel_foreign){.bytes = 9, .hashes = 1024, .seed = UINT64_MAX, .capacity = 3});
    filter_add(f, "a", 1);
    assert_true(filter_contains(f, "a", 1));
    assert_int_equal(f->shape.capacity, 3);
    assert_true(f->shape.fpr > 0);
    umbel_free(f);
}

static void refused_parameters(void **state) {
    (void)state;
    const uint32_t index = UMBEL_VARIANT_CLICKHOUSE_INDEX;
    const struct {
        umbel_foreign params;
        const char *what;
    } cases[] = {
        {{.hashes = 3}, "bytes"},
        {{.bytes = (1u << 30) + 1, .hashes = 3}, "bytes"},
        {{.bytes = 256}, "hashes"},
        {{.bytes = 256, .hashes = 1025}, "hashes"},
        {{.bytes = 256, .hashes = 2, .fpr = 0.01}, "fpr"},
        {{.bytes = 256, .hashes = 2, .bits_per_key = 3}, "bits_per_key"},
        {{.bytes = 256, .hashes = 2, .reserved = {1}}, "reserved"},
        {{.bytes = 256, .hashes = 2, .variant = UMBEL_VARIANT_MITZ32}, "variant"},
        {{.bytes = 256, .hashes = 2, .variant = UMBEL_VARIANT_CLICKHOUSE_NUMBERS}, "variant"},
        {{.fpr = 0.01, .variant = index}, "capacity"},
        {{.capacity = 1, .fpr = 2, .variant = index}, "fpr"},
        {{.capacity = 1, .bytes = 3, .variant = index}, "bytes"},
        {{.capacity = 1, .seed = 3, .variant = index}, "seed"},
        {{.capacity = 1, .hashes = 3, .variant = index}, "bits_per_key"},
        {{.capacity = 1, .bits_per_key = 3, .variant = index}, "hashes"},
        {{.capacity = 1, .bits_per_key = 3, .hashes = 2, .fpr = 0.1, .variant = index}, "fpr"},
        {{.capacity = 1, .bits_per_key = 3, .hashes = 16, .variant = index}, "15"},
        {{.capacity = UINT64_MAX, .variant = index}, "capacity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        codec_create_fails(clickhouse, &cases[i].params, UMBEL_EINVAL, cases[i].what);
    }
}

static void headerless_bytes_need_parameters(void **state) {
    (void)state;
    const uint8_t bytes[4] = {1, 2, 3, 4};
    codec_decode_fails(clickhouse, NULL, bytes, 4, UMBEL_EINVAL, 0, "hashes");
    codec_decode_fails(clickhouse, NULL, NULL, 0, UMBEL_EINVAL, 0, "hashes");
    umbel_foreign like = {.hashes = 2, .seed = 7};
    umbel_filter *f = codec_decode(clickhouse, &like, bytes, 4); /* the size is theirs */
    assert_int_equal(f->shape.bits, 32);
    assert_int_equal(f->shape.seed, 7);
    umbel_free(f);
    like.hashes = 0;
    codec_decode_fails(clickhouse, &like, bytes, 4, UMBEL_EINVAL, 0, "hashes");
    like = (umbel_foreign){.hashes = 2, .bytes = 5};
    codec_decode_fails(clickhouse, &like, bytes, 4, UMBEL_ECORRUPT, 4, "cut off");
    like.bytes = 3;
    codec_decode_fails(clickhouse, &like, bytes, 4, UMBEL_ECORRUPT, 3, "after");
    codec_decode_fails(clickhouse, &(umbel_foreign){.hashes = 1}, NULL, 0, UMBEL_ECORRUPT, 0,
                       "cut");
}

static void damaged_granules(void **state) {
    (void)state;
    umbel_foreign like = {.fpr = 0.01, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX}; /* 10 bits, 5 */
    const struct {
        const char *hex;
        uint64_t offset;
        const char *what;
    } cases[] = {
        {"", 0, "total_rows"},
        {"80", 1, "total_rows"},
        {"00", 0, "total_rows: 0"},
        {"8000", 0, "shortest"},
        {"8100aaaa", 0, "shortest"},
        {"01", 1, "cut off"},
        {"01ff", 2, "cut off"},
        {"01ffffff", 3, "after"},
        {"02ffff", 3, "cut off"},
        {"ffffffffffffffffff01ffff", 0, "too many"},
        {"ffffffffffffffffff02ffff", 0, "64 bits"},
        {"ffffffffffffffffff8100", 0, "64 bits"},
        {"ffffffffffffff07ffff", 10, "cut off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len;
        uint8_t *bytes = golden_hex(cases[i].hex, &len);
        codec_decode_fails(clickhouse, &like, bytes, len, UMBEL_ECORRUPT, cases[i].offset,
                           cases[i].what);
        free(bytes);
    }
    const uint8_t good[] = {1, 0xff, 0xff};
    umbel_free(codec_decode(clickhouse, &like, good, sizeof good));
    like.capacity = 2;
    codec_decode_fails(clickhouse, &like, good, sizeof good, UMBEL_EMISMATCH, 0, "total_rows");
    like =
        (umbel_foreign){.bits_per_key = 10, .hashes = 5, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_free(codec_decode(clickhouse, &like, good, sizeof good));
}

static void views_lie_on_the_bytes(void **state) {
    (void)state;
    umbeli_settings memory = {.threads = 1};
    const uint8_t granule[] = {1, 0xff, 0xff};
    umbel_foreign like = {.fpr = 0.01, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_filter *view = NULL;
    assert_int_equal(clickhouse->decode_as(&like, granule, 3, UMBELI_BORROW, &memory, &view, NULL),
                     UMBEL_OK);
    assert_true(view->frozen);
    assert_ptr_equal(view->data, granule + 1);
    assert_true(filter_contains(view, "any", 3));
    umbel_free(view);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_the_servers),
        cmocka_unit_test(numbers_of_every_width),
        cmocka_unit_test(granule_without_values),
        cmocka_unit_test(limits_of_the_class),
        cmocka_unit_test(refused_parameters),
        cmocka_unit_test(headerless_bytes_need_parameters),
        cmocka_unit_test(damaged_granules),
        cmocka_unit_test(views_lie_on_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
