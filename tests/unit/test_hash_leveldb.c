/* SPDX-License-Identifier: MIT
 *
 * LevelDB's hash against LevelDB 1.23 and against the Go port of corekv
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

static void compare(const char *path, int base, size_t rows) {
    golden_table t = golden_table_open(path);
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *key = golden_hex(t.column[0], &len);
        assert_int_equal(umbeli_leveldb_hash(key, len), strtoul(t.column[1], NULL, base));
        free(key);
    }
    assert_int_equal(t.rows, rows);
    golden_table_close(&t);
}

static void hash_is_leveldbs(void **state) {
    (void)state;
    compare("leveldb/bloomhash.tsv", 16, 18);
}

static void hash_is_corekvs(void **state) {
    (void)state;
    compare("corekv/hash.tsv", 10, 9);
}

static void no_bytes_need_no_memory(void **state) {
    (void)state;
    assert_int_equal(umbeli_leveldb_hash(NULL, 0), 0xbc9f1d34);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_leveldbs),
        cmocka_unit_test(hash_is_corekvs),
        cmocka_unit_test(no_bytes_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
