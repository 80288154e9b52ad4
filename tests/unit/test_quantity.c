/* SPDX-License-Identifier: MIT
 *
 * test_quantity.c - counts, sizes, rates and durations, parsed and formatted
 */
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "cases.h"
#include "umbel_text.h"

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
                {"2 billion", 2000000000},
                {"1.5 Million", 1500000},
                {"3bn", 3000000000},
                {"20亿", 2000000000},
                {"3 万", 30000},
                {"18446744073709551615", UINT64_MAX},
                {"1e19", UINT64_C(10000000000000000000)}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t x = 99;
        assert_int_equal(umbel_parse_count(good[i].text, &x, NULL), UMBEL_OK);
        assert_int_equal(x, good[i].value);
    }
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "abc",
                                      "1.5",
                                      ".5",
                                      "1e",
                                      "0x1",
                                      "nan",
                                      "inf",
                                      "1kB",
                                      "1KiB",
                                      "1e30",
                                      "1,00",
                                      "1,0000",
                                      ",100",
                                      "1000,000",
                                      "1..2",
                                      "1kk",
                                      "1,5",
                                      "0,5",
                                      "2 billions",
                                      "1\t0",
                                      "k",
                                      "1e-3",
                                      "2e9x",
                                      "18446744073709551616"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t x = 99;
        assert_int_equal(umbel_parse_count(bad[i], &x, NULL), UMBEL_EINVAL);
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
                {"2e9", 2000000000},
                {"1.5GiB", UINT64_C(3) << 29},
                {"1 KiB", 1024},
                {"12B", 12},
                {"32 bytes", 32},
                {"1 byte", 1},
                {"500 mb", 500000000},
                {"10mb", 10000000},
                {"1 BYTE", 1},
                {"64mib", UINT64_C(64) << 20},
                {"11.4MiB", 11953766},
                {".5GiB", UINT64_C(1) << 29},
                {"2T", UINT64_C(2) << 40}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t x = 0;
        assert_int_equal(umbel_parse_size(good[i].text, &x, NULL), UMBEL_OK);
        assert_int_equal(x, good[i].value);
    }
    static const char *const bad[] = {"", "M", "1X", "1MiBs", "-1M", "1Mi", "99999999T"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t x = 99;
        assert_int_equal(umbel_parse_size(bad[i], &x, NULL), UMBEL_EINVAL);
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
        assert_int_equal(umbel_parse_rate(good[i].text, &x, NULL), UMBEL_OK);
        assert_true(x > good[i].value * (1 - 1e-12) && x < good[i].value * (1 + 1e-12));
    }
    static const char *const bad[] = {"",        "0",   "1",   "100%", "150%", "-1%", "2",
                                      "1/0",     "1/",  "/10", "0/5",  "5/4",  "x",   "0,5%",
                                      "1,5/100", "1%%", "nan", "inf",  "1e-6x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double x = 9;
        assert_int_equal(umbel_parse_rate(bad[i], &x, NULL), UMBEL_EINVAL);
        assert_true(x == 9);
    }
}

static void texts(void **state) {
    (void)state;
    char out[UMBEL_QUANTITY];
    assert_string_equal(umbel_count_text(0, out), "0");
    assert_string_equal(umbel_count_text(999, out), "999");
    assert_string_equal(umbel_count_text(1000, out), "1,000");
    assert_string_equal(umbel_count_text(UINT64_MAX, out), "18,446,744,073,709,551,615");
    assert_string_equal(umbel_size_text(1, out), "1 byte");
    assert_string_equal(umbel_size_text(1000, out), "1000 bytes");
    assert_string_equal(umbel_size_text(UINT64_C(500) << 20, out), "500 MiB");
    assert_string_equal(umbel_size_text(UINT64_C(2396264594), out), "2.23 GiB");
    assert_string_equal(umbel_size_text(UINT64_MAX, out), "16 EiB");
    assert_string_equal(umbel_rate_text(0, out), "0%");
    assert_string_equal(umbel_rate_text(0.01, out), "1%");
    assert_string_equal(umbel_rate_text(0.2337, out), "23.4%");
    assert_string_equal(umbel_rate_text(0.009987, out), "0.999%");
    assert_string_equal(umbel_rate_text(0.00001, out), "0.001%");
    assert_string_equal(umbel_rate_text(1e-6, out), "1 in 1,000,000");
    assert_string_equal(umbel_rate_text(1, out), "100%");
    assert_string_equal(umbel_rate_text(1e-300, out), "1e-300");
    assert_string_equal(umbel_short_count(2.5e9, out), "2.50 G");
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
    char out[UMBEL_QUANTITY];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_string_equal(umbel_short_count(counts[i].count, out), counts[i].text);
    }
    static const struct {
        uint64_t bytes;
        const char *text;
    } known[] = {{0, "0 bytes"},       {2, "2 bytes"},
                 {1023, "1023 bytes"}, {1024, "1 KiB"},
                 {1536, "1.50 KiB"},   {(1 << 20) - 1024, "1023 KiB"},
                 {1 << 20, "1 MiB"},   {(1 << 20) - 1, "1.00 MiB"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_string_equal(umbel_size_text(known[i].bytes, out), known[i].text);
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
        assert_string_equal(umbel_rate_text(shown[i].rate, out), shown[i].text);
    }
}

static void durations(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
        uint64_t value;
    } good[] = {{"1s", "1s", 1},         {"90s", "90s", 90},
                {"90m", "90m", 5400},    {"24h", "1d", 86400},
                {"25h", "25h", 90000},   {"1.5h", "90m", 5400},
                {"7d", "7d", 604800},    {"2w", "14d", 1209600},
                {"0.1m", "6s", 6},       {"3600s", "1h", 3600},
                {"1e3s", "1000s", 1000}, {"1e12s", "1000000000000s", UMBEL_DURATION_MAX}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t x = 0;
        char out[UMBEL_QUANTITY];
        assert_int_equal(umbel_parse_duration(good[i].text, &x, NULL), UMBEL_OK);
        assert_int_equal(x, good[i].value);
        assert_string_equal(umbel_duration_text(x, out), good[i].shown);
    }
    static const char *const bad[] = {"",   "s",    "5",   "0s",  "-1h",   "1 h",    "1H", "1hh",
                                      "1M", "1.5s", "1ms", "nan", "1e13s", "1e300w", "1y", "0.1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t x = 99;
        umbel_diag why;
        assert_int_equal(umbel_parse_duration(bad[i], &x, &why), UMBEL_EINVAL);
        assert_string_equal(why.what, "not a duration");
        assert_int_equal(x, 99);
    }
}

/* The reason is for the person who wrote it; decimal commas are not taken for thousands. */
static void reasons(void **state) {
    (void)state;
    umbel_diag why = {0};
    uint64_t x = 99;
    double rate = 9;
    assert_int_equal(umbel_parse_count("1,5", &x, &why), UMBEL_EINVAL);
    assert_string_equal(why.what, "not a number");
    assert_int_equal(umbel_parse_count("1e30", &x, &why), UMBEL_EINVAL);
    assert_string_equal(why.what, "too large");
    assert_int_equal(umbel_parse_size("0,5G", &x, &why), UMBEL_EINVAL);
    assert_string_equal(why.what, "not a size");
    assert_int_equal(umbel_parse_size("18446744073709551616", &x, &why), UMBEL_EINVAL);
    assert_string_equal(why.what, "too large");
    assert_int_equal(umbel_parse_rate("0,5%", &rate, &why), UMBEL_EINVAL);
    assert_string_equal(why.what, "not a rate");
    assert_int_equal(x, 99);
    assert_true(rate == 9);
}

/* A program may have set its locale; texts and readings are the same, and errno is its own. */
static void locales(void **state) {
    (void)state;
    char out[UMBEL_QUANTITY];
    double rate = 0;
    uint64_t x = 0;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("no locale with a decimal comma is installed\n");
    }
    errno = 0;
    assert_int_equal(umbel_parse_count("1.5k", &x, NULL), UMBEL_OK);
    assert_int_equal(x, 1500);
    assert_int_equal(umbel_parse_rate("0.5%", &rate, NULL), UMBEL_OK);
    assert_true(rate == 0.005);
    assert_int_equal(umbel_parse_rate("1e-999", &rate, NULL), UMBEL_EINVAL);
    assert_int_equal(errno, 0);
    assert_string_equal(umbel_rate_text(0.2337, out), "23.4%");
    assert_string_equal(umbel_rate_text(0.005, out), "0.5%");
    assert_string_equal(umbel_rate_text(1.5e-20, out), "1.5e-20");
    assert_string_equal(umbel_size_text(1536, out), "1.50 KiB");
    assert_int_equal(strlen(umbel_short_count(1e300, out)), UMBEL_QUANTITY - sizeof " bytes" + 1);
    setlocale(LC_NUMERIC, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(sizes),
        cmocka_unit_test(rates),
        cmocka_unit_test(texts),
        cmocka_unit_test(texts_at_borders),
        cmocka_unit_test(durations),
        cmocka_unit_test(reasons),
        cmocka_unit_test(locales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
