/* SPDX-License-Identifier: MIT */
#include "base/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *cli_count_noun(uint64_t count, const char *noun, char *out) {
    char *end = umbel_count_text(count, out) + strlen(out);
    snprintf(end, UMBEL_QUANTITY - strlen(out), " %.8s%s", noun, count == 1 ? "" : "s");
    return out;
}

char *cli_real_text(double value, int decimals, char *out) {
    if (value >= 1000 && value < 1e15) return umbel_count_text((uint64_t)llround(value), out);
    snprintf(out, UMBEL_QUANTITY, "%.*f", decimals, value);
    return out;
}

char *cli_narrow_rate(double rate, char *out) {
    if (!(rate > 0 && rate < 0.9995e-5)) return umbel_rate_text(rate, out);
    snprintf(out, UMBEL_QUANTITY, "%.2g", rate);
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
