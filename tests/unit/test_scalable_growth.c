/* SPDX-License-Identifier: MIT
 *
 * test_scalable_growth.c - a scalable filter from its first key to ten million
 * labels: slow
 */
#include <math.h>
#include <stdio.h>

#include "kind_check.h"
#include "umbel_plan.h"

/* Made for a hundred keys, grown to ten million: every key found, the rate kept throughout, and at
 * most 24 bits per key at the end. */
static void grows_from_100_to_10_million(void **state) {
    (void)state;
    const uint64_t stops[] = {0, 1, 2, 100, 9000, 30000, 300000, 1000000, 3000000, 10000000};
    umbel_filter *f =
        check_create((umbel_params){.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01});
    umbel_plan plan = {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01};
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
    uint64_t in = 0, added = 0;
    umbel_info info;
    umbel_measurement now;
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        added += check_add(f, 1, in, stops[i] - in);
        in = stops[i];
        umbel_describe(f, &info);
        umbel_measure(f, &now);
        assert_true(info.keys_added == added && added <= in);
        assert_true((double)added >= 0.99 * (double)in - 1);
        assert_true(now.rate <= 0.0101);
        double model = umbel_plan_rate(&plan, in);
        /* Small layers vary by a few per cent. */
        double off = in < 300000 ? 0.4 : 0.08;
        assert_true(model <= 0.01 && fabs(model - now.rate) <= off * model + 1e-5);
        check_rate(f, 2, 200000, 0.01, in >= 100000 ? now.rate : 0);
        assert_true(fabs(now.keys - (double)in) <= 0.03 * (double)in + 1);
    }
    assert_int_equal(check_found(f, 1, 0, in), in);
    double bits = (double)info.bits / (double)in;
    printf("# %u layers, %.2f bits a key, live rate %.3f %%\n", info.layers, bits, 100 * now.rate);
    assert_true(bits <= 24);
    check_rate(f, 3, 2000000, 0.01, now.rate);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_from_100_to_10_million),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
