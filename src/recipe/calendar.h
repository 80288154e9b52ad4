/* SPDX-License-Identifier: MIT
 *
 * calendar.h - days of the Gregorian calendar, also before it was introduced
 */
#ifndef UMBELI_CALENDAR_H
#define UMBELI_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

/* Days since 1970-01-01 of a day that exists, in a year from -4799 on; year 0 is 1 BC. */
static inline bool umbeli_day(int64_t year, unsigned month, unsigned day, int64_t *days) {
    static const unsigned before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < -4799 || month < 1 || month > 12 || day < 1) return false;
    if (day > before[month] - before[month - 1] + (month == 2 && leap)) return false;
    /* Whole years of 365 days, and the leap days before this year: 4,800 years have 1,164, and the
     * years from 1 to 1969 have 477. */
    int64_t y = year - 1 + 4800;
    int64_t leaps = y / 4 - y / 100 + y / 400 - 1164 - 477;
    *days = (year - 1970) * 365 + leaps + before[month - 1] + day - 1 + (month > 2 && leap);
    return true;
}

#endif
