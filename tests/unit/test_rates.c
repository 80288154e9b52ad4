/* SPDX-License-Identifier: MIT
 *
 * test_rates.c - promised and live rates against measured ones, from 100 to a million keys
 *
 * A lookup of a random absent key is one trial at the live rate, so hits are binomial: they must
 * lie within five standard deviations.  The planned rate is the mean over all filters; the promise
 * holds for single ones, except for one in a thousand.  Hence many filters are made.  With another
 * seed, about one run in ten thousand fails by chance.
 *
 * Also: how many keys are in a filter, at every fill, and after merging, intersecting and folding;
 * and a part of the table of other systems' rates that test_rates_long.c has in full.
 *
 * labels: once
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "random_keys.h"
#include "rate_table.h"
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
                                 NULL)); /* other seeds have the effect of other keys */
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

static void test_blocked(void **state) {
    (void)state;
    const subject *blocked = fastest_subject(UMBEL_KIND_BLOCKED);
    rates_hold(blocked, 100, 0.01, 400, 400000);
    rates_hold(blocked, 100, 0.3, 100, 100000);
    rates_hold(blocked, 1000, 0.001, 200, 1000000);
    rates_hold(blocked, 30000, 0.01, 8, 400000);
    rates_hold(blocked, 1000000, 0.02, 1, 400000);
}

/* 4, 8 and 16 lanes. */
static void test_line(void **state) {
    (void)state;
    const subject *line = fastest_subject(UMBEL_KIND_LINE);
    rates_hold(line, 100, 0.3, 100, 100000);
    rates_hold(line, 100, 0.01, 400, 400000);
    rates_hold(line, 1000, 0.001, 200, 1000000);
    rates_hold(line, 30000, 0.1, 8, 400000);
    rates_hold(line, 30000, 0.01, 8, 400000);
    rates_hold(line, 30000, 1e-4, 4, 2000000);
    rates_hold(line, 300000, 1e-5, 1, 2000000);
    rates_hold(line, 1000000, 0.02, 1, 400000);
}

static void test_classic(void **state) {
    (void)state;
    const subject *classic = fastest_subject(UMBEL_KIND_CLASSIC);
    rates_hold(classic, 100, 0.01, 400, 400000);
    rates_hold(classic, 100, 0.3, 100, 100000);
    rates_hold(classic, 1000, 0.001, 200, 1000000);
    rates_hold(classic, 30000, 0.01, 8, 400000);
    rates_hold(classic, 1000000, 0.02, 1, 400000);
}

static void test_single_filters(void **state) {
    (void)state;
    static const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED, UMBEL_KIND_CLASSIC, UMBEL_KIND_LINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const subject *s = fastest_subject(kinds[i]);
        promises_hold(s, 100, 0.01, 1000);
        promises_hold(s, 1000, 0.01, 1000);
        promises_hold(s, 1000, 0.0001, 500);
        promises_hold(s, 10000, 0.01, 100);
        promises_hold(s, 100000, 0.01, 10);
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

/* A part of the table: one size that is hard for each format, and one that is easy. */
static void test_foreign(void **state) {
    (void)state;
    static const struct {
        uint64_t keys;
        double fpr;
    } rows[] = {{2, 1e-4}, {100, 0.01}};
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        format_form forms[EVERY_FORMAT];
        size_t count = every_format(forms, rows[i].keys, rows[i].fpr);
        for (size_t f = 0; f < count; f++) wrong += rate_row_wrong(&forms[f]);
    }
    /* LevelDB's third probe has 196606 values. */
    format_form leveldb = usual_form(UMBEL_FMT_LEVELDB, 100000, 0.01);
    wrong += rate_row_wrong(&leveldb);
    assert_int_equal(wrong, 0);
}

/* ---- Keys in it --------------------------------------------------------------------------- */

static void add_numbers(umbel_filter *f, uint64_t from, uint64_t n) {
    for (uint64_t i = from; i < from + n; i++) {
        uint8_t key[8]; /* the same keys on every machine */
        for (size_t k = 0; k < sizeof key; k++) key[k] = (uint8_t)(i >> 8 * k);
        assert_ok(umbel_add(f, key, sizeof key, NULL, NULL));
    }
}

/* Three standard errors, or the rounding of a count. */
static void holds(const char *how, const umbel_filter *f, uint64_t truth) {
    umbel_measurement now = measured(f);
    umbel_info info = described(f);
    if (fabs(now.keys - (double)truth) <= 3 * now.keys_error + 1) return;
    print_message("# %s, promised %g, %s: %llu keys, said %.1f give or take %.1f\n", info.layout,
                  info.fpr, how, (unsigned long long)truth, now.keys, now.keys_error);
    fail();
}

/* Files also keep the error of an intersection: what is read claims no less than what was saved. */
static void holds_after_saving(const char *how, const umbel_filter *f, uint64_t truth) {
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len);
    umbel_filter *read = NULL;
    assert_non_null(bytes);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL));
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &read, NULL));
    holds(how, read, truth);
    umbel_measurement now = measured(f), again = measured(read);
    assert_true(again.keys == now.keys);
    assert_true(again.keys_error >= now.keys_error && again.keys_error < now.keys_error + 1);
    umbel_free(read);
    free(bytes);
}

static void holds_for_sets(const umbel_params *params, uint64_t n) {
    umbel_filter *a = NULL, *b = NULL, *c = NULL;
    assert_ok(umbel_create(params, NULL, &a, NULL));
    assert_ok(umbel_create(params, NULL, &b, NULL));
    add_numbers(a, 0, n);
    add_numbers(b, n / 2, n);
    const struct {
        const char *how;
        umbel_err (*step)(umbel_filter *, const umbel_filter *, umbel_diag *);
        const umbel_filter *with;
        uint64_t keys;
    } sets[] = {{"merged", umbel_merge, b, n + n / 2},
                {"merged with itself", umbel_merge, a, n},
                {"intersected", umbel_intersect, b, n - n / 2},
                {"intersected with itself", umbel_intersect, a, n}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        assert_ok(umbel_copy(a, &c, NULL));
        assert_ok(sets[i].step(c, sets[i].with, NULL));
        holds(sets[i].how, c, sets[i].keys);
        holds_after_saving(sets[i].how, c, sets[i].keys);
        umbel_free(c);
    }
    double rate = measured(a).rate;
    if (params->kind != UMBEL_KIND_COUNTING && n && rate < 0.15) {
        assert_ok(umbel_copy(a, &c, NULL));
        assert_ok(umbel_fold(c, 6 * rate, NULL));
        holds("folded", c, n);
        umbel_free(c);
    }
    umbel_free(a);
    umbel_free(b);
}

static void test_keys(void **state) {
    (void)state;
    static const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED,  UMBEL_KIND_CLASSIC,  UMBEL_KIND_LINE,
                                       UMBEL_KIND_COUNTING, UMBEL_KIND_SCALABLE, UMBEL_KIND_WINDOW};
    static const double rates[] = {0.5, 0.3, 0.05, 0.01, 1e-4};
    static const double fills[] = {0, 0.001, 0.1, 0.5, 1, 2, 4};
    enum { PLAN = 20000 };
    for (size_t k = 0; k < 6; k++) {
        for (size_t p = 0; p < 5; p++) {
            for (size_t x = 0; x < 7; x++) {
                umbel_params params = {.kind = kinds[k], .capacity = PLAN, .fpr = rates[p]};
                uint64_t n = (uint64_t)(fills[x] * PLAN);
                umbel_filter *f = NULL;
                if (kinds[k] == UMBEL_KIND_WINDOW && n > PLAN) continue; /* it forgets */
                if (umbel_create(&params, NULL, &f, NULL)) continue;     /* windows at 50% */
                add_numbers(f, 0, n);
                add_numbers(f, 0, n / 10); /* again */
                holds("filled", f, n);
                umbel_free(f);
                if (k < 4 && fills[x] <= 2) holds_for_sets(&params, n);
            }
        }
    }
}

/* Filters that are built from all their keys count them, each once. */
static void test_keys_of_built(void **state) {
    (void)state;
    static const umbel_kind kinds[] = {UMBEL_KIND_STATIC, UMBEL_KIND_TIGHT};
    static const uint64_t counts[] = {0, 1, 20, 2000, 80000};
    for (size_t i = 0; i < 10; i++) {
        umbel_params params = {.kind = kinds[i % 2], .capacity = 20000, .fpr = 0.01};
        umbel_builder *builder = NULL;
        umbel_filter *f = NULL;
        assert_ok(umbel_builder_new(&params, NULL, &builder, NULL));
        for (uint64_t n = 0; n < 2 * counts[i / 2]; n++) {
            uint64_t key = n % counts[i / 2];
            assert_ok(umbel_builder_add(builder, &(umbel_key){&key, sizeof key}, 1, NULL));
        }
        assert_ok(umbel_builder_finish(builder, &f, NULL));
        umbel_builder_free(builder);
        umbel_measurement now = measured(f);
        assert_true(now.keys == (double)counts[i / 2] && now.keys_error == 0);
        holds_after_saving("built", f, counts[i / 2]);
        umbel_free(f);
    }
}

/* From bytes that do not say how many there are; and one that any number may have filled. */
static void test_keys_of_strangers(void **state) {
    (void)state;
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 5000, 0.01);
    for (size_t i = 0; i < count; i++) {
        const umbel_foreign like = forms[i].made;
        umbel_filter *f = NULL, *read = NULL;
        assert_ok(umbel_create_foreign(&like, NULL, &f, NULL));
        for (uint32_t n = 0; n < 5000; n++) {
            uint32_t key = (uint32_t)umbel_mix(n);
            assert_ok(umbel_add(f, &key, sizeof key, NULL, NULL));
        }
        holds("as added", f, 5000);
        size_t len = (size_t)umbel_encoded_size(f, like.format);
        uint8_t *bytes = malloc(len);
        assert_non_null(bytes);
        assert_ok(umbel_encode(f, like.format, bytes, len, NULL));
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, &like, NULL, &read, NULL));
        holds("as read", read, 5000);
        umbel_free(read);
        umbel_free(f);
        free(bytes);
    }
    umbel_params full = {.bytes = 32};
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&full, NULL, &f, NULL));
    add_numbers(f, 0, 1000);
    umbel_measurement now = measured(f);
    assert_true(isinf(now.keys));
    assert_true(isinf(now.keys_error));
    assert_true(now.rate == 1);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foreign),       cmocka_unit_test(test_keys),
        cmocka_unit_test(test_keys_of_built), cmocka_unit_test(test_keys_of_strangers),
        cmocka_unit_test(test_blocked),       cmocka_unit_test(test_line),
        cmocka_unit_test(test_classic),       cmocka_unit_test(test_single_filters),
        cmocka_unit_test(test_overfull),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
