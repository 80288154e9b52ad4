/* SPDX-License-Identifier: MIT
 *
 * test_rates.c - promised and live rates against measured ones, from 100 to a million keys
 *
 * A lookup of a random absent key is one trial at the live rate, so hits are binomial: they must
 * lie within five standard deviations.  The planned rate is the mean over all filters; the promise
 * holds for single ones, except for one in a thousand.  Hence many filters are made.  With another
 * seed, about one run in ten thousand fails by chance.
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_keys.h"
#include "subjects.h"
#include "umbel_plan.h"

enum { LIMIT = 5 };

/* Hits among the keys of a set; all in batches. */
static uint64_t hits(const umbel_filter *f, const key_set *set) {
    uint8_t *hit = malloc(set->n);
    assert_non_null(hit);
    umbel_contains_many(f, set->keys, set->n, hit);
    uint64_t count = 0;
    for (size_t i = 0; i < set->n; i++) count += hit[i];
    free(hit);
    return count;
}

static void within_limits(const char *name, double found, double n, double rate) {
    double deviation = sqrt(n * rate * (1 - rate)) + 1;
    print_message("# %s: %.0f of %.0f hit, %.1f expected\n", name, found, n, n * rate);
    assert_true(fabs(found - n * rate) <= LIMIT * deviation);
}

/* `filters` filters of n keys, and `questions` lookups over all of them. */
static void rates_hold(const subject *s, uint64_t n, double fpr, int filters, uint64_t questions) {
    double sum = 0, found = 0, expected = 0;
    key_set absent = random_keys((size_t)(questions / (uint64_t)filters), 1);
    for (int i = 0; i < filters; i++) {
        umbel_params params = {.capacity = n, .fpr = fpr, .seed = random_word()};
        umbel_filter *f = subject_create(s, params, NULL);
        key_set set = random_keys((size_t)n, (uint64_t)i + 2);
        assert_ok(umbel_add_many(f, set.keys, set.n, NULL, NULL, NULL));
        assert_true(hits(f, &set) == n);
        umbel_measurement now = measured(f);
        sum += now.rate;
        found += (double)hits(f, &absent);
        expected += now.rate * (double)absent.n;
        double spread = sqrt((double)n) + 3;
        assert_true(fabs(now.keys - (double)n) < LIMIT * spread);
        free_keys(&set);
        umbel_free(f);
    }
    umbel_plan plan = {.kind = s->kind, .capacity = n, .fpr = fpr};
    assert_ok(umbel_plan_solve(&plan, NULL));
    assert_true(plan.rate < fpr);
    plan.fpr = 0; /* of this size the least, which is three times its spread above the mean */
    assert_ok(umbel_plan_solve(&plan, NULL));
    double asked = (double)absent.n * filters, mean = sum / filters;
    within_limits(s->name, found, asked, expected / asked);
    double error = (plan.fpr - plan.rate) / 3 / sqrt(filters);
    print_message("# %s: %llu keys, promised %g, planned %g, live %g +- %g\n", s->name,
                  (unsigned long long)n, fpr, plan.rate, mean, error);
    assert_true(fabs(mean - plan.rate) <= LIMIT * error);
    free_keys(&absent);
}

/* `filters` filters for about n keys, each filled to the capacity that its size promises: about one
 * in a thousand may be above, two where few blocks decide. */
static void promises_hold(const subject *s, uint64_t n, double fpr, int filters) {
    umbel_plan plan = {.kind = s->kind, .capacity = n, .fpr = fpr};
    assert_ok(umbel_plan_solve(&plan, NULL));
    plan = (umbel_plan){.kind = s->kind, .bytes = plan.bytes, .fpr = fpr};
    assert_ok(umbel_plan_solve(&plan, NULL));
    key_set set = random_keys((size_t)plan.capacity, 1);
    int above = 0, above_mean = 0;
    for (int i = 0; i < filters; i++) {
        umbel_params params = {.capacity = plan.capacity, .fpr = fpr, .seed = random_word()};
        umbel_filter *f = subject_create(s, params, NULL);
        assert_ok(umbel_add_many(f, set.keys, set.n, NULL, NULL,
                                 NULL)); /* other seeds make them other keys */
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_true(info.bytes <= plan.bytes && info.capacity == plan.capacity);
        above += now.rate > fpr;
        above_mean += now.rate > plan.rate;
        umbel_free(f);
    }
    double expected = 0.002 * filters;
    print_message("# %s: %llu keys, promised %g: %d of %d filters above, %d above the mean\n",
                  s->name, (unsigned long long)plan.capacity, fpr, above, filters, above_mean);
    assert_true(above <= expected + LIMIT * sqrt(expected));
    assert_true(filters < 100 || above_mean > filters / 5); /* as sizing by the mean would give */
    free_keys(&set);
}

static const subject *blocked(void) {
    return &subjects[subject_runs(&subjects[1])];
}

static void test_blocked(void **state) {
    (void)state;
    rates_hold(blocked(), 100, 0.01, 400, 400000);
    rates_hold(blocked(), 100, 0.3, 100, 100000);
    rates_hold(blocked(), 1000, 0.001, 200, 1000000);
    rates_hold(blocked(), 30000, 0.01, 8, 400000);
    rates_hold(blocked(), 1000000, 0.02, 1, 400000);
}

static const subject *line(void) {
    return &subjects[subject_runs(&subjects[8]) ? 8 : subject_runs(&subjects[7]) ? 7 : 6];
}

/* 4, 8 and 16 lanes. */
static void test_line(void **state) {
    (void)state;
    rates_hold(line(), 100, 0.3, 100, 100000);
    rates_hold(line(), 100, 0.01, 400, 400000);
    rates_hold(line(), 1000, 0.001, 200, 1000000);
    rates_hold(line(), 30000, 0.1, 8, 400000);
    rates_hold(line(), 30000, 0.01, 8, 400000);
    rates_hold(line(), 30000, 1e-4, 4, 2000000);
    rates_hold(line(), 300000, 1e-5, 1, 2000000);
    rates_hold(line(), 1000000, 0.02, 1, 400000);
}

static void test_classic(void **state) {
    (void)state;
    const subject *classic = &subjects[3];
    rates_hold(classic, 100, 0.01, 400, 400000);
    rates_hold(classic, 100, 0.3, 100, 100000);
    rates_hold(classic, 1000, 0.001, 200, 1000000);
    rates_hold(classic, 30000, 0.01, 8, 400000);
    rates_hold(classic, 1000000, 0.02, 1, 400000);
}

static void test_single_filters(void **state) {
    (void)state;
    const subject *all[] = {blocked(), &subjects[3], line()};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        promises_hold(all[i], 100, 0.01, 1000);
        promises_hold(all[i], 1000, 0.01, 1000);
        promises_hold(all[i], 1000, 0.0001, 500);
        promises_hold(all[i], 10000, 0.01, 100);
        promises_hold(all[i], 100000, 0.01, 10);
    }
}

/* Twice as full as planned: the live rate is still right. */
static void test_overfull(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subject_runs(&subjects[i])) continue;
        umbel_params params = {.capacity = 5000, .fpr = 0.01, .seed = random_word()};
        umbel_filter *f = subject_create(&subjects[i], params, NULL);
        key_set set = random_keys(10000, 1), absent = random_keys(100000, 2);
        assert_ok(umbel_add_many(f, set.keys, set.n, NULL, NULL, NULL));
        umbel_measurement now = measured(f);
        assert_true(now.rate > 0.03);
        within_limits(subjects[i].name, (double)hits(f, &absent), (double)absent.n, now.rate);
        free_keys(&set);
        free_keys(&absent);
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked),  cmocka_unit_test(test_line),
        cmocka_unit_test(test_classic),  cmocka_unit_test(test_single_filters),
        cmocka_unit_test(test_overfull),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
