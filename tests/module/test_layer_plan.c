/* SPDX-License-Identifier: MIT
 *
 * test_layer_plan.c - the sizes of layers: RedisBloom's, or slightly more, and rates within the
 * promise
 */
#include "cases.h"
#include "value/layer_plan.h"

static bf_params params_of(double error, uint64_t capacity) {
    return (bf_params){.error = error, .capacity = capacity, .expansion = 2};
}

static void first_layers_take_little_more_than_redisbloom(void **state) {
    (void)state;
    static const double errors[] = {0.25, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        for (uint64_t keys = 1; keys <= 100000000; keys = keys * 3 + 1) {
            for (uint32_t expansion = 0; expansion < 2; expansion++) {
                bf_params p = params_of(errors[e], keys);
                bf_layer_plan plan;
                p.expansion = expansion;
                assert_ok(bf_plan_first(&p, &plan, NULL));
                uint64_t theirs = bf_redisbloom_bytes(keys, errors[e] / (expansion ? 2 : 1));
                /* Large layers for low rates are line: up to a quarter more. */
                bool line = plan.kind == UMBEL_KIND_LINE;
                assert_true(line || errors[e] < 1e-5 || theirs <= 1024 * 1024 || errors[e] >= 0.01);
                if (line && errors[e] < 0.01) {
                    assert_true(theirs > 1024 * 1024 && plan.bytes <= theirs + theirs / 4);
                    if (errors[e] == 0.001) assert_true(plan.bytes <= theirs + theirs / 9);
                    assert_true(plan.rate <= errors[e] * (expansion ? 0.9 : 1));
                    continue;
                }
                /* Auto-created filters have a few bytes more, and leave more of the rate. */
                bool unreserved = keys <= 100 && expansion;
                assert_true(plan.bytes <= theirs + (unreserved ? theirs + 32 : 32));
                if (unreserved && keys > 10) assert_true(plan.rate <= errors[e] / 10);
                if (keys > 1000 && expansion) assert_true(plan.bytes <= theirs);
                if (expansion) assert_true(plan.rate <= 0.9 * errors[e]);
                assert_true(plan.rate <= 1.1 * errors[e]);
                if (keys > 1000) assert_true(plan.rate <= 1.02 * errors[e]);
            }
        }
    }
}

/* However long the chain, the rates of its layers add up to no more than the promise. */
static void rates_stay_within_the_promise(void **state) {
    (void)state;
    for (int t = 0; t < 3; t++) {
        bf_params p = params_of(0.01, t == 1 ? 1 : 1000);
        bf_layer_plan plan;
        p.tightening = t == 2 ? 0.5 : 0;
        p.expansion = 1;
        assert_ok(bf_plan_first(&p, &plan, NULL));
        double first = plan.rate, sum = first;
        uint32_t layers = 1;
        while (!bf_plan_next(&p, layers, plan.keys, first, &plan)) {
            sum += plan.rate;
            layers++;
        }
        assert_in_range(layers, t == 2 ? 30 : BF_LAYERS_MAX, BF_LAYERS_MAX);
        assert_true(sum <= p.error);
    }
}

/* From 100 keys to 10 million: RedisBloom's chain has 42.8 bits per key. */
static void growth_needs_far_fewer_bits_than_redisblooms(void **state) {
    (void)state;
    bf_params p = params_of(0.01, 100);
    bf_layer_plan plan;
    assert_ok(bf_plan_first(&p, &plan, NULL));
    double first = plan.rate, error = p.error / 2;
    uint64_t keys = plan.keys, bytes = plan.bytes, theirs = bf_redisbloom_bytes(keys, error);
    for (uint32_t i = 1; keys < 10000000; i++) {
        assert_ok(bf_plan_next(&p, i, plan.keys, first, &plan));
        keys += plan.keys;
        bytes += plan.bytes;
        theirs += bf_redisbloom_bytes(plan.keys, error /= 2);
    }
    assert_in_range(theirs * 8, 427000000, 429000000);
    assert_true(bytes * 8 < 270000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_layers_take_little_more_than_redisbloom),
        cmocka_unit_test(rates_stay_within_the_promise),
        cmocka_unit_test(growth_needs_far_fewer_bits_than_redisblooms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
