/* SPDX-License-Identifier: MIT
 *
 * test_window.c - windows: the last keys are found, older ones fade, the rate holds throughout
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "hashing.h"
#include "kind_check.h"
#include "native_file.h"
#include "umbel_foreign.h"

static umbel_filter *window(uint64_t keys, double fpr, uint32_t generations) {
    return check_create((umbel_params){.kind = UMBEL_KIND_WINDOW,
                                       .capacity = keys,
                                       .fpr = fpr,
                                       .window.generations = generations});
}

/* Ten windows long: at every stop all of the last n keys are found, hardly any that is more than a
 * generation older, and the rate is as promised and as modelled. */
static void remembers_and_forgets(void **state) {
    (void)state;
    const struct {
        uint64_t n;
        uint32_t generations;
        double fpr;
    } cases[] = {{1, 1, 0.01},      {2, 1, 0.1},        {100, 8, 0.01},
                 {100000, 0, 0.01}, {30000, 24, 0.001}, {7001, 3, 0.05}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t n = cases[c].n, added = 0;
        double fpr = cases[c].fpr;
        umbel_filter *f = window(n, fpr, cases[c].generations);
        umbel_plan plan = {.kind = UMBEL_KIND_WINDOW,
                           .capacity = n,
                           .fpr = fpr,
                           .generations = cases[c].generations};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        uint64_t each = (n + plan.generations - 1) / plan.generations;
        umbel_info info;
        umbel_measurement now;
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        uint64_t bytes = info.bytes;
        assert_true(info.bytes == plan.bytes && info.layers == plan.generations + 1);
        while (added < 10 * n) {
            uint64_t some = n / 3 + 1;
            check_add(f, 1, added, some);
            added += some;
            uint64_t last = added < n ? added : n;
            assert_int_equal(check_found(f, 1, added - last, last), last);
            uint64_t horizon = n + 2 * each; /* one generation, and one for false positives */
            if (added > horizon + 2000) {
                double seen = (double)check_found(f, 1, added - horizon - 2000, 2000);
                assert_true(seen <= 2000 * fpr + 6 * sqrt(2000 * fpr) + 5);
            }
        }
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        assert_int_equal(info.bytes, bytes);
        assert_int_equal(info.capacity, n);
        assert_true(info.fpr == fpr);
        if (n >= 1000) {
            check_rate(f, 2, 400000, fpr, now.rate);
            double model = umbel_plan_rate(&plan, added);
            assert_true(model <= fpr * 1.000001);
            assert_true(now.rate <= model * 1.15 && now.rate > model * 0.7);
        }
        umbel_free(f);
    }
}

/* A repeated key is remembered from its last add on. */
static void refreshes(void **state) {
    (void)state;
    umbel_filter *f = window(1000, 0.001, 4);
    uint64_t added = 0;
    bool was_new;
    assert_int_equal(umbel_add(f, "ada", 3, &was_new, NULL), UMBEL_OK);
    assert_true(was_new);
    for (int round = 0; round < 10; round++) {
        check_add(f, 1, added, 900);
        added += 900;
        assert_true(umbel_contains(f, "ada", 3));
        assert_int_equal(umbel_add(f, "ada", 3, &was_new, NULL), UMBEL_OK);
        assert_false(was_new);
    }
    check_add(f, 1, added, 1600);
    assert_false(umbel_contains(f, "ada", 3));
    umbel_free(f);
}

static void single_adds_do_as_batches(void **state) {
    (void)state;
    enum { N = 20000 };
    umbel_filter *one = window(1500, 0.01, 5), *many = window(1500, 0.01, 5);
    umbel_filter *hashed = window(1500, 0.01, 5);
    uint64_t *numbers = malloc(N * sizeof *numbers), *hashes = malloc(N * sizeof *hashes);
    umbel_key *keys = malloc(N * sizeof *keys);
    uint8_t *single = malloc(N), *batch = malloc(N);
    assert_true(numbers);
    assert_true(hashes);
    assert_true(keys);
    assert_true(single);
    assert_true(batch);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t random = check_key(9, i), back = random % 3000;
        numbers[i] = check_key(1, random >> 63 && back < i ? i - back : i);
        keys[i] = (umbel_key){&numbers[i], 8};
        hashes[i] = one_hash(one, &numbers[i], 8);
        bool was_new;
        assert_int_equal(umbel_add(one, &numbers[i], 8, &was_new, NULL), UMBEL_OK);
        single[i] = was_new;
    }
    for (size_t at = 0, n; at < N; at += n) {
        n = 1 + (size_t)(check_key(8, at) % 3000);
        n = n < N - at ? n : N - at;
        assert_int_equal(umbel_add_many(many, keys + at, n, batch + at, NULL, NULL), UMBEL_OK);
    }
    assert_memory_equal(single, batch, N);
    assert_true(umbel_equal(one, many) && keys_added(one) == keys_added(many));
    assert_int_equal(umbel_add_hashes(hashed, hashes, N, NULL, NULL, NULL), UMBEL_OK);
    assert_true(umbel_equal(one, hashed));
    umbel_contains_hashes(one, hashes, N, batch);
    for (size_t i = 0; i < N; i++) assert_int_equal(batch[i], umbel_contains_hash(one, hashes[i]));
    umbel_free(one);
    umbel_free(many);
    umbel_free(hashed);
    free(numbers);
    free(hashes);
    free(keys);
    free(single);
    free(batch);
}

/* "The last day in hourly steps": only the caller advances it. */
static void manual(void **state) {
    (void)state;
    umbel_filter *f = check_create((umbel_params){.kind = UMBEL_KIND_WINDOW,
                                                  .capacity = 2400,
                                                  .fpr = 0.001,
                                                  .window.generations = 24,
                                                  .window.manual = true});
    for (uint64_t hour = 0; hour < 60; hour++) {
        check_add(f, 1, 100 * hour, 100);
        uint64_t day = hour < 24 ? hour + 1 : 25;
        assert_int_equal(check_found(f, 1, 100 * (hour + 1 - day), 100 * day), 100 * day);
        if (hour >= 25) assert_true(check_found(f, 1, 100 * (hour - 25), 100) < 5);
        assert_int_equal(umbel_advance(f, NULL), UMBEL_OK);
    }
    check_add(f, 2, 0, 5000); /* more than planned: nothing is lost, and the rate shows it */
    assert_int_equal(check_found(f, 2, 0, 5000), 5000);
    umbel_measurement now = measured(f);
    assert_true(now.rate > 0.001);
    for (int i = 0; i < 25; i++) assert_int_equal(umbel_advance(f, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(f));
    umbel_free(f);

    f = check_create((umbel_params){.capacity = 100, .fpr = 0.01});
    assert_int_equal(umbel_advance(f, NULL), UMBEL_ENOTSUP);
    umbel_free(f);
    f = window(100, 0.01, 2); /* others can be advanced too */
    check_add(f, 1, 0, 10);
    for (int i = 0; i < 2; i++) assert_int_equal(umbel_advance(f, NULL), UMBEL_OK);
    assert_int_equal(check_found(f, 1, 0, 10), 10);
    assert_int_equal(umbel_advance(f, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(f));
    umbel_free(f);
}

static void kernels_agree(void **state) {
    (void)state;
    check_kernels_agree((umbel_params){.kind = UMBEL_KIND_WINDOW, .capacity = 5000, .fpr = 0.01});
}

static void parameters(void **state) {
    (void)state;
    const umbel_params bad[] = {
        {.kind = UMBEL_KIND_WINDOW},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 100},
        {.kind = UMBEL_KIND_WINDOW, .bytes = 1000},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 100, .fpr = 0.01, .concurrent = true},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 100, .fpr = 0.01, .hashes = 7},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 100, .fpr = 0.01, .window.generations = 256},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 1000, .bytes = 100, .fpr = 0.01},
        {.kind = UMBEL_KIND_WINDOW, .capacity = 1, .bytes = 100},
        {.kind = UMBEL_KIND_WINDOW, .capacity = UINT64_MAX, .fpr = 0.01},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = NULL};
        umbel_err e = umbel_create(&bad[i], NULL, &f, &diag);
        if (e != UMBEL_EINVAL) fail_msg("parameters %zu: %s", i, umbel_err_name(e));
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_filter *a = window(100, 0.01, 4), *b = window(100, 0.01, 4);
    umbel_diag diag;
    assert_int_equal(umbel_merge(a, b, &diag), UMBEL_ENOTSUP);
    assert_non_null(strstr(sentence(&diag), "order"));
    assert_int_equal(umbel_fold(a, 0.1, &diag), UMBEL_ENOTSUP);
    check_add(a, 1, 0, 300);
    assert_int_equal(umbel_clear(a, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(a));
    assert_true(umbel_equal(a, b));
    assert_true(keys_added(a) == 0);
    check_add(a, 1, 0, 77);
    check_add(b, 1, 0, 77);
    assert_true(umbel_equal(a, b));
    umbel_free(a);
    umbel_free(b);
}

static void plans(void **state) {
    (void)state;
    umbel_plan plan = {.kind = UMBEL_KIND_WINDOW, .capacity = 1000000, .fpr = 0.01};
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
    assert_int_equal(plan.generations, 8);
    assert_true(plan.rate <= 0.01);
    assert_true(plan.rate > 0.0095);
    assert_true(plan.bits_per_key < 19);
    double last = 0;
    for (uint64_t keys = 0; keys < 1124000; keys += 1000) {
        double rate = umbel_plan_rate(&plan, keys);
        assert_true(rate >= last && rate <= plan.rate * 1.000001);
        last = rate;
    }
    assert_true(fabs(umbel_plan_rate(&plan, 100000000) / plan.rate - 1) < 1e-6);
    umbel_plan back = {.kind = UMBEL_KIND_WINDOW, .capacity = 1000000, .bytes = plan.bytes};
    assert_int_equal(umbel_plan_solve(&back, NULL), UMBEL_OK);
    assert_true(back.rate == plan.rate && back.bytes == plan.bytes);
    assert_true(back.fpr > plan.rate && back.fpr <= 0.01);
    for (uint64_t keys = 10; keys < 10000000; keys += 1 + keys / 5) { /* what comes out goes in */
        umbel_plan again = {.kind = UMBEL_KIND_WINDOW, .capacity = keys, .bytes = 3 * keys + 300};
        assert_int_equal(umbel_plan_solve(&again, NULL), UMBEL_OK);
        assert_int_equal(umbel_plan_solve(&again, NULL), UMBEL_OK);
    }
    umbel_plan max = {.kind = UMBEL_KIND_WINDOW, .fpr = 0.01, .bytes = plan.bytes};
    assert_int_equal(umbel_plan_solve(&max, NULL), UMBEL_OK);
    assert_true(max.capacity >= 1000000 && max.capacity < 1005000);
}

static void files(void **state) {
    (void)state;
    umbel_filter *f = window(60, 0.05, 3);
    check_round_trip(f);
    check_add(f, 1, 0, 133);
    check_round_trip(f);
    check_bad_files(f);
    check_goes_on(f, 133, 500);
    umbel_free(f);
    for (uint32_t generations = 1; generations <= 255; generations += 254) { /* min and max */
        f = window(600, 0.05, generations);
        check_add(f, 1, 0, 1500);
        check_round_trip(f);
        umbel_free(f);
    }
}

/* While a generation is being filled: the full filters, and one with the rest of the keys. */
static void rate_within_a_generation(void **state) {
    (void)state;
    enum { GENERATIONS = 5, EACH = 2000 };
    umbel_plan plan = {.kind = UMBEL_KIND_WINDOW,
                       .capacity = GENERATIONS * EACH,
                       .fpr = 0.01,
                       .generations = GENERATIONS};
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
    umbel_plan one = {
        .kind = UMBEL_KIND_BLOCKED, .capacity = EACH, .bytes = plan.bytes / (GENERATIONS + 1)};
    assert_int_equal(umbel_plan_solve(&one, NULL), UMBEL_OK);
    assert_int_equal(one.bytes * (GENERATIONS + 1), plan.bytes);
    double full_rate = umbel_plan_rate(&one, EACH);
    for (unsigned full = 0; full <= GENERATIONS + 3; full++) {
        const uint64_t some[] = {0, 1, EACH / 3, EACH / 2, EACH - 1};
        for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
            /* From the first step that forgets a generation on, the rate at the fullest moment. */
            bool all = full > GENERATIONS;
            double newest = all ? full_rate : umbel_plan_rate(&one, some[i]);
            double want = 1 - pow(1 - full_rate, all ? GENERATIONS : full) * (1 - newest);
            double rate = umbel_plan_rate(&plan, (uint64_t)full * EACH + some[i]);
            if (fabs(rate - want) > 1e-9 * want + 1e-15) {
                fail_msg("%u generations and %u keys: %.12g, not %.12g", full, (unsigned)some[i],
                         rate, want);
            }
        }
    }
}

/* The kind's own parameters, after the 128 bytes that every header begins with. */
enum { FILTERS = 128, NEWEST = 132, FLAGS = 136, ZERO = 140, EACH = 144, FIRST_KEYS = 152 };

static void parameters_in_files(void **state) {
    (void)state;
    enum { GENERATIONS = 3, EACH_KEYS = 20 };
    const struct {
        size_t at, width;
        uint64_t value;
        umbel_err want;
        const char *what;
    } cases[] = {
        {NEWEST, 4, GENERATIONS, UMBEL_OK, ""}, /* the last of the filters */
        {NEWEST, 4, GENERATIONS + 1, UMBEL_ECORRUPT, "newest"},
        {NEWEST, 4, UINT32_MAX, UMBEL_ECORRUPT, "newest"},
        {FILTERS, 4, 1, UMBEL_ECORRUPT, "filters"},
        {FILTERS, 4, GENERATIONS, UMBEL_ECORRUPT, "wrong length"},
        {FILTERS, 4, GENERATIONS + 2, UMBEL_ECORRUPT, "wrong length"},
        {FILTERS, 4, 257, UMBEL_ECORRUPT, "2 to 256"},
        {FLAGS, 4, 1, UMBEL_OK, ""},
        {FLAGS, 4, 2, UMBEL_EVERSION, "flag"},
        {ZERO, 4, 1, UMBEL_ECORRUPT, "not 0"},
        {EACH, 8, EACH_KEYS - 1, UMBEL_ECORRUPT, "disagree"},
        {EACH, 8, EACH_KEYS + 1, UMBEL_ECORRUPT, "disagree"},
        {FIRST_KEYS, 8, EACH_KEYS, UMBEL_OK, ""},
        {FIRST_KEYS, 8, EACH_KEYS + 1, UMBEL_ECORRUPT, "too many"},
        {FIRST_KEYS + 8 * GENERATIONS, 8, EACH_KEYS + 1, UMBEL_ECORRUPT, "too many"},
    };
    umbel_filter *f = window(GENERATIONS * EACH_KEYS, 0.05, GENERATIONS);
    check_add(f, 1, 0, 30); /* only the first filter is full, and the second is the newest */
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len), *lie = malloc(len);
    assert_true(bytes && lie);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL), UMBEL_OK);
    assert_int_equal(native_get(bytes, FILTERS, 4), GENERATIONS + 1);
    assert_int_equal(native_get(bytes, NEWEST, 4), 1);
    assert_int_equal(native_get(bytes, EACH, 8), EACH_KEYS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        umbel_filter *read = NULL;
        umbel_diag diag = {.what = ""};
        memcpy(lie, bytes, len);
        native_set(lie, cases[i].at, cases[i].width, cases[i].value);
        native_resum(lie, len);
        umbel_err e = umbel_decode(
            lie, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, &read, &diag);
        if (e != cases[i].want || !strstr(sentence(&diag), cases[i].what)) {
            fail_msg("lie %zu: %s: %s", i, umbel_err_name(e), diag.what);
        }
        if (!e) check_round_trip(read);
        if (!e) check_add(read, 2, 0, 500);
        umbel_free(read);
    }
    umbel_free(f);
    free(bytes);
    free(lie);
}

static void memory_runs_out(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_WINDOW, .capacity = 100, .fpr = 0.01};
    umbel_err e = UMBEL_ENOMEM;
    for (uint64_t fails = 0; e; fails++) {
        check_memory m = {.fails = fails};
        umbel_alloc alloc = check_alloc(&m);
        umbel_filter *f = NULL, *copy = NULL;
        e = umbel_create(&params, &(umbel_opts){.alloc = &alloc}, &f, NULL);
        if (!e) check_add(f, 1, 0, 1000);
        if (!e) e = umbel_copy(f, &copy, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ENOMEM);
        umbel_free(f);
        umbel_free(copy);
        assert_int_equal(m.out, 0);
        assert_true(fails < 50);
    }
    umbel_filter *f = NULL;
    assert_int_equal(umbel_create(&params, &(umbel_opts){.max_bytes = 100}, &f, NULL),
                     UMBEL_ELIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers_and_forgets),
        cmocka_unit_test(refreshes),
        cmocka_unit_test(single_adds_do_as_batches),
        cmocka_unit_test(manual),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(parameters),
        cmocka_unit_test(plans),
        cmocka_unit_test(rate_within_a_generation),
        cmocka_unit_test(files),
        cmocka_unit_test(parameters_in_files),
        cmocka_unit_test(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
