/* SPDX-License-Identifier: MIT
 *
 * test_large_batches.c - a million keys in one call on a filter of 33 MiB, by several threads
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kernels),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
