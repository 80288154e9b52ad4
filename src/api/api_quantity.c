/* SPDX-License-Identifier: MIT
 *
 * api_quantity.c - counts, sizes, rates and durations as people write and read them
 *
 * The C library reads and writes the decimal point of the program's locale; here it is a point.
 */
#include "umbel_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"
#include "core/text.h"

enum { TEXT = 64 }; /* longer ones are not quantities */

/* The e-6 of a number, and moves *at past it; 0 if there is none. */
static int read_exponent(const char **at) {
    const char *p = *at;
    if (*p != 'e' && *p != 'E') return 0;
    bool down = *++p == '-';
    int exponent = 0;
    if (down || *p == '+') p++;
    if (!umbeli_is_digit(*p)) return 0;
    for (; umbeli_is_digit(*p); p++) {
        if (exponent < 10000) exponent = 10 * exponent + (*p - '0');
    }
    *at = p;
    return down ? -exponent : exponent;
}

/* A decimal number without a sign, perhaps infinite.  strtod gets 15e-1 for 1.5. */
static bool number(const char *text, const char **end, double *out) {
    char plain[TEXT + 16];
    size_t digits = 0;
    int decimals = 0;
    bool point = false;
    for (; umbeli_is_digit(*text) || (*text == '.' && !point); text++) {
        if (digits == TEXT) return false;
        if (point) decimals++;
        if (*text == '.') {
            point = true;
        } else {
            plain[digits++] = *text;
        }
    }
    if (digits == 0) return false;
    int power = read_exponent(&text) - decimals;
    snprintf(plain + digits, sizeof plain - digits, "e%s%u", power < 0 ? "-" : "",
             (unsigned)abs(power));
    int saved = errno; /* set by strtod; the library never changes it */
    *out = strtod(plain, NULL);
    errno = saved;
    *end = text;
    return true;
}

/* 1,000,000 without its commas, which are refused unless they are where they belong. */
static bool without_commas(const char *text, char *out, size_t cap) {
    size_t digits = strspn(text, "0123456789"), used = 0;
    if (strlen(text) >= cap) return false;
    if (text[digits] != ',') {
        strcpy(out, text);
        return true;
    }
    if (digits == 0 || digits > 3) return false;
    memcpy(out, text, digits);
    for (used = digits, text += digits; *text == ','; text += 4, used += 3) {
        if (strspn(text + 1, "0123456789") != 3) return false;
        memcpy(out + used, text + 1, 3);
    }
    strcpy(out + used, text);
    return true;
}

/* Whether the texts are equal, ignoring case. */
static bool same(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        bool letter = (*b >= 'a' && *b <= 'z') || (*b >= 'A' && *b <= 'Z');
        if (*a != *b && !(letter && (*a ^ *b) == 0x20)) return false;
    }
    return *a == *b;
}

typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit count_units[] = {
    {"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"bn", 1e9},   {"trillion", 1e12},
    {"千", 1e3},       {"万", 1e4},      {"百万", 1e6},    {"千万", 1e7}, {"亿", 1e8},
    {"十亿", 1e9},     {"万亿", 1e12},   {NULL, 0},
};
static const unit size_units[] = {{"B", 1}, {"byte", 1}, {"bytes", 1}, {NULL, 0}};

/* The factor that a suffix stands for; 0 if it is not one. */
static double factor(const char *suffix, bool bytes) {
    static const char letters[] = "kmgtp"; /* no e for exa: 1e is a typo, not 10^18 */
    if (*suffix == '\0') return 1;
    for (const unit *u = bytes ? size_units : count_units; u->name; u++) {
        if (same(suffix, u->name)) return u->factor;
    }
    const char *at = strchr(letters, *suffix | 0x20), *rest = suffix + 1;
    if (!at) return 0;
    double base = bytes ? 1024 : 1000, product = base;
    if (bytes && same(rest, "B")) {
        product = base = 1000;
    } else if (*rest && !(bytes && same(rest, "iB"))) {
        return 0;
    }
    for (; at > letters; at--) product *= base;
    return product;
}

/* Plain digits: exact, beyond 2^53 as well. */
static bool digits_value(const char *text, uint64_t *out) {
    uint64_t x = 0;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (x > (UINT64_MAX - digit) / 10) return false;
        x = 10 * x + digit;
    }
    *out = x;
    return true;
}

static umbel_err whole(const char *given, bool bytes, uint64_t *out, umbel_diag *diag) {
    static const char too_large[] = "too large";
    const char *suffix = NULL, *bad = bytes ? "not a size" : "not a number";
    char text[TEXT];
    double x = 0;
    if (!without_commas(given, text, sizeof text)) return umbeli_invalid(diag, bad);
    size_t digits = strspn(text, "0123456789");
    if (digits && text[digits] == '\0') {
        return digits_value(text, out) ? UMBEL_OK : umbeli_invalid(diag, too_large);
    }
    if (!number(text, &suffix, &x)) return umbeli_invalid(diag, bad);
    if (*suffix == ' ' && suffix[1]) suffix++;
    double times = factor(suffix, bytes);
    if (times == 0) return umbeli_invalid(diag, bad);
    x *= times;
    /* 0.1M is 100000 although 0.1 is not exactly a tenth; 11.4MiB is not a whole number. */
    double rounded = round(x);
    if (rounded >= 18446744073709551616.0) return umbeli_invalid(diag, too_large);
    bool rough = bytes && times > 1;
    if (!rough && fabs(x - rounded) > 1e-9 * rounded) return umbeli_invalid(diag, bad);
    *out = (uint64_t)rounded;
    return UMBEL_OK;
}

umbel_err umbel_parse_count(const char *text, uint64_t *out, umbel_diag *diag) {
    return whole(text, false, out, diag);
}

umbel_err umbel_parse_size(const char *text, uint64_t *out, umbel_diag *diag) {
    return whole(text, true, out, diag);
}

/* What follows the 1 of `1/1000` and of `1 in 1,000`, as rates are printed; NULL: neither. */
static const char *denominator(const char *text) {
    if (*text == '/') return text + 1;
    return strncmp(text, " in ", 4) == 0 ? text + 4 : NULL;
}

static bool read_rate(const char *text, double *out) {
    const char *rest = NULL;
    char plain[TEXT];
    double x = 0, below = 0;
    if (!number(text, &rest, &x)) return false;
    const char *under = denominator(rest);
    if (under) {
        if (!without_commas(under, plain, sizeof plain) || !number(plain, &rest, &below)) {
            return false;
        }
        if (below == 0) return false;
        x /= below;
    } else {
        if (*rest == ' ') rest++;
        if (*rest == '%') {
            x /= 100;
            rest++;
        }
    }
    if (*rest != '\0' || !(x > 0 && x < 1)) return false;
    *out = x;
    return true;
}

umbel_err umbel_parse_rate(const char *text, double *out, umbel_diag *diag) {
    return read_rate(text, out) ? UMBEL_OK : umbeli_invalid(diag, "not a rate");
}

static const struct {
    char letter;
    uint64_t seconds;
} durations[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { DURATIONS = sizeof durations / sizeof *durations };

static bool read_duration(const char *text, uint64_t *out) {
    const char *letter = NULL;
    double x = 0;
    if (!number(text, &letter, &x) || letter[0] == '\0' || letter[1] != '\0') return false;
    for (int i = 0; i < DURATIONS; i++) {
        if (*letter != durations[i].letter) continue;
        x *= (double)durations[i].seconds;
        double rounded = round(x);
        if (rounded < 1 || rounded > (double)UMBEL_DURATION_MAX ||
            fabs(x - rounded) > 1e-9 * rounded) {
            return false;
        }
        *out = (uint64_t)rounded;
        return true;
    }
    return false;
}

umbel_err umbel_parse_duration(const char *text, uint64_t *out, umbel_diag *diag) {
    return read_duration(text, out) ? UMBEL_OK : umbeli_invalid(diag, "not a duration");
}

/* ---- As text ---- */

char *umbel_count_text(uint64_t count, char *out) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *p = out;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return out;
}

/* Whatever stands between the digits, or before an exponent, becomes a point. */
static void put_point(char *text) {
    size_t at = strspn(text, "0123456789"), end = at + strcspn(text + at, "0123456789e");
    if (at == 0 || end == at) return;
    text[at] = '.';
    memmove(text + at + 1, text + end, strlen(text + end) + 1);
}

static char *scaled(double x, double base, const char *const *units, char *out) {
    size_t u = 0;
    while (x >= base * 0.9995 && units[u + 1]) {
        x /= base;
        u++;
    }
    int decimals = u == 0 || x >= 99.95 || x == floor(x) ? 0 : x >= 9.995 ? 1 : 2;
    snprintf(out, UMBEL_QUANTITY - sizeof " bytes", "%.*f", decimals, x);
    put_point(out);
    if (*units[u]) strcat(strcat(out, " "), units[u]);
    return out;
}

char *umbel_short_count(double count, char *out) {
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    return scaled(count, 1000, units, out);
}

char *umbel_size_text(uint64_t bytes, char *out) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
    if (bytes == 1) return strcpy(out, "1 byte");
    return scaled((double)bytes, 1024, units, out);
}

char *umbel_rate_text(double rate, char *out) {
    if (!(rate > 0)) return strcpy(out, "0%");
    double percent = fmin(rate, 1) * 100;
    if (percent >= 0.0009995) {
        int decimals = percent >= 99.95 ? 1 : percent >= 9.995 ? 1 : percent >= 0.9995 ? 2 : 0;
        if (percent < 0.9995) decimals = 2 - (int)floor(log10(percent / 0.9995) + 1e-9);
        snprintf(out, UMBEL_QUANTITY, "%.*f", decimals, percent);
        bool exact = fabs(strtod(out, NULL) / percent - 1) < 1e-9;
        put_point(out);
        if (exact && strchr(out, '.')) { /* 1%, not 1.00% */
            char *end = out + strlen(out);
            while (end[-1] == '0') *--end = '\0';
            if (end[-1] == '.') *--end = '\0';
        }
        return strcat(out, "%");
    }
    double one_in = 1 / rate;
    if (one_in >= 1e18) {
        snprintf(out, UMBEL_QUANTITY, "%.2g", rate);
        put_point(out);
        return out;
    }
    char count[UMBEL_QUANTITY];
    double step = pow(10, floor(log10(one_in)) - 2); /* three digits are enough */
    snprintf(out, UMBEL_QUANTITY, "1 in %.34s",
             umbel_count_text((uint64_t)(round(one_in / step) * step), count));
    return out;
}

/* Never in weeks: 14d is as clear as 2w, and 7d is what most people write. */
char *umbel_duration_text(uint64_t seconds, char *out) {
    int i = 1;
    while (i + 1 < DURATIONS && seconds % durations[i].seconds) i++;
    snprintf(out, UMBEL_QUANTITY, "%llu%c", (unsigned long long)(seconds / durations[i].seconds),
             durations[i].letter);
    return out;
}
