/* SPDX-License-Identifier: MIT
 *
 * test_codec_clickhouse.c - ClickHouse's filters: index streams of a server, sizes, tokens
 */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "foreign.h"
#include "format/clickhouse/clickhouse_index.h"
#include "golden.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

static const umbel_foreign clickhouse = {.format = UMBEL_FMT_CLICKHOUSE};

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
        assert_ok(umbel_add(f, token.data, token.len, NULL, NULL));
        assert_true(umbel_contains(f, token.data, token.len));
    }
}

/* A granule of tokenbf_v1 or ngrambf_v1. */
static umbel_filter *token_granule(const golden_table *t, row_texts *rows, size_t first,
                                   size_t last, umbel_foreign *like) {
    unsigned long long size, hashes, seed;
    size_t column = strtoul(t->column[1], NULL, 10);
    assert_int_equal(sscanf(t->column[4], "%llu %llu %llu", &size, &hashes, &seed), 3);
    *like = (umbel_foreign){
        .format = UMBEL_FMT_CLICKHOUSE, .bytes = size, .hashes = (uint32_t)hashes, .seed = seed};
    umbel_filter *f = foreign_create(*like);
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
    *like = (umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE,
                            .capacity = n,
                            .fpr = strtod(t->column[4], NULL),
                            .variant = variant};
    umbel_filter *f = foreign_create(*like);
    for (size_t i = 0; i < n; i++) {
        assert_ok(umbel_add(f, keys[i], lens[i], NULL, NULL));
        assert_true(umbel_contains(f, keys[i], lens[i]));
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
            uint64_t size = umbel_encoded_size(f, UMBEL_FMT_CLICKHOUSE);
            assert_true(at + size <= len);
            foreign_is(&like, f, stream + at, size);
            foreign_needs_every_byte(&like, stream + at, size);
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
    umbel_foreign numbers = {
        .format = UMBEL_FMT_CLICKHOUSE,
        .capacity = 1,
        .fpr = 0.01,
        .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX | UMBEL_VARIANT_CLICKHOUSE_NUMBERS,
    };
    /* For empty arrays ClickHouse adds the hash 0, which is also that of the number 0. */
    umbel_filter *none = foreign_create(numbers), *zero = foreign_create(numbers);
    bool was_new;
    assert_ok(umbel_add(none, NULL, 0, &was_new, NULL));
    assert_true(was_new);
    assert_ok(umbel_add(none, "\0\0\0\0", 4, &was_new, NULL));
    assert_false(was_new);
    assert_ok(umbel_add(zero, "\0", 1, NULL, NULL));
    assert_true(umbel_equal(none, zero));
    umbel_free(zero);
    umbel_free(none);
}

static void limits_of_the_class(void **state) {
    (void)state;
    umbel_free(
        foreign_create((umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE, .bytes = 1, .hashes = 1}));
    umbel_free(foreign_create(
        (umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE, .bytes = 1u << 30, .hashes = 1}));
    umbel_filter *f = foreign_create((umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE,
                                                     .bytes = 9,
                                                     .hashes = 1024,
                                                     .seed = UINT64_MAX,
                                                     .capacity = 3});
    assert_ok(umbel_add(f, "a", 1, NULL, NULL));
    assert_true(umbel_contains(f, "a", 1));
    assert_int_equal(described(f).capacity, 3);
    assert_true(described(f).fpr > 0);
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
        foreign_not_made(foreign_as(UMBEL_FMT_CLICKHOUSE, cases[i].params), cases[i].what);
    }
}

static void headerless_bytes_need_parameters(void **state) {
    (void)state;
    const uint8_t bytes[4] = {1, 2, 3, 4};
    foreign_refused_saying(&clickhouse, bytes, 4, UMBEL_EINVAL, 0, "hashes");
    foreign_refused_saying(&clickhouse, NULL, 0, UMBEL_EINVAL, 0, "hashes");
    umbel_foreign like = {.format = UMBEL_FMT_CLICKHOUSE, .hashes = 2, .seed = 7};
    umbel_filter *f = foreign_decode(&like, bytes, 4); /* the size is theirs */
    assert_int_equal(described(f).bits, 32);
    assert_int_equal(described(f).seed, 7);
    umbel_free(f);
    like.hashes = 0;
    foreign_refused_saying(&like, bytes, 4, UMBEL_EINVAL, 0, "hashes");
    like = (umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE, .hashes = 2, .bytes = 5};
    foreign_refused_saying(&like, bytes, 4, UMBEL_ECORRUPT, 4, "cut off");
    like.bytes = 3;
    foreign_refused_saying(&like, bytes, 4, UMBEL_ECORRUPT, 3, "after");
    foreign_refused_saying(&(umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE, .hashes = 1}, NULL, 0,
                           UMBEL_ECORRUPT, 0, "cut");
}

static void damaged_granules(void **state) {
    (void)state;
    umbel_foreign like = {.format = UMBEL_FMT_CLICKHOUSE,
                          .fpr = 0.01,
                          .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX}; /* 10 bits, 5 */
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
        foreign_refused_saying(&like, bytes, len, UMBEL_ECORRUPT, cases[i].offset, cases[i].what);
        free(bytes);
    }
    const uint8_t good[] = {1, 0xff, 0xff};
    umbel_free(foreign_decode(&like, good, sizeof good));
    like.capacity = 2;
    foreign_refused_saying(&like, good, sizeof good, UMBEL_EMISMATCH, 0, "total_rows");
    like = (umbel_foreign){.format = UMBEL_FMT_CLICKHOUSE,
                           .bits_per_key = 10,
                           .hashes = 5,
                           .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_free(foreign_decode(&like, good, sizeof good));
}

static void views_lie_on_the_bytes(void **state) {
    (void)state;
    uint8_t granule[] = {1, 0xff, 0xff};
    umbel_foreign like = {
        .format = UMBEL_FMT_CLICKHOUSE, .fpr = 0.01, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_filter *view = NULL;
    assert_ok(umbel_decode(granule, 3, UMBEL_MAP, &like, NULL, &view, NULL));
    assert_true(described(view).frozen);
    assert_true(umbel_contains(view, "any", 3));
    granule[1] = granule[2] = 0;
    assert_false(umbel_contains(view, "any", 3));
    umbel_free(view);
}

static void sizes_are_the_servers(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/best_practices.tsv");
    while (golden_table_next(&t)) {
        double p = strtod(t.column[0], NULL);
        umbeli_clickhouse_best now = umbeli_clickhouse_best_of(p, false);
        umbeli_clickhouse_best before = umbeli_clickhouse_best_of(p, true);
        assert_int_equal(now.bits_per_row, strtoul(t.column[1], NULL, 10));
        assert_int_equal(now.hashes, strtoul(t.column[2], NULL, 10));
        assert_int_equal(before.bits_per_row, strtoul(t.column[3], NULL, 10));
        assert_int_equal(before.hashes, strtoul(t.column[4], NULL, 10));
    }
    assert_int_equal(t.rows, 34);
    golden_table_close(&t);
}

static void sizes_at_every_rate_of_the_table(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/rates.tsv");
    while (golden_table_next(&t)) {
        umbeli_clickhouse_best best = umbeli_clickhouse_best_of(strtod(t.column[0], NULL), false);
        if (best.bits_per_row != strtoul(t.column[1], NULL, 10) ||
            best.hashes != strtoul(t.column[2], NULL, 10)) {
            fail_msg("%s: %u bits, %u hashes", t.column[0], best.bits_per_row, best.hashes);
        }
    }
    assert_int_equal(t.rows, 421);
    golden_table_close(&t);
}

static void sizes_around_the_anomaly(void **state) {
    (void)state;
    const struct {
        double p;
        uint32_t bits, hashes;
    } cases[] = {{0.22, 4, 2}, {0.2209, 4, 2}, {0.221, 19, 13}, {0.23, 19, 13}, {0.2371, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbeli_clickhouse_best best = umbeli_clickhouse_best_of(cases[i].p, false);
        assert_int_equal(best.bits_per_row, cases[i].bits);
        assert_int_equal(best.hashes, cases[i].hashes);
    }
    umbel_foreign p = {.format = UMBEL_FMT_CLICKHOUSE,
                       .capacity = 100,
                       .fpr = 0.5,
                       .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_filter *f = foreign_create(p);
    assert_int_equal(described(f).bytes, 25);
    umbel_free(f);
    p.variant |= UMBEL_VARIANT_CLICKHOUSE_PRE2024;
    f = foreign_create(p);
    assert_int_equal(described(f).bytes, 238);
    assert_int_equal(described(f).hashes, 13);
    umbel_free(f);
}

/* The plan describes the filter that would be created. */
static void plans_are_of_what_is_made(void **state) {
    (void)state;
    const umbel_foreign cases[] = {
        {.capacity = 1000, .bytes = 1250, .hashes = 7},
        {.capacity = 8192, .fpr = 0.025, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX},
        {.capacity = 8192, .fpr = 0.2209, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_foreign p = cases[i];
        p.format = UMBEL_FMT_CLICKHOUSE;
        umbel_plan plan = {0};
        assert_int_equal(umbel_plan_foreign(&p, &plan, NULL), UMBEL_OK);
        umbel_filter *f = foreign_create(p);
        assert_int_equal(plan.bits, described(f).bits);
        assert_int_equal(plan.hashes, described(f).hashes);
        assert_int_equal(plan.capacity, p.capacity);
        /* The textbook's formula, which holds for a classic filter. */
        double m = (double)plan.bits, k = plan.hashes, n = (double)plan.capacity;
        assert_true(fabs(plan.rate / pow(1 - exp(-k * n / m), k) - 1) < 0.02);
        assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
        assert_true(plan.rate <= plan.fpr);
        umbel_free(f);
    }
    umbel_foreign without = {.format = UMBEL_FMT_CLICKHOUSE, .capacity = 1000, .bytes = 1250};
    umbel_plan plan = {0};
    umbel_diag diag = {0};
    assert_int_equal(umbel_plan_foreign(&without, &plan, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "hashes");
    assert_string_equal(diag.what, "required by ClickHouse");
}

/* All tokens of the text with "|" between them. */
static void cuts(uint32_t ngram, const char *text, size_t len, const char *want) {
    char *exact = malloc(len ? len : 1), got[512] = "";
    memcpy(exact, text, len);
    size_t pos = 0, used = 0;
    umbel_key token;
    while (umbel_clickhouse_token(exact, len, ngram, &pos, &token)) {
        assert_true(token.len > 0);
        assert_true((const char *)token.data >= exact);
        assert_true((const char *)token.data + token.len <= exact + len);
        if (used) got[used++] = '|';
        memcpy(got + used, token.data, token.len);
        used += token.len;
        got[used] = 0;
    }
    assert_string_equal(got, want);
    assert_false(umbel_clickhouse_token(exact, len, ngram, &pos, &token)); /* and stays so */
    free(exact);
}

static void words(const char *text, const char *want) {
    cuts(0, text, strlen(text), want);
}

static void windows(uint32_t ngram, const char *text, const char *want) {
    cuts(ngram, text, strlen(text), want);
}

static void words_of_tokenbf(void **state) {
    (void)state;
    words("", "");
    words("  ,;", "");
    words("GET /path/0 user_0 status=200", "GET|path|0|user|0|status|200");
    words("a-b_c\x01"
          "d\x7f"
          "e",
          "a|b|c|d|e");
    words("\xc3\x9cn\xc3\xaf"
          "code-\xe4\xb8\xad\xe6\x96\x87 ab",
          "\xc3\x9cn\xc3\xaf"
          "code|\xe4\xb8\xad\xe6\x96\x87|ab");
    words("\xff\x80", "\xff\x80");
    words("zZ9@[`{/:", "zZ9");
    cuts(0, "001\0\0", 5, "001"); /* FixedString: the padding separates */
    cuts(0, "a\0b", 3, "a|b");
}

static void windows_of_ngrambf(void **state) {
    (void)state;
    windows(3, "", "");
    windows(3, "ab", "");
    windows(3, "abc", "abc");
    windows(3, "abcd", "abc|bcd");
    windows(1, "ab", "a|b");
    windows(2, "\xc3\x9cn\xe4\xb8\xad", "\xc3\x9cn|n\xe4\xb8\xad");
    windows(2, "a\xf0\x9f\x98\x80z", "a\xf0\x9f\x98\x80|\xf0\x9f\x98\x80z");
    windows(2, "\x80\xbf\xf8\xff", "\x80\xbf|\xbf\xf8|\xf8\xff"); /* stray bytes: one each */
    windows(2, "a\xe4\xb8", "a\xe4\xb8");                         /* cut off at the end */
    windows(2, "ab\xf0", "ab|b\xf0");
    windows(3, "a\xe4\xb8", "");
}

static void nothing_is_read_beyond_the_end(void **state) {
    (void)state;
    for (int lead = 0; lead < 256; lead++) {
        char *text = malloc(2);
        text[0] = 'a';
        text[1] = (char)lead;
        for (uint32_t ngram = 0; ngram < 4; ngram++) {
            umbel_key token;
            size_t pos = 0, count = 0;
            while (umbel_clickhouse_token(text, 2, ngram, &pos, &token)) count++;
            if (ngram == 1) assert_int_equal(count, 2);
            if (ngram == 2) assert_int_equal(count, 1);
            if (ngram == 3) assert_int_equal(count, 0);
        }
        free(text);
    }
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
        cmocka_unit_test(sizes_are_the_servers),
        cmocka_unit_test(sizes_at_every_rate_of_the_table),
        cmocka_unit_test(sizes_around_the_anomaly),
        cmocka_unit_test(plans_are_of_what_is_made),
        cmocka_unit_test(words_of_tokenbf),
        cmocka_unit_test(windows_of_ngrambf),
        cmocka_unit_test(nothing_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
