/* SPDX-License-Identifier: MIT
 *
 * FNV-1 against the vectors of its authors (Noll, draft-eastlake-fnv)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hash/foreign_hash.h"

static void hash_is_fnv1_not_fnv1a(void **state) {
    (void)state;
    assert_int_equal(umbeli_fnv1_64(NULL, 0), 0xcbf29ce484222325);
    assert_int_equal(umbeli_fnv1_64("a", 1), 0xaf63bd4c8601b7be);
    assert_int_equal(umbeli_fnv1_64("b", 1), 0xaf63bd4c8601b7bd);
    assert_int_equal(umbeli_fnv1_64("foobar", 6), 0x340d8765a4dda9c2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_fnv1_not_fnv1a),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
