/* SPDX-License-Identifier: MIT
 *
 * test_attack_collisions.c - keys that other systems' hashes cannot tell apart, by arithmetic alone
 *
 * No search and no filter is needed: add one of 64 such keys to any filter of that format, whatever
 * its size and rate, and it contains the other 63 as well.  After Aumasson, Bernstein and Bosslet
 * (2012) for Murmur's hashes; the others follow in the same way from invertible steps.
 */
#include "any_filter.h"
#include "cases.h"

#include <string.h>

#include "core/bits.h"
#include "hash/foreign_hash.h"
#include "random_keys.h"
#include "umbel_foreign.h"

enum { KEYS = 64, PAIRS = 6, ROOM = 32 * PAIRS };

typedef struct crafted {
    size_t len;
    uint8_t bytes[KEYS][ROOM];
} crafted;

static const uint64_t top = UINT64_C(1) << 63;

/* The inverse of an odd number modulo 2^64 (Newton: each step doubles the correct bits). */
static uint64_t inverse(uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; i++) x *= 2 - odd * x;
    return x;
}

/* MurmurHash64A, any seed: h = (h ^ mix(word)) * m.  A difference in the top bit stays there when
 * multiplied, and the next word cancels it.  So each pair of words has two forms. */
static const uint64_t murmur2_factor = UINT64_C(0xc6a4a7935bd1e995);

static uint64_t murmur2_mix(uint64_t word) {
    word *= murmur2_factor;
    return (word ^ word >> 47) * murmur2_factor;
}

static uint64_t murmur2_unmix(uint64_t word) {
    uint64_t back = inverse(murmur2_factor);
    word *= back;
    return (word ^ word >> 47) * back;
}

static void craft_murmur2(crafted *c) {
    c->len = 16 * PAIRS;
    for (size_t pair = 0; pair < 2 * PAIRS; pair++) {
        uint64_t plain = random_word(), flipped = murmur2_unmix(murmur2_mix(plain) ^ top);
        for (size_t i = 0; i < KEYS; i++) {
            umbeli_store_le64(c->bytes[i] + 8 * pair, i >> pair / 2 & 1 ? flipped : plain);
        }
    }
}

/* Murmur3-128, any seed: bit 36 of the first lane becomes the top bit, and bit 32 of the second
 * lane cancels what the first adds to it; the next block cancels the top bit of the first lane. */
static const uint64_t murmur3_a = UINT64_C(0x87c37b91114253d5),
                      murmur3_b = UINT64_C(0x4cf5ad432745937f);

static uint64_t murmur3_differ(uint64_t word, uint64_t a, uint64_t b, unsigned turn, unsigned bit) {
    uint64_t mixed = umbeli_rotl64(word * a, turn) * b ^ UINT64_C(1) << bit;
    return umbeli_rotl64(mixed * inverse(b), 64 - turn) * inverse(a);
}

static void craft_murmur3(crafted *c) {
    c->len = 32 * PAIRS;
    for (size_t pair = 0; pair < PAIRS; pair++) {
        uint64_t plain[4], flipped[4];
        for (size_t i = 0; i < 4; i++) plain[i] = flipped[i] = random_word();
        flipped[0] = murmur3_differ(plain[0], murmur3_a, murmur3_b, 31, 36);
        flipped[1] = murmur3_differ(plain[1], murmur3_b, murmur3_a, 33, 32);
        flipped[2] = murmur3_differ(plain[2], murmur3_a, murmur3_b, 31, 63);
        for (size_t i = 0; i < KEYS; i++) {
            for (size_t w = 0; w < 4; w++) {
                umbeli_store_le64(c->bytes[i] + 32 * pair + 8 * w,
                                  i >> pair & 1 ? flipped[w] : plain[w]);
            }
        }
    }
}

/* LevelDB's: any first word, and a second that leads to the same state. */
static void craft_leveldb(crafted *c) {
    uint32_t first = (uint32_t)random_word(), second = (uint32_t)random_word(), state = 0;
    c->len = 8;
    for (uint32_t i = 0; i < KEYS; i++) {
        uint32_t h = UINT32_C(0xbc9f1d34) ^ 8 * UINT32_C(0xc6a4a793);
        h = (h + first + i) * UINT32_C(0xc6a4a793);
        h ^= h >> 16;
        if (i == 0) state = h + second;
        umbeli_store_le32(c->bytes[i], first + i);
        umbeli_store_le32(c->bytes[i] + 4, state - h);
    }
}

/* CRC-32 is linear: keys that differ by a multiple of its polynomial have the same sum. */
static void craft_crc32(crafted *c) {
    static const uint8_t polynomial[5] = {0x41, 0x06, 0x71, 0xdb, 0x01};
    uint64_t start = random_word();
    c->len = PAIRS + 4;
    for (size_t i = 0; i < KEYS; i++) {
        memset(c->bytes[i], 0, c->len);
        memcpy(c->bytes[i], &start, sizeof start);
        for (size_t at = 0; at < PAIRS; at++) {
            for (size_t k = 0; k < 5 && i >> at & 1; k++) c->bytes[i][at + k] ^= polynomial[k];
        }
    }
}

/* XXH64 with a known seed, 0 in Parquet: in each of its four lanes any first word, and a second
 * that leads to the same state. */
static void craft_xxh64(crafted *c) {
    const uint64_t a = UINT64_C(0x9e3779b185ebca87), b = UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t words[8], state = 0;
    c->len = 64;
    for (size_t w = 0; w < 8; w++) words[w] = random_word();
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t lane = umbeli_rotl64(a + b + (words[0] + i) * b, 31) * a;
        if (i == 0) state = lane + words[4] * b;
        for (size_t w = 0; w < 8; w++) umbeli_store_le64(c->bytes[i] + 8 * w, words[w]);
        umbeli_store_le64(c->bytes[i], words[0] + i);
        umbeli_store_le64(c->bytes[i] + 32, (state - lane) * inverse(b));
    }
}

static void assert_all_different(const crafted *c) {
    for (size_t i = 0; i < KEYS; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(memcmp(c->bytes[i], c->bytes[k], c->len), 0);
        }
    }
}

/* Adds the first and looks up the others. */
static int found_of(any_params params, const crafted *c) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    int found = 0;
    params.native.capacity = params.foreign.capacity = 1000000;
    if (any_create(&params, NULL, &f, &diag)) fail_msg("%s", sentence(&diag));
    assert_ok(umbel_add(f, c->bytes[0], c->len, NULL, NULL));
    for (size_t i = 1; i < KEYS; i++) {
        bool fresh, in = umbel_contains(f, c->bytes[i], c->len);
        found += in;
        assert_ok(
            umbel_add(f, c->bytes[i], c->len, &fresh, NULL)); /* a new key that nobody gets in */
        assert_int_equal(fresh, !in);
    }
    umbel_free(f);
    return found;
}

static const struct {
    const char *name;
    void (*craft)(crafted *c);
    any_params params;
} formats[] = {
    {"redisbloom", craft_murmur2, {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .fpr = 1e-7}}},
    {"guava", craft_murmur3, {.foreign = {.format = UMBEL_FMT_GUAVA, .fpr = 1e-7}}},
    {"leveldb", craft_leveldb, {.foreign = {.format = UMBEL_FMT_LEVELDB, .bits_per_key = 40}}},
    {"gocrc32", craft_crc32, {.foreign = {.format = UMBEL_FMT_GOCRC32, .fpr = 1e-7}}},
    {"parquet", craft_xxh64, {.foreign = {.format = UMBEL_FMT_PARQUET, .fpr = 1e-3}}},
};

static void other_systems(void **state) {
    (void)state;
    static const uint8_t secret[17] = "nobody knows it!";
    static crafted c;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        formats[i].craft(&c);
        assert_all_different(&c);
        int found = found_of(formats[i].params, &c);
        print_message("# %s: one key of %zu bytes added, %d of %d others are in\n", formats[i].name,
                      c.len, found, KEYS - 1);
        assert_int_equal(found, KEYS - 1);
        any_params keyed = {.native = {.kind = UMBEL_KIND_BLOCKED, .fpr = 1e-5}, .secret = secret};
        assert_int_equal(found_of(keyed, &c), 0);
        keyed.native.kind = UMBEL_KIND_CLASSIC;
        assert_int_equal(found_of(keyed, &c), 0);
    }
}

/* A hidden seed would not have helped: these collide under every seed. */
static void any_seed(void **state) {
    (void)state;
    static crafted two, three;
    craft_murmur2(&two);
    craft_murmur3(&three);
    for (int round = 0; round < 1000; round++) {
        uint64_t seed = random_word();
        uint64_t first = umbeli_murmur2_64a(two.bytes[0], two.len, seed);
        umbeli_hash128 wide = umbeli_murmur3_128(three.bytes[0], three.len, (uint32_t)seed);
        for (size_t i = 1; i < KEYS; i++) {
            umbeli_hash128 h = umbeli_murmur3_128(three.bytes[i], three.len, (uint32_t)seed);
            assert_true(umbeli_murmur2_64a(two.bytes[i], two.len, seed) == first);
            assert_true(h.low == wide.low && h.high == wide.high);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_systems),
        cmocka_unit_test(any_seed),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
