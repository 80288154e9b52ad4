/* SPDX-License-Identifier: MIT
 *
 * test_classic_hashed.c - classic filters asked by hash answer as they do when asked by key
 */
#include <stdlib.h>

#include "cases.h"
#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "random_keys.h"

static void same_answers(umbel_params params) {
    umbel_filter *f = NULL;
    params.kind = UMBEL_CLASSIC;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_true(umbeli_classic_is_native(f));
    key_set in = random_keys((size_t)params.keys, 1), other = random_keys(3001, 2);
    assert_ok(umbel_add_many(f, in.keys, in.n, NULL));
    for (size_t i = 0; i < other.n; i += 2) other.keys[i] = in.keys[i % in.n];
    umbeli_hash128 *hashes = malloc(other.n * sizeof *hashes);
    uint8_t *hit = malloc(other.n);
    assert_true(hashes && hit);
    for (size_t i = 0; i < other.n; i++) {
        hashes[i] = umbeli_native_hash128(&f->shape, other.keys[i].data, other.keys[i].len);
    }
    umbeli_classic_contains_hashed(f, hashes, other.n, hit);
    size_t found = 0;
    for (size_t i = 0; i < other.n; i++) {
        assert_int_equal(hit[i], umbel_contains(f, other.keys[i].data, other.keys[i].len));
        found += hit[i];
    }
    assert_in_range(found, other.n / 2, other.n - 1);
    free(hashes);
    free(hit);
    free_keys(&in);
    free_keys(&other);
    umbel_free(f);
}

static void test_same_answers(void **state) {
    (void)state;
    static const uint8_t secret[16] = "sixteen letters";
    static const uint64_t keys[] = {1, 100, 20000, 300000}; /* the last is above the plain loop */
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        same_answers((umbel_params){.keys = keys[i], .fpr = 0.03});
        same_answers((umbel_params){.keys = keys[i], .fpr = 0.4, .seed = 7});
        same_answers((umbel_params){.keys = keys[i], .fpr = 1e-6, .key = secret});
    }
}

static void test_others_are_not(void **state) {
    (void)state;
    umbel_params params[] = {{.kind = UMBEL_BLOCKED, .keys = 10, .fpr = 0.01},
                             {.format = UMBEL_FMT_GUAVA, .keys = 10, .fpr = 0.01}};
    for (size_t i = 0; i < 2; i++) {
        umbel_filter *f = NULL;
        assert_ok(umbel_create(&params[i], NULL, &f, NULL));
        assert_false(umbeli_classic_is_native(f));
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_others_are_not),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
