/* SPDX-License-Identifier: MIT */
#include "tables/value_text.h"

#include "core/text.h"
#include "recipe/calendar.h"

enum { MAX_DIGITS = 18, MAX_TIME_DIGITS = 9 };

typedef struct cursor {
    const char *at, *end;
} cursor;

static cursor over(umbel_key text) {
    const char *start = text.data;
    return (cursor){start, start ? start + text.len : start};
}

static bool one_of(cursor *c, const char *choices) {
    for (; c->at < c->end && *choices; choices++) {
        if (*c->at == *choices) {
            c->at++;
            return true;
        }
    }
    return false;
}

static bool is_digit(const cursor *c) {
    return c->at < c->end && umbeli_is_digit(*c->at);
}

/* Exactly `width` digits. */
static bool number(cursor *c, unsigned width, unsigned *value) {
    *value = 0;
    for (; width; width--, c->at++) {
        if (!is_digit(c)) return false;
        *value = *value * 10 + (unsigned)(*c->at - '0');
    }
    return true;
}

static bool read_day(cursor *c, int64_t *days) {
    unsigned year, month, day;
    return number(c, 4, &year) && one_of(c, "-") && number(c, 2, &month) && one_of(c, "-") &&
           number(c, 2, &day) && umbeli_day(year, month, day, days);
}

bool umbeli_read_date(umbel_key text, int64_t *days) {
    cursor c = over(text);
    int64_t result;
    if (!read_day(&c, &result) || c.at != c.end) return false;
    *days = result;
    return true;
}

/* Digits after a decimal point, padded with zeros to `digits`; any beyond that must be zeros. */
static bool read_fraction(cursor *c, unsigned digits, int64_t *fraction) {
    *fraction = 0;
    for (unsigned i = 0; i < digits; i++) {
        unsigned digit = is_digit(c) ? (unsigned)(*c->at++ - '0') : 0;
        *fraction = *fraction * 10 + digit;
    }
    while (is_digit(c)) {
        if (*c->at++ != '0') return false;
    }
    return true;
}

bool umbeli_read_time(umbel_key text, unsigned digits, int64_t *ticks) {
    cursor c = over(text);
    int64_t days, fraction = 0, unit = 1, result;
    unsigned hour = 0, minute = 0, second = 0;
    if (digits > MAX_TIME_DIGITS || !read_day(&c, &days)) return false;
    if (one_of(&c, " T")) {
        if (!number(&c, 2, &hour) || !one_of(&c, ":") || !number(&c, 2, &minute)) return false;
        if (one_of(&c, ":") && !number(&c, 2, &second)) return false;
        if (one_of(&c, ".")) {
            if (!is_digit(&c) || !read_fraction(&c, digits, &fraction)) return false;
        }
        one_of(&c, "Z");
    }
    if (c.at != c.end || hour > 23 || minute > 59 || second > 59) return false;
    for (unsigned i = 0; i < digits; i++) unit *= 10;
    int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    if (__builtin_mul_overflow(seconds, unit, &result) ||
        __builtin_add_overflow(result, fraction, &result)) {
        return false;
    }
    *ticks = result;
    return true;
}

bool umbeli_read_decimal(umbel_key text, unsigned scale, int64_t *unscaled) {
    cursor c = over(text);
    bool negative = one_of(&c, "-");
    int64_t whole = 0, fraction = 0;
    unsigned used = 0;
    if (scale > MAX_DIGITS || (!negative && one_of(&c, "+") && c.at == c.end)) return false;
    for (; is_digit(&c); used++) {
        if (__builtin_mul_overflow(whole, 10, &whole)) return false;
        if (__builtin_add_overflow(whole, *c.at++ - '0', &whole)) return false;
    }
    if (one_of(&c, ".")) {
        used += is_digit(&c);
        if (!read_fraction(&c, scale, &fraction)) return false;
    }
    if (c.at != c.end || used == 0) return false;
    for (unsigned i = 0; i < scale; i++) {
        if (__builtin_mul_overflow(whole, 10, &whole)) return false;
    }
    if (__builtin_add_overflow(whole, fraction, &whole)) return false;
    *unscaled = negative ? -whole : whole;
    return true;
}

bool umbeli_read_uuid(umbel_key text, uint8_t bytes[16]) {
    cursor c = over(text);
    uint8_t read[16] = {0};
    unsigned digits = 0;
    for (; c.at < c.end; c.at++) {
        if (*c.at == '-' && digits % 4 == 0 && digits >= 8 && digits <= 20) continue;
        int digit = umbeli_hex_digit(*c.at);
        if (digit < 0 || digits == 32) return false;
        read[digits / 2] = (uint8_t)(read[digits / 2] << 4 | digit);
        digits++;
    }
    if (digits != 32) return false;
    for (unsigned i = 0; i < 16; i++) bytes[i] = read[i];
    return true;
}
