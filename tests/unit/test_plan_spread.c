/* SPDX-License-Identifier: MIT
 *
 * test_plan_spread.c - the spread of the rates of single filters, and the promise rate + 3 spread
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static double blocked_promise(uint64_t nblocks, uint64_t keys) {
    double promise = umbeli_blocked_rate(nblocks, keys) + 3 * umbeli_blocked_spread(nblocks, keys);
    return fmin(promise, 1.0);
}

/* lanes 0: the optimal number. */
static double line_promise(uint64_t nlines, uint32_t lanes, uint64_t keys) {
    uint32_t k = lanes != 0 ? lanes : umbeli_line_hashes(nlines, keys);
    return fmin(umbeli_line_rate(nlines, k, keys) + 3 * umbeli_line_spread(nlines, k, keys), 1.0);
}

/* hashes 0: the optimal number. */
static double classic_promise(uint64_t bits, uint32_t hashes, uint64_t keys) {
    uint32_t k = hashes != 0 ? hashes : umbeli_classic_hashes(bits, keys);
    return fmin(umbeli_classic_rate(bits, k, keys) + 3 * umbeli_classic_spread(bits, k, keys), 1.0);
}

static void assert_close(double seen, double expected, double relative) {
    if (fabs(seen - expected) <= relative * fabs(expected)) return;
    fail_msg("%.17g instead of %.17g", seen, expected);
}

/* Moments from the defining sums in 50-digit arithmetic. */
static void blocked_references(void **state) {
    (void)state;
    static const struct {
        uint64_t nblocks, keys;
        double spread;
    } cases[] = {
        {1, 10, 1.2388707102323089e-5},          {1, 60, 0.056810434294751666},
        {2, 20, 0.00011403723789170681},         {5, 100, 0.0019856319490225273},
        {5, 30, 2.8639807375091774e-5},          {44, 1000, 0.00087505879914819998},
        {44, 300, 1.6813571241909065e-5},        {64, 3000, 0.0039592692461060423},
        {413, 10000, 0.00029994089090774592},    {1000003, 20000000, 3.0576829481818827e-6},
        {1048576, 2000, 1.2574914794361272e-15}, {3221225472, 100000, 8.6061191974283757e-18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_close(umbeli_blocked_spread(cases[i].nblocks, cases[i].keys), cases[i].spread, 1e-8);
    }
}

static void line_references(void **state) {
    (void)state;
    static const struct {
        uint64_t nlines;
        uint32_t lanes;
        uint64_t keys;
        double spread;
    } cases[] = {
        {1, 8, 20, 7.834495097280957e-06},
        {1, 16, 60, 0.024737066627368146},
        {2, 4, 120, 0.0019130453961450418},
        {5, 16, 150, 0.0011714847216807588},
        {44, 8, 2000, 0.00039787567838068784},
        {44, 4, 4000, 0.0010989738172716304},
        {413, 16, 9000, 1.5480259477757302e-05},
        {1000003, 16, 22000000, 2.4188256163965521e-07},
        {1000003, 8, 50000000, 3.0968600675170421e-06},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_close(umbeli_line_spread(cases[i].nlines, cases[i].lanes, cases[i].keys),
                     cases[i].spread, 1e-8);
    }
}

/* chance[s]: of s set bits among m after this many probes. */
static void occupancy(size_t m, uint32_t probes, double *chance) {
    memset(chance, 0, (m + 1) * sizeof *chance);
    chance[0] = 1.0;
    for (uint32_t t = 0; t < probes; t++) {
        for (size_t set = m; set > 0; set--) {
            chance[set] =
                (chance[set] * (double)set + chance[set - 1] * (double)(m - set + 1)) / (double)m;
        }
        chance[0] = 0.0;
    }
}

/* From the exact distribution of set bits: the share of classic filters above the promise. */
static double classic_above(size_t bits, uint32_t hashes, uint32_t keys, double promise) {
    double *chance = malloc((bits + 1) * sizeof *chance), above = 0.0;
    assert_non_null(chance);
    occupancy(bits, hashes * keys, chance);
    for (size_t set = 0; set <= bits; set++) {
        if (pow((double)set / (double)bits, hashes) > promise) above += chance[set];
    }
    free(chance);
    return above;
}

static void classic_one_in_a_thousand(void **state) {
    (void)state;
    static const struct {
        uint32_t bits, hashes, keys;
    } cases[] = {
        {512, 34, 10},  {512, 4, 90},    {512, 1, 300},   {512, 7, 50},
        {1024, 7, 100}, {2048, 14, 100}, {4096, 20, 100}, {9728, 7, 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t m = cases[i].bits, k = cases[i].hashes, n = cases[i].keys;
        double promise = classic_promise(m, k, n), rate = umbeli_classic_rate(m, k, n);
        double above = classic_above(m, k, n, promise);
        if (above < 0.0004 || above > 0.002) fail_msg("%u bits: %g above", m, above);
        assert_true(classic_above(m, k, n, rate) > 0.3); /* the mean would not achieve that */
    }
    /* A single key sets at most k bits: none is above. */
    assert_true(classic_above(512, 20, 1, classic_promise(512, 20, 1)) == 0.0);
}

static uint64_t random_state;

static uint64_t random64(void) { /* splitmix64 */
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The rate of one filter of random keys: the mean of its blocks' products of set bits. */
static double one_filter(uint32_t nlanes, uint32_t lane_bits, uint64_t nblocks, uint64_t keys) {
    enum { MOST = 512, LANES = 16, LANE_WORDS = 2 };
    static uint64_t lanes[MOST][LANES][LANE_WORDS];
    assert_true(nblocks <= MOST && nlanes <= LANES && lane_bits <= 64 * LANE_WORDS);
    memset(lanes, 0, sizeof lanes);
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t(*block)[LANE_WORDS] = lanes[((random64() >> 32) * nblocks) >> 32];
        for (uint32_t lane = 0; lane < nlanes; lane++) {
            uint64_t bit = random64() % lane_bits;
            block[lane][bit / 64] |= UINT64_C(1) << (bit % 64);
        }
    }
    double rate = 0.0;
    for (uint64_t i = 0; i < nblocks; i++) {
        double yes = 1.0;
        for (uint32_t lane = 0; lane < nlanes; lane++) {
            int set =
                __builtin_popcountll(lanes[i][lane][0]) + __builtin_popcountll(lanes[i][lane][1]);
            yes *= set / (double)lane_bits;
        }
        rate += yes / (double)nblocks;
    }
    return rate;
}

/* About one in a thousand is above the promise: up to 4 where a few blocks decide, and at least
 * 0.2, or memory is wasted.  Limits of five deviations. */
static void blocked_one_in_a_thousand(void **state) {
    (void)state;
    static const struct {
        uint32_t lanes, nblocks, keys, filters; /* lanes 0: blocked, else line */
    } cases[] = {
        {0, 1, 10, 40000},     {0, 2, 60, 20000},    {0, 3, 100, 20000},   {0, 5, 100, 20000},
        {0, 11, 100, 20000},   {0, 17, 1000, 10000}, {0, 44, 1000, 8000},  {0, 44, 500, 10000},
        {0, 413, 10000, 1000}, {4, 1, 60, 20000},    {8, 2, 100, 20000},   {16, 3, 100, 10000},
        {4, 17, 1500, 5000},   {8, 30, 1500, 5000},  {16, 40, 1000, 5000}, {16, 200, 4600, 1000},
    };
    const char *text = getenv("UMBEL_TEST_SEED");
    random_state = text ? strtoull(text, NULL, 0) : 20240609;
    print_message("# UMBEL_TEST_SEED=%llu\n", (unsigned long long)random_state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t z = cases[i].nblocks, keys = cases[i].keys;
        uint32_t lanes = cases[i].lanes;
        double n = cases[i].filters, above = 0, above_mean = 0;
        double promise = lanes ? line_promise(z, lanes, keys) : blocked_promise(z, keys);
        double rate = lanes ? umbeli_line_rate(z, lanes, keys) : umbeli_blocked_rate(z, keys);
        for (uint32_t f = 0; f < cases[i].filters; f++) {
            double one = one_filter(lanes ? lanes : 8, lanes ? 512 / lanes : 32, z, keys);
            above += one > promise;
            above_mean += one > rate;
        }
        print_message("# %llu blocks, %u lanes, %llu keys: %.0f of %.0f above\n",
                      (unsigned long long)z, lanes, (unsigned long long)keys, above, n);
        assert_true(above <= 0.004 * n + 5 * sqrt(0.004 * n));
        assert_true(above >= 0.0002 * n - 5 * sqrt(0.0002 * n));
        assert_true(above_mean > 0.2 * n);
    }
}

static void extremes(void **state) {
    (void)state;
    assert_true(umbeli_blocked_spread(1, 0) == 0.0);
    assert_true(umbeli_blocked_spread(1000, UINT64_MAX) == 0.0);
    assert_true(umbeli_blocked_spread(UINT32_MAX, UINT64_MAX) == 0.0);
    assert_true(umbeli_blocked_spread(1000, 1) < 1e-6 * umbeli_blocked_rate(1000, 1));
    assert_true(umbeli_classic_spread(512, 7, 0) == 0.0);
    assert_true(umbeli_classic_spread(1, 1, 1) == 0.0);
    assert_true(umbeli_classic_spread(512, 64, UINT64_MAX) == 0.0);
    assert_true(umbeli_classic_spread(UINT64_C(1) << 62, 1, 1) < 0x1p-80);
    /* The square root of the number of keys. */
    double few = umbeli_blocked_spread(10000, 240000);
    assert_close(umbeli_blocked_spread(1000000, 24000000), few / 10, 0.02);
    few = umbeli_classic_spread(UINT64_C(9600000), 7, 1000000);
    assert_close(umbeli_classic_spread(UINT64_C(960000000), 7, 100000000), few / 10, 0.01);
}

/* Apart from rounding. */
static void assert_not_above(double less, double more) {
    if (less > more * (1 + 1e-12) + DBL_MIN) fail_msg("%.17g is above %.17g", less, more);
}

/* More keys never help, more bits never hurt: bisection needs that of promises too. */
static void blocked_monotone(void **state) {
    (void)state;
    for (uint64_t z = 1; z <= 60; z++) {
        for (uint64_t keys = 1; keys <= 150 * z; keys += 1 + keys / 40) {
            double promise = blocked_promise(z, keys);
            assert_not_above(blocked_promise(z + 1, keys), promise);
            assert_not_above(promise, blocked_promise(z, keys + 1));
        }
    }
    for (uint64_t z = 61; z < UINT32_MAX - 64; z += 1 + z / 3) {
        for (double load = 1e-8; load < 2000.0; load *= 1.7) {
            uint64_t keys = (uint64_t)(load * (double)z) + 1;
            double promise = blocked_promise(z, keys);
            assert_not_above(blocked_promise(z + (z < 8192 ? 1 : 64), keys), promise);
            assert_not_above(promise, blocked_promise(z, keys + 1));
        }
    }
}

static void line_monotone(void **state) {
    (void)state;
    for (uint64_t z = 1; z < UINT32_MAX - 64; z += 1 + z / 3) {
        for (double load = 1e-8; load < 8000.0; load *= 1.7) {
            uint64_t keys = (uint64_t)(load * (double)z) + 1;
            for (uint32_t lanes = 0; lanes <= 16; lanes = lanes ? 2 * lanes : 4) {
                double promise = line_promise(z, lanes, keys);
                assert_not_above(line_promise(z + (z < 8192 ? 1 : 64), lanes, keys), promise);
                assert_not_above(promise, line_promise(z, lanes, keys + 1));
            }
        }
    }
}

static void classic_monotone(void **state) {
    (void)state;
    for (uint64_t bits = 512; bits < UINT64_C(1) << 62; bits += (bits / 4 + 511) & ~UINT64_C(511)) {
        for (double load = 1e-9; load < 3.0; load *= 1.7) {
            uint64_t keys = (uint64_t)(load * (double)bits) + 1;
            for (uint32_t k = 0; k <= 64; k += k < 10 ? 1 : 9) {
                double promise = classic_promise(bits, k, keys);
                assert_not_above(classic_promise(bits + 512, k, keys), promise);
                assert_not_above(promise, classic_promise(bits, k, keys + 1));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_references),        cmocka_unit_test(classic_one_in_a_thousand),
        cmocka_unit_test(blocked_one_in_a_thousand), cmocka_unit_test(extremes),
        cmocka_unit_test(blocked_monotone),          cmocka_unit_test(classic_monotone),
        cmocka_unit_test(line_references),           cmocka_unit_test(line_monotone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
