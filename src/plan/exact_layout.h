/* SPDX-License-Identifier: MIT
 *
 * exact_layout.h - how an exact filter divides its bits: fingerprints, and verdicts
 */
#ifndef UMBELI_EXACT_LAYOUT_H
#define UMBELI_EXACT_LAYOUT_H

#include "plan/tight_layout.h"

/* The bits of a fingerprint with which the filter is smallest among those that find others, which
 * are not known, at most at the rate fpr; 0 for fpr: any rate.  Above UMBELI_TIGHT_MAX_WIDTH:
 * there is none. */
uint32_t umbeli_exact_width(uint64_t members, uint64_t others, double fpr);

/* Keys that get a verdict: all members, and others that have a member's fingerprint by chance. */
uint64_t umbeli_exact_verdicts(uint64_t members, uint64_t others, uint32_t width);

/* With 0 bits there is no table of fingerprints, and every key has a verdict.  False: too many
 * keys. */
bool umbeli_exact_prints(uint64_t members, uint32_t width, umbeli_tight_layout *prints);

/* The rate for keys that are not known. */
double umbeli_exact_rate(const umbeli_tight_layout *prints, uint64_t members);

#endif
