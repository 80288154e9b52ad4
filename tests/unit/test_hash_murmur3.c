/* SPDX-License-Identifier: MIT
 *
 * MurmurHash3_x64_128 against Guava's Hashing.murmur3_128()
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/bits.h"
#include "golden.h"
#include "hash/foreign_hash.h"

static void murmur3_is_guavas(void **state) {
    (void)state;
    golden_table t = golden_table_open("guava/murmur3_128.tsv");
    while (golden_table_next(&t)) {
        size_t len, want_len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint8_t *want = golden_hex(t.column[1], &want_len);
        uint8_t got[16];
        umbeli_hash128 h = umbeli_murmur3_128(bytes, len, 0);
        umbeli_store_le64(got, h.low);
        umbeli_store_le64(got + 8, h.high);
        assert_int_equal(want_len, 16);
        assert_memory_equal(got, want, 16);
        free(bytes);
        free(want);
    }
    assert_int_equal(t.rows, 41);
    golden_table_close(&t);
}

static void no_bytes_need_no_memory(void **state) {
    (void)state;
    umbeli_hash128 h = umbeli_murmur3_128(NULL, 0, 0);
    assert_int_equal(h.low, 0);
    assert_int_equal(h.high, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(murmur3_is_guavas),
        cmocka_unit_test(no_bytes_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
