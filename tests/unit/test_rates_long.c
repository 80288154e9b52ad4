/* SPDX-License-Identifier: MIT
 *
 * test_rates_long.c - the promise at 100 million keys, for both kinds; and planned, live and measured
 * rates of other systems' filters, from one key to ten million
 *
 * labels: long slow
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random_keys.h"
#include "rate_table.h"
#include "subjects.h"

enum { KEYS = 100000000, QUESTIONS = 20000000, AT_ONCE = 1000000, LIMIT = 5 };

static umbel_key keys[AT_ONCE];
static uint64_t words[AT_ONCE];
static uint8_t answers[AT_ONCE];

/* Keys are 8 bytes: numbers that are never repeated. */
static void number_from(uint64_t first) {
    for (size_t i = 0; i < AT_ONCE; i++) {
        words[i] = (first + i) * UINT64_C(0x9e3779b97f4a7c15);
        keys[i] = (umbel_key){.data = &words[i], .len = sizeof words[i]};
    }
}

static uint64_t hits(const umbel_filter *f, uint64_t first, uint64_t n) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i += AT_ONCE) {
        number_from(first + i);
        umbel_contains_many(f, keys, AT_ONCE, answers);
        for (size_t k = 0; k < AT_ONCE; k++) count += answers[k];
    }
    return count;
}

static void rate_holds(umbel_kind kind) {
    umbel_filter *f = NULL;
    umbel_params params = {.kind = kind, .capacity = KEYS, .fpr = 0.01, .seed = random_word()};
    assert_ok(umbel_create(&params, &(umbel_opts){.threads = 2}, &f, NULL));
    for (uint64_t i = 0; i < KEYS; i += AT_ONCE) {
        number_from(i);
        assert_ok(umbel_add_many(f, keys, AT_ONCE, NULL, NULL, NULL));
    }
    assert_true(hits(f, 0, KEYS) == KEYS);
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    double found = (double)hits(f, KEYS, QUESTIONS), n = QUESTIONS;
    print_message("# %s: promised 0.01, live %.6f, measured %.6f\n", info.layout, now.rate,
                  found / n);
    assert_true(fabs(found - n * now.rate) < LIMIT * sqrt(n * now.rate));
    assert_true(found < n * 0.01 + LIMIT * sqrt(n * 0.01));
    assert_true(fabs(now.keys / KEYS - 1) < 0.001);
    umbel_free(f);
}

static void test_blocked(void **state) {
    (void)state;
    rate_holds(UMBEL_KIND_BLOCKED);
}

static void test_classic(void **state) {
    (void)state;
    rate_holds(UMBEL_KIND_CLASSIC);
}

/* Every second combination of keys and rates, in every format that takes them. */
static int wrong_rows(size_t share) {
    static const uint64_t counts[] = {1, 2, 3, 10, 100, 1000, 100000, 1000000, 10000000};
    static const double rates[] = {0.3, 0.1, 0.01, 1e-3, 1e-4, 1e-6};
    int wrong = 0;
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        for (size_t p = 0; p < sizeof rates / sizeof *rates; p++) {
            if ((n + p) % 2 != share) continue;
            format_form forms[EVERY_FORMAT];
            size_t count = every_format(forms, counts[n], rates[p]);
            for (size_t f = 0; f < count; f++) wrong += rate_row_wrong(&forms[f]);
        }
    }
    fflush(stdout);
    return wrong;
}

/* Each row has a seed of its own, so two processes share them, and half of the minutes. */
static void test_foreign(void **state) {
    (void)state;
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(wrong_rows(1) != 0);
    int wrong = wrong_rows(0), status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_classic),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
