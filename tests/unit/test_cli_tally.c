/* SPDX-License-Identifier: MIT
 *
 * test_cli_tally.c - counts in sentences, and intervals
 */

#include "base/tally.h"
#include "cases.h"

static void nouns(void **state) {
    (void)state;
    char out[UMBEL_QUANTITY];
    assert_string_equal(cli_count_noun(0, "key", out), "0 keys");
    assert_string_equal(cli_count_noun(1, "key", out), "1 key");
    assert_string_equal(cli_count_noun(UINT64_MAX, "line", out),
                        "18,446,744,073,709,551,615 lines");
}

/* Against published values: Newcombe 1998, table I, Wilson's score without correction. */
static void wilson(void **state) {
    (void)state;
    static const struct {
        uint64_t hits, trials;
        double low, high;
    } cases[] = {{81, 263, 0.2553, 0.3662},
                 {15, 148, 0.0624, 0.1605},
                 {0, 20, 0, 0.1611},
                 {1, 29, 0.0061, 0.1718}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_interval w = cli_wilson(cases[i].hits, cases[i].trials, 1.959964);
        assert_true(w.low > cases[i].low - 6e-5 && w.low < cases[i].low + 6e-5);
        assert_true(w.high > cases[i].high - 6e-5 && w.high < cases[i].high + 6e-5);
    }
    cli_interval none = cli_wilson(0, 0, 1.96);
    assert_true(none.low == 0 && none.high == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nouns),
        cmocka_unit_test(wilson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
