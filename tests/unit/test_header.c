/* SPDX-License-Identifier: MIT
 *
 * test_header.c - what the headers say about themselves; layouts are in layout.txt
 */
#include "cases.h"

#include "umbel_foreign.h"

/* Enums are passed and kept as ints. */
_Static_assert(sizeof(umbel_err) == sizeof(int), "umbel_err");
_Static_assert(sizeof(umbel_kind) == sizeof(int), "umbel_kind");
_Static_assert(sizeof(umbel_format) == sizeof(int), "umbel_format");
_Static_assert(sizeof(umbel_type) == sizeof(int), "umbel_type");
_Static_assert(sizeof(umbel_verdict) == sizeof(int), "umbel_verdict");

static void test_version(void **state) {
    (void)state;
    assert_int_equal(UMBEL_VERSION_NUMBER,
                     10000 * UMBEL_VERSION_MAJOR + 100 * UMBEL_VERSION_MINOR + UMBEL_VERSION_PATCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_version)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
