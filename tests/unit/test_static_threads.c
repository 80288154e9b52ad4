/* SPDX-License-Identifier: MIT
 *
 * test_static_threads.c - a static filter built by several threads has the bytes of one built by
 * one
 * labels: threads
 */
#include <stdlib.h>

#include "any_filter.h"
#include "kind_check.h"

enum { KEYS = 30000 };

static umbel_filter *built(uint32_t threads, const char *tmp) {
    umbel_filter *f = NULL;
    static uint64_t numbers[KEYS];
    static umbel_key keys[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        numbers[i] = check_key(1, i);
        keys[i] = (umbel_key){&numbers[i], sizeof numbers[i]};
    }
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .fpr = 0.01};
    umbel_opts opts = {.threads = threads, .tmp = tmp};
    assert_int_equal(build_from(&params, &opts, keys, KEYS, &f, NULL), UMBEL_OK);
    return f;
}

static void same_bytes(void **state) {
    (void)state;
    umbel_filter *one = built(1, NULL);
    assert_int_equal(check_found(one, 1, 0, KEYS), KEYS);
    for (uint32_t threads = 2; threads <= 70; threads = threads * 2 + 1) {
        umbel_filter *many = built(threads, threads % 4 == 1 ? "/tmp" : NULL);
        assert_true(umbel_equal(one, many));
        umbel_free(many);
    }
    umbel_free(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
