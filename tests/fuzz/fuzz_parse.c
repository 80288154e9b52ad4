/* SPDX-License-Identifier: MIT
 *
 * fuzz_parse.c - text written by people: quantities, clocks, options, typed values, tokens, lines,
 * addresses
 *
 * Byte 0 chooses what the text is parsed as, bytes 1 to 4 are choices; the text follows.
 */
#include <stdlib.h>
#include <string.h>

#include "filter/window_clock.h"
#include "options/quantity.h"
#include "parse_target.h"

enum { QUANTITY, WINDOW_CLOCK, OPTIONS, TYPED, TOKENS, LINES, NAMES, READINGS, HEAD = 5 };

static bool only_digits(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

static void read_quantity(const char *text) {
    const uint64_t mark = UINT64_C(0x5eed);
    uint64_t count = mark, size = mark, seconds = mark, again = 0;
    double rate = 2;
    char out[CLI_QUANTITY];
    bool is_count = cli_parse_count(text, &count), is_size = cli_parse_size(text, &size);
    bool is_duration = cli_parse_duration(text, &seconds), is_rate = cli_parse_rate(text, &rate);
    insist(is_count || count == mark, "what is no count changes nothing");
    insist(is_size || size == mark, "what is no size changes nothing");
    insist(is_duration || seconds == mark, "what is no duration changes nothing");
    insist(is_rate ? rate > 0 && rate < 1 : rate == 2, "rates lie between 0 and 1");
    insist(!is_count || !is_size || size >= count, "as a size it is no less");
    if (only_digits(text)) insist(is_count == is_size && count == size, "plain numbers are plain");
    if (is_duration) {
        insist(seconds > 0 && seconds <= CLI_DURATION_MAX, "durations have limits");
        insist(cli_parse_duration(cli_duration_text(seconds, out), &again) && again == seconds,
               "a duration's text is that duration");
    }
    insist(strlen(cli_count_text(count, out)) < CLI_QUANTITY, "room for a count");
    insist(strlen(cli_size_text(size, out)) < CLI_QUANTITY, "room for a size");
    insist(strlen(cli_short_count((double)count, out)) < CLI_QUANTITY, "room for a short one");
    insist(strlen(cli_rate_text(rate, out)) < CLI_QUANTITY, "room for a rate");
}

static void read_window_clock(const char *text, const uint8_t choices[4]) {
    cli_window_clock c = {.advanced = choices[0] * UINT64_C(100000000)}, again = {0};
    uint64_t now = choices[1] * UINT64_C(100000000) + choices[2];
    char out[CLI_QUANTITY];
    cli_interval range = cli_wilson(choices[2] & choices[3], choices[3], 2.58);
    insist(range.low >= 0 && range.low <= range.high && range.high <= 1, "an interval is one");
    if (!cli_window_clock_parse(text, &c)) {
        insist(!c.step && !c.generations, "what is no clock changes nothing");
        return;
    }
    insist(c.step > 0 && c.generations > 0, "a clock has steps");
    uint64_t min = cli_window_clock_min_step(c.step * c.generations);
    insist(min * CLI_GENERATIONS_MAX >= c.step * c.generations, "the smallest step is enough");
    if (cli_window_clock_parse(cli_window_clock_text(&c, out), &again)) {
        insist(again.step == c.step && again.generations == c.generations, "the same clock");
    } else {
        insist(c.step * c.generations > CLI_DURATION_MAX, "its text is that clock");
    }
    uint64_t before = c.advanced, steps = cli_window_clock_advance(&c, now);
    insist(steps <= c.generations + 1, "no more steps than there is to forget");
    insist(c.advanced <= now || c.advanced == before, "never ahead of the clock by itself");
    insist(now < c.advanced || now - c.advanced < c.step, "all steps that were completed");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (len < HEAD) return 0;
    const uint8_t *choices = bytes + 1;
    size_t text_len = len - HEAD;
    uint8_t *text = some_bytes(text_len);
    char *words = some_bytes(text_len + 1);
    memcpy(text, bytes + HEAD, text_len);
    memcpy(words, text, text_len);
    words[text_len] = '\0';
    switch (bytes[0] % READINGS) {
    case QUANTITY: read_quantity(words); break;
    case WINDOW_CLOCK: read_window_clock(words, choices); break;
    case OPTIONS: parse_options(words, text_len); break;
    case TYPED: parse_typed(text, text_len, choices[0]); break;
    case TOKENS: parse_tokens(text, text_len, choices[0] % 9); break;
    case LINES: parse_lines(text, text_len, choices); break;
    default: parse_names(words); break;
    }
    free(words);
    free(text);
    return 0;
}
