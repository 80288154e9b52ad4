/* SPDX-License-Identifier: MIT
 *
 * plan_classic.c - the model of m bits with k probes per key
 *
 * After t = kn probes a bit is set with p = 1 - (1-1/m)^t, and the textbook says p^k.  But the
 * share of set bits varies from filter to filter, and the mean of its k-th power is more than the
 * k-th power of its mean (Bose et al., "On the false-positive rate of Bloom filters", 2008): by 1%
 * at 512 bits and k = 7, by a negligible amount at a million bits.  The share is close to normal,
 * so the excess is the factor exp(k(k-1)/2 * variance/p^2).
 *
 * One filter in a thousand has a share of set bits three deviations or more above the mean; the
 * rate at that share is the limit, and spread is a third of the distance to it.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_model.h"

enum { UNIT_BYTES = 64, MAX_HASHES = 64 };

/* m times the variance of the share of set bits, where c is probes per bit and q the share of bits
 * still clear: the limit of m (q/m + (1-1/m) q2 - q^2), q2 = (1-2/m)^t, for large m, slightly above
 * the exact value.  The series takes over where the difference would lose its digits. */
static double fill_variance(double c, double q) {
    if (c < 1e-3) return q * c * c * (0.5 - c * (1.0 / 3.0 - c / 8.0));
    return q * (1.0 - (1.0 + c) * q);
}

double umbeli_classic_rate(uint64_t bits, uint32_t hashes, uint64_t keys) {
    if (keys == 0) return 0.0;
    if (bits < 2) return 1.0;
    double m = (double)bits, k = hashes, probes = k * (double)keys;
    double log_clear = probes * log1p(-1.0 / m);
    double p = -expm1(log_clear);
    double excess = 0.5 * k * (k - 1.0) * fill_variance(probes / m, exp(log_clear)) / (m * p * p);
    double rate = exp(k * log(p) + excess);
    return fmin(rate, 1.0);
}

double umbeli_classic_spread(uint64_t bits, uint32_t hashes, uint64_t keys) {
    if (keys == 0 || bits < 2) return 0.0;
    double m = (double)bits, k = hashes, probes = k * (double)keys;
    double log_clear = probes * log1p(-1.0 / m);
    double deviation = sqrt(fmax(fill_variance(probes / m, exp(log_clear)), 0.0) / m);
    /* Never more bits are set than there were probes. */
    double fill = fmin(-expm1(log_clear) + 3.0 * deviation, fmin(probes / m, 1.0));
    return fmax(pow(fill, k) - umbeli_classic_rate(bits, hashes, keys), 0.0) / 3.0;
}

static double promise(uint64_t bits, uint32_t hashes, uint64_t keys) {
    return umbeli_classic_rate(bits, hashes, keys) +
           3.0 * umbeli_classic_spread(bits, hashes, keys);
}

uint32_t umbeli_classic_hashes(uint64_t bits, uint64_t keys) {
    if (keys == 0) return 1;
    double ideal = (double)bits / (double)keys * 0.69314718055994530942;
    uint32_t k = ideal >= MAX_HASHES ? MAX_HASHES : ideal < 1.0 ? 1 : (uint32_t)ideal;
    double rate = promise(bits, k, keys);
    /* In small filters the variance pulls the best k below the ideal. */
    while (k > 1) {
        double less = promise(bits, k - 1, keys);
        if (less > rate) break;
        rate = less;
        k--;
    }
    if (k < MAX_HASHES && promise(bits, k + 1, keys) < rate) k++;
    return k;
}

static uint32_t best_hashes(uint64_t bytes, uint64_t keys) {
    return umbeli_classic_hashes(bytes * 8, keys);
}

/* The native scheme derives all probes from two 64-bit words, a start and a step.  One step in 2^64
 * is degenerate, so that a single set bit is enough; keys that share a step with an added one
 * follow its probes.  Together that is below 2^-64 wherever it would be noticeable. */
static double model_floor(uint64_t keys) {
    (void)keys;
    return 0x1p-64;
}

static double model_rate(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return fmin(umbeli_classic_rate(bytes * 8, hashes, keys) + model_floor(keys), 1.0);
}

static double model_spread(uint64_t bytes, uint32_t hashes, uint64_t keys) {
    return umbeli_classic_spread(bytes * 8, hashes, keys);
}

const umbeli_model umbeli_model_classic = {
    .id = UMBEL_KIND_CLASSIC,
    .unit = UNIT_BYTES,
    .units = ((UINT64_C(1) << 63) - 512) / 512,
    .hashes_min = 1,
    .hashes_max = MAX_HASHES,
    .hashes = best_hashes,
    .rate = model_rate,
    .spread = model_spread,
    .floor = model_floor,
    .too_large = "this would take 2^63 bits or more; choose fewer keys, a higher fpr or fewer "
                 "bytes",
    .too_small = "the smallest classic filter has 64 bytes",
    .beyond = "a classic filter needs more than that; give more bytes, fewer keys or a higher "
              "fpr, or leave one of them out to see what is possible",
    .bad_hashes = "a classic filter has 1 to 64 hashes; 0 chooses the best",
};
