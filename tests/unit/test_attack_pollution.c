/* SPDX-License-Identifier: MIT
 *
 * test_attack_pollution.c - an attacker who may add keys chooses those that set only fresh bits
 *
 * Honest keys share bits, and the plan counts on that.  Chosen ones do not, so the filter is fuller
 * and its rate above the promise long before it reaches its capacity.  The attacker learns from
 * docs/formats/native.md where a key's bits are; the attack needs the seed, and a filter without a
 * secret.
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "hash/xxh.h"
#include "random_keys.h"

enum { PLANNED = 4000, ASKED = 200000, MAX_HASHES = 32 };

static const double promise = 0.01;
static const uint64_t seed = 99;
static const uint8_t secret[17] = "nobody knows it!";

static void blocked_bits(const umbel_info *info, uint64_t key, uint64_t *pos) {
    static const uint32_t salt[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                     0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    uint64_t h = umbeli_xxh3_64(&key, sizeof key, seed);
    uint64_t block = ((h >> 32) * (info->bits / 256)) >> 32;
    for (uint32_t i = 0; i < 8; i++) {
        pos[i] = 256 * block + 32 * i + (((uint32_t)h * salt[i]) >> 27);
    }
}

static void classic_bits(const umbel_info *info, uint64_t key, uint64_t *pos) {
    umbeli_hash128 h = umbeli_xxh3_128(&key, sizeof key, seed);
    uint64_t x = h.low, step = h.high | 1;
    for (uint32_t i = 0; i < info->hashes; i++) {
        pos[i] = umbeli_mul_high(x, info->bits);
        x = x * UINT64_C(0x9e3779b97f4a7c15) + step;
    }
}

static const struct {
    umbel_kind kind;
    void (*bits)(const umbel_info *info, uint64_t key, uint64_t *pos);
} ways[] = {{UMBEL_KIND_BLOCKED, blocked_bits}, {UMBEL_KIND_CLASSIC, classic_bits}};

static umbel_filter *empty(umbel_kind kind, const uint8_t *key, umbel_info *info) {
    umbel_filter *f = NULL;
    umbel_params params = {.kind = kind, .capacity = PLANNED, .fpr = promise, .seed = seed};
    assert_ok(umbel_create(&params, &(umbel_opts){.secret = key}, &f, NULL));
    umbel_describe(f, info);
    assert_true(info->hashes <= MAX_HASHES);
    return f;
}

/* All or none: a key is taken if all its bits are fresh and distinct. */
static bool claim(uint8_t *taken, const uint64_t *pos, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (umbeli_bit_test(taken, pos[i])) {
            while (i-- > 0) taken[pos[i] / 8] &= (uint8_t) ~(1u << pos[i] % 8);
            return false;
        }
        umbeli_bit_set(taken, pos[i]);
    }
    return true;
}

/* The attack, computed without the filter; returns the number of keys tried. */
static uint64_t choose(size_t way, const umbel_info *info, uint64_t *keys) {
    uint8_t *taken = calloc((size_t)info->bytes, 1);
    assert_non_null(taken);
    uint64_t next = 0, pos[MAX_HASHES];
    for (size_t n = 0; n < PLANNED; next++) {
        ways[way].bits(info, next, pos);
        if (claim(taken, pos, info->hashes)) keys[n++] = next;
    }
    free(taken);
    return next;
}

static double observed(const umbel_filter *f) {
    uint64_t seen = 0;
    for (uint64_t i = 0; i < ASKED; i++) {
        uint64_t key = random_word() | UINT64_C(1) << 63; /* not one of the attacker's */
        seen += umbel_contains(f, &key, sizeof key);
    }
    return (double)seen / ASKED;
}

/* Adds the attacker's keys; returns how many were in when the live rate passed the promise, or
 * 0. */
static uint64_t add_all(umbel_filter *f, const uint64_t *keys) {
    umbel_measurement now;
    uint64_t broken = 0;
    for (uint64_t i = 0; i < PLANNED; i++) {
        assert_ok(umbel_add(f, &keys[i], sizeof keys[i], NULL, NULL));
        if (broken || i % 50) continue;
        umbel_measure(f, &now);
        if (now.rate > promise) broken = i;
    }
    return broken;
}

static void fresh_bits(void **state) {
    (void)state;
    static uint64_t keys[PLANNED];
    double max = promise + 5 * sqrt(promise * (1 - promise) / ASKED);
    for (size_t way = 0; way < 2; way++) {
        umbel_info info;
        umbel_measurement after;
        umbel_filter *f = empty(ways[way].kind, NULL, &info);
        uint64_t tried = choose(way, &info, keys), broken = add_all(f, keys);
        double rate = observed(f);
        umbel_measure(f, &after);
        print_message("# %s: %.0f keys tried for each; promise broken after %.0f of %d keys, then "
                      "%.1f times as many false positives\n",
                      umbel_kind_name(ways[way].kind), (double)tried / PLANNED, (double)broken,
                      PLANNED, rate / promise);
        /* The attack was exact: no bit was set twice. */
        assert_int_equal(after.bits_set, (uint64_t)info.hashes * PLANNED);
        assert_true(rate > 5 * promise);
        assert_true(broken > 0);
        assert_true(broken < PLANNED * 8 / 10);
        umbel_free(f);

        f = empty(ways[way].kind, secret, &info);
        broken = add_all(f, keys);
        rate = observed(f);
        umbel_measure(f, &after);
        print_message("#   under a key: rate %g, live %g, promised %g\n", rate, after.rate,
                      promise);
        assert_int_equal(broken, 0);
        assert_true(rate <= max && after.rate <= promise);
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fresh_bits)};
    return cmocka_run_group_tests(tests, random_start, NULL);
}
