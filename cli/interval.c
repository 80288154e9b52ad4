/* SPDX-License-Identifier: MIT
 *
 * interval.c - what a measured rate says about the true one
 */
#include "interval.h"

#include <math.h>

struct cli_interval cli_wilson(uint64_t hits, uint64_t trials, double z) {
    if (trials == 0) return (struct cli_interval){0, 1};
    double n = (double)trials, p = (double)hits / n, zz = z * z;
    double middle = (p + zz / (2 * n)) / (1 + zz / n);
    double half = z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
    double low = hits == 0 ? 0 : middle - half, high = hits == trials ? 1 : middle + half;
    return (struct cli_interval){fmax(low, 0), fmin(high, 1)};
}
