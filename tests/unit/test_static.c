/* SPDX-License-Identifier: MIT
 *
 * test_static.c - static filters: built from any keys, queried, and what they refuse
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/cpu.h"
#include "kind_check.h"
#include "umbel_meta.h"
#include "umbel_plan.h"

/* Keys 0 .. n-1 of stream 1, each `times` times, forwards or backwards. */
typedef struct keys {
    uint64_t n, times, given;
    bool backwards;
    uint64_t numbers[700];
} keys;

static size_t next(keys *k, umbel_key out[700]) {
    size_t n = 0;
    for (; n < 700 && k->given < k->n * k->times; k->given++, n++) {
        uint64_t i = k->given % k->n;
        k->numbers[n] = check_key(1, k->backwards ? k->n - 1 - i : i);
        out[n] = (umbel_key){&k->numbers[n], 8};
    }
    return n;
}

/* The keys some hundreds at a time, so that many that are not in memory at once can be built from. */
static umbel_err build(const umbel_params *params, const umbel_opts *opts, keys *k,
                       umbel_filter **out, umbel_diag *diag) {
    umbel_builder *builder = NULL;
    umbel_key some[700];
    umbel_err e = umbel_builder_new(params, opts, &builder, diag);
    for (size_t n = 0; !e && (n = next(k, some));) e = umbel_builder_add(builder, some, n, diag);
    if (!e) e = umbel_builder_finish(builder, out, diag);
    umbel_builder_free(builder);
    return e;
}

static umbel_filter *built(umbel_params params, umbel_opts opts, keys k) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    params.kind = UMBEL_KIND_STATIC;
    umbel_err e = build(&params, &opts, &k, &f, &diag);
    if (e) fail_msg("build: %s: %s", umbel_strerror(e), sentence(&diag));
    return f;
}

static umbel_filter *simple(uint64_t n, double fpr) {
    return built((umbel_params){.fpr = fpr}, (umbel_opts){0}, (keys){.n = n, .times = 1});
}

static void keeps_its_promise(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 2, 3, 4, 5, 10, 33, 100, 1000, 10000, 300000, 1000000};
    const double rates[] = {0.6, 0.01, 0.0004};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        double fpr = rates[i % 3];
        umbel_filter *f = simple(n, fpr);
        assert_int_equal(check_found(f, 1, 0, n), n);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_int_equal(info.kind, UMBEL_KIND_STATIC);
        assert_true(info.frozen && info.capacity == n && info.keys_added == n);
        assert_true(now.keys == (double)n && info.fpr == fpr && now.rate <= fpr);
        assert_false(umbel_is_empty(f));
        check_rate(f, 2, 300000, fpr, n >= 100 ? now.rate : 0);
        umbel_free(f);
    }
}

static void nothing_is_in_an_empty_one(void **state) {
    (void)state;
    umbel_filter *f = simple(0, 0.01);
    assert_int_equal(check_found(f, 2, 0, 10000), 0);
    assert_true(umbel_is_empty(f));
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    assert_true(info.bytes == 0 && now.rate == 0 && info.keys_added == 0);
    check_round_trip(f);
    check_bad_files(f);
    umbel_free(f);
    f = built((umbel_params){.bytes = 100}, (umbel_opts){0}, (keys){.n = 0, .times = 1});
    check_round_trip(f);
    umbel_free(f);
}

static void assert_same(umbel_filter *a, umbel_filter *b) {
    size_t len = (size_t)umbel_encoded_size(a, UMBEL_FMT_NATIVE);
    assert_int_equal(len, umbel_encoded_size(b, UMBEL_FMT_NATIVE));
    uint8_t *x = malloc(len), *y = malloc(len);
    assert_true(x && y);
    assert_int_equal(umbel_encode(a, UMBEL_FMT_NATIVE, x, len, NULL), UMBEL_OK);
    assert_int_equal(umbel_encode(b, UMBEL_FMT_NATIVE, y, len, NULL), UMBEL_OK);
    assert_memory_equal(x, y, len);
    free(x);
    free(y);
    umbel_free(b);
}

/* The same file from the same set of keys: in any order, with duplicates, by any number of threads,
 * through memory or a temporary file. */
static void bytes_depend_on_keys_alone(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 50, 20000, 900000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        keys once = {.n = sizes[i], .times = 1};
        keys twice = {.n = sizes[i], .times = 2, .backwards = true};
        umbel_params p = {.fpr = 0.01, .seed = i};
        umbel_filter *f = built(p, (umbel_opts){0}, once);
        assert_same(f, built(p, (umbel_opts){0}, twice));
        assert_same(f, built(p, (umbel_opts){.threads = 7}, twice));
        assert_same(f, built(p, (umbel_opts){.tmp = "/tmp"}, once));
        assert_same(f, built(p, (umbel_opts){.tmp = "/tmp", .threads = 3}, twice));
        umbel_free(f);
    }
}

/* Every key a hundred times: the size depends on the keys, not on the input. */
static void duplicates_cost_nothing(void **state) {
    (void)state;
    umbel_filter *once = simple(5000, 0.01);
    umbel_filter *often =
        built((umbel_params){.fpr = 0.01}, (umbel_opts){0}, (keys){.n = 5000, .times = 100});
    assert_same(once, often);
    umbel_free(once);
}

/* No byte of a budget is wasted where there are shards to share it. */
/* Batches of every length, on every kernel, answer as single look-ups do.  The sizes are of one
 * shard, of two and of many with two widths; 1/256 gives fingerprints of whole bytes. */
static void kernels_agree(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 40, 3000, 600000, 2200000};
    const double rates[] = {1.0 / 256, 0.01, 0.3, 1e-9};
    for (size_t i = 0; i < 4 * (sizeof sizes / sizeof *sizes); i++) {
        uint64_t n = sizes[i / 4];
        umbel_params params = {.fpr = rates[i % 4], .hashes = i % 3 ? 3 + (uint32_t)i % 2 : 0};
        const uint32_t cpus[] = {0, UINT32_MAX};
        for (int c = 0; c < 2; c++) {
            umbeli_cpu_limit(cpus[c]);
            umbel_filter *f = built(params, (umbel_opts){.threads = 2}, (keys){.n = n, .times = 1});
            uint64_t hashes[300];
            uint8_t hit[301];
            for (uint64_t k = 0; k < 300; k++) {
                uint64_t key = k % 2 ? check_key(1, k * 7919 % n) : check_key(2, k);
                hashes[k] = umbel_hash(f, &key, 8);
            }
            for (size_t len = 0, from = 0; len <= 300 - from; len++, from = len % 5) {
                memset(hit, 7, sizeof hit);
                umbel_contains_hashes(f, hashes + from, len, hit);
                assert_int_equal(hit[len], 7);
                for (size_t k = 0; k < len; k++) {
                    assert_int_equal(hit[k], umbel_contains_hash(f, hashes[from + k]));
                    if ((from + k) % 2) assert_int_equal(hit[k], 1);
                }
            }
            umbel_free(f);
        }
    }
}

static void budgets(void **state) {
    (void)state;
    const uint64_t n = 1000000;
    for (uint64_t bytes = 150000; bytes < 3000000; bytes = bytes * 3 / 2) {
        umbel_filter *f =
            built((umbel_params){.bytes = bytes}, (umbel_opts){0}, (keys){.n = n, .times = 1});
        umbel_plan plan = {.kind = UMBEL_KIND_STATIC, .capacity = n, .bytes = bytes};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_true(info.bytes <= bytes && bytes - info.bytes < n / 14); /* half a bit a slot */
        assert_true(now.rate == plan.rate && info.bytes == plan.bytes);
        assert_int_equal(check_found(f, 1, 0, 20000), 20000);
        check_rate(f, 2, 300000, plan.rate, plan.rate);
        umbel_free(f);
    }
}

static void frozen(void **state) {
    (void)state;
    umbel_filter *f = simple(100, 0.01), *copy = NULL;
    assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
    umbel_filter *both[] = {f, copy};
    for (int i = 0; i < 2; i++) {
        umbel_key key = {"x", 1};
        uint64_t hash = umbel_hash(both[i], "x", 1);
        bool yes;
        umbel_diag diag;
        assert_int_equal(umbel_add(both[i], "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_many(both[i], &key, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_hashes(both[i], &hash, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_clear(both[i], NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_fold(both[i], 0.5, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_merge(both[i], f, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_is_subset(both[i], f, &yes, &diag), UMBEL_ENOTSUP);
        assert_non_null(strstr(sentence(&diag), "static"));
        assert_true(umbel_equal(both[i], f));
        assert_int_equal(umbel_set_meta(both[i], "a", "b", NULL), UMBEL_OK);
    }
    umbel_free(f);
    umbel_free(copy);
    umbel_diag diag;
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .capacity = 10, .fpr = 0.1};
    assert_int_equal(umbel_create(&params, NULL, &f, &diag), UMBEL_ENOTSUP);
    assert_non_null(strstr(sentence(&diag), "umbel_builder"));
}

static void parameters(void **state) {
    (void)state;
    const umbel_params bad[] = {
        {.kind = UMBEL_KIND_STATIC},
        {.kind = UMBEL_KIND_STATIC, .capacity = 100},
        {.kind = UMBEL_KIND_STATIC, .fpr = 0.01, .hashes = 5},
        {.kind = UMBEL_KIND_STATIC, .fpr = 0.01, .concurrent = true},
        {.kind = UMBEL_KIND_STATIC, .fpr = 1e-10},
        {.kind = UMBEL_KIND_STATIC, .bytes = 100},
        {.kind = UMBEL_KIND_STATIC, .bytes = 1000, .fpr = 0.001},
        {.kind = UMBEL_KIND_STATIC, .fpr = 0.01, .reserved = {1}},
        {.kind = UMBEL_KIND_STATIC, .fpr = (double)NAN},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        keys k = {.n = 1000, .times = 1};
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = NULL};
        umbel_err e = build(&bad[i], NULL, &k, &f, &diag);
        if (e != UMBEL_EINVAL) fail_msg("parameters %zu: %s", i, umbel_strerror(e));
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01};
    keys k = {.n = 1000, .times = 1};
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    errno = 7;
    umbel_opts nowhere = {.tmp = "/no such directory"};
    assert_int_equal(build(&params, &nowhere, &k, &f, &diag), UMBEL_EIO);
    assert_true(diag.sys == ENOENT && errno == 7);
    umbel_opts small = {.max_bytes = 100};
    assert_int_equal(build(&params, &small, &k, &f, &diag), UMBEL_ELIMIT);
    assert_null(f);
}

/* The source of keys fails halfway: nothing is finished, and all memory comes back. */
static void abandoned_builders(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        umbel_params params = {
            .kind = i & 1 ? UMBEL_KIND_BLOCKED : UMBEL_KIND_STATIC, .capacity = 3000, .fpr = 0.01};
        check_memory m = {.fails = UINT64_MAX};
        umbel_alloc alloc = check_alloc(&m);
        umbel_opts opts = {.alloc = &alloc, .tmp = i & 2 ? "/tmp" : NULL};
        umbel_builder *b = NULL;
        keys k = {.n = 3000, .times = 1};
        umbel_key some[700];
        assert_int_equal(umbel_builder_new(&params, &opts, &b, NULL), UMBEL_OK);
        for (int calls = 0; calls < 3; calls++) {
            assert_int_equal(umbel_builder_add(b, some, next(&k, some), NULL), UMBEL_OK);
        }
        assert_true(m.out > 0);
        umbel_builder_free(b);
        assert_int_equal(m.out, 0);
    }
}

/* After an error a builder refuses everything but to be freed. */
static void failed_builders(void **state) {
    (void)state;
    umbel_params params = {
        .kind = UMBEL_KIND_SCALABLE, .bytes = 64, .fpr = 0.01, .scalable.max_layers = 1};
    keys k = {.n = 3000, .times = 1};
    umbel_key some[700];
    umbel_filter *f = NULL;
    umbel_builder *b = NULL;
    umbel_diag diag = {0};
    size_t n = next(&k, some);
    assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
    assert_int_equal(umbel_builder_add(b, some, n, &diag), UMBEL_EFULL);
    assert_non_null(diag.what);
    assert_int_equal(umbel_builder_add(b, some, 1, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_EINVAL);
    assert_null(f);
    umbel_builder_free(b);
}

static void builders(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_params params;
    for (int i = 0; i < 2; i++) { /* also for a kind that could be added to */
        umbel_builder *b = NULL;
        params = (umbel_params){
            .kind = i ? UMBEL_KIND_BLOCKED : UMBEL_KIND_STATIC, .capacity = 3, .fpr = 0.01};
        const umbel_key three[] = {{"a", 1}, {"", 0}, {"a\0c", 3}};
        assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
        assert_int_equal(umbel_builder_add(b, three, 2, NULL), UMBEL_OK);
        assert_int_equal(umbel_builder_add(b, three, 0, NULL), UMBEL_OK);
        assert_int_equal(umbel_builder_add(b, three, 3, NULL), UMBEL_OK);
        assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
        assert_int_equal(umbel_builder_add(b, three, 1, NULL), UMBEL_EINVAL);
        umbel_builder_free(b);
        assert_true(keys_added(f) == 3);
        for (int j = 0; j < 3; j++) assert_true(umbel_contains(f, three[j].data, three[j].len));
        assert_int_equal(umbel_contains(f, "never added", 11), false);
        umbel_free(f);
    }
    umbel_builder_free(NULL);
}

static void files(void **state) {
    (void)state;
    for (uint32_t hashes = 3; hashes <= 4; hashes++) {
        umbel_filter *f = built((umbel_params){.fpr = 0.03, .hashes = hashes}, (umbel_opts){0},
                                (keys){.n = 200, .times = 1});
        umbel_info info;
        umbel_describe(f, &info);
        assert_int_equal(info.hashes, hashes);
        check_round_trip(f);
        check_bad_files(f);
        umbel_free(f);
    }
    umbel_filter *f = simple(800000, 0.01); /* two shards, of two widths */
    check_round_trip(f);
    umbel_free(f);
}

static void memory_runs_out(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01};
    umbel_err e = UMBEL_ENOMEM;
    for (uint64_t fails = 0; e; fails += 1 + fails / 8) {
        check_memory m = {.fails = fails};
        umbel_alloc alloc = check_alloc(&m);
        keys k = {.n = 3000, .times = 1};
        umbel_filter *f = NULL, *copy = NULL;
        umbel_opts opts = {.alloc = &alloc, .threads = 2};
        e = build(&params, &opts, &k, &f, NULL);
        if (!e) e = umbel_copy(f, &copy, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ENOMEM);
        umbel_free(f);
        umbel_free(copy);
        assert_int_equal(m.out, 0);
        assert_true(fails < 10000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_promise),
        cmocka_unit_test(nothing_is_in_an_empty_one),
        cmocka_unit_test(bytes_depend_on_keys_alone),
        cmocka_unit_test(duplicates_cost_nothing),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(budgets),
        cmocka_unit_test(frozen),
        cmocka_unit_test(parameters),
        cmocka_unit_test(abandoned_builders),
        cmocka_unit_test(failed_builders),
        cmocka_unit_test(builders),
        cmocka_unit_test(files),
        cmocka_unit_test(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
