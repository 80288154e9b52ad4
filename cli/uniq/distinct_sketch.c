/* SPDX-License-Identifier: MIT
 *
 * distinct_sketch.c - how many different keys went by, to 1% in 16 KiB: a HyperLogLog
 *
 * Among hashes that begin with the same 14 bits, the longest run of zeros after them tells roughly
 * how many distinct ones there were; the harmonic mean over all beginnings tells it well.
 * The estimator is Ertl's ("New cardinality estimation algorithms for HyperLogLog sketches", 2017),
 * which needs no correction for few or for many keys.
 */
#include "uniq/distinct_sketch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "umbel.h"

enum { REST = 64 - CLI_SKETCH_BITS };

void cli_sketch_add(cli_sketch *s, const uint64_t *hashes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = hashes[i] << CLI_SKETCH_BITS | UINT64_C(1) << (CLI_SKETCH_BITS - 1);
        uint8_t run = (uint8_t)(__builtin_clzll(rest) + 1);
        uint8_t *longest = &s->longest[hashes[i] >> REST];
        if (run > *longest) *longest = run;
    }
}

/* x + x^2 + 2 x^4 + 4 x^8 + ... */
static double sigma(double x) {
    if (x >= 1) return INFINITY;
    double sum = x, weight = 1, before;
    do {
        before = sum;
        x *= x;
        sum += x * weight;
        weight *= 2;
    } while (sum > before);
    return sum;
}

/* (1 - x - (1 - x^(1/2))^2 / 2 - (1 - x^(1/4))^2 / 4 - ...) / 3 */
static double tau(double x) {
    if (x <= 0 || x >= 1) return 0;
    double sum = 1 - x, weight = 1, before;
    do {
        before = sum;
        x = sqrt(x);
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    } while (sum < before);
    return sum / 3;
}

double cli_sketch_count(const cli_sketch *s) {
    const double m = 1 << CLI_SKETCH_BITS;
    uint32_t count[REST + 2] = {0};
    for (int i = 0; i < 1 << CLI_SKETCH_BITS; i++) count[s->longest[i]]++;
    double sum = m * tau(1 - count[REST + 1] / m);
    for (int run = REST; run > 0; run--) sum = (sum + count[run]) / 2;
    sum += m * sigma(count[0] / m);
    return m * m / (2 * log(2) * sum);
}

/* ---- In metadata: the filter's count of adds, a space, a letter for each run. ---- */

static const char meta_name[] = "uniq.seen";
enum { ZERO = '0', RUNS = 1 << CLI_SKETCH_BITS };

static int count_text(const umbel_filter *f, char *text, size_t room) {
    umbel_info info;
    umbel_describe(f, &info);
    return snprintf(text, room, "%" PRIu64 " ", info.keys_added);
}

umbel_err cli_sketch_store(const cli_sketch *s, umbel_filter *f, umbel_diag *diag) {
    char text[RUNS + 32];
    size_t at = (size_t)count_text(f, text, sizeof text);
    for (int i = 0; i < RUNS; i++) text[at++] = (char)(ZERO + s->longest[i]);
    text[at] = 0;
    return umbel_set_meta(f, meta_name, text, diag);
}

bool cli_sketch_load(cli_sketch *s, const umbel_filter *f) {
    const char *value = umbel_get_meta(f, meta_name);
    char count[32];
    size_t at = (size_t)count_text(f, count, sizeof count);
    if (!value || strncmp(value, count, at) != 0 || strlen(value) != at + RUNS) return false;
    for (int i = 0; i < RUNS; i++) {
        int run = value[at + (size_t)i] - ZERO;
        if (run < 0 || run > REST + 1) return false;
        s->longest[i] = (uint8_t)run;
    }
    return true;
}
