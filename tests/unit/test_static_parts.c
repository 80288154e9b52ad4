/* SPDX-License-Identifier: MIT
 *
 * test_static_parts.c - static filters inside: sorting, layouts, plans, impossible tables
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kind/static/static.h"
#include "kind_check.h"
#include "umbel_plan.h"

static int ascending(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sorts(void **state) {
    (void)state;
    enum { MOST = 600000 }; /* more than are sorted in one go */
    static uint64_t a[MOST], b[MOST], scratch[MOST];
    const size_t sizes[] = {0, 1, 2, 24, 25, 100, 3000, 50000, MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int shape = 0; shape < 8; shape++) {
            size_t n = sizes[i], distinct = 0;
            for (size_t j = 0; j < n; j++) {
                uint64_t random = check_key(5, j);
                const uint64_t shapes[] = {random,
                                           random % 7,
                                           42,
                                           j,
                                           n - j,
                                           random | 0xffffffffff000000 >> j % 9,
                                           random >> 44 | random << 63,
                                           (random & 0xfff) | 0xabcdef0000000000};
                a[j] = b[j] = shapes[shape];
            }
            qsort(b, n, sizeof *b, ascending);
            for (size_t j = 0; j < n; j++) {
                if (j == 0 || b[j] != b[j - 1]) b[distinct++] = b[j];
            }
            assert_int_equal(umbeli_static_sort(a, scratch, n), distinct);
            if (distinct) assert_memory_equal(a, b, distinct * sizeof *a);
        }
    }
}

/* At most 1.13 bits per bit of fingerprint from a million keys on, whatever the number. */
static void sizes_of_layouts(void **state) {
    (void)state;
    for (double keys = 1e6; keys < 1e11; keys *= 1.0137) {
        umbeli_static_layout l;
        assert_true(umbeli_static_divide((uint64_t)keys, 0, 0, &l));
        for (l.width = 1; l.width <= 32; l.width += 5) {
            double bits = 8 * (double)umbeli_static_len(&l) / keys;
            if (bits > 1.13 * l.width) fail_msg("%.0f keys: %g bits for %u", keys, bits, l.width);
        }
        double mean = keys / (double)umbeli_static_shards(&l);
        assert_true(mean < 800000 && (double)umbeli_static_slots(&l) > 1.07 * mean);
    }
}

static void plans(void **state) {
    (void)state;
    /* Two billion URLs in 500 MiB: 27 %, where the best Bloom filter has 37.8 % and the bound is
     * 23.4 %. */
    umbel_plan urls = {.kind = UMBEL_KIND_STATIC, .capacity = 2000000000, .bytes = 500u << 20};
    assert_int_equal(umbel_plan_solve(&urls, NULL), UMBEL_OK);
    assert_true(urls.rate < 0.27);
    assert_true(urls.rate > 0.265);
    assert_true(urls.bytes <= 500u << 20);
    assert_true((double)urls.bytes > 0.9998 * (500u << 20));
    for (double fpr = 0.9; fpr > 1e-9; fpr *= 0.7) {
        umbel_plan plan = {.kind = UMBEL_KIND_STATIC, .capacity = 30000000, .fpr = fpr};
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
        assert_true(plan.rate <= fpr && (plan.rate > 0.98 * fpr || fpr > 0.5));
        assert_true(plan.rate == umbel_plan_rate(&plan, 30000000));
        umbel_plan back = {.kind = UMBEL_KIND_STATIC, .capacity = 30000000, .bytes = plan.bytes};
        assert_int_equal(umbel_plan_solve(&back, NULL), UMBEL_OK);
        assert_true(back.fpr <= plan.rate);
        umbel_plan max = {.kind = UMBEL_KIND_STATIC, .fpr = fpr, .bytes = plan.bytes};
        assert_int_equal(umbel_plan_solve(&max, NULL), UMBEL_OK);
        assert_true(max.bytes <= plan.bytes && fabs((double)max.capacity / 3e7 - 1) < 0.03);
    }
    const umbel_plan refused[] = {
        {.kind = UMBEL_KIND_STATIC, .capacity = 1000, .fpr = 1e-12},
        {.kind = UMBEL_KIND_STATIC, .capacity = 1000000, .bytes = 1000},
        {.kind = UMBEL_KIND_STATIC, .capacity = 1000000, .bytes = 1000000, .fpr = 0.001},
        {.kind = UMBEL_KIND_STATIC, .capacity = 1000000, .bytes = 1260000, .fpr = 0.001},
        {.kind = UMBEL_KIND_STATIC, .capacity = UINT64_MAX, .fpr = 0.01},
        {.kind = UMBEL_KIND_STATIC, .bytes = 1, .fpr = 0.01},
        {.kind = UMBEL_KIND_STATIC, .capacity = 1000, .fpr = 0.01, .hashes = 2},
    };
    const umbel_verdict verdicts[] = {
        UMBEL_PLAN_BEYOND_KIND, UMBEL_PLAN_TOO_SMALL, UMBEL_PLAN_BELOW_BOUND,
        UMBEL_PLAN_BEYOND_KIND, UMBEL_PLAN_TOO_LARGE, UMBEL_PLAN_TOO_SMALL,
        UMBEL_PLAN_BAD_HASHES,
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        umbel_plan plan = refused[i];
        assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_EINVAL);
        if (plan.verdict != verdicts[i]) fail_msg("plan %zu: %s", i, plan.why);
        assert_true(strlen(plan.why) > 10);
    }
}

/* A table with fewer slots than keys is impossible: it says so after 255 seeds. */
static void gives_up(void **state) {
    (void)state;
    umbeli_static_layout l;
    umbeli_settings memory = {.threads = 1};
    umbeli_static_scratch scratch;
    static uint64_t hashes[1000], spare[1000];
    static uint8_t table[1000];
    for (size_t i = 0; i < 1000; i++) hashes[i] = check_key(1, i);
    assert_int_equal(umbeli_static_sort(hashes, spare, 1000), 1000);
    for (uint32_t arity = 3; arity <= 4; arity++) {
        assert_true(umbeli_static_divide(900, arity, 0, &l));
        while (umbeli_static_slots(&l) >= 1000) l.segments--;
        assert_true(umbeli_static_slots(&l) < 1000);
        assert_int_equal(umbeli_static_scratch_new(&l, 1000, &memory, &scratch), UMBEL_OK);
        assert_int_equal(umbeli_static_build_shard(&l, &scratch, hashes, 1000, 8, table), 0);
        umbeli_static_scratch_delete(&memory, &scratch);
    }
}

/* Rarely more than a few seeds, in shards of any size. */
static void few_seeds_are_needed(void **state) {
    (void)state;
    umbeli_settings memory = {.threads = 1};
    enum { MOST = 400000 };
    uint64_t *hashes = malloc(2 * MOST * sizeof *hashes);
    uint8_t *table = malloc(MOST);
    assert_true(hashes && table);
    uint64_t at = 0;
    unsigned tables = 0, seeds = 0;
    for (size_t n = 1; n <= MOST; n = n * 2 + n / 3) {
        for (uint32_t arity = 3; arity <= 4; arity++) {
            umbeli_static_layout l;
            umbeli_static_scratch scratch;
            assert_true(umbeli_static_divide(n, arity, 0, &l));
            l.shard_bits = 0;
            assert_int_equal(umbeli_static_scratch_new(&l, n, &memory, &scratch), UMBEL_OK);
            for (size_t i = 0; i < n; i++) hashes[i] = check_key(1, at++);
            assert_int_equal(umbeli_static_sort(hashes, hashes + MOST, n), n);
            uint8_t seed = umbeli_static_build_shard(&l, &scratch, hashes, n, 1, table);
            assert_true(seed >= 1 && seed < 60);
            seeds += seed;
            tables++;
            umbeli_static_scratch_delete(&memory, &scratch);
        }
    }
    assert_true(seeds < 4 * tables);
    free(hashes);
    free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),    cmocka_unit_test(sizes_of_layouts),     cmocka_unit_test(plans),
        cmocka_unit_test(gives_up), cmocka_unit_test(few_seeds_are_needed),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
