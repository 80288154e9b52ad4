/* SPDX-License-Identifier: MIT
 *
 * codec_params.h - what foreign codecs have in common when a filter is made
 */
#ifndef UMBELI_CODEC_PARAMS_H
#define UMBELI_CODEC_PARAMS_H

#include "core/filter.h"

enum {
    UMBELI_TAKES_KEYS = 1 << 0,
    UMBELI_TAKES_FPR = 1 << 1,
    UMBELI_TAKES_BYTES = 1 << 2,
    UMBELI_TAKES_SEED = 1 << 3,
    UMBELI_TAKES_HASHES = 1 << 4,
    UMBELI_TAKES_BITS_PER_KEY = 1 << 5,
    UMBELI_TAKES_EXPANSION = 1 << 6,
    UMBELI_TAKES_NONSCALING = 1 << 7
};

/* UMBEL_EINVAL, naming the parameter, when one is given that is not in `takes` or not among the
 * variants, when the kind is not AUTO or `kind`, or when fpr is given and not in (0,1). */
umbel_err umbeli_params_check(const umbel_params *params, umbel_kind kind, uint32_t takes,
                              uint32_t variants, umbel_diag *diag);

/* UMBEL_EINVAL unless both keys and fpr are given. */
umbel_err umbeli_params_need_keys_and_fpr(const umbel_params *params, umbel_diag *diag);

/* The rate of m bits after `keys` distinct keys of k probes each, when every probe follows from one
 * hash of `hash_bits` bits taken modulo m: keys with equal hashes cannot be told apart, bits beyond
 * 2^hash_bits are never used and the lower ones more often than the rest. */
double umbeli_narrow_rate(uint64_t bits, uint32_t hashes, uint64_t keys, unsigned hash_bits);

/* umbel_plan_format: fills the plan from a shape; shape->fpr is what was asked for or 0, `rate`
 * what the model says.  Systems round their sizes, so a promise counts as missed, for the reason
 * `beyond`, only where the rate passes it by a quarter. */
void umbeli_params_plan(const umbeli_shape *shape, double rate, const char *beyond,
                        umbel_plan *plan);

#endif
