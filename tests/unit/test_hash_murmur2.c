/* SPDX-License-Identifier: MIT
 *
 * MurmurHash64A in the two steps of RedisBloom: the second seeded by the first
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

static void both_hashes_are_redisblooms(void **state) {
    (void)state;
    golden_table t = golden_table_open("redisbloom/hash.tsv");
    while (golden_table_next(&t)) {
        size_t len = strlen(t.column[0]);
        uint64_t a = umbeli_murmur2_64a(t.column[0], len, 0xc6a4a7935bd1e995);
        assert_int_equal(a, strtoull(t.column[1], NULL, 10));
        assert_int_equal(umbeli_murmur2_64a(t.column[0], len, a), strtoull(t.column[2], NULL, 10));
    }
    assert_int_equal(t.rows, 6);
    golden_table_close(&t);
}

static void no_bytes_need_no_memory(void **state) {
    (void)state;
    assert_int_equal(umbeli_murmur2_64a(NULL, 0, 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_hashes_are_redisblooms),
        cmocka_unit_test(no_bytes_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
