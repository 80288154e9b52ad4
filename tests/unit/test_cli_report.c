/* SPDX-License-Identifier: MIT
 *
 * test_cli_report.c - numbers and texts in JSON
 */
#include <math.h>

#include "cases.h"
#include "report/report.h"

static void counts_beyond_63_bits_are_text(void **state) {
    (void)state;
    static const struct {
        uint64_t count;
        const char *text; /* NULL: a number */
    } cases[] = {{0, NULL},
                 {UINT32_MAX, NULL},
                 {INT64_MAX, NULL},
                 {(uint64_t)INT64_MAX + 1, "9223372036854775808"},
                 {UINT64_MAX, "18446744073709551615"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = cli_json_count(cases[i].count);
        assert_non_null(value);
        if (cases[i].text) {
            assert_true(json_is_string(value));
            assert_string_equal(json_string_value(value), cases[i].text);
        } else {
            assert_true(json_is_integer(value));
            assert_int_equal(json_integer_value(value), cases[i].count);
        }
        json_decref(value);
    }
}

static void what_json_cannot_say(void **state) {
    (void)state;
    static const double none[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 3; i++) {
        json_t *value = cli_json_real(none[i]);
        assert_true(json_is_null(value));
        json_decref(value);
    }
    json_t *half = cli_json_real(0.5), *name = cli_json_text("\xc3\xa4"),
           *odd = cli_json_text("\xff");
    assert_true(json_real_value(half) == 0.5);
    assert_string_equal(json_string_value(name), "\xc3\xa4");
    assert_string_equal(json_string_value(json_object_get(odd, "bytes")), "/w==");
    json_decref(half);
    json_decref(name);
    json_decref(odd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_beyond_63_bits_are_text),
        cmocka_unit_test(what_json_cannot_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
