/* SPDX-License-Identifier: MIT
 *
 * test_bits.c - loads, wide products, remainders and bit arrays, against the simplest
 * implementation
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

#include "core/bits.h"
#include "core/cpu.h"
#include "core/size.h"
#include "random_keys.h"

static void test_loads_and_stores(void **state) {
    (void)state;
    const uint8_t bytes[9] = {0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88};
    assert_int_equal(umbeli_load_le16(bytes + 1), 0x0201);
    assert_int_equal(umbeli_load_le32(bytes + 1), 0x04030201);
    assert_true(umbeli_load_le64(bytes + 1) == UINT64_C(0x8807060504030201));
    uint8_t out[9] = {0xff};
    umbeli_store_le16(out + 1, 0x0201);
    umbeli_store_le32(out + 3, 0x06050403);
    assert_memory_equal(out, ((uint8_t[]){0xff, 1, 2, 3, 4, 5, 6, 0, 0}), 9);
    umbeli_store_le64(out + 1, UINT64_C(0x8807060504030201));
    assert_memory_equal(out, bytes, 9);
    assert_int_equal(umbeli_rotl32(0x80000001, 1), 3);
    assert_int_equal(umbeli_rotl32(0x80000001, 0), 0x80000001);
    assert_true(umbeli_rotl64(UINT64_C(0x8000000000000001), 4) == 0x18);
    assert_true(umbeli_rotl64(5, 64) == 5);
}

/* Numbers near every power of two, where carries and comparisons go wrong. */
static uint64_t edgy(void) {
    uint64_t power = UINT64_C(1) << random_below(64);
    switch (random_below(4)) {
    case 0: return power + random_below(3) - 1;
    case 1: return UINT64_MAX - random_below(3);
    case 2: return random_word() >> random_below(64);
    default: return random_word();
    }
}

/* Long multiplication: the sum of a << i for every bit i of b. */
static uint64_t long_product_high(uint64_t a, uint64_t b) {
    uint64_t low = 0, high = 0;
    for (unsigned i = 0; i < 64; i++) {
        if (!(b >> i & 1)) continue;
        uint64_t part = a << i;
        low += part;
        high += (i ? a >> (64 - i) : 0) + (low < part);
    }
    return high;
}

static void test_mul_high(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t a = edgy(), b = edgy();
        assert_true(umbeli_mul_high(a, b) == long_product_high(a, b));
    }
}

static void test_mod(void **state) {
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t x = edgy(), divisor = edgy();
        if (divisor == 0) continue;
        assert_true(umbeli_mod(x, umbeli_modulus_of(divisor)) == x % divisor);
        assert_true(umbeli_mod(divisor, umbeli_modulus_of(divisor)) == 0);
        assert_true(umbeli_mod(divisor - 1, umbeli_modulus_of(divisor)) == divisor - 1);
    }
    assert_int_equal(umbeli_modulus_of(0).inverse, 0);
}

static void test_single_bits(void **state) {
    (void)state;
    uint8_t bits[5] = {0};
    for (uint64_t p = 0; p < 40; p += 3) {
        assert_false(umbeli_bit_test(bits, p));
        assert_true(umbeli_bit_set(bits, p));
        assert_false(umbeli_bit_set(bits, p));
        assert_true(umbeli_bit_test(bits, p));
        assert_int_equal(bits[p / 8] >> (p % 8) & 1, 1);
    }
    assert_int_equal(umbeli_bits_count(bits, 5), 14);
}

/* Exactly as large as stated, so that the sanitizer catches an overrun; at odd addresses too. */
static void test_arrays(void **state) {
    (void)state;
    for (size_t len = 0; len <= 67; len++) {
        size_t shift = random_below(8);
        uint8_t *a_raw = malloc(len + shift + 1), *b_raw = malloc(len + shift + 1);
        uint8_t *either_raw = malloc(len + shift + 1), *both_raw = malloc(len + shift + 1);
        assert_true(a_raw);
        assert_true(b_raw);
        assert_true(either_raw);
        assert_true(both_raw);
        uint8_t *a = a_raw + shift + 1, *b = b_raw + shift + 1;
        uint8_t *either = either_raw + shift + 1, *both = both_raw + shift + 1;
        uint64_t count = 0;
        for (size_t i = 0; i < len; i++) {
            a[i] = either[i] = both[i] = (uint8_t)random_word();
            b[i] = (uint8_t)random_word();
            for (int bit = 0; bit < 8; bit++) count += a[i] >> bit & 1;
        }
        assert_true(umbeli_bits_count(a, len) == count);
        umbeli_bits_or(either, b, len);
        umbeli_bits_and(both, b, len);
        for (size_t i = 0; i < len; i++) {
            assert_int_equal(either[i], a[i] | b[i]);
            assert_int_equal(both[i], a[i] & b[i]);
        }
        assert_true(umbeli_bits_subset(a, either, len) && umbeli_bits_subset(both, a, len));
        for (size_t i = 0; i < 8 * len; i++) { /* each single excess bit must be detected */
            if (umbeli_bit_test(a, i)) continue;
            umbeli_bit_set(both, i);
            assert_false(umbeli_bits_subset(both, a, len));
            both[i / 8] = (uint8_t)(both[i / 8] & ~(1u << (i % 8)));
        }
        free(a_raw);
        free(b_raw);
        free(either_raw);
        free(both_raw);
    }
}

static umbeli_lane_counts lanes_one_by_one(const uint8_t *bits, size_t groups) {
    umbeli_lane_counts sums = {0, 0};
    for (size_t i = 0; i < groups; i++) {
        uint64_t product = 1;
        for (size_t lane = 0; lane < 8; lane++) {
            uint64_t set = 0;
            for (size_t p = 0; p < 32; p++) set += umbeli_bit_test(bits, 256 * i + 32 * lane + p);
            product *= set;
            sums.set += set;
        }
        sums.products += product;
    }
    return sums;
}

/* With and without vector instructions; full lanes, empty ones and anything between. */
static void test_counts_on_every_cpu(void **state) {
    (void)state;
    for (size_t groups = 0; groups <= 70; groups++) {
        size_t shift = random_below(8), len = 32 * groups;
        uint8_t *raw = malloc(len + shift + 1);
        assert_non_null(raw);
        uint8_t *bits = raw + shift;
        uint64_t sparse = random_below(3);
        for (size_t i = 0; i < len; i++) {
            bits[i] = sparse ? (uint8_t)(random_word() & random_word()) : 0xff;
        }
        if (groups > 3 && sparse == 1) memset(bits + 32 * random_below(groups), 0, 4);
        umbeli_lane_counts want = lanes_one_by_one(bits, groups);
        const uint32_t cpus[] = {0, UINT32_MAX};
        for (int i = 0; i < 2; i++) {
            umbeli_cpu_limit(cpus[i]);
            umbeli_lane_counts got = umbeli_bits_count_lanes(bits, groups);
            assert_true(got.set == want.set && got.products == want.products);
            assert_true(umbeli_bits_count(bits, len) == want.set);
            if (len) assert_true(umbeli_bits_count_first(bits, 8 * len - 8) <= want.set);
        }
        free(raw);
    }
}

/* Lines as well, whatever their lanes. */
static void test_lines_on_every_cpu(void **state) {
    (void)state;
    enum { LINES = 5 };
    uint8_t bits[LINES * UMBELI_COUNTED_LINE];
    for (size_t i = 0; i < sizeof bits; i++) bits[i] = (uint8_t)(random_word() | random_word());
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        uint64_t set = 0;
        double products = 3;
        for (size_t lane = 0; lane < LINES * lanes; lane += lanes) {
            double product = 1;
            for (size_t i = lane; i < lane + lanes; i++) {
                size_t len = UMBELI_COUNTED_LINE / lanes;
                uint64_t count = umbeli_bits_count(bits + len * i, len);
                set += count;
                product *= (double)count;
            }
            products += product;
        }
        const uint32_t cpus[] = {0, UINT32_MAX};
        for (int i = 0; i < 2; i++) {
            double sum = 3;
            umbeli_cpu_limit(cpus[i]);
            assert_true(umbeli_bits_count_lines(bits, LINES, lanes, &sum) == set);
            assert_true(fabs(sum - products) <= 1e-14 * products);
        }
    }
}

static void test_none(void **state) {
    (void)state;
    for (size_t len = 0; len <= 33; len++) {
        uint8_t *bits = calloc(1, len + 1);
        assert_non_null(bits);
        bits[len] = 0xff; /* after the end */
        assert_true(umbeli_bits_none(bits, len));
        for (size_t p = 0; p < 8 * len; p++) {
            umbeli_bit_set(bits, p);
            assert_false(umbeli_bits_none(bits, len));
            bits[p / 8] = 0;
        }
        free(bits);
    }
}

static void test_sizes(void **state) {
    (void)state;
    uint64_t out = 7;
    assert_false(umbeli_size_add(UINT64_MAX, 1, &out));
    assert_false(umbeli_size_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    assert_false(umbeli_size_round_up(UINT64_MAX - 2, 8, &out));
    assert_int_equal(out, 7);
    assert_true(umbeli_size_add(UINT64_MAX, 0, &out) && out == UINT64_MAX);
    assert_true(umbeli_size_mul(UINT64_MAX, 0, &out) && out == 0);
    assert_true(umbeli_size_mul(UINT32_MAX, UINT32_MAX, &out) &&
                out == UINT64_C(0xfffffffe00000001));
    assert_true(umbeli_size_round_up(4097, 4096, &out) && out == 8192);
    assert_true(umbeli_size_round_up(4096, 4096, &out) && out == 4096);
    assert_true(umbeli_ceil_div(UINT64_MAX, 2) == UINT64_C(1) << 63);
    assert_int_equal(umbeli_ceil_div(0, 8), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_and_stores),
        cmocka_unit_test(test_mul_high),
        cmocka_unit_test(test_mod),
        cmocka_unit_test(test_single_bits),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_counts_on_every_cpu),
        cmocka_unit_test(test_lines_on_every_cpu),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
