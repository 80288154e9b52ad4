/* SPDX-License-Identifier: MIT
 *
 * test_tight_threads.c - a tight filter built by several threads has the bytes of one built by one
 * labels: threads
 */
#include "kind_check.h"

enum { KEYS = 600000 }; /* two shards, and a level of one */

static umbel_filter *built(uint32_t threads, const char *tmp) {
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 0.2};
    umbel_opts opts = {.threads = threads, .tmp = tmp};
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    assert_int_equal(umbel_builder_new(&params, &opts, &b, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t number = check_key(1, i);
        umbel_key key = {&number, sizeof number};
        assert_int_equal(umbel_builder_add(b, &key, 1, NULL), UMBEL_OK);
    }
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_free(b);
    return f;
}

static void same_bytes(void **state) {
    (void)state;
    umbel_filter *one = built(1, NULL);
    assert_int_equal(check_found(one, 1, 0, KEYS), KEYS);
    for (uint32_t threads = 2; threads <= 70; threads = threads * 5 + 1) {
        umbel_filter *many = built(threads, threads > 2 ? "/tmp" : NULL);
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
