/* SPDX-License-Identifier: MIT
 *
 * plan.h - sizing: from two of keys, rate and bytes to the third, with each kind's own model
 *
 * The formulas are in docs/planning.md.
 */
#ifndef UMBELI_PLAN_H
#define UMBELI_PLAN_H

#include "umbel_plan.h"

/* umbel_plan_solve.  When it refuses, hashes stays as it was, too, and bits is 0; bits_per_key and
 * bound are still told if keys and bytes were given, and rate if the kind could be sized at all:
 * what would have come out. */
umbel_err umbeli_plan_solve(umbel_plan *plan);

/* umbel_plan_rate; 1 for a plan that was not solved. */
double umbeli_plan_rate(const umbel_plan *plan, uint64_t keys);

/* The rate of a split-block filter of nblocks in [1, 2^32) after `keys` distinct keys, as the mean
 * over all such filters; and how they scatter about it, as umbeli_model.spread. */
double umbeli_blocked_rate(uint64_t nblocks, uint64_t keys);
double umbeli_blocked_spread(uint64_t nblocks, uint64_t keys);

/* The same of m bits after `keys` distinct keys of k independent probes each; bits and hashes are
 * at least 1. */
double umbeli_classic_rate(uint64_t bits, uint32_t hashes, uint64_t keys);
double umbeli_classic_spread(uint64_t bits, uint32_t hashes, uint64_t keys);

/* A scalable filter's layers (0, 1, ...) share its rate: layer i is a blocked filter for
 * fpr * umbeli_scalable_share(i).  All shares, of as many layers as there may be, add up to 1. */
double umbeli_scalable_share(uint32_t layer);

/* Keys that the first layer is for unless more are expected or the bytes are given. */
enum { UMBELI_SCALABLE_FIRST = 10000 };

/* Generations of a window: how many if nobody says, and the most. */
enum { UMBELI_WINDOW_GENERATIONS = 8, UMBELI_WINDOW_MAX = 255 };

/* The probes a key, 1 to 64, with which a classic filter of so many bits can promise most:
 * rate + 3 spread is least. */
uint32_t umbeli_classic_hashes(uint64_t bits, uint64_t keys);

/* 2^-(bits per key): no filter of any kind has a lower rate.  0 keys: 0. */
double umbeli_bound_rate(double bits, uint64_t keys);

/* keys * log2(1/fpr): the fewest bits in which any filter could keep the promise. */
double umbeli_bound_bits(uint64_t keys, double fpr);

#endif
