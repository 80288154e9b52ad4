/* SPDX-License-Identifier: MIT
 *
 * plan_model.h - what the planner must know about a kind
 *
 * A new kind is one file that defines an umbeli_model and one line in plan.c.
 */
#ifndef UMBELI_PLAN_MODEL_H
#define UMBELI_PLAN_MODEL_H

#include "umbel_plan.h"

typedef struct umbeli_model {
    umbel_kind id;

    uint64_t unit;  /* sizes are multiples of this many bytes; the minimum is one unit */
    uint64_t units; /* maximum */

    uint64_t step_from, step; /* from this many units on (0: never), sizes are multiples of `step`
                                 units, a power of two; so are `units` and step_from */

    uint32_t hashes_min, hashes_max; /* allowed probes per key */
    bool hashes_doubling;            /* only powers of two of them */

    /* The number of probes per key that minimises rate + 3 spread. */
    uint32_t (*hashes)(uint64_t bytes, uint64_t keys);

    /* The mean rate over all filters of this shape. */
    double (*rate)(uint64_t bytes, uint32_t hashes, uint64_t keys);

    /* How the rates of single filters scatter: about one in a thousand of this shape is above rate
     * + 3 spread.  So it is the standard deviation of a normal distribution, and more for a skewed
     * one.  NULL: they do not scatter.  rate and rate + 3 spread never rise with bytes (with the
     * best or a fixed number of hashes) and never fall with keys. */
    double (*spread)(uint64_t bytes, uint32_t hashes, uint64_t keys);

    /* rate + 3 spread, at most 1, to one part in ten thousand, which is quicker.  If *hashes is 0,
     * with the best number of them; *hashes gets that, or stays 0 when two are about as good. */
    double (*roughly)(uint64_t bytes, uint32_t *hashes, uint64_t keys);

    /* Lower bound from hash collisions, whatever the size; included in rate. */
    double (*floor)(uint64_t keys);

    /* Kinds that are made of filters of another kind: these replace the search and, for a solved
     * plan, rate.  NULL for other kinds. */
    umbel_err (*solve)(umbel_plan *plan);
    double (*rate_after)(const umbel_plan *plan, uint64_t keys);

    /* This kind's messages for refusals. */
    const char *too_large, *too_small, *beyond, *bad_hashes;
} umbeli_model;

/* Sizes of kinds made of blocks: the number fits into 32 bits, and large filters have a multiple of
 * 64, so that they can be folded in half six times. */
enum { UMBELI_FOLD_FROM = 8192, UMBELI_FOLD_STEP = 64 };

#define UMBELI_BLOCK_STEPS                                                          \
    .units = (UINT64_C(1) << 32) - UMBELI_FOLD_STEP, .step_from = UMBELI_FOLD_FROM, \
    .step = UMBELI_FOLD_STEP

/* All kinds in the order of their numbers: the list of models here and of kinds in kind/kind.h. */
#define UMBELI_KINDS(X) \
    X(blocked) X(classic) X(static) X(counting) X(scalable) X(window) X(tight) X(line) X(exact)

#define UMBELI_DECLARE(name) extern const umbeli_model umbeli_model_##name;
UMBELI_KINDS(UMBELI_DECLARE)
#undef UMBELI_DECLARE

/* umbeli_plan_solve for this kind, whatever plan->kind says.  On success plan->kind is set. */
umbel_err umbeli_model_solve(const umbeli_model *model, umbel_plan *plan);

/* Sets verdict and why; returns UMBEL_OK for UMBEL_PLAN_OK, else UMBEL_EINVAL. */
umbel_err umbeli_plan_verdict(umbel_plan *plan, umbel_verdict verdict, const char *why);

/* True if bytes and fpr are given and no filter of any kind could keep that rate in those bytes. */
bool umbeli_plan_below_bound(const umbel_plan *plan);

/* Refuses with the kind's message.  UMBEL_PLAN_BELOW_BOUND, which may be the verdict on a part of
 * the filter, stays only if it is also true of the plan. */
umbel_err umbeli_plan_refuse(const umbeli_model *model, umbel_plan *plan, umbel_verdict verdict);

/* Completes the plan for these keys; the promise is plan->fpr unless that is 0, else `promise`. */
umbel_err umbeli_plan_settle(const umbeli_model *model, umbel_plan *plan, uint64_t keys,
                             uint64_t bytes, uint32_t hashes, double rate, double promise);

#endif
