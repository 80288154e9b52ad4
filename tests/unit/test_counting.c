/* SPDX-License-Identifier: MIT
 *
 * test_counting.c - counting filters: adding, removing, counters that stick, sets, files
 */
#include <math.h>
#include <stdlib.h>

#include "any_filter.h"
#include "core/cpu.h"
#include "hashing.h"
#include "kind_check.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"

static umbel_filter *counting(uint64_t keys, double fpr) {
    return check_create((umbel_params){.kind = UMBEL_KIND_COUNTING, .capacity = keys, .fpr = fpr});
}

static void keeps_its_promise(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 2, 100, 10000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        umbel_filter *f = counting(n, 0.01);
        assert_true(umbel_is_empty(f));
        assert_int_equal(check_found(f, 1, 0, n), 0);
        uint64_t added = check_add(f, 1, 0, n);
        assert_true(added <= n && (double)added >= (double)n * 0.98 - 1);
        assert_int_equal(check_found(f, 1, 0, n), n);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_int_equal(info.kind, UMBEL_KIND_COUNTING);
        assert_int_equal(info.bytes, info.bits / 8);
        assert_int_equal(info.capacity, n);
        assert_int_equal(info.keys_added, n);
        if (n >= 100) {
            assert_true(fabs(now.keys / (double)n - 1) < 0.2);
            check_rate(f, 2, 300000, n < 1000 ? 0.03 : 0.01, now.rate);
        }
        umbel_free(f);
    }
}

/* Adds, removals, counters that stick and removals of what is not there: every kernel does the same
 * to the same blocks, few enough that counters meet. */
static void kernels_agree(void **state) {
    (void)state;
    check_kernels_agree((umbel_params){.kind = UMBEL_KIND_COUNTING, .bytes = 1 << 20});
    umbel_filter *best = check_create((umbel_params){.kind = UMBEL_KIND_COUNTING, .bytes = 1024});
    umbeli_cpu_limit(0);
    umbel_filter *plain = check_create((umbel_params){.kind = UMBEL_KIND_COUNTING, .bytes = 1024});
    umbeli_cpu_limit(UINT32_MAX);
    uint64_t absent = 0, sticks = 0;
    for (uint64_t i = 0; i < 40000; i++) {
        uint64_t key = check_key(1, check_key(2, i) % 300);
        bool one = false, other = false;
        if (check_key(3, i) % 100 < (i < 20000 ? 55 : 30)) {
            assert_int_equal(umbel_add(best, &key, 8, &one, NULL), UMBEL_OK);
            assert_int_equal(umbel_add(plain, &key, 8, &other, NULL), UMBEL_OK);
            assert_int_equal(one, other);
        } else {
            umbel_err e = umbel_remove(best, &key, 8, NULL);
            assert_int_equal(e, umbel_remove(plain, &key, 8, NULL));
            absent += e == UMBEL_EABSENT;
        }
        sticks += umbel_count(best, &key, 8) == 15;
        assert_int_equal(umbel_contains(best, &key, 8), umbel_contains(plain, &key, 8));
        assert_int_equal(umbel_count(best, &key, 8) > 0, umbel_contains(best, &key, 8));
        if (i % 100 == 0) assert_true(umbel_equal(best, plain));
    }
    assert_true(umbel_equal(best, plain) && keys_added(best) == keys_added(plain));
    assert_true(absent > 100 && sticks > 100);
    umbel_free(best);
    umbel_free(plain);
}

/* Half of the keys are removed: the others stay, and those removed are absent, at the rate. */
static void removes(void **state) {
    (void)state;
    const uint64_t n = 100000;
    umbel_filter *f = counting(n, 0.01);
    check_add(f, 1, 0, n);
    for (uint64_t i = 0; i < n / 2; i++) {
        uint64_t key = check_key(1, i);
        assert_int_equal(umbel_remove(f, &key, 8, NULL), UMBEL_OK);
    }
    assert_int_equal(check_found(f, 1, n / 2, n / 2), n / 2);
    assert_true(check_found(f, 1, 0, n / 2) < n / 2 / 100);
    assert_true(keys_added(f) == n / 2);
    for (uint64_t i = n / 2; i < n; i++) {
        uint64_t key = check_key(1, i);
        assert_int_equal(umbel_remove(f, &key, 8, NULL), UMBEL_OK);
    }
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    /* Nothing is left but counters that stuck at 15, and there are hardly any. */
    assert_true(now.bits_set <= 2 && info.keys_added == 0);
    umbel_free(f);
}

static void refuses_absent_keys(void **state) {
    (void)state;
    umbel_filter *f = counting(1000, 0.01), *before = NULL;
    check_add(f, 1, 0, 1000);
    assert_int_equal(umbel_copy(f, &before, NULL), UMBEL_OK);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t key = check_key(2, i);
        if (umbel_contains(f, &key, 8)) continue;
        assert_int_equal(umbel_remove(f, &key, 8, NULL), UMBEL_EABSENT);
        refused++;
    }
    assert_true(refused > 900);
    assert_true(umbel_equal(f, before));
    assert_true(keys_added(f) == 1000);
    umbel_free(before);
    umbel_free(f);
}

static void counts_and_sticks(void **state) {
    (void)state;
    umbel_filter *f = counting(1000, 0.001);
    for (uint32_t times = 0; times < 40; times++) {
        bool was_new;
        assert_int_equal(umbel_count(f, "ada", 3), times < 15 ? times : 15);
        assert_int_equal(umbel_add(f, "ada", 3, &was_new, NULL), UMBEL_OK);
        assert_int_equal(was_new, times == 0);
    }
    /* Counters at 15 stay there, whatever is removed. */
    for (int i = 0; i < 40; i++) assert_int_equal(umbel_remove(f, "ada", 3, NULL), UMBEL_OK);
    assert_int_equal(umbel_count(f, "ada", 3), 15);

    for (int i = 0; i < 14; i++) assert_int_equal(umbel_add(f, "bob", 3, NULL, NULL), UMBEL_OK);
    for (int i = 14; i > 0; i--) {
        assert_int_equal(umbel_count(f, "bob", 3), i);
        assert_int_equal(umbel_remove(f, "bob", 3, NULL), UMBEL_OK);
    }
    assert_int_equal(umbel_remove(f, "bob", 3, NULL), UMBEL_EABSENT);
    umbel_free(f);
}

/* A small model with an exact list: no key is ever missed, whatever is added and removed. */
static void agrees_with_a_list(void **state) {
    (void)state;
    enum { KEYS = 500, STEPS = 40000 };
    umbel_filter *f = counting(KEYS, 0.05);
    unsigned in[KEYS] = {0};
    for (uint64_t step = 0; step < STEPS; step++) {
        uint64_t random = check_key(9, step), i = random % KEYS, key = check_key(1, i);
        if (random >> 63 && in[i] > 0) {
            assert_int_equal(umbel_remove(f, &key, 8, NULL), UMBEL_OK);
            in[i]--;
        } else if (in[i] < 3) {
            assert_int_equal(umbel_add(f, &key, 8, NULL, NULL), UMBEL_OK);
            in[i]++;
        }
        if (step % 100) continue;
        for (i = 0; i < KEYS; i++) {
            key = check_key(1, i);
            assert_true(umbel_count(f, &key, 8) >= in[i]);
        }
    }
    umbel_free(f);
}

/* The snapshot is exactly the filter that blocked would have made from the same keys. */
static void snapshot_is_blocked(void **state) {
    (void)state;
    const uint64_t n = 20000;
    umbel_filter *f = counting(n, 0.01), *bits = NULL;
    umbel_filter *blocked =
        check_create((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = n, .fpr = 0.01});
    check_add(f, 1, 0, n);
    check_add(f, 2, 0, 500);
    for (uint64_t i = 0; i < 500; i++) {
        uint64_t key = check_key(2, i);
        assert_int_equal(umbel_remove(f, &key, 8, NULL), UMBEL_OK);
    }
    check_add(blocked, 1, 0, n);
    assert_int_equal(umbel_set_recipe(f, "csv field=2 upper", NULL), UMBEL_OK);
    assert_int_equal(umbel_set_meta(f, "source", "test", NULL), UMBEL_OK);
    assert_int_equal(umbel_snapshot(f, &bits, NULL), UMBEL_OK);
    umbel_info a;
    umbel_measurement a_now = measured(bits), b_now = measured(f);
    umbel_describe(bits, &a);
    assert_int_equal(a.kind, UMBEL_KIND_BLOCKED);
    assert_true(a_now.bits_set == b_now.bits_set && a_now.rate == b_now.rate);
    assert_true(fabs(a_now.keys - b_now.keys) < 1);
    assert_true(b_now.keys == n);
    assert_int_equal(a.capacity, n);
    assert_true(umbel_equal(bits, blocked));
    const char *name, *value;
    assert_true(umbel_meta_at(bits, 0, &name, &value));
    assert_string_equal(value, "test");
    assert_string_equal(umbel_get_recipe(bits), "csv field=2 upper");
    uint64_t key = check_key(1, 7);
    assert_true(one_hash(f, &key, 8) == one_hash(bits, &key, 8));
    assert_int_equal(umbel_snapshot(blocked, &bits, NULL), UMBEL_ENOTSUP);
    umbel_free(bits);
    umbel_free(blocked);
    umbel_free(f);
}

static void sets(void **state) {
    (void)state;
    umbel_filter *a = counting(3000, 0.01), *b = counting(3000, 0.01);
    umbel_filter *both = counting(3000, 0.01), *common = NULL;
    umbel_diag diag;
    check_add(a, 1, 0, 2000);
    check_add(b, 1, 1000, 2000);
    check_add(both, 1, 0, 2000);
    check_add(both, 1, 1000, 2000);
    assert_int_equal(umbel_copy(a, &common, NULL), UMBEL_OK);
    bool yes = true;
    assert_int_equal(umbel_is_subset(a, b, &yes, NULL), UMBEL_OK);
    assert_false(yes);
    assert_int_equal(umbel_intersect(common, b, NULL), UMBEL_OK);
    assert_int_equal(check_found(common, 1, 1000, 1000), 1000);
    assert_int_equal(umbel_is_subset(common, a, &yes, NULL), UMBEL_OK);
    assert_true(yes);
    assert_int_equal(umbel_merge(a, b, NULL), UMBEL_OK);
    assert_true(umbel_equal(a, both)); /* no counter passed 15 at this load, so sums agree */
    assert_true(keys_added(a) == 4000);
    assert_int_equal(umbel_is_subset(b, a, &yes, NULL), UMBEL_OK);
    assert_true(yes);
    /* Sums stop at 15 instead of wrapping. */
    for (int i = 0; i < 6; i++) assert_int_equal(umbel_merge(a, a, NULL), UMBEL_OK);
    assert_int_equal(check_found(a, 1, 0, 3000), 3000);
    uint64_t key = check_key(1, 0);
    assert_int_equal(umbel_count(a, &key, 8), 15);
    assert_int_equal(umbel_fold(a, 0.5, &diag), UMBEL_ENOTSUP);
    assert_non_null(diag.what);
    umbel_filter *other = check_create(
        (umbel_params){.kind = UMBEL_KIND_COUNTING, .capacity = 3000, .fpr = 0.01, .seed = 1});
    assert_int_equal(umbel_merge(a, other, &diag), UMBEL_EMISMATCH);
    assert_int_equal(umbel_clear(a, NULL), UMBEL_OK);
    assert_true(umbel_is_empty(a));
    umbel_free(other);
    umbel_free(a);
    umbel_free(b);
    umbel_free(both);
    umbel_free(common);
}

static void hashes_do_as_keys(void **state) {
    (void)state;
    enum { N = 1000 };
    umbel_filter *by_key = counting(N, 0.01), *by_hash = counting(N, 0.01);
    uint64_t hashes[N];
    uint8_t hit[N], was_new[N];
    assert_true(takes_hashes(by_key));
    for (uint64_t i = 0; i < N; i++) {
        uint64_t key = check_key(1, i);
        bool is_new;
        assert_int_equal(umbel_add(by_key, &key, 8, &is_new, NULL), UMBEL_OK);
        was_new[i] = is_new;
        hashes[i] = one_hash(by_key, &key, 8);
    }
    assert_int_equal(umbel_add_hashes(by_hash, hashes, N, hit, NULL, NULL), UMBEL_OK);
    assert_memory_equal(hit, was_new, N);
    assert_true(umbel_equal(by_key, by_hash));
    umbel_contains_hashes(by_hash, hashes, N, hit);
    for (size_t i = 0; i < N; i++) assert_true(hit[i] && umbel_contains_hash(by_key, hashes[i]));
    umbel_free(by_key);
    umbel_free(by_hash);
}

static void parameters(void **state) {
    (void)state;
    const umbel_params bad[] = {
        {.kind = UMBEL_KIND_COUNTING},
        {.kind = UMBEL_KIND_COUNTING, .capacity = 100},
        {.kind = UMBEL_KIND_COUNTING, .capacity = 100, .fpr = 0.01, .concurrent = true},
        {.kind = UMBEL_KIND_COUNTING, .capacity = 100, .fpr = 0.01, .hashes = 7},
        {.kind = UMBEL_KIND_COUNTING, .bytes = 127},
        {.kind = UMBEL_KIND_COUNTING, .bytes = UINT64_MAX},
        {.kind = UMBEL_KIND_COUNTING, .capacity = 1000, .fpr = 0.01, .bytes = 1000},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = NULL};
        assert_int_equal(umbel_create(&bad[i], NULL, &f, &diag), UMBEL_EINVAL);
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_plan counted = {.kind = UMBEL_KIND_COUNTING, .capacity = 1000000, .fpr = 0.01};
    umbel_plan blocked = {.kind = UMBEL_KIND_BLOCKED, .capacity = 1000000, .fpr = 0.01};
    assert_int_equal(umbel_plan_solve(&counted, NULL), UMBEL_OK);
    assert_int_equal(umbel_plan_solve(&blocked, NULL), UMBEL_OK);
    assert_true(counted.bytes == 4 * blocked.bytes && counted.rate == blocked.rate);
    umbel_kind kind;
    assert_true(umbel_kind_named("counting", &kind) && kind == UMBEL_KIND_COUNTING);

    umbel_filter *f = check_create((umbel_params){.capacity = 100, .fpr = 0.01});
    assert_int_equal(umbel_remove(f, "x", 1, NULL), UMBEL_ENOTSUP);
    assert_int_equal(umbel_count(f, "x", 1), 0);
    assert_int_equal(umbel_add(f, "x", 1, NULL, NULL), UMBEL_OK);
    assert_int_equal(umbel_count(f, "x", 1), 1);
    umbel_free(f);
}

static void files(void **state) {
    (void)state;
    umbel_filter *f = counting(60, 0.02);
    check_round_trip(f);
    check_add(f, 1, 0, 60);
    check_round_trip(f);
    check_bad_files(f);
    uint8_t bytes[16384];
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    umbel_filter *view = NULL;
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, sizeof bytes, NULL), UMBEL_OK);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, &view, NULL),
                     UMBEL_OK);
    uint64_t key = check_key(1, 0);
    assert_int_equal(umbel_remove(view, &key, 8, NULL), UMBEL_EFROZEN);
    umbel_free(view);
    umbel_free(f);
}

static void memory_runs_out(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_COUNTING, .capacity = 100, .fpr = 0.01};
    bool done = false;
    for (uint64_t fails = 0; !done; fails++) {
        check_memory m = {.fails = fails};
        umbel_alloc alloc = check_alloc(&m);
        umbel_filter *f = NULL, *copy = NULL, *bits = NULL;
        umbel_err e = umbel_create(&params, &(umbel_opts){.alloc = &alloc}, &f, NULL);
        if (!e) e = umbel_set_meta(f, "a", "b", NULL);
        if (!e) e = umbel_copy(f, &copy, NULL);
        if (!e) e = umbel_snapshot(f, &bits, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ENOMEM);
        done = e == UMBEL_OK;
        umbel_free(f);
        umbel_free(copy);
        umbel_free(bits);
        assert_int_equal(m.out, 0);
        assert_true(fails < 50);
    }
    umbel_filter *f = NULL;
    assert_int_equal(umbel_create(&params, &(umbel_opts){.max_bytes = 100}, &f, NULL),
                     UMBEL_ELIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_promise),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(removes),
        cmocka_unit_test(refuses_absent_keys),
        cmocka_unit_test(counts_and_sticks),
        cmocka_unit_test(agrees_with_a_list),
        cmocka_unit_test(snapshot_is_blocked),
        cmocka_unit_test(sets),
        cmocka_unit_test(hashes_do_as_keys),
        cmocka_unit_test(parameters),
        cmocka_unit_test(files),
        cmocka_unit_test(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
