/* SPDX-License-Identifier: MIT
 *
 * XXH64 against published values and those of a Parquet writer
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "golden.h"
#include "hash/foreign_hash.h"

static void xxh64_with_seed_0(void **state) {
    (void)state;
    golden_table t = golden_table_open("parquet/xxh64.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        uint64_t want = strtoull(t.column[1], NULL, 16), hash;
        assert_int_equal(umbeli_xxh64(bytes, len, 0), want);
        umbeli_hasher_xxh64.many(&(umbeli_shape){0}, &(umbel_key){bytes, len}, 1, &hash);
        assert_int_equal(hash, want);
        free(bytes);
    }
    assert_int_equal(t.rows, 70);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh64_with_seed_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
