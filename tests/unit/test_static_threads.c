/* SPDX-License-Identifier: MIT
 *
 * test_static_threads.c - a static or tight filter built by several threads has the bytes of one
 * built by one
 * labels: threads
 */
#include <stdlib.h>

#include "any_filter.h"
#include "kind_check.h"

static umbel_filter *built(umbel_kind kind, double fpr, size_t n, uint32_t threads,
                           const char *tmp) {
    umbel_filter *f = NULL;
    uint64_t *numbers = malloc(n * sizeof *numbers);
    umbel_key *keys = malloc(n * sizeof *keys);
    assert_true(numbers && keys);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = check_key(1, i);
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    umbel_params params = {.kind = kind, .fpr = fpr};
    umbel_opts opts = {.threads = threads, .tmp = tmp};
    assert_int_equal(build_from(&params, &opts, keys, n, &f, NULL), UMBEL_OK);
    free(numbers);
    free(keys);
    return f;
}

static void same_bytes(umbel_kind kind, double fpr, size_t n, uint32_t factor) {
    umbel_filter *one = built(kind, fpr, n, 1, NULL);
    assert_int_equal(check_found(one, 1, 0, n), n);
    for (uint32_t threads = 2; threads <= 70; threads = threads * factor + 1) {
        umbel_filter *many = built(kind, fpr, n, threads, threads % 4 != 2 ? "/tmp" : NULL);
        assert_true(umbel_equal(one, many));
        umbel_free(many);
    }
    umbel_free(one);
}

static void same_bytes_of_static(void **state) {
    (void)state;
    same_bytes(UMBEL_KIND_STATIC, 0.01, 30000, 2);
}

/* Two shards, and a level of one. */
static void same_bytes_of_tight(void **state) {
    (void)state;
    same_bytes(UMBEL_KIND_TIGHT, 0.2, 600000, 5);
    same_bytes(UMBEL_KIND_TIGHT, 0.4, 600000, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_of_static),
        cmocka_unit_test(same_bytes_of_tight),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
