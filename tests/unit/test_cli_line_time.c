/* SPDX-License-Identifier: MIT
 *
 * test_cli_line_time.c - times at the beginning of texts
 */
#include <string.h>
#include <time.h>

#include "cases.h"
#include "uniq/line_time.h"

static bool read_time(const char *text, uint64_t *seconds) {
    return cli_line_time(text, strlen(text), seconds);
}

static void good(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t seconds;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-19T21:42:06Z", 1795124526},
        {"2026-11-19t21:42:06z", 1795124526},
        {"2026-11-19T21:42:06.999999Z,next", 1795124526},
        {"2026-11-19 21:42:06,123 INFO started", 1795124526},
        {"2026-11-19 21:42:06 -5 items", 1795124526},
        {"2026-11-19T22:42:06+01:00", 1795124526},
        {"2026-11-19 16:12:06 -0530", 1795124526},
        {"\"2026-11-19T21:42:06Z\"", 1795124526},
        {"2026-11-19T21:42:06", 1795124526},
        {"[19/Nov/2026:21:42:06 +0000] \"GET /", 1795124526},
        {"20/Nov/2026:03:12:06 +0530", 1795124526},
        {"2024-02-29T23:59:60Z", 1709251200},
        {"1795124526", 1795124526},
        {"1795124526.75 x", 1795124526},
        {"1795124526999", 1795124526},
        {"1795124526999999", 1795124526},
        {"1795124526999999999", 1795124526},
        {"100000000", 100000000},
        {"9999-12-31T23:59:59Z", UINT64_C(253402300799)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t seconds = 7;
        print_message("%s\n", rows[i].text);
        assert_true(read_time(rows[i].text, &seconds));
        assert_int_equal(seconds, rows[i].seconds);
    }
}

static void bad(void **state) {
    (void)state;
    static const char *const rows[] = {
        "",
        "-5",
        "200",
        "99999999",
        "soon",
        "2026-11-19",
        "2026-11-19T21:42",
        "2026-11-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-10T00:00:00Z",
        "2026-11-19T24:00:00Z",
        "2026-11-19T21:60:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:30:00+01:00",
        "19/Foo/2026:21:42:06 +0000",
        "31/Nov/2026:21:42:06 +0000",
        "Nov 19 21:42:06",
        "21:42:06",
        "12/11/2026",
        "179512452699",
        "17951245269999",
        "99999999999999999999",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t seconds = 7;
        print_message("%s\n", rows[i]);
        assert_false(read_time(rows[i], &seconds));
        assert_int_equal(seconds, 7);
    }
}

/* The C library's calendar, for a moment of each day until 2400; and no prefix of a text is read
 * beyond its end. */
static void every_day(void **state) {
    (void)state;
    char text[64];
    for (uint64_t t = 11; t < UINT64_C(13569465600); t += 86399) {
        time_t moment = (time_t)t;
        uint64_t seconds;
        assert_true(strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&moment)) > 0);
        assert_true(read_time(text, &seconds));
        assert_int_equal(seconds, t);
        strftime(text, sizeof text, "%d/%b/%Y:%H:%M:%S +0000", gmtime(&moment));
        assert_true(read_time(text, &seconds));
        assert_int_equal(seconds, t);
    }
    for (size_t len = 0; len < strlen("19/Nov/2026:21:42:06"); len++) {
        uint64_t seconds;
        assert_false(cli_line_time("19/Nov/2026:21:42:06", len, &seconds));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),
        cmocka_unit_test(bad),
        cmocka_unit_test(every_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
