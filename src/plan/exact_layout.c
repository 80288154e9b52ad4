/* SPDX-License-Identifier: MIT
 *
 * exact_layout.c - sizes of exact filters: kind/static/exact.c says why
 */
#include "plan/exact_layout.h"

#include <math.h>

#include "plan/static_layout.h"

/* With fewer members most slots of the verdicts may be alike, and the verdict on a stranger is no
 * toss; so there are fingerprints in any case, else there might be no rate below 1. */
enum { FEW = 64 };

static double rate_of(double prints, uint64_t members) {
    if (members == 0) return 0;
    return members < FEW ? prints : prints / 2;
}

double umbeli_exact_rate(const umbeli_tight_layout *prints, uint64_t members) {
    return rate_of(prints->levels ? umbeli_tight_rate(prints, members) : 1, members);
}

static double rate_of_width(uint64_t members, uint32_t width) {
    double table = ldexp(1, -(int)width);
    if (width) table += umbeli_hash_collisions(members, table);
    return rate_of(fmin(table, 1), members);
}

uint32_t umbeli_exact_width(uint64_t members, uint64_t others, double fpr) {
    uint32_t width = members < FEW;
    if (members == 0) return 0;
    while (width < UMBELI_TIGHT_MAX_WIDTH &&
           ldexp((double)others, -(int)width - 1) > (double)members) {
        width++;
    }
    while (fpr > 0 && width <= UMBELI_TIGHT_MAX_WIDTH && rate_of_width(members, width) > fpr)
        width++;
    return width;
}

uint64_t umbeli_exact_verdicts(uint64_t members, uint64_t others, uint32_t width) {
    return members ? members + (uint64_t)ldexp((double)others, -(int)width) : 0;
}

bool umbeli_exact_prints(uint64_t members, uint32_t width, umbeli_tight_layout *prints) {
    *prints = (umbeli_tight_layout){0};
    return width == 0 || umbeli_tight_for_width(members, width, prints);
}
