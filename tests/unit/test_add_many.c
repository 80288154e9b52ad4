/* SPDX-License-Identifier: MIT
 *
 * test_add_many.c - how many keys of a batch are in when one of them is refused; and numbers that
 * are mixed to be hashes
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "random_keys.h"
#include "subjects.h"

enum { N = 6000, UNTOUCHED = 7 };

/* One by one: how many are in when the first is refused, and why it was. */
static size_t one_by_one(umbel_filter *f, const umbel_key *keys, umbel_err *why) {
    for (size_t i = 0; i < N; i++) {
        *why = umbel_add(f, keys[i].data, keys[i].len, NULL, NULL);
        if (*why) return i;
    }
    return N;
}

/* Adds batches of that many until one fails; returns the number of keys that are in. */
static size_t in_batches(umbel_filter *f, const umbel_key *keys, const uint64_t *hashes,
                         size_t batch, umbel_err *why) {
    uint8_t was_new[N];
    for (size_t from = 0; from < N; from += batch) {
        size_t n = N - from < batch ? N - from : batch, done = SIZE_MAX;
        umbel_diag diag = {0};
        memset(was_new, UNTOUCHED, sizeof was_new);
        *why = hashes ? umbel_add_hashes(f, hashes + from, n, was_new, &done, &diag)
                      : umbel_add_many(f, keys + from, n, was_new, &done, &diag);
        if (!*why) assert_int_equal(done, n);
        for (size_t i = 0; i < N; i++) {
            assert_true(i < done ? was_new[i] <= 1 : was_new[i] == UNTOUCHED);
        }
        if (!*why) continue;
        assert_true(done < n);
        assert_non_null(diag.what);
        return from + done;
    }
    return N;
}

static void agree(const any_params *params, umbel_err want, bool hashed) {
    static const size_t batches[] = {1, 2, 63, 64, 65, 1000, 1023, 1024, 1025, 2500, N};
    key_set set = random_keys(N, 1);
    umbel_filter *one = NULL;
    umbel_err why = UMBEL_OK;
    assert_ok(any_create(params, NULL, &one, NULL));
    size_t max = one_by_one(one, set.keys, &why);
    assert_int_equal(why, want);
    assert_true(max > 10 && max < N);
    uint64_t *hashes = hashed ? hashes_of(one, &set) : NULL;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        umbel_filter *many = NULL;
        assert_ok(any_create(params, NULL, &many, NULL));
        assert_int_equal(in_batches(many, set.keys, hashes, batches[i], &why), max);
        assert_int_equal(why, want);
        assert_true(umbel_equal(one, many));
        assert_int_equal(keys_added(one), keys_added(many));
        for (size_t k = 0; k < max; k++) {
            assert_true(umbel_contains(many, set.keys[k].data, set.keys[k].len));
        }
        /* Keys that are already in may come again, and count as done; the first new one ends it. */
        size_t done = 99;
        assert_int_equal(umbel_add_many(many, set.keys, max + 1, NULL, &done, NULL), want);
        assert_int_equal(done, max);
        assert_int_equal(umbel_add_many(many, set.keys + max, 1, NULL, &done, NULL), want);
        assert_int_equal(done, 0);
        assert_int_equal(umbel_add_many(many, set.keys + max, 1, NULL, NULL, NULL), want);
        assert_true(umbel_equal(one, many));
        umbel_free(many);
    }
    free(hashes);
    umbel_free(one);
    free_keys(&set);
}

static void test_scalable_at_its_limit(void **state) {
    (void)state;
    any_params p = {
        .native = {
            .kind = UMBEL_KIND_SCALABLE, .bytes = 256, .fpr = 0.01, .scalable = {.max_layers = 4}}};
    for (p.native.scalable.max_layers = 1; p.native.scalable.max_layers < 5;
         p.native.scalable.max_layers++) {
        agree(&p, UMBEL_EFULL, false);
        agree(&p, UMBEL_EFULL, true);
    }
}

static void test_redisbloom_that_may_not_grow(void **state) {
    (void)state;
    any_params p = {
        .foreign = {
            .format = UMBEL_FMT_REDISBLOOM, .capacity = 3000, .fpr = 0.01, .nonscaling = 1}};
    agree(&p, UMBEL_EFULL, false);
}

/* `done` is 0 where nothing can be added, and all where everything succeeds. */
static void test_all_or_none(void **state) {
    (void)state;
    key_set set = random_keys(100, 1);
    umbel_filter *f = NULL, *view = NULL;
    umbel_diag diag = {0};
    size_t done = 99, len;
    assert_ok(umbel_create(&(umbel_params){.bytes = 4096}, NULL, &f, NULL));
    assert_ok(umbel_add_many(f, NULL, 0, NULL, &done, NULL));
    assert_int_equal(done, 0);
    assert_ok(umbel_add_hashes(f, NULL, 0, NULL, &done, NULL));
    assert_int_equal(done, 0);
    assert_ok(umbel_add_many(f, set.keys, 100, NULL, &done, NULL));
    assert_int_equal(done, 100);
    uint8_t *bytes = bytes_of(f, &len);
    assert_ok(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &view, NULL));
    assert_int_equal(umbel_add_many(view, set.keys, 100, NULL, &done, &diag), UMBEL_EFROZEN);
    assert_int_equal(done, 0);
    assert_non_null(diag.what);
    done = 99;
    uint64_t hash = 1;
    assert_int_equal(umbel_add_hashes(view, &hash, 1, NULL, &done, &diag), UMBEL_EFROZEN);
    assert_int_equal(done, 0);
    umbel_free(view);
    umbel_free(f);
    free(bytes);
    umbel_params classic = {.kind = UMBEL_KIND_CLASSIC, .bytes = 64, .hashes = 3};
    assert_ok(umbel_create(&classic, NULL, &f, NULL));
    done = 99;
    assert_int_equal(umbel_add_hashes(f, &hash, 1, NULL, &done, &diag), UMBEL_ENOTSUP);
    assert_int_equal(done, 0);
    umbel_free(f);
    free_keys(&set);
}

/* ---- umbel_mix ---------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void test_mix_is_fixed(void **state) {
    (void)state;
    /* Hashes go into files, so these never change. */
    assert_true(umbel_mix(0) == UINT64_C(0x9ca066f1a4ab2eea));
    assert_true(umbel_mix(1) == UINT64_C(0xe5fdc025e13eeed5));
    assert_true(umbel_mix(2) == UINT64_C(0xf8f76353b6d877c5));
    assert_true(umbel_mix(UINT64_MAX) == UINT64_C(0x25b775faeca8f520));
}

/* Different numbers stay different, and each bit of them changes about half of the hash. */
static void test_mix_mixes(void **state) {
    (void)state;
    enum { NUMBERS = 100000 };
    uint64_t *mixed = malloc(NUMBERS * sizeof *mixed), flips = 0;
    assert_non_null(mixed);
    for (size_t i = 0; i < NUMBERS; i++) mixed[i] = umbel_mix(i);
    qsort(mixed, NUMBERS, sizeof *mixed, compare);
    for (size_t i = 1; i < NUMBERS; i++) assert_true(mixed[i - 1] != mixed[i]);
    free(mixed);
    for (uint64_t i = 0; i < 1000; i++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t other = i ^ UINT64_C(1) << bit;
            flips += (unsigned)__builtin_popcountll(umbel_mix(i) ^ umbel_mix(other));
        }
    }
    assert_true(fabs((double)flips / 64000 - 32) < 0.1);
}

/* Plain numbers are not hashes, but mixed ones are: the filter keeps its promise. */
static void test_mixed_numbers_keep_the_promise(void **state) {
    (void)state;
    enum { KEYS = 100000, ASKED = 400000 };
    umbel_filter *f = umbel_new(KEYS, 0.01);
    uint64_t hashes[1000], found = 0;
    uint8_t hit[1000];
    assert_non_null(f);
    for (uint64_t from = 0; from < KEYS; from += 1000) {
        for (size_t i = 0; i < 1000; i++) hashes[i] = umbel_mix(from + i);
        assert_ok(umbel_add_hashes(f, hashes, 1000, NULL, NULL, NULL));
    }
    for (uint64_t from = 0; from < KEYS + ASKED; from += 1000) {
        for (size_t i = 0; i < 1000; i++) hashes[i] = umbel_mix(from + i);
        umbel_contains_hashes(f, hashes, 1000, hit);
        for (size_t i = 0; i < 1000; i++) {
            if (from < KEYS) assert_int_equal(hit[i], 1);
            if (from >= KEYS) found += hit[i];
        }
    }
    double rate = measured(f).rate, mean = rate * ASKED;
    assert_true(rate > 0 && rate <= 0.01);
    assert_true(fabs((double)found - mean) < 6 * sqrt(mean));
    assert_true(fabs(measured(f).keys / KEYS - 1) < 0.02);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalable_at_its_limit),
        cmocka_unit_test(test_redisbloom_that_may_not_grow),
        cmocka_unit_test(test_all_or_none),
        cmocka_unit_test(test_mix_is_fixed),
        cmocka_unit_test(test_mix_mixes),
        cmocka_unit_test(test_mixed_numbers_keep_the_promise),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
