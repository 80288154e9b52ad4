/* SPDX-License-Identifier: MIT
 *
 * test_health.c - whether a filter keeps its promise, for every kind
 */
#include "cases.h"

#include <math.h>
#include <stdio.h>

#include "umbel_foreign.h"

static umbel_filter *with_keys(umbel_kind kind, uint64_t capacity, uint64_t keys) {
    umbel_params params = {.kind = kind, .capacity = capacity, .fpr = 0.01};
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    assert_ok(umbel_builder_new(&params, NULL, &b, NULL));
    for (uint64_t i = 0; i < keys; i++) {
        char key[24];
        int len = snprintf(key, sizeof key, "key %llu", (unsigned long long)i);
        assert_ok(umbel_builder_add(b, &(umbel_key){key, (size_t)len}, 1, NULL));
    }
    assert_ok(umbel_builder_finish(b, &f, NULL));
    umbel_builder_free(b);
    return f;
}

static umbel_health health_of(const umbel_filter *f) {
    umbel_info info;
    umbel_measurement now;
    umbel_health health;
    umbel_describe(f, &info);
    umbel_measure(f, &now);
    umbel_judge(&info, &now, &health);
    assert_true(health.rate == now.rate);
    assert_true(health.promised == info.fpr);
    assert_true(health.rate_below == now.rate_below);
    for (size_t i = 0; i < sizeof health.reserved / sizeof *health.reserved; i++) {
        assert_int_equal(health.reserved[i], 0);
    }
    return health;
}

static void test_room(void **state) {
    (void)state;
    for (int k = 1; umbel_kind_name((umbel_kind)k); k++) {
        umbel_traits can;
        umbel_kind_traits((umbel_kind)k, &can);
        if (can.built_once) continue; /* they are for the keys that they have */
        umbel_filter *f = with_keys((umbel_kind)k, 10000, 4000);
        umbel_health health = health_of(f);
        assert_true(health.keys_known);
        assert_false(health.overfull);
        if (can.grows || can.forgets) {
            assert_int_equal(health.room, 0);
        } else {
            assert_in_range(health.room, 5990, 6010);
        }
        umbel_free(f);
    }
}

static void test_overfull(void **state) {
    (void)state;
    for (int k = 1; umbel_kind_name((umbel_kind)k); k++) {
        umbel_traits can;
        umbel_kind_traits((umbel_kind)k, &can);
        if (can.built_once) continue;
        umbel_filter *f = with_keys((umbel_kind)k, 1000, 2000);
        umbel_health health = health_of(f);
        assert_int_equal(health.overfull, !can.grows && !can.forgets);
        assert_int_equal(health.beyond_plan, health.overfull);
        assert_int_equal(health.room, 0);
        umbel_free(f);
    }
}

/* One filter in a thousand is worse than promised with the keys that it was planned for. */
static void test_unlucky(void **state) {
    (void)state;
    umbel_info info = {
        .kind = UMBEL_KIND_BLOCKED, .format = UMBEL_FMT_NATIVE, .capacity = 1000, .fpr = 0.01};
    umbel_measurement now = {.keys = 1000, .keys_error = 4, .rate = 0.0101};
    umbel_health health;
    umbel_judge(&info, &now, &health);
    assert_true(health.overfull);
    assert_false(health.beyond_plan);
    now.keys = 1013;
    umbel_judge(&info, &now, &health);
    assert_true(health.beyond_plan);
}

/* Two filters of the same keys have those keys, not twice as many. */
static void test_merged(void **state) {
    (void)state;
    for (int k = 1; umbel_kind_name((umbel_kind)k); k++) {
        umbel_traits can;
        umbel_info info;
        umbel_kind_traits((umbel_kind)k, &can);
        if (!can.merges || can.counts) continue; /* counters add up */
        umbel_filter *a = with_keys((umbel_kind)k, 2000, 1500);
        umbel_filter *b = with_keys((umbel_kind)k, 2000, 1500);
        assert_ok(umbel_merge(a, b, NULL));
        umbel_describe(a, &info);
        assert_in_range(info.keys_added, 1400, 1600);
        umbel_health health = health_of(a);
        assert_false(health.overfull);
        assert_in_range(health.room, 400, 600);
        umbel_free(a);
        umbel_free(b);
    }
}

static void test_every_bit_set(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = 2, .hashes = 4};
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (int i = 0; i < 1000; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    umbel_health health = health_of(f);
    assert_false(health.keys_known);
    assert_true(health.keys == 0);
    assert_int_equal(health.room, 0);
    umbel_free(f);
}

static umbel_filter *foreign_with(umbel_format format, double fpr, uint64_t keys) {
    umbel_foreign params = {.format = format, .capacity = 100, .fpr = fpr};
    umbel_filter *f = NULL;
    assert_ok(umbel_create_foreign(&params, NULL, &f, NULL));
    for (uint64_t i = 0; i < keys; i++) assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    return f;
}

/* Few keys in few bits: hashes are tried and none is found, which leaves a bound.  It holds for
 * keys that are looked up, and breaks no promise, though it is above what was promised. */
static void test_unseen(void **state) {
    (void)state;
    enum { ASKED = 1 << 20 };
    static const struct {
        umbel_format format;
        double fpr;
    } few[] = {{UMBEL_FMT_REDISBLOOM, 1e-7}, {UMBEL_FMT_LEVELDB, 1e-6}};
    umbel_filter *f;
    umbel_health health;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        f = foreign_with(few[i].format, few[i].fpr, 3);
        health = health_of(f);
        uint64_t found = 0;
        for (uint64_t k = 0; k < ASKED; k++) {
            uint64_t absent = UINT64_MAX - k;
            found += umbel_contains(f, &absent, sizeof absent);
        }
        assert_true(health.rate_below > health.rate);
        assert_true(health.rate_below < 2e-5);
        assert_true((double)found <= health.rate_below * ASKED);
        assert_true(few[i].format != UMBEL_FMT_REDISBLOOM || health.rate > health.promised);
        assert_false(health.overfull);
        umbel_free(f);
    }
    const umbel_format formats[] = {UMBEL_FMT_LEVELDB, UMBEL_FMT_REDISBLOOM, UMBEL_FMT_GUAVA};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        for (uint64_t keys = 0; keys <= 100; keys += 100) { /* none: 0 is exact */
            f = foreign_with(formats[i], 0.01, keys);
            health = health_of(f);
            assert_true(health.rate_below == 0);
            assert_int_equal(health.rate > 0, keys > 0);
            umbel_free(f);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),          cmocka_unit_test(test_overfull),
        cmocka_unit_test(test_unlucky),       cmocka_unit_test(test_merged),
        cmocka_unit_test(test_every_bit_set), cmocka_unit_test(test_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
