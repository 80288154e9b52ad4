/* SPDX-License-Identifier: MIT
 *
 * SipHash-1-3 against the values of OpenSSL
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "golden.h"
#include "hash/native_hash.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_openssl),
        cmocka_unit_test(everything_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
