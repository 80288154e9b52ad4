/* SPDX-License-Identifier: MIT
 *
 * test_inline.c - umbel_inline.h answers as umbel_contains_hash does, for every kind of block
 */
#include "cases.h"

#include <stdio.h>

#include "any_filter.h"
#include "umbel_inline.h"

static void as_the_call(umbel_params params) {
    enum { KEYS = 2000 };
    umbel_filter *f = NULL;
    umbel_reader reader;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t hash = umbel_mix(i);
        assert_ok(umbel_add_hashes(f, &hash, 1, NULL, NULL, NULL));
    }
    assert_true(umbel_reader_of(f, &reader));
    size_t found = 0;
    for (uint64_t i = 0; i < 20 * KEYS; i++) {
        bool has = umbel_reader_contains_hash(&reader, umbel_mix(i));
        assert_int_equal(has, umbel_contains_hash(f, umbel_mix(i)));
        found += has;
    }
    assert_true(found > KEYS && found < 10 * KEYS); /* false positives too */
    umbel_free(f);
}

static void test_every_block(void **state) {
    (void)state;
    as_the_call((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 1000});
    as_the_call((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 2500, .seed = 7});
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        as_the_call((umbel_params){.kind = UMBEL_KIND_LINE, .bytes = 1500, .hashes = lanes});
    }
}

static void test_not_of_others(void **state) {
    (void)state;
    const umbel_params others[] = {
        {.kind = UMBEL_KIND_CLASSIC, .capacity = 100, .fpr = 0.01},
        {.kind = UMBEL_KIND_COUNTING, .capacity = 100, .fpr = 0.01},
        {.kind = UMBEL_KIND_SCALABLE, .fpr = 0.01},
        {.kind = UMBEL_KIND_BLOCKED, .bytes = 1000, .concurrent = true},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        umbel_filter *f = NULL;
        umbel_reader reader;
        assert_ok(umbel_create(&others[i], NULL, &f, NULL));
        assert_false(umbel_reader_of(f, &reader));
        umbel_free(f);
    }
}

int main(void) {
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2")) {
        puts("this processor has no AVX2");
        return 77;
    }
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_block),
        cmocka_unit_test(test_not_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
