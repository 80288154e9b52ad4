/* SPDX-License-Identifier: MIT
 *
 * Guava's filters: the bytes, statistics and sizes that Guava 31.1 gave, and what is refused
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "format/guava.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbel_foreign guava = {.format = UMBEL_FMT_GUAVA};

static unsigned put(umbel_filter *f, umbel_type type, const char *text) {
    uint8_t key[64];
    size_t len;
    bool was_new;
    assert_int_equal(umbel_typed_key(type, text, strlen(text), key, sizeof key, &len, NULL), 0);
    assert_int_equal(umbel_add(f, key, len, &was_new, NULL), UMBEL_OK);
    assert_true(umbel_contains(f, key, len));
    return was_new;
}

/* The keys column: "key0..key99", "-5..4" or a comma-separated list. */
static unsigned put_all(umbel_filter *f, umbel_type type, char *keys) {
    unsigned changed = 0;
    char text[32];
    int first, last;
    if (sscanf(keys, "key0..key%d", &last) == 1) {
        for (int i = 0; i <= last; i++) {
            snprintf(text, sizeof text, "key%d", i);
            changed += put(f, type, text);
        }
    } else if (sscanf(keys, "%d..%d", &first, &last) == 2) {
        for (int i = first; i <= last; i++) {
            snprintf(text, sizeof text, "%d", i);
            changed += put(f, type, text);
        }
    } else {
        for (char *next = keys; next;) {
            char *comma = strchr(next, ',');
            if (comma) *comma = 0;
            changed += put(f, type, next);
            next = comma ? comma + 1 : NULL;
        }
    }
    return changed;
}

static umbel_type type_of(const char *funnel) {
    if (strcmp(funnel, "unencoded") == 0) return UMBEL_TYPE_UTF16;
    if (strcmp(funnel, "int") == 0) return UMBEL_TYPE_INT32;
    if (strcmp(funnel, "long") == 0) return UMBEL_TYPE_INT64;
    assert_string_equal(funnel, "string");
    return UMBEL_TYPE_STRING;
}

static void filters_are_guavas(void **state) {
    (void)state;
    golden_table t = golden_table_open("guava/filters.tsv");
    while (golden_table_next(&t)) {
        uint64_t keys = strtoull(t.column[1], NULL, 10);
        umbel_filter *f = foreign_create(
            (umbel_foreign){.format = UMBEL_FMT_GUAVA,
                            .capacity = keys ? keys : 1, /* Guava takes 0 for 1 */
                            .fpr = strtod(t.column[2], NULL),
                            .variant = t.column[0][0] == '0' ? UMBEL_VARIANT_MITZ32 : 0});
        assert_int_equal(described(f).bits, strtoull(t.column[4], NULL, 10));
        assert_int_equal(described(f).hashes, strtoull(t.column[5], NULL, 10));
        unsigned changed = put_all(f, type_of(t.column[6]), t.column[7]);
        assert_int_equal(changed, strtoull(t.column[8], NULL, 10));

        /* Guava knows only the bits, and so does a filter that was read. */
        size_t read_len;
        uint8_t *written = foreign_bytes(f, &read_len);
        umbel_filter *read = foreign_decode(&guava, written, read_len);
        umbel_measurement now = measured(read);
        umbel_free(read);
        free(written);
        double fpp = strtod(t.column[10], NULL);
        double by_fill = pow((double)now.bits_set / (double)described(f).bits, described(f).hashes);
        assert_int_equal((uint64_t)floor(now.keys + 0.5), strtoull(t.column[9], NULL, 10));
        assert_true(fabs(by_fill - fpp) <= 1e-14 * fpp);
        if (t.column[11][0]) {
            size_t len;
            uint8_t *bytes = golden_hex(t.column[11], &len);
            foreign_is(&guava, f, bytes, len);
            free(bytes);
        }
        umbel_free(f);
    }
    assert_int_equal(t.rows, 14);
    golden_table_close(&t);
}

static void file_holds_keys(const char *path, unsigned keys) {
    size_t len;
    uint8_t *bytes = golden_file(path, &len);
    umbel_filter *f = foreign_decode(&guava, bytes, len);
    char key[32];
    for (unsigned i = 0; i < keys; i++) {
        snprintf(key, sizeof key, "key%u", i);
        assert_true(umbel_contains(f, key, strlen(key)));
    }
    assert_false(umbel_contains(f, "absent", 6));
    foreign_is(&guava, f, bytes, len);
    foreign_needs_every_byte(&guava, bytes, len);
    umbel_free(f);
    free(bytes);
}

static void files_are_read(void **state) {
    (void)state;
    file_holds_keys("guava/mitz32_str_1000_0.01.bin", 1000);
    file_holds_keys("guava/mitz64_str_100_0.03.bin", 100);
}

static void sizes_are_guavas(void **state) {
    (void)state;
    golden_table t = golden_table_open("guava/sizing.tsv");
    while (golden_table_next(&t)) {
        uint64_t n = strtoull(t.column[0], NULL, 10);
        umbeli_guava_size size = umbeli_guava_size_of(n, strtod(t.column[1], NULL), false);
        assert_int_equal(size.wanted, strtoull(t.column[2], NULL, 10));
        assert_int_equal(size.hashes, strtoull(t.column[3], NULL, 10));
        assert_int_equal(size.bits, strtoull(t.column[4], NULL, 10));
    }
    assert_int_equal(t.rows, 143);
    golden_table_close(&t);
}

static void newer_rule_of_hashes(void **state) {
    (void)state;
    const struct {
        uint64_t n;
        double p;
        uint32_t older, newer;
    } cases[] = {{1, 0.01, 6, 7}, {3, 0.01, 6, 7}, {1, 1e-6, 19, 20}, {1000, 0.03, 5, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(umbeli_guava_size_of(cases[i].n, cases[i].p, false).hashes,
                         cases[i].older);
        assert_int_equal(umbeli_guava_size_of(cases[i].n, cases[i].p, true).hashes, cases[i].newer);
    }
    umbel_foreign newer = {
        .format = UMBEL_FMT_GUAVA, .capacity = 1, .fpr = 0.01, .variant = UMBEL_VARIANT_GUAVA_2024};
    umbel_filter *f = foreign_create(newer);
    assert_int_equal(described(f).hashes, 7);
    umbel_free(f);
}

static void default_rate_is_guavas(void **state) {
    (void)state;
    umbel_filter *f = foreign_create((umbel_foreign){.format = UMBEL_FMT_GUAVA, .capacity = 100});
    assert_int_equal(described(f).bits, 768);
    assert_int_equal(described(f).hashes, 5);
    assert_true(described(f).fpr == 0.03);
    umbel_free(f);
}

static void plans_know_the_reach_of_32_bits(void **state) {
    (void)state;
    umbel_plan plan;
    umbel_foreign p = {.format = UMBEL_FMT_GUAVA, .capacity = 100000000, .fpr = 0.01};
    assert_int_equal(umbel_plan_foreign(&p, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
    assert_int_equal(plan.bits, 958505856);
    assert_true(plan.rate > 0.0099 && plan.rate < 0.0101);

    p.capacity = 1000000000;
    assert_int_equal(umbel_plan_foreign(&p, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
    p.variant = UMBEL_VARIANT_MITZ32; /* 9.6e9 bits, of which 2^31 are used: 0.96 full */
    assert_int_equal(umbel_plan_foreign(&p, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_BEYOND_KIND);
    assert_true(plan.rate > 0.75 && plan.rate < 0.78);
    assert_non_null(strstr(plan.why, "2^31"));
}

/* The largest size and the largest number of hashes that Guava accepts. */
static void ends_of_sizes(void **state) {
    (void)state;
    const uint64_t max = UINT64_C(2147483647) * 64;
    uint64_t keys = (uint64_t)((double)max / 9.58506) - 10000;
    while (umbeli_guava_size_of(keys + 1, 0.01, false).bits != 0) keys++;
    assert_int_equal(umbeli_guava_size_of(keys, 0.01, false).bits, max);
    umbel_foreign params = {.format = UMBEL_FMT_GUAVA,
                            .capacity = 10,
                            .fpr = 0x1p-255,
                            .variant = UMBEL_VARIANT_GUAVA_2024};
    umbel_filter *f = foreign_create(params);
    assert_int_equal(described(f).hashes, 255);
    umbel_free(f);
    params.fpr = 0x1p-256;
    foreign_not_made(params, "255");
}

static void refused_parameters(void **state) {
    (void)state;
    const struct {
        umbel_foreign params;
        const char *what;
    } cases[] = {
        {{.fpr = 0.01}, "capacity"},
        {{.capacity = 10, .fpr = 0.99}, "0 bits"},
        {{.capacity = 10, .fpr = 1}, "fpr"},
        {{.capacity = 10, .fpr = -0.5}, "fpr"},
        {{.capacity = 10, .fpr = NAN}, "fpr"},
        {{.capacity = 10, .fpr = 1e-80}, "255"},
        {{.capacity = UINT64_MAX, .fpr = 0.01}, "words"},
        {{.capacity = 14400000000u, .fpr = 0.01}, "words"},
        {{.capacity = 10, .fpr = 0.01, .bytes = 64}, "bytes"},
        {{.capacity = 10, .fpr = 0.01, .seed = 1}, "seed"},
        {{.capacity = 10, .fpr = 0.01, .hashes = 3}, "hashes"},
        {{.capacity = 10, .fpr = 0.01, .reserved = {1}}, "reserved"},
        {{.capacity = 10, .fpr = 0.01, .reserved = {0, 0, 0, 1}}, "reserved"},
        {{.capacity = 10, .fpr = 0.01, .variant = UMBEL_VARIANT_INT32}, "variant"},
        {{.capacity = 10, .bits_per_key = 3}, "bits_per_key"},
        {{.capacity = 10, .expansion = 2}, "expansion"},
        {{.capacity = 10, .nonscaling = true}, "nonscaling"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foreign_not_made(foreign_as(UMBEL_FMT_GUAVA, cases[i].params), cases[i].what);
    }
}

static void damaged_headers(void **state) {
    (void)state;
    const uint8_t good[14] = {1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1};
    umbel_free(foreign_decode(&guava, good, sizeof good));
    foreign_needs_every_byte(&guava, good, sizeof good);
    const struct {
        size_t at;
        uint8_t value;
        umbel_err err;
        uint64_t offset;
        const char *what;
    } cases[] = {
        {0, 2, UMBEL_EVERSION, 0, "strategy"},    {0, 255, UMBEL_EVERSION, 0, "strategy"},
        {1, 0, UMBEL_ECORRUPT, 1, "hashes"},      {5, 0, UMBEL_ECORRUPT, 2, "words: 0"},
        {5, 2, UMBEL_ECORRUPT, 14, "cut off"},    {2, 0x80, UMBEL_ECORRUPT, 2, "negative"},
        {2, 0xff, UMBEL_ECORRUPT, 2, "negative"}, {2, 0x7f, UMBEL_ECORRUPT, 14, "cut off"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bad[sizeof good];
        memcpy(bad, good, sizeof good);
        bad[cases[i].at] = cases[i].value;
        foreign_refused_saying(&guava, bad, sizeof bad, cases[i].err, cases[i].offset,
                               cases[i].what);
    }
    uint8_t max[sizeof good];
    memcpy(max, good, sizeof good);
    max[1] = 255;
    umbel_filter *f = foreign_decode(&guava, max, sizeof max);
    assert_int_equal(described(f).hashes, 255);
    umbel_free(f);
}

static void no_view_of_big_endian_words(void **state) {
    (void)state;
    const uint8_t good[14] = {1, 1, 0, 0, 0, 1};
    umbel_filter *f = NULL;
    assert_int_equal(umbel_decode(good, sizeof good, UMBEL_MAP, &guava, NULL, &f, NULL),
                     UMBEL_ENOTSUP);
    assert_null(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_are_guavas),     cmocka_unit_test(files_are_read),
        cmocka_unit_test(sizes_are_guavas),       cmocka_unit_test(newer_rule_of_hashes),
        cmocka_unit_test(default_rate_is_guavas), cmocka_unit_test(plans_know_the_reach_of_32_bits),
        cmocka_unit_test(ends_of_sizes),          cmocka_unit_test(refused_parameters),
        cmocka_unit_test(damaged_headers),        cmocka_unit_test(no_view_of_big_endian_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
