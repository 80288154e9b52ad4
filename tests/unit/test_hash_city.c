/* SPDX-License-Identifier: MIT
 *
 * CityHash 1.0.2 against ClickHouse's own answers
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "hash/foreign_hash.h"

static void city64_is_clickhouses(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/cityhash64.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[1], &len);
        assert_int_equal(len, strtoull(t.column[0], NULL, 10));
        assert_int_equal(umbeli_city64(bytes, len), strtoull(t.column[2], NULL, 10));
        free(bytes);
    }
    assert_int_equal(t.rows, 135);
    golden_table_close(&t);
}

static void seeded_city64(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/cityhash64_withseed.tsv");
    while (golden_table_next(&t)) {
        uint64_t seed = strtoull(t.column[3], NULL, 10);
        uint64_t h = umbeli_city64(t.column[0], strlen(t.column[0]));
        assert_int_equal(umbeli_city64_reseed(h, seed), strtoull(t.column[4], NULL, 10));
        assert_int_equal(umbeli_city64_reseed(h, 845897321u * seed + 217728422u),
                         strtoull(t.column[5], NULL, 10));
    }
    assert_int_equal(t.rows, 30);
    golden_table_close(&t);
}

static void city128_is_the_block_checksum(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/city128_blocks.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        umbeli_hash128 h = umbeli_city128(bytes, len);
        assert_int_equal(h.low, strtoull(t.column[1], NULL, 10));
        assert_int_equal(h.high, strtoull(t.column[2], NULL, 10));
        free(bytes);
    }
    assert_int_equal(t.rows, 20);
    golden_table_close(&t);
}

static void fmix64_is_the_integer_hash(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/inthash64.tsv");
    while (golden_table_next(&t)) {
        assert_int_equal(umbeli_fmix64(strtoull(t.column[0], NULL, 10)),
                         strtoull(t.column[1], NULL, 10));
    }
    assert_int_equal(t.rows, 9);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(city64_is_clickhouses),
        cmocka_unit_test(seeded_city64),
        cmocka_unit_test(city128_is_the_block_checksum),
        cmocka_unit_test(fmix64_is_the_integer_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
