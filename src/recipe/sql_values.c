/* SPDX-License-Identifier: MIT */
#include "recipe/sql_values.h"

#include <string.h>

#include "core/bits.h"
#include "core/text.h"
#include "recipe/calendar.h"

typedef struct reading {
    const char *at, *end;
} reading;

static bool take(reading *r, const char *text) {
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0) return false;
    r->at += len;
    return true;
}

static bool take_any(reading *r, const char *choices) {
    if (r->at == r->end || *r->at == 0 || !strchr(choices, *r->at)) return false;
    r->at++;
    return true;
}

/* From min to max digits, at most 9. */
static bool take_number(reading *r, unsigned min, unsigned max, unsigned *value) {
    unsigned digits = 0;
    *value = 0;
    for (; digits < max && r->at < r->end && umbeli_is_digit(*r->at); digits++) {
        *value = *value * 10 + (unsigned)(*r->at++ - '0');
    }
    return digits >= min;
}

/* ---- Days and moments ---- */

enum { DAY_SECONDS = 86400, SECOND_MICROS = 1000000, LAST_YEAR = 5874897, FIRST_YEAR = -4713 };

typedef enum precision { TO_THE_DAY, TO_THE_CLOCK, TO_THE_INSTANT } precision;

/* hh:mm[:ss[.ffffff]] as microseconds of the day. */
static bool read_clock(reading *r, int64_t *micros) {
    unsigned hour, minute, second = 0, fraction = 0;
    if (!take_number(r, 2, 2, &hour) || !take(r, ":") || !take_number(r, 2, 2, &minute))
        return false;
    if (take(r, ":")) {
        if (!take_number(r, 2, 2, &second)) return false;
        if (take(r, ".")) {
            const char *from = r->at;
            if (!take_number(r, 1, 6, &fraction)) return false;
            for (size_t digits = (size_t)(r->at - from); digits < 6; digits++) fraction *= 10;
        }
    }
    *micros = ((int64_t)hour * 3600 + minute * 60 + second) * SECOND_MICROS + fraction;
    return hour < 24 && minute < 60 && second < 60;
}

/* Z, or how far the clock is ahead of UTC: +hh, +hhmm, +hh:mm, +hh:mm:ss. */
static bool read_zone(reading *r, int64_t *ahead) {
    unsigned hour, minute = 0, second = 0;
    *ahead = 0;
    if (take(r, "Z")) return true;
    take(r, " ");
    bool west = take(r, "-");
    if ((!west && !take(r, "+")) || !take_number(r, 2, 2, &hour)) return false;
    if (take(r, ":")) {
        if (!take_number(r, 2, 2, &minute)) return false;
        if (take(r, ":") && !take_number(r, 2, 2, &second)) return false;
    } else if (r->at < r->end && umbeli_is_digit(*r->at) && !take_number(r, 2, 2, &minute)) {
        return false;
    }
    *ahead = (int64_t)hour * 3600 + minute * 60 + second;
    if (west) *ahead = -*ahead;
    return hour < 16 && minute < 60 && second < 60;
}

/* yyyy-mm-dd[ hh:mm:ss.ffffff][+hh][ BC]: a day, and what its clock says in UTC. */
static bool read_moment(const char *text, size_t len, precision to, int64_t *days,
                        int64_t *micros) {
    reading r = {text, text + len};
    unsigned year, month, day;
    int64_t ahead = 0;
    *micros = 0;
    if (!take_number(&r, 4, 7, &year) || !take(&r, "-") || !take_number(&r, 2, 2, &month) ||
        !take(&r, "-") || !take_number(&r, 2, 2, &day) || year == 0) {
        return false;
    }
    bool clock =
        to != TO_THE_DAY && r.end - r.at > 1 && umbeli_is_digit(r.at[1]) && take_any(&r, " T");
    if (clock && !read_clock(&r, micros)) return false;
    if (to == TO_THE_INSTANT && (!clock || !read_zone(&r, &ahead))) return false;
    int64_t y = take(&r, " BC") ? 1 - (int64_t)year : (int64_t)year;
    *micros -= ahead * SECOND_MICROS;
    return r.at == r.end && y >= FIRST_YEAR && y <= LAST_YEAR && umbeli_day(y, month, day, days);
}

/* What is before all days, and after. */
static bool is_infinity(const char *text, size_t len, bool *before) {
    *before = len == 9 && memcmp(text, "-infinity", 9) == 0;
    return *before || (len == 8 && memcmp(text, "infinity", 8) == 0);
}

size_t umbeli_date_value(const char *text, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]) {
    int64_t days, micros;
    bool before;
    if (is_infinity(text, len, &before)) {
        days = before ? INT32_MIN : INT32_MAX;
    } else if (!read_moment(text, len, TO_THE_DAY, &days, &micros)) {
        return 0;
    }
    umbeli_store_le32(bytes, (uint32_t)days);
    return 4;
}

static size_t moment_value(const char *text, size_t len, precision to, uint8_t *bytes) {
    int64_t days, micros, sum;
    bool before;
    if (is_infinity(text, len, &before)) {
        sum = before ? INT64_MIN : INT64_MAX;
    } else if (!read_moment(text, len, to, &days, &micros) ||
               __builtin_mul_overflow(days, (int64_t)DAY_SECONDS * SECOND_MICROS, &sum) ||
               __builtin_add_overflow(sum, micros, &sum) || sum == INT64_MAX) {
        return 0;
    }
    umbeli_store_le64(bytes, (uint64_t)sum);
    return 8;
}

size_t umbeli_timestamp_value(const char *text, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]) {
    return moment_value(text, len, TO_THE_CLOCK, bytes);
}

size_t umbeli_timestamptz_value(const char *text, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]) {
    return moment_value(text, len, TO_THE_INSTANT, bytes);
}

/* ---- Addresses ---- */

/* Four numbers, without leading zeros, which some readers take for octal. */
static bool read_ipv4(reading *r, uint8_t bytes[4]) {
    for (unsigned i = 0; i < 4; i++) {
        unsigned part;
        if (i && !take(r, ".")) return false;
        const char *from = r->at;
        if (!take_number(r, 1, 3, &part) || part > 255 || (*from == '0' && r->at - from > 1)) {
            return false;
        }
        bytes[i] = (uint8_t)part;
    }
    return true;
}

/* One group of up to four digits. */
static bool read_group(reading *r, uint8_t bytes[2]) {
    unsigned group = 0, digits = 0;
    for (int d; r->at < r->end && (d = umbeli_hex_digit(*r->at)) >= 0; r->at++, digits++) {
        if (digits == 4) return false;
        group = group * 16 + (unsigned)d;
    }
    bytes[0] = (uint8_t)(group >> 8);
    bytes[1] = (uint8_t)group;
    return digits > 0;
}

/* Whether an IPv4 address follows, as the end of one of IPv6. */
static bool ends_as_ipv4(reading r) {
    while (r.at < r.end && umbeli_is_digit(*r.at)) r.at++;
    return r.at < r.end && *r.at == '.';
}

/* Groups between colons; where two colons meet, as many zeros as are missing. */
static bool read_ipv6(reading *r, uint8_t bytes[16]) {
    size_t used = 0, gap = 17;
    if (take(r, "::")) gap = 0;
    while (used < 16 && r->at < r->end && *r->at != '/') {
        if (used <= 12 && ends_as_ipv4(*r)) {
            if (!read_ipv4(r, bytes + used)) return false;
            used += 4;
            break;
        }
        if (!read_group(r, bytes + used)) return false;
        used += 2;
        if (gap > 16 && take(r, "::")) {
            gap = used;
        } else if (!take(r, ":")) {
            break;
        } else if (r->at == r->end || used == 16 || *r->at == '/') {
            return false; /* a colon at the end */
        }
    }
    if (gap > 16) return used == 16;
    if (used > 14) return false; /* two colons stand for one group at least */
    memmove(bytes + 16 - (used - gap), bytes + gap, used - gap);
    memset(bytes + gap, 0, 16 - used);
    return true;
}

/* The bytes of the address in the order in which they are written; of a network, followed by the
 * length of its prefix. */
size_t umbeli_inet_value(const char *text, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]) {
    reading r = {text, text + len};
    size_t size = len && memchr(text, ':', len) ? 16 : 4;
    unsigned prefix;
    if (!(size == 16 ? read_ipv6 : read_ipv4)(&r, bytes)) return 0;
    if (take(&r, "/")) {
        const char *from = r.at;
        if (!take_number(&r, 1, 3, &prefix) || prefix > 8 * size) return 0;
        if (*from == '0' && r.at - from > 1) return 0;
        if (prefix < 8 * size) bytes[size++] = (uint8_t)prefix;
    }
    return r.at == r.end ? size : 0;
}

/* ---- Decimal numbers ---- */

static bool is_word(const char *text, size_t len, uint8_t *bytes) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) != len || memcmp(words[i], text, len) != 0) continue;
        memcpy(bytes, text, len);
        return true;
    }
    return false;
}

/* The digits from the first that is not 0, and the power of ten of the last one. */
static bool read_digits(reading *r, uint8_t *bytes, size_t *used, int64_t *power) {
    bool point = false, any = false;
    *used = 0;
    *power = 0;
    for (; r->at < r->end && (umbeli_is_digit(*r->at) || (*r->at == '.' && !point)); r->at++) {
        if (*r->at == '.') {
            point = true;
            continue;
        }
        if (*used || *r->at != '0') bytes[(*used)++] = (uint8_t)*r->at;
        *power -= point;
        any = true;
    }
    return any;
}

static bool read_exponent(reading *r, int64_t *power) {
    unsigned exponent;
    if (!take_any(r, "eE")) return true;
    bool down = take(r, "-");
    if (!down) take(r, "+");
    if (!take_number(r, 1, 6, &exponent)) return false;
    *power += down ? -(int64_t)exponent : (int64_t)exponent;
    return true;
}

/* e-12; returns its length. */
static size_t write_power(int power, uint8_t *to) {
    uint8_t *at = to, reversed[10];
    unsigned rest = (unsigned)(power < 0 ? -power : power), digits = 0;
    *at++ = 'e';
    if (power < 0) *at++ = '-';
    do reversed[digits++] = (uint8_t)('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (digits) *at++ = reversed[--digits];
    return (size_t)(at - to);
}

/* Digits without zeros at either end, and the power of ten of the last one: 1.50 is 15e-1. */
size_t umbeli_numeric_value(const char *text, size_t len, uint8_t *bytes) {
    enum { MAX_POWER = 999999 };
    reading r = {text, text + len};
    size_t used;
    int64_t power;
    if (len && is_word(text, len, bytes)) return len;
    bool negative = take(&r, "-");
    if (!negative) take(&r, "+");
    uint8_t *digits = bytes + negative;
    if (!read_digits(&r, digits, &used, &power) || !read_exponent(&r, &power) || r.at != r.end) {
        return 0;
    }
    for (; used && digits[used - 1] == '0'; used--) power++;
    if (power > MAX_POWER || power < -MAX_POWER) return 0;
    if (used == 0) { /* zero has no sign */
        memcpy(bytes, "0e0", 3);
        return 3;
    }
    if (negative) bytes[0] = '-';
    return negative + used + write_power((int)power, digits + used);
}
