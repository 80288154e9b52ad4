/* SPDX-License-Identifier: MIT
 *
 * codec_params.h - parameter checks and models shared by the foreign codecs
 */
#ifndef UMBELI_CODEC_PARAMS_H
#define UMBELI_CODEC_PARAMS_H

#include "format/codec.h"
#include "umbel_foreign.h"

/* UMBEL_EINVAL, naming the parameter, when one is given that is not in `takes`, the variant is not
 * in `variants`, or fpr is given and not in (0,1). */
umbel_err umbeli_params_check(const umbel_foreign *params, uint32_t takes, uint32_t variants,
                              umbel_diag *diag);

/* UMBEL_EINVAL unless both capacity and fpr are given. */
umbel_err umbeli_params_need_capacity_and_fpr(const umbel_foreign *params, umbel_diag *diag);

/* The share of set bits among those that probes can hit, after `draws` probes that are
 * `hash_bits`-bit numbers modulo the number of bits: bits beyond 2^hash_bits are never used, and
 * the lower ones are hit more often than the rest. */
double umbeli_narrow_fill(uint64_t bits, double draws, unsigned hash_bits);

/* The rate after `keys` distinct keys when all probes of a key follow from one such number: keys
 * with equal hashes cannot be distinguished. */
double umbeli_narrow_rate(uint64_t bits, uint32_t hashes, uint64_t keys, unsigned hash_bits);

/* The models of foreign filters are this accurate, and the systems round their sizes: a promise
 * counts as missed where the rate exceeds it by more than that; where it is exceeded by less,
 * plan.why says so. */
#define UMBELI_RATE_ERROR 0.05

/* umbeli_codec.bits_at of formats that end with the bits. */
uint64_t umbeli_bits_at_end(const umbel_filter *f, const uint8_t *bytes, uint64_t len);

/* A classic filter of these bits, or a view of them; with UMBELI_VERIFY nothing. */
umbel_err umbeli_classic_read(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *bits,
                              umbeli_decoding how, const umbeli_settings *settings,
                              umbel_filter **out, umbel_diag *diag);

/* umbeli_classic_read for `left` bytes of big-endian words of 64 bits, of which there must be
 * shape.bits; no view of them is possible.  `at` is their offset, for the diagnostic. */
umbel_err umbeli_words_read(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *words,
                            uint64_t left, uint64_t at, umbeli_decoding how,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* umbel_plan_foreign: fills the plan from a shape; shape->fpr is the requested rate or 0, `rate`
 * the model's, and `beyond` the reason if it is missed. */
void umbeli_params_plan(const umbeli_shape *shape, double rate, const char *beyond,
                        umbel_plan *plan);

#endif
