/* SPDX-License-Identifier: MIT
 *
 * Words and windows as ClickHouse splits them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "umbel_foreign.h"

/* All tokens of the text with "|" between them. */
static void cuts(uint32_t ngram, const char *text, size_t len, const char *want) {
    char *exact = malloc(len ? len : 1), got[512] = "";
    memcpy(exact, text, len);
    size_t pos = 0, used = 0;
    umbel_key token;
    while (umbel_clickhouse_token(exact, len, ngram, &pos, &token)) {
        assert_true(token.len > 0);
        assert_true((const char *)token.data >= exact);
        assert_true((const char *)token.data + token.len <= exact + len);
        if (used) got[used++] = '|';
        memcpy(got + used, token.data, token.len);
        used += token.len;
        got[used] = 0;
    }
    assert_string_equal(got, want);
    assert_false(umbel_clickhouse_token(exact, len, ngram, &pos, &token)); /* and stays so */
    free(exact);
}

static void words(const char *text, const char *want) {
    cuts(0, text, strlen(text), want);
}

static void windows(uint32_t ngram, const char *text, const char *want) {
    cuts(ngram, text, strlen(text), want);
}

static void words_of_tokenbf(void **state) {
    (void)state;
    words("", "");
    words("  ,;", "");
    words("GET /path/0 user_0 status=200", "GET|path|0|user|0|status|200");
    words("a-b_c\x01"
          "d\x7f"
          "e",
          "a|b|c|d|e");
    words("\xc3\x9cn\xc3\xaf"
          "code-\xe4\xb8\xad\xe6\x96\x87 ab",
          "\xc3\x9cn\xc3\xaf"
          "code|\xe4\xb8\xad\xe6\x96\x87|ab");
    words("\xff\x80", "\xff\x80");
    words("zZ9@[`{/:", "zZ9");
    cuts(0, "001\0\0", 5, "001"); /* FixedString: the padding separates */
    cuts(0, "a\0b", 3, "a|b");
}

static void windows_of_ngrambf(void **state) {
    (void)state;
    windows(3, "", "");
    windows(3, "ab", "");
    windows(3, "abc", "abc");
    windows(3, "abcd", "abc|bcd");
    windows(1, "ab", "a|b");
    windows(2, "\xc3\x9cn\xe4\xb8\xad", "\xc3\x9cn|n\xe4\xb8\xad");
    windows(2, "a\xf0\x9f\x98\x80z", "a\xf0\x9f\x98\x80|\xf0\x9f\x98\x80z");
    windows(2, "\x80\xbf\xf8\xff", "\x80\xbf|\xbf\xf8|\xf8\xff"); /* stray bytes: one each */
    windows(2, "a\xe4\xb8", "a\xe4\xb8");                         /* cut off at the end */
    windows(2, "ab\xf0", "ab|b\xf0");
    windows(3, "a\xe4\xb8", "");
}

static void nothing_is_read_beyond_the_end(void **state) {
    (void)state;
    for (int lead = 0; lead < 256; lead++) {
        char *text = malloc(2);
        text[0] = 'a';
        text[1] = (char)lead;
        for (uint32_t ngram = 0; ngram < 4; ngram++) {
            umbel_key token;
            size_t pos = 0, count = 0;
            while (umbel_clickhouse_token(text, 2, ngram, &pos, &token)) count++;
            if (ngram == 1) assert_int_equal(count, 2);
            if (ngram == 2) assert_int_equal(count, 1);
            if (ngram == 3) assert_int_equal(count, 0);
        }
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_tokenbf),
        cmocka_unit_test(windows_of_ngrambf),
        cmocka_unit_test(nothing_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
