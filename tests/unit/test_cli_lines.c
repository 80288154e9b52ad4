/* SPDX-License-Identifier: MIT
 *
 * test_cli_lines.c - splitting kernels agree with a loop; treatment of lines
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

enum { MOST = 700 };

static void expect_split(cli_split *split, const uint8_t *text, size_t len, uint8_t sep) {
    /* Exactly sized copies, so that the sanitizers see every byte too far. */
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
        uint8_t text[MOST], sep = separators[rng() % sizeof separators];
        size_t len = rng() % MOST;
        uint64_t density = rng() % 101; /* from none to nothing but separators */
        for (size_t i = 0; i < len; i++) {
            /* Neighbours of the separator, which wrong carries would take for it. */
            uint8_t other = (uint8_t)(rng() % 4 ? rng() : sep + 1 - 2 * (rng() % 2));
            text[i] = rng() % 100 < density ? sep : other;
        }
        for (size_t k = 0; k < 2; k++) expect_split(kernels[k], text, len, sep);
    }
}

static void treats(const cli_treatment *t, const char *line, const char *key) {
    uint8_t scratch[64], *next = scratch;
    umbel_key got = cli_treat(t, (const uint8_t *)line, strlen(line), &next);
    if (got.len != strlen(key) || (got.len && memcmp(got.data, key, got.len) != 0)) {
        fail_msg("'%s' became '%.*s', not '%s'", line, (int)got.len, (const char *)got.data, key);
    }
}

static void treatment(void **state) {
    (void)state;
    cli_treatment t = {0};
    assert_true(cli_treats_nothing(&t));
    treats(&t, " a\r", " a\r");
    t.crlf = true;
    treats(&t, " a\r", " a");
    treats(&t, "a\r\r", "a\r"); /* one belongs to the line's end */
    treats(&t, "a\rb", "a\rb");
    treats(&t, "\r", "");
    treats(&t, "", "");
    t = (cli_treatment){.recorded = {.trim = true}};
    treats(&t, " \t a b \v\f\r", "a b");
    treats(&t, "  \t ", "");
    t = (cli_treatment){.recorded = {.lower = true}};
    treats(&t, "@AZ[`az{", "@az[`az{");
    t = (cli_treatment){.recorded = {.upper = true}};
    treats(&t, "@AZ[`az{\xc3\xa4", "@AZ[`AZ{\xc3\xa4");
}

static void fields(void **state) {
    (void)state;
    cli_treatment t = {.recorded = {.field = 2, .delimiter = ','}};
    treats(&t, "a,b,c", "b");
    treats(&t, "a,b", "b");
    treats(&t, "a,", "");
    treats(&t, "a", "");
    treats(&t, "", "");
    treats(&t, ",,", "");
    t.recorded.field = 1;
    treats(&t, "a,b", "a");
    treats(&t, ",b", "");
    t = (cli_treatment){.recorded = {.field = 2}};
    treats(&t, "a b c", "b");
    treats(&t, "  a \t b", "b");
    treats(&t, "a  ", "");
    treats(&t, "a", "");
    t.recorded.field = 1;
    treats(&t, "  a", "a");
    t = (cli_treatment){.recorded = {.field = 2, .delimiter = ';', .trim = true, .lower = true}};
    treats(&t, "X; Y ;Z", "y");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(treatment),
        cmocka_unit_test(fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
