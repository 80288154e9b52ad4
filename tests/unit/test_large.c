/* SPDX-License-Identifier: MIT
 *
 * test_large.c - more than 2^32 bits, and millions of keys: none is lost, and the rate is right
 *
 * labels: slow
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>

#include "core/bits.h"
#include "core/filter.h"
#include "foreign.h"
#include "kind_check.h"
#include "random_keys.h"
#include "subjects.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "umbel_plan.h"

/* 5/4 of 2^32 bits: a fifth of the positions do not fit into 32. */
#define LARGE (UINT64_C(640) << 20)

enum { N = 1000000, QUESTIONS = 1000000, LIMIT = 5, QUARTERS = 4, BATCH = 10000 };

/* Positions truncated to 32 bits would crowd at the beginning, so the placement of bits is checked
 * too. */
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

/* Hits among the numbers from..from+N-1, or, when adding, keys added. */
static size_t work(umbel_filter *f, int from, bool adding) {
    static char text[BATCH][16];
    static umbel_key keys[BATCH];
    static uint8_t hit[BATCH];
    size_t hits = 0;
    for (int first = from; first < from + N; first += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            int len = snprintf(text[i], sizeof text[i], "%d", first + i);
            keys[i] = (umbel_key){text[i], (size_t)len};
        }
        if (adding) {
            assert_int_equal(umbel_add_many(f, keys, BATCH, NULL, NULL, NULL), UMBEL_OK);
            hits += BATCH;
        } else {
            umbel_contains_many(f, keys, BATCH, hit);
            for (int i = 0; i < BATCH; i++) hits += hit[i];
        }
    }
    return hits;
}

/* A million keys added to the CRC-32 filter for 10^9 keys, 1.2 GB of it: all are found, and none of
 * the next million is.  The Go code prints "true" and "0". */
static void a_million_puts(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_GOCRC32, .capacity = 1000000000, .fpr = 0.01};
    umbel_filter *f = NULL;
    if (umbel_create_foreign(&params, NULL, &f, NULL) == UMBEL_ENOMEM) skip();
    assert_non_null(f);
    char text[128];
    assert_int_equal(umbel_text(f, text, sizeof text, NULL), UMBEL_OK);
    assert_string_equal(text, "bitsSize: 9585058377, hashFuncSize: 6");
    assert_int_equal(work(f, 1, true), N);
    assert_int_equal(work(f, 1, false), N);
    assert_int_equal(work(f, N + 1, false), 0);
    umbel_free(f);
}

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
    printf("# %u layers, %.2f bits per key, live rate %.3f %%\n", info.layers, bits,
           100 * now.rate);
    assert_true(bits <= 24);
    check_rate(f, 3, 2000000, 0.01, now.rate);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic),
        cmocka_unit_test(test_classic_more_probes),
        cmocka_unit_test(a_million_puts),
        cmocka_unit_test(grows_from_100_to_10_million),
    };
    check_seed();
    return cmocka_run_group_tests(tests, random_start, NULL);
}
