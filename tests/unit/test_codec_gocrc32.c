/* SPDX-License-Identifier: MIT
 *
 * The format gocrc32: bytes and answers of the Go code on 64 and 32 bits, its sizes, bad input
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "hash/foreign_hash.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

static umbel_foreign params_of(uint64_t keys, double fpr, uint32_t variant) {
    return (umbel_foreign){
        .format = UMBEL_FMT_GOCRC32, .capacity = keys, .fpr = fpr, .variant = variant};
}

static void text_of(int i, char text[16]) {
    snprintf(text, 16, "%d", i);
}

static void answers(const umbel_filter *f, const char *want) {
    for (int i = 0; want[i]; i++) {
        char text[16];
        text_of(i, text);
        assert_int_equal(foreign_contains(f, text), want[i] == '1');
    }
}

static void one_filter(golden_table *t, uint32_t variant) {
    umbel_foreign params =
        params_of(strtoull(t->column[0], NULL, 10), strtod(t->column[1], NULL), variant);
    size_t want_len, len;
    uint8_t *want = golden_hex(t->column[6], &want_len);
    umbel_filter *f = foreign_create(params);
    for (int i = 0; i < atoi(t->column[5]); i++) {
        char text[16];
        text_of(i, text);
        foreign_add(f, text);
    }
    umbel_info info = described(f);
    assert_int_equal(info.bits, strtoull(t->column[2], NULL, 10));
    assert_int_equal(info.hashes, strtoull(t->column[3], NULL, 10));
    char text[128];
    assert_int_equal(umbel_text(f, text, sizeof text, NULL), UMBEL_OK);
    assert_string_equal(text, t->column[4]);
    answers(f, t->column[7]);
    if (want_len) {
        uint8_t *bytes = foreign_bytes(f, &len);
        assert_int_equal(len, want_len);
        assert_memory_equal(bytes, want, len);
        free(bytes);
        foreign_same_again(&params, want, want_len);
    } else {
        assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_GOCRC32), 0);
    }
    umbel_free(f);
    f = foreign_decode(&params, want, want_len);
    answers(f, t->column[7]);
    umbel_free(f);
    free(want);
}

static void bytes_and_answers_are_the_go_codes(void **state) {
    (void)state;
    const char *paths[] = {"gocrc32/int64.tsv", "gocrc32/int32.tsv"};
    for (uint32_t variant = 0; variant < 2; variant++) {
        golden_table t = golden_table_open(paths[variant]);
        while (golden_table_next(&t)) one_filter(&t, variant ? UMBEL_VARIANT_INT32 : 0);
        assert_int_equal(t.rows, 5);
        golden_table_close(&t);
    }
}

/* The indexes that the Go code computes for one key: bits set in an empty filter. */
static void one_key(golden_table *t, uint32_t variant) {
    umbel_filter *f = foreign_create(params_of(100, 0.01, variant));
    foreign_add(f, t->column[1]);
    size_t len, count = 0;
    uint8_t *bytes = foreign_bytes(f, &len), *want = calloc(len, 1);
    assert_non_null(want);
    for (char *next = t->column[3]; *next; count++) {
        unsigned long index = strtoul(next, &next, 10);
        want[index / 8] |= (uint8_t)(1 << index % 8);
    }
    assert_int_equal(count, 6);
    assert_memory_equal(bytes, want, len);
    free(bytes);
    free(want);
    umbel_free(f);
}

static void indexes_are_the_go_codes(void **state) {
    (void)state;
    const char *paths[] = {"gocrc32/hash_int64.tsv", "gocrc32/hash_int32.tsv"};
    for (uint32_t variant = 0; variant < 2; variant++) {
        golden_table t = golden_table_open(paths[variant]);
        while (golden_table_next(&t)) one_key(&t, variant ? UMBEL_VARIANT_INT32 : 0);
        assert_int_equal(t.rows, 7);
        golden_table_close(&t);
    }
}

static void sizes_are_the_go_codes(void **state) {
    (void)state;
    const struct {
        uint64_t keys;
        double fpr;
        const char *text;
    } cases[] = {
        {100, 0.01, "bitsSize: 958, hashFuncSize: 6"},
        {1000, 0.01, "bitsSize: 9585, hashFuncSize: 6"},
        {10, 0.1, "bitsSize: 47, hashFuncSize: 3"},
        {100, 0.0001, "bitsSize: 1917, hashFuncSize: 13"},
        {10, 0.9, "bitsSize: 2, hashFuncSize: 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_filter *f = foreign_create(params_of(cases[i].keys, cases[i].fpr, 0));
        char text[128];
        assert_int_equal(umbel_text(f, text, strlen(cases[i].text), NULL), UMBEL_ESPACE);
        assert_int_equal(umbel_text(f, text, strlen(cases[i].text) + 1, NULL), UMBEL_OK);
        assert_string_equal(text, cases[i].text);
        umbel_free(f);
    }
    umbel_plan plan;
    umbel_foreign large = params_of(1000000000, 0.01, 0);
    assert_int_equal(umbel_plan_foreign(&large, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.bits, 9585058377);
    assert_int_equal(plan.hashes, 6);
}

/* One 32-bit hash: a promise for 10^9 keys cannot be kept, and the plan says so. */
static void promises_out_of_reach_are_told(void **state) {
    (void)state;
    umbel_plan plan;
    umbel_foreign params = params_of(100000, 0.01, 0);
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
    assert_true(plan.rate > 0.01 && plan.rate < 0.0105); /* fewer probes than would be best */
    assert_non_null(strstr(plan.why, "within 5%"));
    params.capacity = 1000000000;
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_BEYOND_KIND);
    assert_true(plan.rate > 0.3 && plan.rate < 0.4);
    assert_non_null(strstr(plan.why, "CRC-32"));
    params = params_of(1000000, 1e-6, 0); /* twins alone are 230 in a million */
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.verdict, UMBEL_PLAN_BEYOND_KIND);
    umbel_filter *f = foreign_create(params);
    umbel_info info = described(f);
    assert_true(info.fpr > 2e-4); /* promises nothing that cannot hold */
    umbel_free(f);
}

static void the_rate_is_met(void **state) {
    (void)state;
    const uint32_t variants[] = {0, UMBEL_VARIANT_INT32};
    for (size_t v = 0; v < 2; v++) {
        umbel_filter *f = foreign_create(params_of(20000, 0.01, variants[v]));
        char text[16];
        for (int i = 0; i < 20000; i++) {
            text_of(i, text);
            foreign_add(f, text);
        }
        int wrong = 0;
        for (int i = 20000; i < 120000; i++) {
            text_of(i, text);
            wrong += foreign_contains(f, text);
        }
        assert_true(wrong > 800 && wrong < 1250);
        umbel_free(f);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    foreign_not_made(params_of(0, 0.1, 0), "capacity");
    foreign_not_made(params_of(10, 0, 0), "fpr");
    foreign_not_made(params_of(10, 0.1, UMBEL_VARIANT_MITZ32), "variant");
    foreign_not_made(params_of(UINT64_MAX, 0.1, 0), "capacity");
    foreign_not_made(params_of(UINT64_C(1) << 61, 0.001, 0), "capacity");
    foreign_not_made(params_of(300000000, 0.01, UMBEL_VARIANT_INT32), "int32");
    foreign_not_made(params_of(3, 5e-324, 0), "fpr");
    umbel_foreign params = params_of(10, 0.1, 0);
    params.hashes = 3;
    foreign_not_made(params, "hashes");
    params = params_of(10, 0.1, 0);
    params.bytes = 8;
    foreign_not_made(params, "bytes");
}

static void bytes_need_parameters(void **state) {
    (void)state;
    uint8_t bytes[8] = {0};
    umbel_filter *f = NULL;
    umbel_diag diag;
    assert_int_equal(umbel_decode(bytes, 8, UMBEL_LOAD,
                                  &(umbel_foreign){.format = UMBEL_FMT_GOCRC32}, NULL, &f, &diag),
                     UMBEL_EINVAL);
    assert_int_equal(umbel_decode(bytes, 8, UMBEL_MAP,
                                  &(umbel_foreign){.format = UMBEL_FMT_GOCRC32}, NULL, &f, &diag),
                     UMBEL_EINVAL);
    umbel_foreign params = {.format = UMBEL_FMT_GOCRC32, .capacity = 10};
    assert_int_equal(umbel_decode(bytes, 8, UMBEL_LOAD, &params, NULL, &f, &diag), UMBEL_EINVAL);
    assert_null(f);
}

static void damage_is_refused(void **state) {
    (void)state;
    umbel_foreign params = params_of(10, 0.1, 0); /* 47 bits in 8 bytes */
    uint8_t bytes[16] = {0};
    for (size_t len = 0; len < 8; len++) foreign_refused(&params, bytes, len, UMBEL_ECORRUPT, len);
    foreign_refused(&params, bytes, 9, UMBEL_ECORRUPT, 8);
    foreign_refused(&params, bytes, 16, UMBEL_ECORRUPT, 8);
    foreign_refused_with(&params, bytes, 8, 5, 1, 0x80, UMBEL_ECORRUPT, 5);
    foreign_refused_with(&params, bytes, 8, 6, 1, 1, UMBEL_ECORRUPT, 5);
    foreign_refused_with(&params, bytes, 8, 7, 1, 0x80, UMBEL_ECORRUPT, 5);
    params.capacity = 1000000000; /* much is claimed, little is there */
    foreign_refused(&params, bytes, 16, UMBEL_ECORRUPT, 16);
}

/* -2^31 has no absolute value in 32 bits: Go keeps it as it is. */
static void the_least_int32(void **state) {
    (void)state;
    const uint8_t key[4] = {0x4e, 0x85, 0xec, 0x36};
    assert_int_equal(umbeli_crc32(key, 4), UINT32_C(0x80000000));
    umbel_filter *f = foreign_create(params_of(100, 0.01, UMBEL_VARIANT_INT32));
    assert_int_equal(umbel_add(f, key, 4, NULL, NULL), UMBEL_OK);
    size_t len;
    uint8_t *bytes = foreign_bytes(f, &len), want[120] = {0};
    for (int32_t i = 1; i <= 6; i++) {
        int64_t sum = INT32_MIN + (int64_t)i * -32768; /* below -2^31 it wraps to positive */
        uint32_t wrapped = (uint32_t)sum;
        uint32_t index = (wrapped & UINT32_C(0x80000000) ? ~wrapped : wrapped) % 958;
        want[index / 8] |= (uint8_t)(1 << index % 8);
    }
    assert_int_equal(len, sizeof want);
    assert_memory_equal(bytes, want, len);
    free(bytes);
    umbel_free(f);
}

static void batches_agree(void **state) {
    (void)state;
    enum { N = 3000 };
    foreign_number_batches_agree(params_of(N, 0.01, 0));
    foreign_number_batches_agree(params_of(N, 0.01, UMBEL_VARIANT_INT32));
    foreign_number_batches_agree(params_of(N, 1e-9, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_answers_are_the_go_codes),
        cmocka_unit_test(indexes_are_the_go_codes),
        cmocka_unit_test(sizes_are_the_go_codes),
        cmocka_unit_test(promises_out_of_reach_are_told),
        cmocka_unit_test(the_rate_is_met),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(bytes_need_parameters),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(the_least_int32),
        cmocka_unit_test(batches_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
