/* SPDX-License-Identifier: MIT
 *
 * CRC-32 against its check value and against Go's hash/crc32
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

static void check_value(void **state) {
    (void)state;
    assert_int_equal(umbeli_crc32("123456789", 9), 0xcbf43926);
    assert_int_equal(umbeli_crc32(NULL, 0), 0);
}

static void hash_is_gos(void **state) {
    (void)state;
    golden_table t = golden_table_open("gocrc32/hash_int64.tsv");
    while (golden_table_next(&t)) {
        uint32_t got = umbeli_crc32(t.column[1], strlen(t.column[1]));
        assert_int_equal(got, strtoull(t.column[2], NULL, 10));
    }
    assert_true(t.rows > 5);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_value),
        cmocka_unit_test(hash_is_gos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
