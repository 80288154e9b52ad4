/* SPDX-License-Identifier: MIT
 *
 * test_static.c - static and tight filters: built from any keys, queried, and what they refuse
 *
 * labels: once
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/cpu.h"
#include "core/filter.h"
#include "hashing.h"
#include "kind_check.h"
#include "umbel_plan.h"

/* A kind that is built once, and where the two differ; the cases' state. */
typedef struct once {
    umbel_kind kind;
    uint64_t even;                       /* at this many keys the rate is close to the plan */
    uint64_t budget_keys, budget, spare; /* the smallest budget; what may be left of any */
    uint64_t too_few;                    /* bytes for 5000 keys */
} once;

static once static_kind = {UMBEL_KIND_STATIC, 100, 1000000, 150000, 1000000 / 14, 100};
static once tight_kind = {UMBEL_KIND_TIGHT, 1000, 50000, 5000, 32, 10};

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

static umbel_kind kind_of(void **state) {
    const once *o = *state;
    return o->kind;
}

/* Adds the keys a few hundred at a time, so that sets too large for memory can be used. */
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

static umbel_filter *built(void **state, umbel_params params, umbel_opts opts, keys k) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    params.kind = kind_of(state);
    umbel_err e = build(&params, &opts, &k, &f, &diag);
    if (e) fail_msg("build: %s: %s", umbel_err_name(e), sentence(&diag));
    return f;
}

static umbel_filter *simple(void **state, uint64_t n, double fpr) {
    return built(state, (umbel_params){.fpr = fpr}, (umbel_opts){0}, (keys){.n = n, .times = 1});
}

/* All keys are in, the size is the planned one, and others are found as often as planned. */
static void keeps_its_promise(void **state) {
    const once *o = *state;
    const uint64_t sizes[] = {1,   2,    3,    4,    5,    10,    33,     62,     63,
                              100, 1000, 4096, 4097, 5000, 10000, 100000, 300000, 1100000};
    const double rates[] = {0.75, 0.3, 0.01, 0.0004, 1e-9};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t n = sizes[i];
        double fpr = rates[i % 5];
        umbel_filter *f = simple(state, n, fpr);
        assert_int_equal(check_found(f, 1, 0, n), n);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_int_equal(info.kind, o->kind);
        assert_true(info.frozen);
        assert_int_equal(info.capacity, n);
        assert_int_equal(info.keys_added, n);
        assert_true(now.keys == (double)n);
        assert_true(info.fpr == fpr);
        assert_true(now.rate <= fpr);
        assert_false(umbel_is_empty(f));
        umbel_plan plan = {.kind = o->kind, .capacity = n, .fpr = fpr};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        assert_true(info.bytes == plan.bytes && now.rate == plan.rate);
        check_rate(f, 2, 300000, fpr, n >= o->even ? now.rate : 0);
        umbel_free(f);
    }
}

/* A single key is often found where all fingerprints are 0. */
static void few_keys_are_not_none(void **state) {
    for (uint64_t seed = 0; seed < 64; seed++) {
        umbel_filter *f = built(state, (umbel_params){.fpr = 0.75, .seed = seed}, (umbel_opts){0},
                                (keys){.n = 1, .times = 1});
        assert_false(umbel_is_empty(f));
        umbel_free(f);
    }
}

static void nothing_is_in_an_empty_one(void **state) {
    umbel_filter *f = simple(state, 0, 0.01);
    assert_int_equal(check_found(f, 2, 0, 10000), 0);
    assert_true(umbel_is_empty(f));
    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    assert_int_equal(info.bytes, 0);
    assert_true(now.rate == 0);
    assert_int_equal(info.keys_added, 0);
    check_round_trip(f);
    check_bad_files(f);
    umbel_free(f);
    f = built(state, (umbel_params){.bytes = 100}, (umbel_opts){0}, (keys){.n = 0, .times = 1});
    check_round_trip(f);
    umbel_free(f);
}

/* The same file from the same set of keys: in any order, with duplicates, by any number of threads,
 * through memory or a temporary file, on any processor. */
static void bytes_depend_on_keys_alone(void **state) {
    const uint64_t sizes[] = {1, 50, 3000, 20000, 900000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        keys one = {.n = sizes[i], .times = 1};
        keys two = {.n = sizes[i], .times = 2, .backwards = true};
        umbel_params p = {.fpr = 0.01, .seed = i};
        umbel_filter *f = built(state, p, (umbel_opts){0}, one);
        check_same_bytes(f, built(state, p, (umbel_opts){0}, two));
        check_same_bytes(f, built(state, p, (umbel_opts){.threads = 7}, two));
        check_same_bytes(f, built(state, p, (umbel_opts){.tmp = "/tmp"}, one));
        check_same_bytes(f, built(state, p, (umbel_opts){.tmp = "/tmp", .threads = 3}, two));
        umbeli_cpu_limit(0);
        umbel_filter *plain = built(state, p, (umbel_opts){0}, one);
        umbeli_cpu_limit(UINT32_MAX);
        umbel_info info = described(plain);
        assert_string_equal(info.kernel, "generic");
        assert_int_equal(check_found(f, 2, 0, 100000), check_found(plain, 2, 0, 100000));
        check_same_bytes(f, plain);
        umbel_free(f);
    }
}

/* Every key a hundred times: the size depends on the keys, not on the input. */
static void duplicates_cost_nothing(void **state) {
    umbel_filter *single = simple(state, 5000, 0.01);
    umbel_filter *often =
        built(state, (umbel_params){.fpr = 0.01}, (umbel_opts){0}, (keys){.n = 5000, .times = 100});
    check_same_bytes(single, often);
    umbel_free(single);
}

/* Batches of every length, on every kernel, answer as single lookups do.  The sizes are of one
 * shard, of two and of many with two widths; 1/256 gives fingerprints of whole bytes. */
static void kernels_agree(void **state) {
    const uint64_t sizes[] = {1, 40, 3000, 600000, 2200000};
    const double rates[] = {1.0 / 256, 0.01, 0.3, 1e-9};
    bool whole = kind_of(state) == UMBEL_KIND_STATIC; /* tight shards mix widths, two are enough */
    for (size_t i = 0; i < (whole ? 20 : 16); i++) {
        uint64_t n = sizes[i / 4];
        bool choice = whole && i % 3; /* of the number of hashes */
        umbel_params params = {.fpr = rates[i % 4], .hashes = choice ? 3 + (uint32_t)i % 2 : 0};
        const uint32_t cpus[] = {0, UINT32_MAX};
        for (int c = 0; c < 2; c++) {
            umbeli_cpu_limit(cpus[c]);
            umbel_filter *f =
                built(state, params, (umbel_opts){.threads = 2}, (keys){.n = n, .times = 1});
            uint64_t hashes[300];
            uint8_t hit[301];
            for (uint64_t k = 0; k < 300; k++) {
                uint64_t key = k % 2 ? check_key(1, k * 7919 % n) : check_key(2, k);
                hashes[k] = one_hash(f, &key, 8);
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

/* A shard is rarely built with any seed but the first, so here one is given another.  Its keys are
 * lost, but lookups one by one and in batches agree about all. */
static void other_seeds(void **state) {
    enum { ASKED = 20000 };
    static uint64_t hashes[ASKED];
    static uint8_t before[ASKED], hit[ASKED];
    const struct {
        double fpr;
        uint32_t hashes;
    } forms[] = {{1.0 / 256, 4}, {1.0 / 256, 3}, {0.01, 4}, {0.3, 3}};
    for (size_t i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        umbel_params params = {.fpr = forms[i / 2].fpr, .hashes = forms[i / 2].hashes};
        umbeli_cpu_limit(i % 2 ? UINT32_MAX : 0);
        umbel_filter *f = built(state, params, (umbel_opts){0}, (keys){.n = 600000, .times = 1});
        umbeli_cpu_limit(UINT32_MAX);
        for (uint64_t k = 0; k < ASKED; k++) hashes[k] = check_key(2, k);
        umbel_contains_hashes(f, hashes, ASKED, before);
        assert_int_equal(f->data[1], 1);
        f->data[1] = 2; /* of the hashes that begin with a set bit */
        umbel_contains_hashes(f, hashes, ASKED, hit);
        size_t changed = 0;
        for (size_t k = 0; k < ASKED; k++) {
            assert_int_equal(umbel_contains_hash(f, hashes[k]), hit[k]);
            if (hit[k] == before[k]) continue;
            assert_true(hashes[k] >> 63);
            changed++;
        }
        assert_true(changed > 10);
        umbel_free(f);
    }
}

/* Little of a budget is left over: half a bit per slot where all slots of a shard have one width,
 * otherwise a few words. */
static void budgets(void **state) {
    const once *o = *state;
    const uint64_t n = o->budget_keys;
    for (uint64_t bytes = o->budget; bytes < 20 * o->budget; bytes = bytes * 7 / 5) {
        umbel_filter *f = built(state, (umbel_params){.bytes = bytes}, (umbel_opts){0},
                                (keys){.n = n, .times = 1});
        umbel_plan plan = {.kind = o->kind, .capacity = n, .bytes = bytes};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        umbel_info info;
        umbel_measurement now = measured(f);
        umbel_describe(f, &info);
        assert_true(info.bytes <= bytes && bytes - info.bytes < o->spare);
        assert_true(now.rate == plan.rate);
        assert_int_equal(info.bytes, plan.bytes);
        assert_true(info.fpr == plan.fpr);
        assert_int_equal(check_found(f, 1, 0, 20000), 20000);
        check_rate(f, 2, 300000, plan.fpr, plan.rate);
        umbel_free(f);
    }
}

static void frozen(void **state) {
    umbel_filter *f = simple(state, 100, 0.01), *copy = NULL;
    assert_int_equal(umbel_copy(f, &copy, NULL), UMBEL_OK);
    umbel_filter *both[] = {f, copy};
    for (int i = 0; i < 2; i++) {
        umbel_key key = {"x", 1};
        uint64_t hash = one_hash(both[i], "x", 1);
        bool yes;
        umbel_diag diag;
        assert_int_equal(umbel_add(both[i], "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_many(both[i], &key, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_hashes(both[i], &hash, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_clear(both[i], NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_fold(both[i], 0.5, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_merge(both[i], f, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_is_subset(both[i], f, &yes, &diag), UMBEL_ENOTSUP);
        assert_non_null(strstr(sentence(&diag), umbel_kind_name(kind_of(state))));
        assert_true(umbel_equal(both[i], f));
        assert_int_equal(umbel_set_meta(both[i], "a", "b", NULL), UMBEL_OK);
    }
    umbel_free(f);
    umbel_free(copy);
    umbel_diag diag;
    umbel_params params = {.kind = kind_of(state), .capacity = 10, .fpr = 0.1};
    assert_int_equal(umbel_create(&params, NULL, &f, &diag), UMBEL_ENOTSUP);
    assert_string_equal(sentence(&diag), "kind: is built once, from all the keys");
}

static void parameters(void **state) {
    const once *o = *state;
    const umbel_params bad[] = {
        {.capacity = 100},
        {.fpr = 0.01, .hashes = 5},
        {.fpr = 0.01, .concurrent = true},
        {.fpr = 1e-10},
        {.bytes = o->too_few},
        {.bytes = 1000, .fpr = 0.001},
        {.fpr = 0.01, .reserved = {1}},
        {.fpr = (double)NAN},
        {.fpr = 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        keys k = {.n = 5000, .times = 1};
        umbel_filter *f = NULL;
        umbel_diag diag = {.what = NULL};
        umbel_params params = bad[i];
        params.kind = kind_of(state);
        umbel_err e = build(&params, NULL, &k, &f, &diag);
        if (e != UMBEL_EINVAL) fail_msg("parameters %zu: %s", i, umbel_err_name(e));
        assert_true(f == NULL && diag.what != NULL);
    }
    umbel_params params = {.kind = kind_of(state), .fpr = 0.01};
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
    for (int i = 0; i < 4; i++) {
        umbel_params params = {
            .kind = i & 1 ? UMBEL_KIND_BLOCKED : kind_of(state), .capacity = 3000, .fpr = 0.01};
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
    umbel_filter *f = NULL;
    umbel_params params;
    for (int i = 0; i < 2; i++) { /* also for a kind that could be added to */
        umbel_builder *b = NULL;
        params = (umbel_params){
            .kind = i ? UMBEL_KIND_BLOCKED : kind_of(state), .capacity = 3, .fpr = 0.01};
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
    const uint64_t sizes[] = {1, 200, 4500, 800000}; /* the last has shards */
    for (size_t i = 0; i < 4; i++) {
        umbel_filter *f = simple(state, sizes[i], 0.03);
        check_round_trip(f);
        if (i < 2) check_bad_files(f);
        umbel_free(f);
    }
}

static void three_or_four_hashes(void **state) {
    for (uint32_t hashes = 3; hashes <= 4; hashes++) {
        umbel_filter *f = built(state, (umbel_params){.fpr = 0.03, .hashes = hashes},
                                (umbel_opts){0}, (keys){.n = 200, .times = 1});
        umbel_info info = described(f);
        assert_int_equal(info.hashes, hashes);
        check_round_trip(f);
        check_bad_files(f);
        umbel_free(f);
        f = built(state, (umbel_params){.fpr = 1.0 / 256, .hashes = hashes}, (umbel_opts){0},
                  (keys){.n = 0, .times = 1});
        assert_int_equal(check_found(f, 2, 0, 10000), 0);
        umbel_free(f);
    }
}

static void memory_runs_out(void **state) {
    const umbel_params params = {.kind = kind_of(state), .fpr = 0.01};
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

/* One after the other for both kinds. */
#define BOTH(test)                                    \
    cmocka_unit_test_prestate(test, &static_kind), {  \
#test "_tight", test, NULL, NULL, &tight_kind \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(keeps_its_promise),
        BOTH(few_keys_are_not_none),
        BOTH(nothing_is_in_an_empty_one),
        BOTH(bytes_depend_on_keys_alone),
        BOTH(duplicates_cost_nothing),
        BOTH(kernels_agree),
        cmocka_unit_test_prestate(other_seeds, &static_kind),
        BOTH(budgets),
        BOTH(frozen),
        BOTH(parameters),
        BOTH(abandoned_builders),
        cmocka_unit_test(failed_builders),
        BOTH(builders),
        BOTH(files),
        cmocka_unit_test_prestate(three_or_four_hashes, &static_kind),
        BOTH(memory_runs_out),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
