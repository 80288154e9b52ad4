/* SPDX-License-Identifier: MIT
 *
 * test_hash_kernels.c - batches of keys, hashed several at a time, get the hashes of single keys
 */
#include <stdlib.h>

#include "cases.h"
#include "core/cpu.h"
#include "hash/native_hash.h"
#include "random_keys.h"

enum { KEYS = 3000 };

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

/* What XXH3 hashes four at a time, up to and just beyond both ends of its range. */
static size_t texts(size_t i) {
    return 16 + (size_t)(i % 500 < 250 ? random_below(114) : i / 500 * 20 + i % 4);
}

static size_t numbers(size_t i) {
    return i % 97 == 5 ? 7 : 8;
}

static size_t any_length(size_t i) {
    (void)i;
    return (size_t)random_below(random_below(20) ? 300 : 3000);
}

static void assert_many(const umbeli_hasher *hasher, const umbeli_shape *shape,
                        const umbel_key *keys, size_t n, const uint64_t *want) {
    static uint64_t got[KEYS + 1];
    got[n] = 77;
    hasher->many(shape, keys, n, got);
    assert_memory_equal(got, want, n * sizeof *got);
    assert_int_equal(got[n], 77);
}

/* Wherever a batch starts and ends. */
static void kernels_agree(uint32_t hash, uint64_t seed, size_t (*length)(size_t)) {
    static umbel_key keys[KEYS];
    static uint64_t want[KEYS];
    umbeli_shape shape = {.hash = hash, .seed = seed};
    if (umbeli_is_keyed(&shape)) shape.secret = (umbeli_secret){{random_word(), random_word()}};
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = exact_key(length(i));
        want[i] = umbeli_native_hash(&shape, keys[i].data, keys[i].len);
    }
    for (int round = 0; round < 60; round++) {
        size_t from = round ? (size_t)random_below(KEYS) : 0;
        size_t n = round < 30 ? (size_t)random_below(20) : KEYS;
        if (n > KEYS - from) n = KEYS - from;
        assert_many(umbeli_native_hasher(&shape), &shape, keys + from, n, want + from);
        umbeli_cpu_limit(0);
        assert_many(umbeli_native_hasher(&shape), &shape, keys + from, n, want + from);
        umbeli_cpu_limit(UINT32_MAX);
    }
    for (size_t i = 0; i < KEYS; i++) free((void *)(uintptr_t)keys[i].data);
}

static void many_are_as_one_by_one(void **state) {
    (void)state;
    size_t (*const lengths[])(size_t) = {same_length, odd_one, short_ones,
                                         texts,       numbers, any_length};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        kernels_agree(UMBEL_HASH_SIPHASH13, random_word(), lengths[l]);
        kernels_agree(UMBEL_HASH_XXH3, random_word(), lengths[l]);
        kernels_agree(UMBEL_HASH_XXH3, 0, lengths[l]);
        kernels_agree(UMBEL_HASH_XXH3, UINT64_C(1) << 63, lengths[l]);
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
        cmocka_unit_test(many_are_as_one_by_one),
        cmocka_unit_test(kernel_is_chosen),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
