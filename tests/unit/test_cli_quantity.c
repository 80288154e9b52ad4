/* SPDX-License-Identifier: MIT
 *
 * test_cli_quantity.c - counts, sizes and rates, parsed and formatted; intervals
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/quantity.h"

static void counts(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"7", 7},
                {"2e9", 2000000000},
                {"2E+9", 2000000000},
                {"1.5k", 1500},
                {"0.1M", 100000},
                {"2G", 2000000000},
                {"1,000,000", 1000000},
                {"12.3 M", 12300000},
                {"18446744073709551615", UINT64_MAX},
                {"1e19", UINT64_C(10000000000000000000)}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t x = 99;
        assert_true(cli_parse_count(good[i].text, &x));
        assert_int_equal(x, good[i].value);
    }
    static const char *const bad[] = {"",     "-1",     "+1",   " 1",       "1 ",
                                      "abc",  "1.5",    ".5",   "1e",       "0x1",
                                      "nan",  "inf",    "1kB",  "1KiB",     "1e30",
                                      "1,00", "1,0000", ",100", "1000,000", "1..2",
                                      "1kk",  "k",      "1e-3", "2e9x",     "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t x = 99;
        assert_false(cli_parse_count(bad[i], &x));
        assert_int_equal(x, 99);
    }
}

static void sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"500MiB", UINT64_C(500) << 20},
                {"500M", UINT64_C(500) << 20},
                {"500MB", 500000000},
                {"10mb", 10000000},
                {"10mib", UINT64_C(10) << 20},
                {"2e9", 2000000000},
                {"1.5GiB", UINT64_C(3) << 29},
                {"1 KiB", 1024},
                {"12B", 12},
                {"32 bytes", 32},
                {"1 byte", 1},
                {"11.4MiB", 11953766},
                {".5GiB", UINT64_C(1) << 29},
                {"2T", UINT64_C(2) << 40}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t x = 0;
        assert_true(cli_parse_size(good[i].text, &x));
        assert_int_equal(x, good[i].value);
    }
    static const char *const bad[] = {"", "M", "1X", "1MiBs", "-1M", "1Mi", "99999999T"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t x = 99;
        assert_false(cli_parse_size(bad[i], &x));
        assert_int_equal(x, 99);
    }
}

static void rates(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1%", 0.01},     {"0.01", 0.01}, {"1/1000", 0.001},  {"1e-6", 1e-6},
                {"99.9%", 0.999}, {"3/4", 0.75},  {"0.5e-3%", 0.5e-5}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double x = 0;
        assert_true(cli_parse_rate(good[i].text, &x));
        assert_true(x > good[i].value * (1 - 1e-12) && x < good[i].value * (1 + 1e-12));
    }
    static const char *const bad[] = {"",  "0",   "1",   "100%", "150%", "-1%",
                                      "2", "1/0", "1/",  "/10",  "0/5",  "5/4",
                                      "x", "1%%", "nan", "inf",  "1e-6x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double x = 9;
        assert_false(cli_parse_rate(bad[i], &x));
        assert_true(x == 9);
    }
}

static void texts(void **state) {
    (void)state;
    char out[CLI_QUANTITY];
    assert_string_equal(cli_count_text(0, out), "0");
    assert_string_equal(cli_count_text(999, out), "999");
    assert_string_equal(cli_count_text(1000, out), "1,000");
    assert_string_equal(cli_count_text(UINT64_MAX, out), "18,446,744,073,709,551,615");
    assert_string_equal(cli_count_noun(0, "key", out), "0 keys");
    assert_string_equal(cli_count_noun(1, "key", out), "1 key");
    assert_string_equal(cli_count_noun(UINT64_MAX, "line", out),
                        "18,446,744,073,709,551,615 lines");
    assert_string_equal(cli_size_text(1, out), "1 byte");
    assert_string_equal(cli_size_text(1000, out), "1000 bytes");
    assert_string_equal(cli_size_text(UINT64_C(500) << 20, out), "500 MiB");
    assert_string_equal(cli_size_text(UINT64_C(2396264594), out), "2.23 GiB");
    assert_string_equal(cli_size_text(UINT64_MAX, out), "16 EiB");
    assert_string_equal(cli_rate_text(0, out), "0%");
    assert_string_equal(cli_rate_text(0.01, out), "1%");
    assert_string_equal(cli_rate_text(0.2337, out), "23.4%");
    assert_string_equal(cli_rate_text(0.009987, out), "0.999%");
    assert_string_equal(cli_rate_text(0.00001, out), "0.001%");
    assert_string_equal(cli_rate_text(1e-6, out), "1 in 1,000,000");
    assert_string_equal(cli_rate_text(1, out), "100%");
    assert_string_equal(cli_rate_text(1e-300, out), "1e-300");
    assert_string_equal(cli_short_count(2.5e9, out), "2.50 G");
}

/* No number is rounded up to one with too many digits: 999.6 is not 1000. */
static void texts_at_borders(void **state) {
    (void)state;
    static const struct {
        double count;
        const char *text;
    } counts[] = {{0, "0"},          {999, "999"},      {999.4, "999"},     {999.6, "1.00 k"},
                  {1000, "1 k"},     {9994, "9.99 k"},  {9996, "10.0 k"},   {99940, "99.9 k"},
                  {99960, "100 k"},  {999400, "999 k"}, {999600, "1.00 M"}, {1e18, "1 E"},
                  {1.5e21, "1500 E"}};
    char out[CLI_QUANTITY];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_string_equal(cli_short_count(counts[i].count, out), counts[i].text);
    }
    static const struct {
        uint64_t bytes;
        const char *text;
    } known[] = {{0, "0 bytes"},       {2, "2 bytes"},
                 {1023, "1023 bytes"}, {1024, "1 KiB"},
                 {1536, "1.50 KiB"},   {(1 << 20) - 1024, "1023 KiB"},
                 {1 << 20, "1 MiB"},   {(1 << 20) - 1, "1.00 MiB"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_string_equal(cli_size_text(known[i].bytes, out), known[i].text);
    }
    static const struct {
        double rate;
        const char *text;
    } shown[] = {{0.0999, "9.99%"},
                 {0.1, "10%"},
                 {0.09996, "10.0%"},
                 {0.01, "1%"},
                 {0.009996, "1.00%"},
                 {0.0009996, "0.100%"},
                 {0.000009996, "0.00100%"},
                 {0.000999, "0.0999%"},
                 {0.001, "0.1%"},
                 {0.0000099, "1 in 101,000"},
                 {2e-18, "1 in 500,000,000,000,000,000"},
                 {0.9e-18, "9e-19"},
                 {2, "100%"},
                 {-1, "0%"}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        assert_string_equal(cli_rate_text(shown[i].rate, out), shown[i].text);
    }
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
        cmocka_unit_test(counts),
        cmocka_unit_test(sizes),
        cmocka_unit_test(rates),
        cmocka_unit_test(texts),
        cmocka_unit_test(texts_at_borders),
        cmocka_unit_test(wilson),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
