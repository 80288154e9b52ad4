/* SPDX-License-Identifier: MIT
 *
 * plan_bound.c - what no filter of any kind can beat
 *
 * A filter of B bits has 2^B states.  One with rate f says yes to a share f of all possible keys,
 * so it serves at most a share f^n of the sets of n keys; all sets need a state, so
 * 2^B * f^n >= 1.
 */
#include "plan/plan.h"

#include <math.h>

double umbeli_bound_rate(double bits, uint64_t keys) {
    return keys == 0 ? 0.0 : exp2(-bits / (double)keys);
}

double umbeli_bound_bits(uint64_t keys, double fpr) {
    return -log2(fpr) * (double)keys;
}
