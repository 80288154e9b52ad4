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

    uint64_t unit;  /* sizes are multiples of this many bytes, and the least is one unit */
    uint64_t units; /* the most */

    uint64_t step_from, step; /* from so many units on (0: never), sizes are multiples of `step`
                                 units, a power of two; `units` and step_from are, too */

    uint32_t hashes_min, hashes_max; /* probes a key that may be asked for */

    /* The probes a key with the least rate + 3 spread. */
    uint32_t (*hashes)(uint64_t bytes, uint64_t keys);

    /* The mean rate over all filters of this shape. */
    double (*rate)(uint64_t bytes, uint32_t hashes, uint64_t keys);

    /* How the rates of single filters scatter: of a thousand of this shape about one is above
     * rate + 3 spread.  So it is the standard deviation where they scatter evenly, and more where
     * they do not.  NULL: they do not scatter.
     * rate and rate + 3 spread never rise with bytes (hashes being the best or fixed) and never
     * fall with keys. */
    double (*spread)(uint64_t bytes, uint32_t hashes, uint64_t keys);

    /* What no size gets below, hashes having no more bits than they have; part of rate. */
    double (*floor)(uint64_t keys);

    /* Kinds that are made of filters of another kind: they take the place of the search and, for a
     * solved plan, of rate.  NULL for the others. */
    umbel_err (*solve)(umbel_plan *plan);
    double (*rate_after)(const umbel_plan *plan, uint64_t keys);

    /* Refusals in this kind's words. */
    const char *too_large, *too_small, *beyond, *bad_hashes;
} umbeli_model;

extern const umbeli_model umbeli_model_blocked, umbeli_model_classic, umbeli_model_static,
    umbeli_model_counting, umbeli_model_scalable, umbeli_model_window, umbeli_model_tight;

/* umbeli_plan_solve for this kind, whatever plan->kind says.  On success plan->kind is set. */
umbel_err umbeli_model_solve(const umbeli_model *model, umbel_plan *plan);

/* Sets verdict and words; gives UMBEL_OK for UMBEL_PLAN_OK, else UMBEL_EINVAL. */
umbel_err umbeli_plan_say(umbel_plan *plan, umbel_verdict verdict, const char *why);

#endif
