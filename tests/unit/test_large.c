/* SPDX-License-Identifier: MIT
 *
 * test_large.c - classic filters of more than 2^32 bits: no key is lost, and the rate is right for
 * the bits
 *
 * Positions truncated to 32 bits would crowd at the beginning, so the placement of bits is checked
 * too.
 *
 * labels: slow
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>

#include "core/bits.h"
#include "core/filter.h"
#include "random_keys.h"
#include "subjects.h"

/* 5/4 of 2^32 bits: a fifth of the positions do not fit into 32. */
#define LARGE (UINT64_C(640) << 20)

enum { N = 1000000, QUESTIONS = 1000000, LIMIT = 5, QUARTERS = 4 };

static void large_filter(umbel_params params) {
    umbel_filter *f = NULL;
    key_set set = random_keys(N, 1);
    static uint8_t hit[N];
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_true(f->shape.bits > UINT64_C(1) << 32);
    assert_ok(umbel_add_many(f, set.keys, N, NULL, NULL, NULL));
    umbel_contains_many(f, set.keys, N, hit);
    for (size_t i = 0; i < N; i++) assert_int_equal(hit[i], 1);
    for (size_t i = 0; i < N; i += 1000) {
        assert_true(umbel_contains(f, set.keys[i].data, set.keys[i].len));
    }
    free_keys(&set);

    uint64_t quarter = f->data_len / QUARTERS, counts[QUARTERS], all = 0;
    for (uint64_t i = 0; i < QUARTERS; i++) {
        counts[i] = umbeli_bits_count(f->data + i * quarter, quarter);
        all += counts[i];
    }
    for (size_t i = 0; i < QUARTERS; i++) {
        double share = (double)counts[i] / (double)all;
        assert_true(fabs(share - 0.25) < 0.005);
    }

    umbel_info info;
    umbel_measurement now = measured(f);
    umbel_describe(f, &info);
    assert_true(fabs(now.keys / N - 1) < 0.01);
    set = random_keys(QUESTIONS, 2);
    umbel_contains_many(f, set.keys, QUESTIONS, hit);
    double found = 0, want = now.rate * QUESTIONS;
    for (size_t i = 0; i < QUESTIONS; i++) found += hit[i];
    print_message("# %s: %llu bits, %.0f hits, %.2f expected\n", info.layout,
                  (unsigned long long)info.bits, found, want);
    assert_true(fabs(found - want) <= LIMIT * (sqrt(want) + 1));
    free_keys(&set);
    umbel_free(f);
}

/* One probe per key keeps the rate high enough to be measured in an array this large. */
static void test_classic(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = LARGE + 12345, .hashes = 1};
    large_filter(params);
}

static void test_classic_more_probes(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = LARGE + 1, .hashes = 3};
    large_filter(params);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic),
        cmocka_unit_test(test_classic_more_probes),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
