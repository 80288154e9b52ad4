/* SPDX-License-Identifier: MIT
 *
 * test_large_batches.c - filters of 33 MiB, beyond the caches: a million keys in one call, by
 * several threads, and batches of any size by every kernel
 *
 * labels: slow
 */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "random_keys.h"
#include "subjects.h"

enum { N = 1200000, BYTES = 33 * 1024 * 1024 + 32 * 5, SLICE = 100000 };

/* One large call is compared with many small ones, which a single thread does. */
static void one_call_is_many(const subject *s, uint32_t threads) {
    umbel_params params = {.bytes = BYTES, .seed = 11};
    umbel_opts opts = {.threads = threads};
    umbel_filter *small = subject_create(s, params, NULL),
                 *large = subject_create(s, params, &opts);
    umbel_filter *hashed = subject_create(s, params, &opts);
    key_set set = random_keys(N, 1);
    for (size_t i = 0; i < N / 4; i++) set.keys[3 * i] = set.keys[i]; /* some duplicates */
    uint64_t *hashes = hashes_of(small, &set);
    uint8_t *want = malloc(N), *got = malloc(N);
    assert_true(want && got);
    for (size_t i = 0; i < N; i += SLICE) {
        assert_ok(umbel_add_many(small, set.keys + i, SLICE, want + i, NULL, NULL));
    }
    assert_ok(umbel_add_many(large, set.keys, N, got, NULL, NULL));
    assert_memory_equal(want, got, N);
    assert_int_equal(keys_added(small), keys_added(large));
    assert_true(umbel_equal(small, large));
    assert_ok(umbel_add_hashes(hashed, hashes, N, got, NULL, NULL));
    assert_memory_equal(want, got, N);
    assert_true(umbel_equal(small, hashed));
    assert_int_equal(keys_added(small), keys_added(hashed));

    memset(got, 7, N);
    umbel_contains_many(large, set.keys, N, got);
    memset(want, 1, N);
    assert_memory_equal(want, got, N);
    for (size_t i = 0; i < N; i += 2) hashes[i] = random_word();
    for (size_t i = 0; i < N; i += SLICE) {
        umbel_contains_hashes(small, hashes + i, SLICE, want + i);
    }
    umbel_contains_hashes(large, hashes, N, got);
    assert_memory_equal(want, got, N);
    free(want);
    free(got);
    free(hashes);
    free_keys(&set);
    umbel_free(small);
    umbel_free(large);
    umbel_free(hashed);
}

static void test_threads(void **state) {
    (void)state;
    const uint32_t threads[] = {1, 2, 3, 7};
    for (size_t t = 0; t < 4; t++) {
        one_call_is_many(fastest_subject(UMBEL_KIND_BLOCKED), threads[t]);
    }
}

static void test_kernels(void **state) {
    (void)state;
    one_call_is_many(subject_called("blocked, generic"), 2);
    one_call_is_many(subject_called("blocked, atomic"), 2);
}

/* Keys of up to 150 bytes, most of them as long as their neighbours, one after another. */
static key_set long_keys(size_t n) {
    enum { LONGEST = 150 };
    key_set set = {.n = n, .keys = calloc(n, sizeof *set.keys), .bytes = malloc(n * LONGEST)};
    assert_true(set.keys && set.bytes);
    uint8_t *at = set.bytes;
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(random_below(4) ? 10 + i / 3000 * 10 : random_below(LONGEST));
        for (size_t j = 0; j < len; j++) at[j] = (uint8_t)random_word();
        set.keys[i] = (umbel_key){at, len};
        at += len;
    }
    return set;
}

/* Batches of any size give the bits and answers of single calls. */
static void batches_are_single_calls(const subject *s) {
    enum { KEYS = 40000, MOST = 1500 };
    umbel_params params = {.bytes = BYTES, .seed = random_word()};
    if (s->kind == UMBEL_KIND_CLASSIC) params.hashes = 7;
    umbel_filter *single = subject_create(s, params, NULL), *many = subject_create(s, params, NULL);
    key_set set = long_keys(KEYS);
    uint64_t *hashes = s->kind == UMBEL_KIND_CLASSIC ? NULL : hashes_of(single, &set);
    uint8_t fresh[MOST], hit[MOST], by_hash[MOST];
    bool was_new;
    for (size_t from = 0, n; from < KEYS; from += n) {
        n = (size_t)random_below(MOST) + 1;
        if (n > KEYS - from) n = KEYS - from;
        if (from % 2) { /* by chance: about half of the batches are in */
            assert_ok(umbel_add_many(many, set.keys + from, n, fresh, NULL, NULL));
            for (size_t i = from; i < from + n; i++) {
                assert_ok(umbel_add(single, set.keys[i].data, set.keys[i].len, &was_new, NULL));
                assert_int_equal(was_new, fresh[i - from]);
            }
        }
        umbel_contains_many(many, set.keys + from, n, hit);
        for (size_t i = from; i < from + n; i++) {
            assert_int_equal(umbel_contains(single, set.keys[i].data, set.keys[i].len),
                             hit[i - from]);
        }
        if (hashes) umbel_contains_hashes(many, hashes + from, n, by_hash);
        if (hashes) assert_memory_equal(by_hash, hit, n);
    }
    assert_same_bytes(single, many);
    umbel_free(single);
    umbel_free(many);
    free(hashes);
    free_keys(&set);
}

static void test_every_kernel(void **state) {
    (void)state;
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (subject_runs(&subjects[s])) batches_are_single_calls(&subjects[s]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_every_kernel),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
