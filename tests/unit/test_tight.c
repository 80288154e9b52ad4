/* SPDX-License-Identifier: MIT
 *
 * test_tight.c - tight filters: built from any keys, asked, refused what they cannot
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "golden.h"
#include "kind_check.h"
#include "umbel_foreign.h"
#include "umbel_meta.h"
#include "umbel_plan.h"

enum { SOME = 700 };

/* Keys 0 .. n-1 of stream 1, each `times` times, forwards or backwards. */
typedef struct keys {
    uint64_t n, times, given;
    bool backwards;
    uint64_t numbers[SOME];
} keys;

static size_t next(keys *k, umbel_key out[SOME]) {
    size_t n = 0;
    for (; n < SOME && k->given < k->n * k->times; k->given++, n++) {
        uint64_t i = k->given % k->n;
        k->numbers[n] = check_key(1, k->backwards ? k->n - 1 - i : i);
        out[n] = (umbel_key){&k->numbers[n], 8};
    }
    return n;
}

static umbel_err build(const umbel_params *params, const umbel_opts *opts, keys *k,
                       umbel_filter **out, umbel_diag *diag) {
    umbel_builder *builder = NULL;
    umbel_key some[SOME];
    umbel_err e = umbel_builder_new(params, opts, &builder, diag);
    for (size_t n = 0; !e && (n = next(k, some));) e = umbel_builder_add(builder, some, n, diag);
    if (!e) e = umbel_builder_finish(builder, out, diag);
    umbel_builder_free(builder);
    return e;
}

static umbel_filter *built(umbel_params params, umbel_opts opts, keys k) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    params.kind = UMBEL_KIND_TIGHT;
    umbel_err e = build(&params, &opts, &k, &f, &diag);
    if (e) fail_msg("build: %s: %s", umbel_strerror(e), diag.what);
    return f;
}

static umbel_filter *simple(uint64_t n, double fpr) {
    return built((umbel_params){.fpr = fpr}, (umbel_opts){0}, (keys){.n = n, .times = 1});
}

/* All keys are in, the size is the planned one to the byte, and others are found as often as planned. */
static void keeps_its_promise(void **state) {
    (void)state;
    const uint64_t sizes[] = {1,    2,    3,    10,   33,    62,     63,     100,
                              1000, 4096, 4097, 5000, 10000, 100000, 300000, 1100000};
    const double rates[] = {0.75, 0.3, 0.01, 0.0004, 1e-9};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        double fpr = rates[i % 5];
        umbel_filter *f = simple(n, fpr);
        assert_int_equal(check_found(f, 1, 0, n), n);
        umbel_info info;
        umbel_measurement now;
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        assert_int_equal(info.kind, UMBEL_KIND_TIGHT);
        assert_true(info.frozen && info.capacity == n && info.keys_added == n);
        assert_true(now.keys == (double)n && info.fpr == fpr && now.rate <= fpr);
        umbel_plan plan = {.kind = UMBEL_KIND_TIGHT, .capacity = n, .fpr = fpr};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        assert_true(info.bytes == plan.bytes && now.rate == plan.rate);
        check_rate(f, 2, 300000, fpr, n >= 1000 ? now.rate : 0);
        umbel_free(f);
    }
}

static void nothing_is_in_an_empty_one(void **state) {
    (void)state;
    umbel_filter *f = simple(0, 0.01);
    assert_int_equal(check_found(f, 2, 0, 10000), 0);
    assert_true(umbel_is_empty(f));
    umbel_info info;
    umbel_describe(f, &info);
    assert_true(info.bytes == 0 && info.keys_added == 0);
    check_round_trip(f);
    check_bad_files(f);
    umbel_free(f);
    f = built((umbel_params){.bytes = 100}, (umbel_opts){0}, (keys){.n = 0, .times = 1});
    check_round_trip(f);
    umbel_free(f);
}

typedef struct file {
    uint8_t *bytes;
    size_t len;
} file;

static file file_of(const umbel_filter *f) {
    file x = {.len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE)};
    x.bytes = malloc(x.len);
    assert_non_null(x.bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, x.bytes, x.len, NULL), UMBEL_OK);
    return x;
}

static void assert_same(const umbel_filter *a, umbel_filter *b) {
    file x = file_of(a), y = file_of(b);
    assert_int_equal(x.len, y.len);
    if (memcmp(x.bytes, y.bytes, x.len) != 0) fail_msg("the bytes differ");
    free(x.bytes);
    free(y.bytes);
    umbel_free(b);
}

/* The same file from the same set of keys: in any order, with duplicates, by any number of threads,
 * through memory or a temporary file, on any processor. */
static void bytes_depend_on_keys_alone(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 50, 3000, 20000, 900000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        keys once = {.n = sizes[i], .times = 1};
        keys twice = {.n = sizes[i], .times = 2, .backwards = true};
        umbel_params p = {.fpr = 0.01, .seed = i};
        umbel_filter *f = built(p, (umbel_opts){0}, once);
        assert_same(f, built(p, (umbel_opts){0}, twice));
        assert_same(f, built(p, (umbel_opts){.threads = 7}, twice));
        assert_same(f, built(p, (umbel_opts){.tmp = "/tmp"}, once));
        assert_same(f, built(p, (umbel_opts){.tmp = "/tmp", .threads = 3}, twice));
        umbeli_cpu_limit(0);
        umbel_filter *plain = built(p, (umbel_opts){0}, once);
        umbeli_cpu_limit(UINT32_MAX);
        umbel_info info;
        umbel_describe(plain, &info);
        assert_string_equal(info.kernel, "generic");
        assert_int_equal(check_found(f, 2, 0, 100000), check_found(plain, 2, 0, 100000));
        assert_same(f, plain);
        umbel_free(f);
    }
}

/* Of a budget no more than a few words are left over. */
static void budgets(void **state) {
    (void)state;
    const uint64_t n = 50000;
    for (uint64_t bytes = 5000; bytes < 150000; bytes = bytes * 7 / 5) {
        umbel_filter *f =
            built((umbel_params){.bytes = bytes}, (umbel_opts){0}, (keys){.n = n, .times = 1});
        umbel_plan plan = {.kind = UMBEL_KIND_TIGHT, .capacity = n, .bytes = bytes};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        umbel_info info;
        umbel_measurement now;
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        assert_true(info.bytes <= bytes && bytes - info.bytes < 32);
        assert_true(now.rate == plan.rate && info.bytes == plan.bytes && info.fpr == plan.fpr);
        assert_int_equal(check_found(f, 1, 0, 20000), 20000);
        check_rate(f, 2, 300000, plan.fpr, plan.rate);
        umbel_free(f);
    }
}

static void frozen(void **state) {
    (void)state;
    umbel_filter *f = simple(100, 0.01), *copy = NULL;
    assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
    umbel_filter *both[] = {f, copy};
    for (int i = 0; i < 2; i++) {
        uint64_t hash = umbel_hash(both[i], "x", 1);
        bool yes;
        umbel_diag diag;
        assert_int_equal(umbel_add(both[i], "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_hashes(both[i], &hash, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_clear(both[i], NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_merge(both[i], f, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_is_subset(both[i], f, &yes, &diag), UMBEL_ENOTSUP);
        assert_non_null(strstr(diag.what, "tight"));
        assert_true(umbel_equal(both[i], f));
        assert_int_equal(umbel_set_meta(both[i], "a", "b", NULL), UMBEL_OK);
    }
    umbel_free(f);
    umbel_free(copy);
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .capacity = 10, .fpr = 0.1};
    assert_int_equal(umbel_create(&params, NULL, &f, NULL), UMBEL_ENOTSUP);
}

static void parameters(void **state) {
    (void)state;
    const umbel_params bad[] = {
        {.capacity = 100},
        {.fpr = 0.01, .hashes = 3},
        {.fpr = 0.01, .concurrent = true},
        {.fpr = 1e-10},
        {.bytes = 1000, .fpr = 0.001},
        {.bytes = 10},
        {.fpr = 0.01, .reserved = {1}},
        {.fpr = (double)NAN},
    };
    umbel_filter *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        keys k = {.n = 5000, .times = 1};
        umbel_diag diag = {.what = NULL};
        umbel_params params = bad[i];
        params.kind = UMBEL_KIND_TIGHT;
        umbel_err e = build(&params, NULL, &k, &f, &diag);
        if (e != UMBEL_EINVAL) fail_msg("parameters %zu: %s", i, umbel_strerror(e));
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 0.01};
    keys k = {.n = 1000, .times = 1};
    umbel_opts small = {.max_bytes = 100};
    assert_int_equal(build(&params, &small, &k, &f, NULL), UMBEL_ELIMIT);
    assert_null(f);
}

static void files(void **state) {
    (void)state;
    const uint64_t sizes[] = {1, 200, 4500};
    for (size_t i = 0; i < 3; i++) {
        umbel_filter *f = simple(sizes[i], 0.03);
        check_round_trip(f);
        if (i < 2) check_bad_files(f);
        umbel_free(f);
    }
    umbel_filter *f = simple(800000, 0.01); /* shards */
    check_round_trip(f);
    umbel_free(f);
}

/* Keys key0, key1, ... and the files of another builder: tests/golden/native/make_tight.py. */
static void golden(void **state) {
    (void)state;
    golden_table t = golden_table_open("native/tight.tsv");
    while (golden_table_next(&t)) {
        unsigned long n = strtoul(t.column[0], NULL, 10);
        umbel_params params = {.kind = UMBEL_KIND_TIGHT,
                               .seed = strtoull(t.column[1], NULL, 10),
                               .fpr = strtod(t.column[2], NULL)};
        umbel_builder *b = NULL;
        umbel_filter *f = NULL, *theirs = NULL;
        assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
        for (unsigned long j = 0; j < n; j++) {
            char text[32];
            umbel_key key = {text, (size_t)snprintf(text, sizeof text, "key%lu", j)};
            assert_int_equal(umbel_builder_add(b, &key, 1, NULL), UMBEL_OK);
        }
        assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
        umbel_builder_free(b);
        umbel_foreign native = {.format = UMBEL_FMT_NATIVE};
        size_t len;
        uint8_t *bytes = golden_hex(t.column[3], &len);
        assert_int_equal(umbel_decode(bytes, len, &native, NULL, &theirs, NULL), UMBEL_OK);
        assert_same(f, theirs);
        umbel_free(f);
        free(bytes);
    }
    assert_int_equal(t.rows, 3);
    golden_table_close(&t);
}

static void memory_runs_out(void **state) {
    (void)state;
    const umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 0.01};
    umbel_err e = UMBEL_ENOMEM;
    for (uint64_t fails = 0; e; fails += 1 + fails / 8) {
        check_memory m = {.fails = fails};
        umbel_alloc alloc = check_alloc(&m);
        keys k = {.n = 6000, .times = 1};
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
        cmocka_unit_test(budgets),
        cmocka_unit_test(frozen),
        cmocka_unit_test(parameters),
        cmocka_unit_test(files),
        cmocka_unit_test(golden),
        cmocka_unit_test(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
