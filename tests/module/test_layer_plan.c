/* SPDX-License-Identifier: MIT
 *
 * test_layer_plan.c - the sizes of layers: RedisBloom's or little more, and rates within the promise
 */
#include <math.h>

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
            for (uint16_t expansion = 0; expansion < 2; expansion++) {
                bf_params p = params_of(errors[e], keys);
                bf_layer_plan plan;
                p.expansion = expansion;
                assert_ok(bf_plan_first(&p, &plan, NULL));
                uint64_t theirs = bf_redisbloom_bytes(keys, errors[e] / (expansion ? 2 : 1));
                /* Large layers for low rates are line: up to a quarter more. */
                bool line = plan.probes->kind == UMBEL_KIND_LINE;
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
        bf_full_chain full = {.layers = 1, .newest = plan, .first_rate = plan.rate};
        double sum = plan.rate;
        while (!bf_plan_next(&p, &full, &plan)) {
            sum += plan.rate;
            full.layers++;
            full.newest = plan;
        }
        assert_in_range(full.layers, t == 2 ? 30 : BF_LAYERS_MAX, BF_LAYERS_MAX);
        assert_true(sum <= p.error);
    }
}

/* A chain that is only planned. */
typedef struct ladder {
    bf_params params;
    bf_full_chain full;
    bf_layer_plan plan;
    uint64_t bytes, keys;
    double sum;
} ladder;

static ladder first_of(bf_params p) {
    ladder l = {.params = p};
    assert_ok(bf_plan_first(&p, &l.plan, NULL));
    l.full = (bf_full_chain){.layers = 1, .newest = l.plan, .first_rate = l.plan.rate};
    l.keys = l.plan.keys;
    l.bytes = l.plan.bytes;
    l.sum = l.plan.rate;
    return l;
}

static bool climb(ladder *l) {
    bf_layer_plan before = l->plan;
    if (bf_plan_next(&l->params, &l->full, &l->plan)) return false;
    if (l->plan.replaces) {
        l->bytes -= before.bytes;
        l->sum -= before.rate;
        l->keys -= before.keys;
    } else {
        l->full.layers++;
    }
    l->full.newest = l->plan;
    l->keys += l->plan.keys;
    l->bytes += l->plan.bytes;
    l->sum += l->plan.rate;
    return true;
}

static uint64_t capacity(const ladder *l) {
    return l->keys;
}

/* From 100 keys to 10 million: RedisBloom's chain has 42.8 bits per key. */
static void growth_needs_far_fewer_bits_than_redisblooms(void **state) {
    (void)state;
    ladder l = first_of(params_of(0.01, 100));
    double error = 0.005;
    uint64_t theirs = bf_redisbloom_bytes(100, error);
    while (capacity(&l) < 10000000) {
        assert_true(climb(&l));
        theirs += bf_redisbloom_bytes(l.plan.keys, error /= 2);
    }
    assert_in_range(theirs * 8, 427000000, 429000000);
    assert_true(l.bytes * 8 < 270000000);
}

/* Nobody reserved it and nobody asked for steps: few layers, whatever the promise. */
static void unreserved_filters_have_few_layers(void **state) {
    (void)state;
    static const double errors[] = {0.25, 0.01, 0.001, 1e-4, 1e-6};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        bf_params p = params_of(errors[e], 100);
        p.expansion = BF_EXPANSION_AUTO;
        ladder l = first_of(p);
        assert_true(l.plan.bytes <= bf_redisbloom_bytes(100, errors[e] / 2) + 8);
        while (capacity(&l) < 10000000) {
            uint64_t before = capacity(&l);
            assert_true(climb(&l));
            assert_true(capacity(&l) > before);
            /* A promise of 1% costs at most 22 bits per key from 10,000 on, however recent a step. */
            if (errors[e] >= 0.01 && before > 10000) assert_true(l.bytes * 8 <= before * 22);
        }
        assert_in_range(l.full.layers, 2, errors[e] >= 0.001 ? 4 : 6);
        if (errors[e] == 0.01) assert_true(l.bytes * 8 <= 10000000 * 17);
        while (climb(&l)) assert_true(l.sum <= errors[e]);
        /* As far as hashes of 64 bits keep the promise. */
        assert_true((double)capacity(&l) > fmin(0x1p40, 0x1p59 * errors[e]));
        assert_true((double)capacity(&l) <= 0x1p60 * errors[e]);
    }
}

/* Whoever asks for steps gets them, and so does whoever reserves. */
static void steps_that_were_asked_for_are_kept(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        bf_params p = params_of(0.01, i ? 101 : 100);
        p.expansion = i ? BF_EXPANSION_AUTO : 2;
        ladder l = first_of(p);
        for (uint64_t keys = p.capacity; l.full.layers < 10; keys *= 2) {
            assert_int_equal(l.plan.keys, keys);
            assert_true(climb(&l));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_layers_take_little_more_than_redisbloom),
        cmocka_unit_test(rates_stay_within_the_promise),
        cmocka_unit_test(growth_needs_far_fewer_bits_than_redisblooms),
        cmocka_unit_test(unreserved_filters_have_few_layers),
        cmocka_unit_test(steps_that_were_asked_for_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
