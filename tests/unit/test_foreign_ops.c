/* SPDX-License-Identifier: MIT
 *
 * ClickHouse's, Guava's and Parquet's filters through the public functions: what every filter does,
 * whatever hashing it follows
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "umbel_foreign.h"

enum { KEYS = 500, PROBES = 20000 };

#define INDEX UMBEL_VARIANT_CLICKHOUSE_INDEX

static const struct {
    const char *name;
    umbel_foreign params;
    any_params other; /* places keys elsewhere */
} cases[] = {
    {"clickhouse",
     {.format = UMBEL_FMT_CLICKHOUSE, .bytes = 700, .hashes = 6, .seed = 42},
     {.foreign = {.format = UMBEL_FMT_CLICKHOUSE, .bytes = 700, .hashes = 6, .seed = 43}}},
    {"clickhouse index of strings",
     {.format = UMBEL_FMT_CLICKHOUSE, .capacity = KEYS, .fpr = 0.01, .variant = INDEX},
     {.foreign =
          {.format = UMBEL_FMT_CLICKHOUSE, .capacity = KEYS, .fpr = 0.02, .variant = INDEX}}},
    {"clickhouse index of numbers",
     {.format = UMBEL_FMT_CLICKHOUSE,
      .capacity = KEYS,
      .fpr = 0.01,
      .variant = INDEX | UMBEL_VARIANT_CLICKHOUSE_NUMBERS},
     {.foreign =
          {.format = UMBEL_FMT_CLICKHOUSE, .capacity = KEYS, .fpr = 0.01, .variant = INDEX}}},
    {"guava",
     {.format = UMBEL_FMT_GUAVA, .capacity = KEYS, .fpr = 0.01},
     {.foreign = {.format = UMBEL_FMT_GUAVA,
                  .capacity = KEYS,
                  .fpr = 0.01,
                  .variant = UMBEL_VARIANT_MITZ32}}},
    {"guava mitz32",
     {.format = UMBEL_FMT_GUAVA, .capacity = KEYS, .fpr = 0.01, .variant = UMBEL_VARIANT_MITZ32},
     {.foreign = {.format = UMBEL_FMT_GUAVA,
                  .capacity = 2 * KEYS,
                  .fpr = 0.01,
                  .variant = UMBEL_VARIANT_MITZ32}}},
    {"parquet",
     {.format = UMBEL_FMT_PARQUET, .capacity = KEYS, .fpr = 0.01},
     {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 1024}}},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static uint64_t numbers[KEYS + PROBES];
static umbel_key keys[KEYS + PROBES]; /* 8 bytes each, as strings and as numbers */

static int draw_keys(void **state) {
    (void)state;
    const char *given = getenv("UMBEL_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 20261115;
    printf("# UMBEL_TEST_SEED=%llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < KEYS + PROBES; i++) {
        numbers[i] = foreign_random(&seed);
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    return 0;
}

/* A filter of keys[first .. last). */
static umbel_filter *filled(umbel_foreign params, size_t first, size_t last) {
    umbel_filter *f = foreign_create(params);
    assert_int_equal(umbel_add_many(f, keys + first, last - first, NULL, NULL, NULL), UMBEL_OK);
    return f;
}

static void keys_stay_and_the_rate_is_as_told(void **state) {
    (void)state;
    static uint8_t hit[KEYS + PROBES];
    for (size_t i = 0; i < CASES; i++) {
        umbel_filter *f = filled(cases[i].params, 0, KEYS);
        umbel_contains_many(f, keys, KEYS + PROBES, hit);
        size_t false_hits = 0;
        for (size_t k = 0; k < KEYS + PROBES; k++) {
            assert_int_equal(hit[k], umbel_contains(f, keys[k].data, keys[k].len));
            if (k < KEYS) assert_true(hit[k]);
            if (k >= KEYS) false_hits += hit[k];
        }
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        double want = now.rate * PROBES, sigma = sqrt(want);
        if (fabs((double)false_hits - want) > 6 * sigma + 6) {
            fail_msg("%s: %zu false hits, %.0f expected", cases[i].name, false_hits, want);
        }
        assert_true(fabs(now.keys - KEYS) < 0.15 * KEYS);
        assert_int_equal(info.format, cases[i].params.format);
        umbel_free(f);
    }
}

static void bytes_go_out_and_in(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        foreign_batches_agree(cases[i].params, keys, KEYS);
        umbel_filter *f = filled(cases[i].params, 0, KEYS);
        size_t len;
        uint8_t *bytes = foreign_bytes(f, &len);
        foreign_same_again(&cases[i].params, bytes, len);

        umbel_filter *read = foreign_decode(&cases[i].params, bytes, len);
        assert_true(umbel_equal(read, f));
        umbel_free(read);
        umbel_diag diag = {0};
        assert_int_equal(umbel_encode(f, cases[i].params.format, bytes, len - 1, &diag),
                         UMBEL_ESPACE);
        umbel_format elsewhere =
            cases[i].params.format == UMBEL_FMT_GUAVA ? UMBEL_FMT_PARQUET : UMBEL_FMT_GUAVA;
        assert_int_equal(umbel_encoded_size(f, elsewhere), 0);
        assert_int_equal(umbel_encode(f, elsewhere, bytes, len, &diag), UMBEL_EMISMATCH);
        free(bytes);
        umbel_free(f);
    }
}

static void sets(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        umbel_filter *a = filled(cases[i].params, 0, 300), *b = filled(cases[i].params, 200, KEYS);
        umbel_filter *both = filled(cases[i].params, 0, KEYS), *joined = NULL, *common = NULL;
        bool yes = true;
        assert_int_equal(umbel_copy(a, &joined, NULL), UMBEL_OK);
        assert_int_equal(umbel_copy(a, &common, NULL), UMBEL_OK);
        assert_int_equal(umbel_merge(joined, b, NULL), UMBEL_OK);
        assert_true(umbel_equal(joined, both));
        assert_int_equal(umbel_intersect(common, b, NULL), UMBEL_OK);
        for (size_t k = 200; k < 300; k++) {
            assert_true(umbel_contains(common, keys[k].data, keys[k].len));
        }
        /* ClickHouse's contains(other): every bit of the other is set */
        assert_int_equal(umbel_is_subset(a, both, &yes, NULL), UMBEL_OK);
        assert_true(yes);
        assert_int_equal(umbel_is_subset(both, a, &yes, NULL), UMBEL_OK);
        assert_false(yes);

        assert_false(umbel_is_empty(a));
        assert_int_equal(umbel_clear(a, NULL), UMBEL_OK);
        assert_true(umbel_is_empty(a));
        assert_false(umbel_contains(a, keys[0].data, keys[0].len));
        umbel_free(a);
        umbel_free(b);
        umbel_free(both);
        umbel_free(joined);
        umbel_free(common);
    }
}

static void others_do_not_mix(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        umbel_filter *f = filled(cases[i].params, 0, 10), *g = NULL;
        assert_int_equal(any_create(&cases[i].other, NULL, &g, NULL), UMBEL_OK);
        umbel_diag diag = {0};
        bool yes;
        assert_int_equal(umbel_merge(f, g, &diag), UMBEL_EMISMATCH);
        assert_non_null(diag.what);
        assert_int_equal(umbel_is_subset(f, g, &yes, &diag), UMBEL_EMISMATCH);
        assert_false(umbel_equal(f, g));
        umbel_free(f);
        umbel_free(g);
    }
}

static void memory_has_a_limit(void **state) {
    (void)state;
    umbel_opts opts = {.max_bytes = 100};
    for (size_t i = 0; i < CASES; i++) {
        umbel_filter *f = filled(cases[i].params, 0, KEYS), *none = NULL;
        size_t len;
        uint8_t *bytes = foreign_bytes(f, &len);
        assert_int_equal(umbel_create_foreign(&cases[i].params, &opts, &none, NULL), UMBEL_ELIMIT);
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &cases[i].params, &opts, &none, NULL),
                         UMBEL_ELIMIT);
        assert_null(none);
        free(bytes);
        umbel_free(f);
    }
}

static void only_parquet_is_recognised(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        umbel_filter *f = filled(cases[i].params, 0, KEYS), *read = NULL;
        size_t len;
        uint8_t *bytes = foreign_bytes(f, &len);
        umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &read, NULL);
        if (cases[i].params.format == UMBEL_FMT_PARQUET) {
            assert_int_equal(e, UMBEL_OK);
            assert_true(umbel_equal(read, f));
        } else {
            assert_int_equal(e, UMBEL_EUNKNOWN);
        }
        umbel_free(read);
        free(bytes);
        umbel_free(f);
    }
}

static void parquet_is_blocked(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_PARQUET, .bytes = 8192};
    umbel_filter *f = NULL;
    assert_int_equal(umbel_create_foreign(&params, &(umbel_opts){.concurrent = 1}, &f, NULL),
                     UMBEL_OK);
    assert_int_equal(umbel_add_many(f, keys, KEYS, NULL, NULL, NULL), UMBEL_OK);
    assert_true(takes_hashes(f));
    for (size_t k = 0; k < 1000; k++) {
        uint64_t hash = one_hash(f, keys[k].data, keys[k].len);
        assert_int_equal(umbel_contains_hash(f, hash), umbel_contains(f, keys[k].data, 8));
    }
    assert_int_equal(umbel_fold(f, 0.01, NULL), UMBEL_OK);
    umbel_info info = described(f);
    assert_true(info.concurrent);
    assert_int_equal(info.bytes, 1024);
    for (size_t k = 0; k < KEYS; k++) assert_true(umbel_contains(f, keys[k].data, keys[k].len));
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_PARQUET), 16 + 1024);
    umbel_free(f);

    f = filled(cases[0].params, 0, KEYS);
    assert_int_equal(umbel_fold(f, 0.5, NULL), UMBEL_ENOTSUP); /* modulo a size: cannot be halved */
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_stay_and_the_rate_is_as_told),
        cmocka_unit_test(bytes_go_out_and_in),
        cmocka_unit_test(sets),
        cmocka_unit_test(others_do_not_mix),
        cmocka_unit_test(memory_has_a_limit),
        cmocka_unit_test(only_parquet_is_recognised),
        cmocka_unit_test(parquet_is_blocked),
    };
    return cmocka_run_group_tests(tests, draw_keys, NULL);
}
