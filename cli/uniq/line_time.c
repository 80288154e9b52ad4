/* SPDX-License-Identifier: MIT */
#include "uniq/line_time.h"

#include <string.h>

typedef struct reading {
    const char *at, *end;
} reading;

static bool is_digit(const reading *r) {
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take(reading *r, const char *choices) {
    if (r->at == r->end || !*r->at || !strchr(choices, *r->at)) return false;
    r->at++;
    return true;
}

/* Exactly so many digits, and a number of at most max. */
static bool take_number(reading *r, int digits, int max, int *value) {
    for (*value = 0; digits > 0; digits--) {
        if (!is_digit(r)) return false;
        *value = 10 * *value + (*r->at++ - '0');
    }
    return *value <= max;
}

static bool take_month(reading *r, int *month) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (*month = 1; r->end - r->at >= 3 && *month <= 12; ++*month) {
        if (memcmp(r->at, names + 3 * (*month - 1), 3) != 0) continue;
        r->at += 3;
        return true;
    }
    return false;
}

/* Seconds from 1970 to the beginning of a day that exists. */
static bool seconds_of_day(int year, int month, int day, int64_t *seconds) {
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1970 || month < 1 || month > 12 || day < 1) return false;
    if (day > before[month] - before[month - 1] + (month == 2 && leap)) return false;
    int last = year - 1, leaps = last / 4 - last / 100 + last / 400 - 477; /* 477 up to 1969 */
    int64_t days = INT64_C(365) * (year - 1970) + leaps + before[month - 1] + day - 1;
    *seconds = 86400 * (days + (month > 2 && leap));
    return true;
}

/* hh:mm:ss, perhaps with a fraction. */
static bool take_clock(reading *r, int64_t *seconds) {
    int hour, minute, second;
    if (!take_number(r, 2, 23, &hour) || !take(r, ":") || !take_number(r, 2, 59, &minute) ||
        !take(r, ":") || !take_number(r, 2, 60, &second)) {
        return false;
    }
    *seconds += 3600 * hour + 60 * minute + second;
    reading fraction = *r;
    if (!take(&fraction, ".,") || !is_digit(&fraction)) return true;
    while (is_digit(&fraction)) fraction.at++;
    *r = fraction;
    return true;
}

/* +01:00 or +0100, perhaps after a blank; what is not a zone belongs to the rest of the line. */
static void take_zone(reading *r, int64_t *seconds) {
    int hours, minutes;
    if (take(r, "Zz")) return;
    take(r, " ");
    bool west = take(r, "-");
    if ((!west && !take(r, "+")) || !take_number(r, 2, 23, &hours)) return;
    take(r, ":");
    if (!take_number(r, 2, 59, &minutes) || is_digit(r)) return;
    *seconds += (west ? 60 : -60) * (60 * hours + minutes);
}

/* 2026-11-19T21:42:06 */
static bool take_rfc3339(reading *r, int64_t *seconds) {
    int year, month, day;
    return take_number(r, 4, 9999, &year) && take(r, "-") && take_number(r, 2, 12, &month) &&
           take(r, "-") && take_number(r, 2, 31, &day) && take(r, "Tt ") &&
           seconds_of_day(year, month, day, seconds) && take_clock(r, seconds);
}

/* 19/Nov/2026:21:42:06 */
static bool take_common(reading *r, int64_t *seconds) {
    int year, month, day;
    return take_number(r, 2, 31, &day) && take(r, "/") && take_month(r, &month) && take(r, "/") &&
           take_number(r, 4, 9999, &year) && take(r, ":") &&
           seconds_of_day(year, month, day, seconds) && take_clock(r, seconds);
}

/* The number of digits says what they count: seconds have 9 to 11, from 1973 on. */
static bool take_epoch(reading *r, int64_t *seconds) {
    int digits = 0;
    for (*seconds = 0; is_digit(r) && digits < 19; digits++) {
        if (__builtin_mul_overflow(*seconds, 10, seconds) ||
            __builtin_add_overflow(*seconds, *r->at - '0', seconds)) {
            return false;
        }
        r->at++;
    }
    bool counts = digits >= 9 && digits <= 11, known = counts || (digits > 12 && digits % 3 == 1);
    for (int unit = 13; known && unit <= digits; unit += 3) *seconds /= 1000;
    return known && !is_digit(r) && (r->at == r->end || !strchr("-/:", *r->at));
}

bool cli_line_time(const char *text, size_t len, uint64_t *seconds) {
    reading r = {text, text + len};
    int64_t time = 0;
    (void)take(&r, "[\"");
    reading day = r, common = r;
    if (take_rfc3339(&day, &time)) {
        take_zone(&day, &time);
    } else if (take_common(&common, &time)) {
        take_zone(&common, &time);
    } else if (!take_epoch(&r, &time)) {
        return false;
    }
    if (time < 0) return false;
    *seconds = (uint64_t)time;
    return true;
}
