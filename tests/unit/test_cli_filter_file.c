/* SPDX-License-Identifier: MIT
 *
 * test_cli_filter_file.c - filters that the command opens, and that nothing of them stays
 */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "filter/filter_file.h"

const struct cli_command cli_umbel = {.name = "umbel"}; /* else in main.c */

static const char name[] = "tests/golden/dcso/a.bloom";

static unsigned mappings(void) {
    char line[1024];
    unsigned n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) n += strstr(line, name) != NULL;
    fclose(maps);
    return n;
}

/* Closed in another order than they were opened in. */
static void test_close(void **state) {
    (void)state;
    cli_settings s = {.format = "dcso"};
    umbel_filter *f[3];
    for (unsigned i = 0; i < 3; i++) f[i] = cli_filter_open(name, &s);
    assert_int_equal(mappings(), 3);
    umbel_free(f[1]);
    assert_true(umbel_contains(f[0], "key1", 4) && umbel_contains(f[2], "key1", 4));
    umbel_free(f[0]);
    assert_int_equal(mappings(), 1);
    assert_true(umbel_contains(f[2], "key1", 4));
    umbel_free(f[2]);
    assert_int_equal(mappings(), 0);
}

static void test_loaded_filters_borrow_nothing(void **state) {
    (void)state;
    cli_settings s = {.format = "dcso"};
    umbel_filter *f = cli_filter_load(name, &s);
    assert_int_equal(mappings(), 0);
    assert_true(umbel_contains(f, "key1", 4));
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_loaded_filters_borrow_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
