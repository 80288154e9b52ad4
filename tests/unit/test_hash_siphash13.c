/* SPDX-License-Identifier: MIT
 *
 * SipHash-1-3 against the values of OpenSSL
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/cpu.h"
#include "golden.h"
#include "hash/native_hash.h"
#include "random_keys.h"

static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void assert_words(const char *hex, const uint64_t *words, size_t n) {
    size_t len;
    uint8_t *want = golden_hex(hex, &len), got[16];
    assert_int_equal(len, 8 * n);
    for (size_t i = 0; i < n; i++) umbeli_store_le64(got + 8 * i, words[i]);
    assert_memory_equal(got, want, len);
    free(want);
}

static void values_of_openssl(void **state) {
    (void)state;
    umbeli_shape shape = {.hash = UMBEL_HASH_SIPHASH13, .secret = umbeli_secret_from(key)};
    golden_table t = golden_table_open("siphash/siphash13.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint64_t one = umbeli_siphash13(bytes, len, shape.secret), many = 0;
        umbeli_native_hashes(&shape, &(umbel_key){bytes, len}, 1, &many);
        umbeli_hash128 wide = umbeli_siphash13_128(bytes, len, shape.secret);
        assert_words(t.column[1], &one, 1);
        assert_words(t.column[1], &many, 1);
        assert_words(t.column[2], (uint64_t[]){wide.low, wide.high}, 2);
        free(bytes);
    }
    assert_int_equal(t.rows, 64);
    golden_table_close(&t);
}

/* Different seeds and secrets give different hashes, and different secrets different
 * fingerprints. */
static void everything_counts(void **state) {
    (void)state;
    umbeli_shape shape = {.hash = UMBEL_HASH_SIPHASH13, .secret = umbeli_secret_from(key)};
    uint64_t hash = umbeli_native_hash(&shape, "ada", 3);
    uint64_t print = umbeli_fingerprint(shape.secret);
    for (unsigned bit = 0; bit < 128; bit++) {
        umbeli_shape other = shape;
        other.secret.word[bit / 64] ^= UINT64_C(1) << (bit % 64);
        assert_int_not_equal(umbeli_native_hash(&other, "ada", 3), hash);
        assert_int_not_equal(umbeli_fingerprint(other.secret), print);
    }
    umbeli_shape seeded = shape;
    seeded.seed = 1;
    assert_int_not_equal(umbeli_native_hash(&seeded, "ada", 3), hash);
}

/* Keys in memory of exactly their size, so that overruns are detected. */
static umbel_key exact_key(size_t len) {
    uint8_t *bytes = len ? malloc(len) : NULL;
    if (len) assert_non_null(bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)random_word();
    return (umbel_key){bytes, len};
}

static size_t same_length(size_t i) {
    return i / 600 % 40;
}

static size_t odd_one(size_t i) {
    return i % 300 == 200 ? 100000 : i % 300 == 7 ? 0 : 16;
}

static size_t short_ones(size_t i) {
    (void)i;
    return (size_t)random_below(40);
}

static size_t any_length(size_t i) {
    (void)i;
    return (size_t)random_below(random_below(20) ? 300 : 3000);
}

/* Every kernel gives what hashing one by one gives, wherever a batch starts and ends. */
static void kernels_agree(void **state) {
    (void)state;
    enum { KEYS = 3000 };
    static umbel_key keys[KEYS];
    static uint64_t want[KEYS], got[KEYS + 1];
    size_t (*const lengths[])(size_t) = {same_length, odd_one, short_ones, any_length};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        umbeli_shape shape = {.hash = UMBEL_HASH_SIPHASH13, .seed = random_word()};
        shape.secret = (umbeli_secret){{random_word(), random_word()}};
        for (size_t i = 0; i < KEYS; i++) {
            keys[i] = exact_key(lengths[l](i));
            want[i] = umbeli_native_hash(&shape, keys[i].data, keys[i].len);
        }
        for (int round = 0; round < 60; round++) {
            size_t from = round ? (size_t)random_below(KEYS) : 0;
            size_t n = round < 30 ? (size_t)random_below(20) : KEYS;
            if (n > KEYS - from) n = KEYS - from;
            const umbeli_hasher *hasher = umbeli_native_hasher(&shape);
            got[n] = 77;
            hasher->many(&shape, keys + from, n, got);
            assert_memory_equal(got, want + from, n * sizeof *got);
            assert_int_equal(got[n], 77);
            umbeli_hasher_siphash13.many(&shape, keys + from, n, got);
            assert_memory_equal(got, want + from, n * sizeof *got);
        }
        for (size_t i = 0; i < KEYS; i++) free((void *)(uintptr_t)keys[i].data);
    }
}

/* The kernel is the one for this CPU; without that feature it is the generic one. */
static void kernel_is_chosen(void **state) {
    (void)state;
    const umbeli_shape keyed = {.hash = UMBEL_HASH_SIPHASH13}, plain = {.hash = UMBEL_HASH_XXH3};
    bool avx2 = umbeli_cpu() & UMBELI_CPU_AVX2;
    assert_int_equal(umbeli_native_hasher(&keyed) != &umbeli_hasher_siphash13, avx2);
    assert_int_equal(umbeli_native_hasher(&plain) != &umbeli_hasher_xxh3, avx2);
    umbeli_cpu_limit(0);
    assert_ptr_equal(umbeli_native_hasher(&keyed), &umbeli_hasher_siphash13);
    assert_ptr_equal(umbeli_native_hasher(&plain), &umbeli_hasher_xxh3);
    umbeli_cpu_limit(UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_openssl),
        cmocka_unit_test(everything_counts),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(kernel_is_chosen),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
