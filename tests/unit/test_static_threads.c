/* SPDX-License-Identifier: MIT
 *
 * test_static_threads.c - a static filter built by several threads has the bytes of one by one
 * labels: threads
 */
#include <stdlib.h>

#include "kind_check.h"

enum { KEYS = 30000 };

typedef struct keys {
    uint64_t given, numbers[1000];
} keys;

static umbel_err next(void *ctx, umbel_key *out, size_t cap, size_t *n) {
    keys *k = ctx;
    for (*n = 0; *n < cap && *n < 1000 && k->given < KEYS; (*n)++) {
        k->numbers[*n] = check_key(1, k->given++);
        out[*n] = (umbel_key){&k->numbers[*n], 8};
    }
    return UMBEL_OK;
}

static umbel_filter *built(uint32_t threads, const char *tmp) {
    umbel_filter *f = NULL;
    keys k = {.given = 0};
    umbel_params params = {.kind = UMBEL_STATIC, .fpr = 0.01};
    umbel_opts opts = {.threads = threads, .tmp = tmp};
    assert_int_equal(umbel_build(&params, &opts, next, &k, &f, NULL), UMBEL_OK);
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
