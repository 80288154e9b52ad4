/* SPDX-License-Identifier: MIT
 *
 * test_codec_leveldb.c - the format leveldb: bytes and answers of LevelDB 1.23, and damage
 */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "foreign.h"
#include "format/leveldb/leveldb_layout.h"
#include "golden.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

static const umbel_foreign like = {.format = UMBEL_FMT_LEVELDB};

/* LevelDB accepts 0 bits per key; here such a filter is requested by its size. */
static umbel_foreign params_of(uint64_t keys, uint32_t bits_per_key) {
    if (bits_per_key == 0) {
        return (umbel_foreign){.format = UMBEL_FMT_LEVELDB, .bytes = 8, .hashes = 1};
    }
    return (umbel_foreign){
        .format = UMBEL_FMT_LEVELDB, .capacity = keys, .bits_per_key = bits_per_key};
}

/* ---- LevelDB's own bytes ---- */

static void add_set(umbel_filter *f, const char *set) {
    char text[128];
    if (strcmp(set, "hello_world") == 0) {
        foreign_add(f, "hello");
        foreign_add(f, "world");
    } else if (strcmp(set, "one_empty_key") == 0) {
        foreign_add(f, "");
    } else if (strcmp(set, "one_a") == 0) {
        foreign_add(f, "a");
    } else if (strcmp(set, "utf8") == 0) {
        foreign_add(f, "布隆过滤器");
        foreign_add(f, "é");
    } else if (strcmp(set, "binary_high") == 0) {
        assert_int_equal(umbel_add(f, "\xff\xfe\xfd", 3, NULL, NULL), UMBEL_OK);
        assert_int_equal(umbel_add(f, "\x80", 1, NULL, NULL), UMBEL_OK);
        assert_int_equal(umbel_add(f, "\x00\x01", 2, NULL, NULL), UMBEL_OK);
        assert_int_equal(umbel_add(f, "\xe3\x99\x40\x00", 4, NULL, NULL), UMBEL_OK);
    } else if (strcmp(set, "fixed32le_0_99") == 0) {
        for (uint8_t i = 0; i < 100; i++) {
            uint8_t key[4] = {i};
            assert_int_equal(umbel_add(f, key, 4, NULL, NULL), UMBEL_OK);
        }
    } else if (strcmp(set, "key%d_0_999") == 0) {
        for (int i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "key%d", i);
            foreign_add(f, text);
        }
    } else if (strcmp(set, "a_repeat_0_99") == 0) {
        memset(text, 'a', sizeof text);
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(umbel_add(f, text, i, NULL, NULL), UMBEL_OK);
    } else {
        assert_string_equal(set, "empty");
    }
}

static void answers(const umbel_filter *f, const char *want) {
    for (int i = 0; want[i]; i++) {
        char text[16];
        snprintf(text, sizeof text, "probe%d", i);
        assert_int_equal(foreign_contains(f, text), want[i] == '1');
    }
}

static void bytes_and_answers_are_leveldbs(void **state) {
    (void)state;
    golden_table t = golden_table_open("leveldb/filters.tsv");
    while (golden_table_next(&t)) {
        size_t want_len, len;
        uint8_t *want = golden_hex(t.column[3], &want_len);
        umbel_foreign params =
            params_of(strtoull(t.column[1], NULL, 10), (uint32_t)strtoul(t.column[2], NULL, 10));
        umbel_filter *f = foreign_create(params);
        add_set(f, t.column[0]);
        uint8_t *bytes = foreign_bytes(f, &len);
        assert_int_equal(len, want_len);
        assert_memory_equal(bytes, want, len);
        answers(f, t.column[4]);
        umbel_free(f);
        f = foreign_decode(&like, want, want_len);
        answers(f, t.column[4]);
        umbel_free(f);
        foreign_same_again(&like, want, want_len);
        free(bytes);
        free(want);
    }
    assert_int_equal(t.rows, 46);
    golden_table_close(&t);
}

/* Filters between two offsets of a table's filter block, as LevelDB wrote them. */
static void filters_of_a_table_hold_its_keys(void **state) {
    (void)state;
    size_t len, found = 0, filters = 0;
    uint8_t *block = golden_file("leveldb/filterblock.bin", &len);
    size_t array = (size_t)block[len - 5] | (size_t)block[len - 4] << 8;
    bool seen[300] = {false};
    for (size_t at = array; at + 5 < len; at += 4) {
        size_t from = (size_t)block[at] | (size_t)block[at + 1] << 8;
        size_t to = (size_t)block[at + 4] | (size_t)block[at + 5] << 8;
        umbel_filter *f = NULL;
        assert_int_equal(umbel_decode(block + from, to - from, UMBEL_MAP,
                                      &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f,
                                      NULL),
                         0);
        for (int i = 0; i < 300; i++) {
            char key[16];
            snprintf(key, sizeof key, "key%06d", i);
            if (!foreign_contains(f, key)) continue;
            found += !seen[i];
            seen[i] = true;
        }
        filters += to > from;
        umbel_free(f);
    }
    assert_true(filters > 2);
    assert_int_equal(found, 300);
    free(block);
}

/* ---- Sizes ---- */

static void sizes_are_leveldbs(void **state) {
    (void)state;
    const struct {
        uint64_t keys;
        uint32_t bits_per_key;
        uint64_t bits;
        uint32_t hashes;
    } cases[] = {
        {0, 10, 64, 6},      {1, 1, 64, 1},       {6, 10, 64, 6},      {7, 10, 72, 6},
        {100, 1, 104, 1},    {100, 2, 200, 1},    {100, 13, 1304, 8},  {1000, 10, 10000, 6},
        {100, 43, 4304, 29}, {100, 44, 4400, 30}, {10, 200, 2000, 30}, {3, 1000000, 3000000, 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_filter *f = foreign_create(params_of(cases[i].keys, cases[i].bits_per_key));
        umbel_info info = described(f);
        assert_int_equal(info.bits, cases[i].bits);
        assert_int_equal(info.hashes, cases[i].hashes);
        assert_int_equal(info.capacity, cases[i].keys);
        assert_int_equal(info.format, UMBEL_FMT_LEVELDB);
        assert_int_equal(info.kind, UMBEL_KIND_CLASSIC);
        umbel_free(f);
    }
}

static void a_rate_gives_the_fewest_bits(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_LEVELDB, .capacity = 100000, .fpr = 0.01};
    umbel_plan plan;
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.bits, 1100000); /* 10 bits per key would do if all probes were good */
    assert_int_equal(plan.hashes, 7);
    assert_true(plan.rate <= 0.01 && plan.rate > 0.006);
    assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
    umbel_filter *f = foreign_create(params);
    umbel_info info = described(f);
    assert_int_equal(info.bits, 1100000);
    umbel_free(f);

    /* As many bytes as given, at most. */
    params = (umbel_foreign){.format = UMBEL_FMT_LEVELDB, .capacity = 1000, .bytes = 1300};
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.bytes, 1250);

    /* A billion keys of a 32-bit hash: a fifth of all others have a twin. */
    params =
        (umbel_foreign){.format = UMBEL_FMT_LEVELDB, .capacity = 1000000000, .bits_per_key = 10};
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_true(plan.rate > 0.2);
}

/* Remainders computed without a division equal those of a division, on both sides of 2^32 bits. */
static void probes_are_remainders(void **state) {
    (void)state;
    const uint64_t edges[] = {1,
                              2,
                              8,
                              64,
                              72,
                              UINT64_C(1) << 31,
                              (UINT64_C(1) << 32) - 8,
                              UINT32_MAX,
                              UINT64_C(1) << 32,
                              (UINT64_C(1) << 32) + 8,
                              INT64_MAX};
    uint64_t random = 20, pos[30];
    print_message("seed %d\n", (int)random);
    for (size_t i = 0; i < 200; i++) {
        size_t known = sizeof edges / sizeof edges[0];
        uint64_t bits = i < known ? edges[i] : (foreign_random(&random) >> (29 + i % 30)) + 1;
        umbeli_classic c = {.modulus = umbeli_modulus_of(bits)};
        c.base.shape.hashes = 30;
        for (size_t j = 0; j < 1000; j++) {
            uint32_t h = j < 4 ? (uint32_t)(0 - j) : (uint32_t)foreign_random(&random);
            umbeli_leveldb_probes(&c, h, pos);
            uint32_t step = h >> 17 | h << 15;
            for (size_t k = 0; k < 30; k++, h += step) assert_int_equal(pos[k], h % bits);
        }
    }
}

/* ---- Its tests ---- */

static void four_queries(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(2, 10));
    foreign_add(f, "hello");
    foreign_add(f, "world");
    assert_true(foreign_contains(f, "hello"));
    assert_true(foreign_contains(f, "world"));
    assert_false(foreign_contains(f, "ufo exists?"));
    assert_false(foreign_contains(f, "nullptr"));
    umbel_free(f);
}

/* Ten thousand strings of a's are in.  Of as many strings of b's LevelDB itself finds 92, including
 * the empty one, which is in. */
static void ten_thousand_strings(void **state) {
    (void)state;
    static char a[10000], b[10000];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    umbel_filter *f = foreign_create(params_of(10000, 10));
    for (size_t i = 0; i < 10000; i++) assert_int_equal(umbel_add(f, a, i, NULL, NULL), UMBEL_OK);
    size_t found = 0, wrong = 0;
    for (size_t i = 0; i < 10000; i++) {
        found += umbel_contains(f, a, i);
        wrong += umbel_contains(f, b, i);
    }
    assert_int_equal(found, 10000);
    assert_int_equal(wrong, 92);
    umbel_free(f);
}

static size_t next_length(size_t n) {
    return n < 10 ? n + 1 : n < 100 ? n + 10 : n < 1000 ? n + 100 : n + 1000;
}

/* LevelDB's schedule: 1, 2 ... 10, 20 ... 10 000 keys, and no rate above 2%. */
static void rates_stay_below_two_percent(void **state) {
    (void)state;
    size_t mediocre = 0, good = 0;
    for (size_t n = 1; n <= 10000; n = next_length(n)) {
        umbel_filter *f = foreign_create(params_of(n, 10));
        for (uint32_t i = 0; i < n; i++) {
            uint8_t key[4] = {(uint8_t)i, (uint8_t)(i >> 8)};
            assert_int_equal(umbel_add(f, key, 4, NULL, NULL), UMBEL_OK);
        }
        size_t len, wrong = 0;
        free(foreign_bytes(f, &len));
        assert_true(len <= n * 10 / 8 + 40);
        for (uint32_t i = 0; i < 10000; i++) {
            uint32_t x = i + 1000000000;
            uint8_t key[4] = {(uint8_t)i, (uint8_t)(i >> 8)};
            uint8_t other[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16),
                                (uint8_t)(x >> 24)};
            if (i < n) assert_true(umbel_contains(f, key, 4));
            wrong += umbel_contains(f, other, 4);
        }
        assert_true(wrong <= 200);
        if (wrong > 125) {
            mediocre++;
        } else {
            good++;
        }
        umbel_free(f);
    }
    assert_true(mediocre <= good / 5);
}

/* ---- Other ---- */

static void batches_agree(void **state) {
    (void)state;
    enum { N = 3000 };
    foreign_number_batches_agree(params_of(N, 10));
    foreign_number_batches_agree(params_of(N, 1));
    foreign_number_batches_agree(params_of(N, 44));
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const umbel_format l = UMBEL_FMT_LEVELDB;
    foreign_not_made((umbel_foreign){.format = l}, "capacity");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10}, "bits_per_key");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10, .bits_per_key = 9, .fpr = .1},
                     "fpr");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10, .bits_per_key = 9, .seed = 1},
                     "seed");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .bits_per_key = 9, .hashes = 4},
                     "hashes");
    foreign_not_made((umbel_foreign){.format = l, .bytes = 9, .hashes = 31}, "hashes");
    foreign_not_made((umbel_foreign){.format = l, .bytes = 9}, "hashes");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 99, .bits_per_key = 9, .bytes = 8},
                     "bytes");
    foreign_not_made((umbel_foreign){.format = l, .capacity = UINT64_MAX, .bits_per_key = 9},
                     "2^63");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 1000000000, .fpr = 1e-9}, "32-bit");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = 1.5}, "fpr");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .nonscaling = 1},
                     "nonscaling");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .expansion = 2},
                     "expansion");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .variant = 1},
                     "variant");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .reserved = {0, 1}},
                     "reserved");
}

static void odd_filters_answer_as_leveldb_does(void **state) {
    (void)state;
    golden_table t = golden_table_open("leveldb/odd.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        umbel_filter *f = NULL;
        assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP,
                                      &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f,
                                      NULL),
                         UMBEL_OK);
        uint8_t hit[2];
        umbel_contains_many(f, (umbel_key[]){{"hello", 5}, {NULL, 0}}, 2, hit);
        assert_int_equal(foreign_contains(f, "hello"), t.column[1][0] == '1');
        assert_int_equal(hit[0], t.column[1][0] == '1');
        umbel_info info = described(f);
        assert_true(info.frozen);
        umbel_free(f);
        uint8_t k = len ? bytes[len - 1] : 0;
        foreign_refused(&like, bytes, len, k > 30 ? UMBEL_EVERSION : UMBEL_ECORRUPT,
                        len ? len - 1 : 0);
        free(bytes);
    }
    assert_int_equal(t.rows, 4);
    golden_table_close(&t);
}

static void every_k(void **state) {
    (void)state;
    for (unsigned k = 0; k < 256; k++) {
        uint8_t bytes[9] = {0};
        bytes[8] = (uint8_t)k;
        umbel_filter *f = NULL;
        assert_int_equal(umbel_decode(bytes, 9, UMBEL_MAP,
                                      &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f,
                                      NULL),
                         UMBEL_OK);
        assert_int_equal(foreign_contains(f, "x"), k == 0 || k > 30);
        /* What no writer produces is not written here either. */
        assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_LEVELDB), k == 0 || k > 30 ? 0 : 9);
        umbel_free(f);
        if (k == 0 || k > 30) {
            umbel_err want = k ? UMBEL_EVERSION : UMBEL_ECORRUPT;
            foreign_refused(&like, bytes, 9, want, 8);
            assert_int_equal(umbel_decode(bytes, 9, UMBEL_VERIFY,
                                          &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, NULL,
                                          NULL),
                             want);
        } else {
            foreign_same_again(&like, bytes, 9);
            assert_int_equal(umbel_decode(bytes, 9, UMBEL_VERIFY,
                                          &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, NULL,
                                          NULL),
                             UMBEL_OK);
        }
    }
}

static void too_short_is_refused(void **state) {
    (void)state;
    const uint8_t bytes[1] = {6};
    foreign_refused(&like, bytes, 0, UMBEL_ECORRUPT, 0);
    foreign_refused(&like, bytes, 1, UMBEL_ECORRUPT, 1);
    umbel_filter *f = NULL;
    assert_int_equal(umbel_decode(bytes, 1, UMBEL_MAP,
                                  &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f, NULL),
                     UMBEL_OK);
    assert_false(foreign_contains(f, "hello"));
    umbel_free(f);
}

static void the_limit_is_kept(void **state) {
    (void)state;
    uint8_t bytes[101] = {[100] = 6};
    umbel_opts opts = {.max_bytes = 99};
    umbel_filter *f = NULL;
    assert_int_equal(umbel_decode(bytes, 101, UMBEL_LOAD,
                                  &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, &opts, &f, NULL),
                     UMBEL_ELIMIT);
    umbel_foreign params = params_of(1000, 10);
    assert_int_equal(umbel_create_foreign(&params, &opts, &f, NULL), UMBEL_ELIMIT);
    assert_null(f);
}

static void other_formats_are_told_apart(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(10, 10)), *g = NULL;
    umbel_diag diag;
    uint8_t bytes[64];
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, sizeof bytes, &diag),
                     UMBEL_EMISMATCH);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_BADGER, bytes, sizeof bytes, &diag),
                     UMBEL_EMISMATCH);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_NATIVE), 0);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_COREKV), 14); /* the bits are the same */
    size_t len;
    uint8_t *own = foreign_bytes(f, &len);
    assert_int_equal(umbel_decode(own, len, UMBEL_LOAD, NULL, NULL, &g, &diag), UMBEL_EUNKNOWN);
    char text[8];
    assert_int_equal(umbel_text(f, text, sizeof text, &diag), UMBEL_ENOTSUP);
    free(own);
    umbel_free(f);
}

/* Few keys at a rate of 1e-5: most of what is found follows the probes of a key. */
static void low_rates_are_not_0(void **state) {
    (void)state;
    enum { ASKED = 1 << 17 };
    double promised = 0, found = 0;
    for (uint64_t keys = 1; keys <= 60; keys++) {
        umbel_measurement now;
        umbel_filter *f = foreign_create(
            (umbel_foreign){.format = UMBEL_FMT_LEVELDB, .capacity = keys, .fpr = 1e-5});
        for (uint64_t i = 0; i < keys; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
        umbel_measure(f, &now);
        assert_true(now.rate > 0);
        assert_true(now.rate < 1e-3);
        promised += now.rate * ASKED;
        for (uint64_t i = 0; i < ASKED; i++) {
            uint64_t absent = UINT64_MAX - i;
            found += umbel_contains(f, &absent, sizeof absent);
        }
        umbel_free(f);
    }
    print_message("# %.0f found, %.0f expected\n", found, promised);
    /* Both are counts; with that of the measurement, 60 * 2^17 tries at a fill of about a third. */
    assert_true(fabs(found - promised) < 6.2 * sqrt(2 * (found + promised)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_answers_are_leveldbs),
        cmocka_unit_test(filters_of_a_table_hold_its_keys),
        cmocka_unit_test(sizes_are_leveldbs),
        cmocka_unit_test(a_rate_gives_the_fewest_bits),
        cmocka_unit_test(probes_are_remainders),
        cmocka_unit_test(four_queries),
        cmocka_unit_test(ten_thousand_strings),
        cmocka_unit_test(rates_stay_below_two_percent),
        cmocka_unit_test(batches_agree),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(odd_filters_answer_as_leveldb_does),
        cmocka_unit_test(every_k),
        cmocka_unit_test(too_short_is_refused),
        cmocka_unit_test(the_limit_is_kept),
        cmocka_unit_test(low_rates_are_not_0),
        cmocka_unit_test(other_formats_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
