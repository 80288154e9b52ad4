/* SPDX-License-Identifier: MIT
 *
 * test_cli_lines.c - splitting kernels agree with a loop; lines become keys
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "lines/line_key.h"
#include "lines/split.h"

static uint64_t rng_state;

static uint64_t rng(void) {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    return rng_state ^= rng_state << 17;
}

enum { MAX_TEXT = 700 };

static void expect_split(cli_split *split, const uint8_t *text, size_t len, uint8_t sep) {
    /* Copies of the exact size, so that the sanitizers see any overrun. */
    uint8_t *copy = malloc(len + 1);
    uint32_t *ends = malloc((len + CLI_SPLIT_SLACK) * sizeof *ends);
    assert_non_null(copy);
    assert_non_null(ends);
    memcpy(copy, text, len);
    size_t n = split(copy, len, sep, ends), seen = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != sep) continue;
        assert_true(seen < n);
        assert_int_equal(ends[seen++], i);
    }
    assert_int_equal(n, seen);
    free(copy);
    free(ends);
}

static void kernels_agree(void **state) {
    (void)state;
    rng_state = (uint64_t)time(NULL) * 2654435761u + 1;
    print_message("seed %llu\n", (unsigned long long)rng_state);
    cli_split *const kernels[] = {cli_split_generic, cli_split_best()};
    static const uint8_t separators[] = {'\n', 0, 0x80, 0xff, 0x0b};
    for (int round = 0; round < 3000; round++) {
        uint8_t text[MAX_TEXT], sep = separators[rng() % sizeof separators];
        size_t len = rng() % MAX_TEXT;
        uint64_t density = rng() % 101; /* from none to nothing but separators */
        for (size_t i = 0; i < len; i++) {
            /* Values next to the separator, which a wrong carry would mistake for it. */
            uint8_t other = (uint8_t)(rng() % 4 ? rng() : sep + 1 - 2 * (rng() % 2));
            text[i] = rng() % 100 < density ? sep : other;
        }
        for (size_t k = 0; k < 2; k++) expect_split(kernels[k], text, len, sep);
    }
}

static void expect_key(const cli_key_rule *t, const char *line, const char *key) {
    uint8_t scratch[64], *next = scratch;
    umbel_key got = cli_line_key(t, (const uint8_t *)line, strlen(line), &next);
    if (got.len != strlen(key) || (got.len && memcmp(got.data, key, got.len) != 0)) {
        fail_msg("'%s' became '%.*s', not '%s'", line, (int)got.len, (const char *)got.data, key);
    }
}

static void rules(void **state) {
    (void)state;
    cli_key_rule t = {0};
    assert_true(cli_key_is_line(&t));
    expect_key(&t, " a\r", " a\r");
    t.crlf = true;
    expect_key(&t, " a\r", " a");
    expect_key(&t, "a\r\r", "a\r"); /* one belongs to the end of the line */
    expect_key(&t, "a\rb", "a\rb");
    expect_key(&t, "\r", "");
    expect_key(&t, "", "");
    t = (cli_key_rule){.recorded = {.trim = true}};
    expect_key(&t, " \t a b \v\f\r", "a b");
    expect_key(&t, "  \t ", "");
    t = (cli_key_rule){.recorded = {.lower = true}};
    expect_key(&t, "@AZ[`az{", "@az[`az{");
    t = (cli_key_rule){.recorded = {.upper = true}};
    expect_key(&t, "@AZ[`az{\xc3\xa4", "@AZ[`AZ{\xc3\xa4");
}

static void fields(void **state) {
    (void)state;
    cli_key_rule t = {.recorded = {.field = 2, .delimiter = ','}};
    expect_key(&t, "a,b,c", "b");
    expect_key(&t, "a,b", "b");
    expect_key(&t, "a,", "");
    expect_key(&t, "a", "");
    expect_key(&t, "", "");
    expect_key(&t, ",,", "");
    t.recorded.field = 1;
    expect_key(&t, "a,b", "a");
    expect_key(&t, ",b", "");
    t = (cli_key_rule){.recorded = {.field = 2}};
    expect_key(&t, "a b c", "b");
    expect_key(&t, "  a \t b", "b");
    expect_key(&t, "a  ", "");
    expect_key(&t, "a", "");
    t.recorded.field = 1;
    expect_key(&t, "  a", "a");
    t = (cli_key_rule){.recorded = {.field = 2, .delimiter = ';', .trim = true, .lower = true}};
    expect_key(&t, "X; Y ;Z", "y");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(rules),
        cmocka_unit_test(fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
