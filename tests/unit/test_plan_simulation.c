/* SPDX-License-Identifier: MIT
 *
 * test_plan_simulation.c - the models against filters that are actually filled and queried
 *
 * The filters here are a few separate lines of code, fed with random numbers for hashes, so they
 * test the models and nothing else.  Many small filters are filled; the mean of their rates must
 * lie within five standard errors of the model.  The seed is fixed unless UMBEL_TEST_SEED gives
 * another; one in a few thousand other seeds fails by chance.
 *
 * labels: once
 */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"
#include "plan/plan.h"

static uint64_t random_state;

static uint64_t random64(void) {
    return foreign_random(&random_state);
}

static int seed(void **state) {
    (void)state;
    const char *text = getenv("UMBEL_TEST_SEED");
    random_state = text ? strtoull(text, NULL, 0) : 20240607;
    print_message("seed: UMBEL_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return 0;
}

/* Rates of single filters, one after the other. */
typedef struct sample {
    double count, sum, squares;
} sample;

static void sample_take(sample *s, uint64_t hits, uint64_t queries) {
    double rate = (double)hits / (double)queries;
    s->count += 1.0;
    s->sum += rate;
    s->squares += rate * rate;
}

/* How many standard errors the sample's mean lies above `rate`. */
static double sample_distance(const sample *s, double rate) {
    double mean = s->sum / s->count;
    double variance = (s->squares / s->count - mean * mean) / (s->count - 1.0);
    return (mean - rate) / sqrt(variance);
}

static void assert_agrees(const sample *s, double rate) {
    if (fabs(sample_distance(s, rate)) < 5.0) return;
    fail_msg("seen %g, model %g: %+.1f standard errors", s->sum / s->count, rate,
             sample_distance(s, rate));
}

enum { MAX_BLOCKS = 8192, MAX_BITS = 1 << 20 };

/* Parquet's multipliers, one per lane. */
static const uint32_t salts[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                  0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

static uint32_t lanes[MAX_BLOCKS][8];

/* Adds the hash; true if all its bits were set already. */
static bool blocked_touch(uint64_t hash, uint64_t nblocks, bool add) {
    uint32_t *block = lanes[((hash >> 32) * nblocks) >> 32];
    bool all = true;
    for (int i = 0; i < 8; i++) {
        uint32_t bit = UINT32_C(1) << (((uint32_t)hash * salts[i]) >> 27);
        all = all && (block[i] & bit) != 0;
        if (add) block[i] |= bit;
    }
    return all;
}

static sample blocked_simulate(uint64_t nblocks, uint64_t keys, uint32_t filters,
                               uint32_t queries) {
    sample s = {0};
    for (uint32_t i = 0; i < filters; i++) {
        uint64_t hits = 0;
        memset(lanes, 0, nblocks * sizeof *lanes);
        for (uint64_t j = 0; j < keys; j++) blocked_touch(random64(), nblocks, true);
        for (uint32_t j = 0; j < queries; j++) hits += blocked_touch(random64(), nblocks, false);
        sample_take(&s, hits, queries);
    }
    return s;
}

static void blocked(void **state) {
    (void)state;
    static const struct {
        uint64_t nblocks, keys;
        uint32_t filters, queries;
    } cases[] = {
        {1, 20, 4000, 500},      {1, 60, 500, 500},         {3, 100, 2000, 500},
        {64, 1600, 400, 5000},   {64, 300, 400, 20000},     {1000, 25600, 40, 50000},
        {1000, 90000, 30, 5000}, {8192, 174763, 30, 60000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t nblocks = cases[i].nblocks, keys = cases[i].keys;
        sample s = blocked_simulate(nblocks, keys, cases[i].filters, cases[i].queries);
        assert_agrees(&s, umbeli_blocked_rate(nblocks, keys));
    }
}

/* The sample is precise enough to tell the model from the textbook formula. */
static void blocked_not_textbook(void **state) {
    (void)state;
    sample s = blocked_simulate(1000, 25600, 20, 50000);
    double textbook = umbeli_classic_rate(256000, 8, 25600);
    assert_true(sample_distance(&s, textbook) > 20.0);
    assert_true(s.sum / s.count > 1.3 * textbook);
}

static uint8_t bits_set[MAX_BITS];

static sample classic_simulate(uint64_t bits, uint32_t hashes, uint64_t keys, uint32_t filters,
                               uint32_t queries) {
    sample s = {0};
    for (uint32_t i = 0; i < filters; i++) {
        uint64_t hits = 0;
        memset(bits_set, 0, bits);
        for (uint64_t j = 0; j < keys * hashes; j++) {
            bits_set[((random64() >> 32) * bits) >> 32] = 1;
        }
        for (uint32_t j = 0; j < queries; j++) {
            uint32_t k = 0;
            while (k < hashes && bits_set[((random64() >> 32) * bits) >> 32]) k++;
            hits += k == hashes;
        }
        sample_take(&s, hits, queries);
    }
    return s;
}

static void classic(void **state) {
    (void)state;
    static const struct {
        uint32_t bits, hashes, keys, filters, queries;
    } cases[] = {
        {512, 3, 100, 4000, 500},    {512, 7, 50, 4000, 1000},     {512, 12, 50, 4000, 1000},
        {65536, 7, 6554, 30, 60000}, {65536, 1, 45000, 30, 20000}, {1 << 20, 4, 150000, 30, 30000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s = classic_simulate(cases[i].bits, cases[i].hashes, cases[i].keys, cases[i].filters,
                                    cases[i].queries);
        assert_agrees(&s, umbeli_classic_rate(cases[i].bits, cases[i].hashes, cases[i].keys));
    }
}

/* The share of lookups that go to blocks owning one value more: what the blocked model says about
 * filters too large to simulate. */
static void block_classes(void **state) {
    (void)state;
    static const uint64_t cases[] = {UINT64_C(3) << 30, UINT64_C(5) << 27, 4294967232, 1431655765};
    const uint32_t tries = 200000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n = cases[i], values = (UINT64_C(1) << 32) / n, seen = 0;
        for (uint32_t t = 0; t < tries; t++) {
            uint64_t block = ((random64() >> 32) * n) >> 32;
            uint64_t first = ((block << 32) + n - 1) / n;
            uint64_t end = (((block + 1) << 32) + n - 1) / n;
            assert_true(end - first == values || end - first == values + 1);
            seen += end - first == values + 1;
        }
        double share = (double)((UINT64_C(1) << 32) % n) * (double)(values + 1) * 0x1p-32;
        double error = sqrt(share * (1.0 - share) * tries) + 1.0;
        assert_true(fabs((double)seen - share * tries) < 5.0 * error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked),
        cmocka_unit_test(blocked_not_textbook),
        cmocka_unit_test(classic),
        cmocka_unit_test(block_classes),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
