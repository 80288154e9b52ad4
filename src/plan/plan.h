/* SPDX-License-Identifier: MIT
 *
 * plan.h - sizing: from two of capacity, rate and bytes to the third, with a model per kind
 *
 * The formulas are in docs/planning.md.
 */
#ifndef UMBELI_PLAN_H
#define UMBELI_PLAN_H

#include "umbel_plan.h"

/* umbel_plan_solve.  On refusal hashes is unchanged as well and bits is 0; bits_per_key and bound
 * (if capacity and bytes were given) and rate (if the kind could be sized at all) report what the
 * request would have given. */
umbel_err umbeli_plan_solve(umbel_plan *plan);

/* umbeli_plan_solve for a filter with concurrent writers: UMBEL_KIND_AUTO is never classic. */
umbel_err umbeli_plan_concurrent(umbel_plan *plan);

/* umbel_plan_rate; 1 for an unsolved plan. */
double umbeli_plan_rate(const umbel_plan *plan, uint64_t keys);

/* The rate of a split-block filter of nblocks in [1, 2^32) after `keys` distinct keys, averaged
 * over all such filters; and how they scatter around it, as in umbeli_model.spread. */
double umbeli_blocked_rate(uint64_t nblocks, uint64_t keys);
double umbeli_blocked_spread(uint64_t nblocks, uint64_t keys);

/* Rate and spread of `nlines` lines of 4, 8 or 16 lanes; and which of these minimises rate + 3
 * spread. */
double umbeli_line_rate(uint64_t nlines, uint32_t lanes, uint64_t keys);
double umbeli_line_spread(uint64_t nlines, uint32_t lanes, uint64_t keys);
uint32_t umbeli_line_hashes(uint64_t nlines, uint64_t keys);

/* Rate and spread of `bits` bits after `keys` distinct keys with `hashes` independent probes each;
 * both are at least 1. */
double umbeli_classic_rate(uint64_t bits, uint32_t hashes, uint64_t keys);
double umbeli_classic_spread(uint64_t bits, uint32_t hashes, uint64_t keys);

/* A scalable filter's first layer gets 1/4 of its rate. */
enum { UMBELI_SCALABLE_SHARES = 4 };

/* The next layer of packed hashes, after `before` keys, where this much of the rate is left: the
 * bits that it keeps of a hash, and how many of them.  False: a hash does not have enough bits. */
bool umbeli_scalable_stage(uint64_t before, double left, uint32_t *bits, uint64_t *keys);

/* What the filter that it becomes in the end gets of what is left then. */
double umbeli_scalable_filter_share(uint64_t keys);

/* Whether all layers are filters instead, since hashes cannot keep the rate. */
bool umbeli_scalable_of_filters(double fpr);

/* In that case later layers (0, 1, ...) share what is left: layer i is for this part of it.  All
 * parts add up to 1. */
double umbeli_scalable_share(uint32_t layer);

/* Capacity of the first layer unless more keys are expected or the bytes are given. */
enum { UMBELI_SCALABLE_FIRST = 10000 };

/* Generations of a window: default and maximum. */
enum { UMBELI_WINDOW_GENERATIONS = 8, UMBELI_WINDOW_MAX = 255 };

/* The number of probes per key, 1 to 64, that minimises rate + 3 spread of a classic filter of
 * `bits` bits. */
uint32_t umbeli_classic_hashes(uint64_t bits, uint64_t keys);

/* 2^-(bits per key): no filter of any kind has a lower rate.  0 keys: 0. */
double umbeli_bound_rate(double bits, uint64_t keys);

/* keys * log2(1/fpr): the minimum number of bits in which any filter could keep the promise. */
double umbeli_bound_bits(uint64_t keys, double fpr);

#endif
