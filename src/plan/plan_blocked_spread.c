/* SPDX-License-Identifier: MIT
 *
 * plan_blocked_spread.c - how far the rate of one blocked or line filter may be above the mean
 *
 * A filter's rate is the mean of its blocks' rates, which differ for two reasons.
 *
 * Given its load j, the bits of a block are random.  Its lanes are independent, so the moments of
 * their product are powers of those of a lane, which follow from the probability that one, two or
 * three given bits are clear.
 *
 * The loads differ as well, but they add up to the number of keys.  The part of b(j), a block's
 * mean rate, that is linear in j therefore cancels out over the blocks; only the rest counts, whose
 * variance is that of b about its regression line.  Without this the spread at 1% would be twice as
 * large.  Polynomials of degree r in the loads of two blocks, orthogonal to those below, have the
 * correlation (-1/(z-1))^r, so the nonlinear part counts at most z/(z-1) times.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_block_loads.h"

#define INLINED __attribute__((always_inline))

/* First pass: the regression line of b(j), about the most likely load. */
typedef struct line {
    umbeli_lanes form;
    double origin;
    double weight, x, xx, y, xy; /* sums; finally x and y are means */
} line;

INLINED static inline double line_visit(void *sums, const umbeli_load *load) {
    line *sum = sums;
    if (sum->weight == 0.0) sum->origin = load->keys;
    double x = load->keys - sum->origin, y = load->weight * umbeli_block_rate(sum->form, load);
    sum->weight += load->weight;
    sum->x += load->weight * x;
    sum->xx += load->weight * x * x;
    sum->y += y;
    sum->xy += x * y;
    return y;
}

/* Turns x and y into means. */
static double line_slope(line *sum) {
    sum->x /= sum->weight;
    sum->y /= sum->weight;
    double variance = sum->xx / sum->weight - sum->x * sum->x;
    return variance > 0.0 ? (sum->xy / sum->weight - sum->x * sum->y) / variance : 0.0;
}

/* Second pass: second and third moments about that line. */
typedef struct scatter {
    line line;
    double slope;
    double weight, within, between, third;
} scatter;

INLINED static inline double scatter_visit(void *sums, const umbeli_load *load) {
    scatter *sum = sums;
    const umbeli_lanes form = sum->line.form;
    const double *clear = load->clear, bits = form.bits;
    const double one = 1.0 / bits; /* exact: a power of two */
    /* The share of set bits in a lane: its mean, variance and third moment. */
    double mean = 1.0 - clear[0], square = mean * mean;
    double variance = clear[0] * one + clear[1] * (bits - 1.0) * one - clear[0] * clear[0];
    variance = variance > 0.0 ? variance : 0.0;
    double pair = 1.0 - 2.0 * clear[0] + clear[1];
    double triple = 1.0 - 3.0 * clear[0] + 3.0 * clear[1] - clear[2];
    double cube =
        (mean + 3.0 * (bits - 1.0) * pair + (bits - 1.0) * (bits - 2.0) * triple) * (one * one);
    /* All lanes: (square + variance)^lanes - square^lanes, factored so as not to lose digits. */
    double within = variance, more = square + variance, less = square;
    for (uint32_t lanes = form.lanes; lanes > 1; lanes /= 2) {
        within *= more + less;
        more *= more;
        less *= less;
    }
    double all = umbeli_lanes_power(form, mean), all_cubed = umbeli_lanes_power(form, cube);
    double third = all_cubed - 3.0 * all * within - all * all * all;

    double above = umbeli_block_rate(form, load) - sum->line.y -
                   sum->slope * (load->keys - sum->line.origin - sum->line.x);
    sum->weight += load->weight;
    sum->within += load->weight * within;
    sum->between += load->weight * above * above;
    sum->third += load->weight * (third + 3.0 * within * above + above * above * above);
    return load->weight * all_cubed;
}

/* Rates are skewed: a few crowded blocks make a few bad filters.  One filter in a thousand is 3
 * deviations above the mean for a normal distribution, and about 3 + 1.5 * skewness for a gamma
 * distribution, which rates resemble; never beyond sqrt(999) = 31.6 (Cantelli's inequality).  This
 * returns a third of that. */
static double deviations(double skewness) {
    return fmin(1.0 + 0.5 * fmax(skewness, 0.0), 10.5);
}

/* The spread of the given classes of nblocks blocks; *rate gets the mean, as umbeli_blocks_rate has
 * it. */
INLINED static inline double spread_of(umbeli_lanes form, uint64_t nblocks,
                                       const umbeli_block_class *classes, int nclasses, double n,
                                       bool rough, double *rate) {
    double z = (double)nblocks, variance = 0.0, third = 0.0, gain[2] = {0.0, 0.0};
    *rate = 0.0;
    for (int i = 0; i < nclasses; i++) {
        double share = classes[i].share;
        scatter s = {.line = {.form = form}};
        umbeli_loads_visit(form, n, share, rough, line_visit, &s.line);
        s.slope = line_slope(&s.line);
        umbeli_loads_visit(form, n, share, rough, scatter_visit, &s);
        double between = nblocks > 1 ? s.between * z / (z - 1.0) : 0.0;
        double weight = classes[i].blocks * share * share / s.weight;
        variance += weight * (s.within + between);
        third += weight * share * s.third;
        gain[i] = share * s.slope;
        *rate += classes[i].blocks * share * s.line.y;
    }
    /* Between the classes the linear parts do not cancel out completely: keys * p * (1-p) *
     * difference^2 remains if the share p of all keys falls into one of them.  As p jumps from size
     * to size, and more blocks must not look worse, p * (1-p) is replaced by its maximum 1/4. */
    if (nclasses > 1) variance += 0.25 * n * (gain[0] - gain[1]) * (gain[0] - gain[1]);
    if (!(variance > 0.0)) return 0.0;
    return sqrt(variance) * deviations(third / (variance * sqrt(variance)));
}

double umbeli_blocks_spread(umbeli_lanes form, uint64_t nblocks, uint64_t keys) {
    umbeli_block_class classes[2];
    double rate, n = (double)keys;
    umbeli_block_classes(nblocks, classes);
    if (keys == 0 || n * classes[0].share > umbeli_load_full(form)) return 0.0;
    return spread_of(form, nblocks, classes, 2, n, false, &rate);
}

/* The two classes differ by one part in 2^32 / nblocks, and in the sums everything but the square
 * of the difference cancels out. */
double umbeli_blocks_roughly(umbeli_lanes form, uint64_t nblocks, uint64_t keys) {
    enum { ALIKE_UP_TO = 1 << 16 };
    bool alike = nblocks <= ALIKE_UP_TO;
    umbeli_block_class classes[2];
    double rate, n = (double)keys;
    umbeli_block_classes(nblocks, classes);
    if (keys == 0) return 0.0;
    if (n * classes[0].share > umbeli_load_full(form)) return 1.0;
    if (alike) classes[0] = (umbeli_block_class){(double)nblocks, 1.0 / (double)nblocks};
    double spread = spread_of(form, nblocks, classes, alike ? 1 : 2, n, true, &rate);
    return fmin(rate + 3.0 * spread, 1.0);
}
