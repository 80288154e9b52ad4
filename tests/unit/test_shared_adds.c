/* SPDX-License-Identifier: MIT
 *
 * test_shared_adds.c - a batch of adds that several threads divide gives the bits and answers of one
 *
 * labels: threads once
 */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "random_keys.h"
#include "subjects.h"

/* ThreadSanitizer takes minutes for all of it: there, every subject has one set and one way. */
#ifdef __SANITIZE_THREAD__
enum { ONE_EACH = 1 };
#else
enum { ONE_EACH = 0 };
#endif

/* Adds divided among threads by block: bits, answers and counts of one thread. */
static void shared_adds_are_those_of_one(const subject *s, const key_set *set, uint32_t threads) {
    size_t n = set->n;
    uint8_t *want = malloc(n), *got = malloc(n);
    assert_true(want && got);
    umbel_params params = {.bytes = (16 << 20) + 64 * (1 + random_below(9999))};
    umbel_opts opts = {.threads = threads};
    umbel_filter *one = subject_create(s, params, NULL), *many = subject_create(s, params, &opts);
    uint64_t *hashes = hashes_of(one, set);
    assert_ok(umbel_add_hashes(one, hashes, n, want, NULL, NULL));
    for (int way = 0; way < 3; way++) {
        if (ONE_EACH && way != (s - subjects) % 3) continue;
        if (way) assert_ok(umbel_clear(many, NULL));
        memset(got, 7, n);
        uint8_t *was_new = way == 2 ? NULL : got;
        assert_ok(way ? umbel_add_hashes(many, hashes, n, was_new, NULL, NULL)
                      : umbel_add_many(many, set->keys, n, was_new, NULL, NULL));
        if (was_new) assert_memory_equal(want, got, n);
        assert_true(umbel_equal(one, many));
        assert_int_equal(keys_added(one), keys_added(many));
    }
    umbel_contains_hashes(many, hashes, n, got);
    for (size_t i = 0; i < n; i++) assert_int_equal(got[i], 1);
    umbel_free(many);
    umbel_free(one);
    free(hashes);
    free(want);
    free(got);
}

static void test_shared_adds(void **state) {
    (void)state;
    enum { N = 300000, SETS = 3 };
    const uint32_t threads[] = {2, 3, 7, 100};
    key_set sets[SETS];
    for (size_t i = 0; i < SETS; i++) sets[i] = random_keys(N, 5);
    /* Some duplicates; one key more often than all others; that key at the end only. */
    for (size_t i = 0; i < N / 4; i++) sets[0].keys[N - 1 - i] = sets[0].keys[i];
    for (size_t i = 0; i < N; i += 3) sets[1].keys[i] = sets[1].keys[1];
    for (size_t i = N - N / 5; i < N; i++) sets[2].keys[i] = sets[2].keys[0];
    for (size_t s = 0; s < SUBJECTS; s++) {
        if (subjects[s].kind == UMBEL_KIND_CLASSIC || !subject_runs(&subjects[s])) continue;
        for (size_t i = 0; i < SETS; i++) {
            bool one_set = ONE_EACH || subjects[s].kind == UMBEL_KIND_LINE; /* for time */
            if (one_set && i != (ONE_EACH ? s / SETS : s) % SETS) continue;
            shared_adds_are_those_of_one(&subjects[s], &sets[i], threads[(s + i) % 4]);
        }
    }
    for (size_t i = 0; i < SETS; i++) free_keys(&sets[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_adds),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
