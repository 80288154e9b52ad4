/* SPDX-License-Identifier: MIT
 *
 * quantity.c - counts, sizes, rates and durations, parsed and formatted for people
 */
#define _POSIX_C_SOURCE 200809L
#include "base/quantity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A decimal number without a sign; strtod alone would accept "nan" and "0x1p3". */
static bool number(const char *text, const char **end, double *out) {
    size_t len = strspn(text, "0123456789.");
    if (len == 0 || (text[0] == '.' && len == 1)) return false;
    if (text[len] == 'e' || text[len] == 'E') {
        size_t sign = text[len + 1] == '+' || text[len + 1] == '-';
        size_t digits = strspn(text + len + 1 + sign, "0123456789");
        if (digits) len += 1 + sign + digits;
    }
    char copy[64];
    if (len >= sizeof copy) return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *stop = NULL;
    *out = strtod(copy, &stop);
    *end = text + len;
    return *stop == '\0'; /* perhaps infinite */
}

/* 1,000,000 without its commas, which are where they belong or refused. */
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

/* The factor that a suffix stands for; 0 if it is not one. */
static double factor(const char *suffix, double plain, bool bytes) {
    static const char letters[] = "kmgtp"; /* no e for exa: 1e is a typo, not 10^18 */
    static const char *const units[] = {"b", "byte", "bytes"};
    if (*suffix == '\0') return 1;
    for (size_t i = 0; bytes && i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(suffix, units[i]) == 0) return 1;
    }
    const char *at = strchr(letters, *suffix | 0x20);
    if (!at) return 0;
    const char *rest = suffix + 1;
    double base = plain;
    if (bytes && strcasecmp(rest, "ib") == 0) {
        base = 1024;
    } else if (bytes && strcasecmp(rest, "b") == 0) {
        base = 1000;
    } else if (*rest != '\0') {
        return 0;
    }
    return pow(base, (double)(at - letters + 1));
}

typedef enum outcome { GOOD, BAD, TOO_LARGE } outcome;

static outcome whole(const char *given, double plain, bool bytes, uint64_t *out) {
    char text[64];
    if (!without_commas(given, text, sizeof text)) return BAD;
    size_t digits = strspn(text, "0123456789");
    if (digits && text[digits] == '\0') { /* exact beyond 2^53 */
        errno = 0;
        unsigned long long x = strtoull(text, NULL, 10);
        if (errno) return TOO_LARGE;
        *out = x;
        return GOOD;
    }
    const char *suffix = NULL;
    double x = 0;
    if (!number(text, &suffix, &x)) return BAD;
    if (*suffix == ' ' && suffix[1]) suffix++;
    double unit = factor(suffix, plain, bytes);
    if (unit == 0) return BAD;
    x *= unit;
    /* 0.1M is 100000 although 0.1 is not exactly a tenth; 11.4MiB is no whole number of bytes. */
    double rounded = round(x);
    if (rounded >= 18446744073709551616.0) return TOO_LARGE;
    bool rough = bytes && unit > 1;
    if (!rough && fabs(x - rounded) > 1e-9 * rounded) return BAD;
    *out = (uint64_t)rounded;
    return GOOD;
}

bool cli_parse_count(const char *text, uint64_t *out) {
    return whole(text, 1000, false, out) == GOOD;
}

bool cli_parse_size(const char *text, uint64_t *out) {
    return whole(text, 1024, true, out) == GOOD;
}

bool cli_is_too_large(const char *text) {
    uint64_t ignored;
    return whole(text, 1024, true, &ignored) == TOO_LARGE;
}

/* What follows the 1 of `1/1000` and of `1 in 1,000`, as rates are printed; NULL: neither. */
static const char *denominator(const char *text) {
    if (*text == '/') return text + 1;
    return strncmp(text, " in ", 4) == 0 ? text + 4 : NULL;
}

bool cli_parse_rate(const char *text, double *out) {
    const char *rest = NULL;
    char plain[64];
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

static const struct {
    char letter;
    uint64_t seconds;
} durations[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { DURATIONS = sizeof durations / sizeof *durations };

bool cli_parse_duration(const char *text, uint64_t *out) {
    const char *unit = NULL;
    double x = 0;
    if (!number(text, &unit, &x) || unit[0] == '\0' || unit[1] != '\0') return false;
    for (int i = 0; i < DURATIONS; i++) {
        if (*unit != durations[i].letter) continue;
        x *= (double)durations[i].seconds;
        double rounded = round(x);
        if (rounded < 1 || rounded > (double)CLI_DURATION_MAX ||
            fabs(x - rounded) > 1e-9 * rounded) {
            return false;
        }
        *out = (uint64_t)rounded;
        return true;
    }
    return false;
}

char *cli_count_text(uint64_t count, char *out) {
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

char *cli_count_noun(uint64_t count, const char *noun, char *out) {
    char *end = cli_count_text(count, out) + strlen(out);
    snprintf(end, CLI_QUANTITY - strlen(out), " %.8s%s", noun, count == 1 ? "" : "s");
    return out;
}

static char *scaled(double x, double base, const char *const *units, char *out) {
    size_t u = 0;
    while (x >= base * 0.9995 && units[u + 1]) {
        x /= base;
        u++;
    }
    int decimals = u == 0 || x >= 99.95 || x == floor(x) ? 0 : x >= 9.995 ? 1 : 2;
    snprintf(out, CLI_QUANTITY, "%.*f%s%s", decimals, x, *units[u] ? " " : "", units[u]);
    return out;
}

char *cli_short_count(double count, char *out) {
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E", NULL};
    return scaled(count, 1000, units, out);
}

char *cli_size_text(uint64_t bytes, char *out) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
    if (bytes == 1) return strcpy(out, "1 byte");
    return scaled((double)bytes, 1024, units, out);
}

char *cli_rate_text(double rate, char *out) {
    if (!(rate > 0)) return strcpy(out, "0%");
    double percent = fmin(rate, 1) * 100;
    if (percent >= 0.0009995) {
        int decimals = percent >= 99.95 ? 1 : percent >= 9.995 ? 1 : percent >= 0.9995 ? 2 : 0;
        if (percent < 0.9995) decimals = 2 - (int)floor(log10(percent / 0.9995) + 1e-9);
        snprintf(out, CLI_QUANTITY, "%.*f", decimals, percent);
        if (strchr(out, '.') && fabs(strtod(out, NULL) / percent - 1) < 1e-9) { /* 1%, not 1.00% */
            char *end = out + strlen(out);
            while (end[-1] == '0') *--end = '\0';
            if (end[-1] == '.') *--end = '\0';
        }
        return strcat(out, "%");
    }
    double one_in = 1 / rate;
    if (one_in >= 1e18) {
        snprintf(out, CLI_QUANTITY, "%.2g", rate);
        return out;
    }
    char count[CLI_QUANTITY];
    double step = pow(10, floor(log10(one_in)) - 2); /* three digits are enough */
    snprintf(out, CLI_QUANTITY, "1 in %.34s",
             cli_count_text((uint64_t)(round(one_in / step) * step), count));
    return out;
}

/* Never in weeks: 14d is as clear as 2w, and 7d is what most people write. */
char *cli_duration_text(uint64_t seconds, char *out) {
    int i = 1;
    while (i + 1 < DURATIONS && seconds % durations[i].seconds) i++;
    snprintf(out, CLI_QUANTITY, "%llu%c", (unsigned long long)(seconds / durations[i].seconds),
             durations[i].letter);
    return out;
}

cli_interval cli_wilson(uint64_t hits, uint64_t trials, double z) {
    if (trials == 0) return (cli_interval){0, 1};
    double n = (double)trials, p = (double)hits / n, zz = z * z;
    double middle = (p + zz / (2 * n)) / (1 + zz / n);
    double half = z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
    double low = hits == 0 ? 0 : middle - half, high = hits == trials ? 1 : middle + half;
    return (cli_interval){fmax(low, 0), fmin(high, 1)};
}
