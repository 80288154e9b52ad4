/* SPDX-License-Identifier: MIT
 *
 * clickhouse_best.c - from a rate to bits a row and hashes, by ClickHouse's table
 */
#include <math.h>

#include "codec/clickhouse_index.h"

enum { MAX_BITS = 20, MAX_HASHES = 15 };

/* rates[b][k]: millionths, with b bits a row and k hashes.  ClickHouse has a row 20, too, and never
 * looks at it. */
static const uint32_t rates[MAX_BITS][MAX_HASHES] = {
    [1] = {1000000, 1000000},
    [2] = {1000000, 393000, 400000},
    [3] = {1000000, 283000, 237000, 253000},
    [4] = {1000000, 221000, 155000, 147000, 160000},
    [5] = {1000000, 181000, 109000, 92000, 92000, 101000},
    [6] = {1000000, 154000, 80400, 60900, 56100, 57800, 63800},
    [7] = {1000000, 133000, 61800, 42300, 35900, 34700, 36400},
    [8] = {1000000, 118000, 48900, 30600, 24000, 21700, 21600, 22900},
    [9] = {1000000, 105000, 39700, 22800, 16600, 14100, 13300, 13500, 14500},
    [10] = {1000000, 95200, 32900, 17400, 11800, 9430, 8440, 8190, 8460},
    [11] = {1000000, 86900, 27600, 13600, 8640, 6500, 5520, 5130, 5090},
    [12] = {1000000, 80000, 23600, 10800, 6460, 4590, 3710, 3290, 3140},
    [13] = {1000000, 74000, 20300, 8750, 4920, 3320, 2550, 2170, 1990, 1940},
    [14] = {1000000, 68900, 17700, 7180, 3810, 2440, 1790, 1460, 1290, 1210, 1200},
    [15] = {1000000, 64500, 15600, 5960, 3000, 1830, 1280, 1000, 852, 775, 744},
    [16] = {1000000, 60600, 13800, 5000, 2390, 1390, 935, 702, 574, 505, 470, 459},
    [17] = {1000000, 57100, 12300, 4230, 1930, 1070, 692, 499, 394, 335, 302, 287, 284},
    [18] = {1000000, 54000, 11100, 3620, 1580, 839, 519, 360, 275, 226, 198, 183, 176},
    [19] = {1000000, 51300, 9980, 3120, 1300, 663, 394, 264, 194, 155, 132, 118, 111, 109},
};

/* The hashes with the least rate in each row. */
static const uint32_t least[MAX_BITS] = {0, 0, 1, 2, 3,  3,  4,  5,  6,  6,
                                         7, 8, 8, 9, 10, 10, 11, 12, 12, 13};

/* ClickHouse compares long double constants with a double, so where fpr is written just like a
 * constant the exact decimal decides.  fma rounds once and keeps the sign: the same everywhere. */
static bool above(uint32_t rate, double fpr) {
    return fma(fpr, 1e6, -(double)rate) < 0;
}

umbeli_clickhouse_best umbeli_clickhouse_best_of(double fpr, bool pre2024) {
    if (!pre2024 && fpr >= 0.283) return (umbeli_clickhouse_best){2, 2};
    for (uint32_t bits = 1; bits < MAX_BITS; bits++) {
        if (above(rates[bits][least[bits]], fpr)) continue;
        for (uint32_t k = least[bits]; k > 0; k--) {
            if (above(rates[bits][k], fpr)) return (umbeli_clickhouse_best){bits, k + 1};
        }
        /* Every listed rate is low enough: ClickHouse goes on to the next row, and for fpr in
         * [0.221, 0.237] through all of them. */
    }
    return (umbeli_clickhouse_best){MAX_BITS - 1, least[MAX_BITS - 1]};
}
