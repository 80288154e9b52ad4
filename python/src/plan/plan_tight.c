/* SPDX-License-Identifier: MIT
 *
 * plan_tight.c - the model of tight filters: slots for 1.002 times the keys, of r or r + 1 bits
 *
 * All sizes follow from the number of keys and the rate or the bytes, so a filter has exactly the
 * planned length once built.
 */
#include "plan/plan.h"
#include "plan/plan_model.h"
#include "plan/tight_layout.h"

static umbel_err refuse(umbel_plan *plan, umbel_verdict verdict) {
    const umbeli_model *m = &umbeli_model_tight;
    bool bound = plan->bytes != 0 && plan->fpr != 0.0 &&
                 (double)plan->bytes * 8.0 <
                     umbeli_bound_bits(plan->capacity != 0 ? plan->capacity : 1, plan->fpr);
    if (bound) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BELOW_BOUND,
                                   "below log2(1/fpr) bits per key, which every filter needs; give "
                                   "more bytes, fewer keys or a higher fpr");
    }
    return umbeli_plan_verdict(plan, verdict,
                               verdict == UMBEL_PLAN_TOO_LARGE   ? m->too_large
                               : verdict == UMBEL_PLAN_TOO_SMALL ? m->too_small
                                                                 : m->beyond);
}

static umbel_err settle(umbel_plan *plan, const umbeli_tight_layout *l, uint64_t keys) {
    uint64_t bytes = umbeli_tight_len(l);
    double promise = umbeli_tight_promise(l, keys);
    if (bytes == 0) return refuse(plan, UMBEL_PLAN_TOO_LARGE);
    plan->rate = umbeli_tight_rate(l, keys);
    if (plan->fpr != 0.0 && promise > plan->fpr) return refuse(plan, UMBEL_PLAN_BEYOND_KIND);
    plan->kind = UMBEL_KIND_TIGHT;
    plan->capacity = keys;
    if (plan->fpr == 0.0) plan->fpr = promise;
    plan->bytes = bytes;
    plan->hashes = 1;
    plan->bits = bytes * 8;
    plan->bits_per_key = (double)plan->bits / (double)keys;
    plan->bound = umbeli_bound_rate((double)plan->bits, keys);
    return umbeli_plan_verdict(plan, UMBEL_PLAN_OK, "");
}

static umbel_err solve_keys(umbel_plan *plan) {
    uint64_t low = 0, high = UINT64_C(1) << 48; /* low fits, high does not */
    umbeli_tight_layout l;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool fits = umbeli_tight_for_rate(middle, plan->fpr, &l) && umbeli_tight_len(&l) != 0 &&
                    umbeli_tight_len(&l) <= plan->bytes;
        *(fits ? &low : &high) = middle;
    }
    if (low == 0) return refuse(plan, UMBEL_PLAN_TOO_SMALL);
    return umbeli_tight_for_rate(low, plan->fpr, &l) ? settle(plan, &l, low)
                                                     : refuse(plan, UMBEL_PLAN_BEYOND_KIND);
}

static umbel_err solve(umbel_plan *plan) {
    umbeli_tight_layout l;
    if (plan->capacity == 0) return solve_keys(plan);
    if (umbeli_tight_too_many(plan->capacity)) return refuse(plan, UMBEL_PLAN_TOO_LARGE);
    bool fits = plan->bytes != 0 ? umbeli_tight_for_bytes(plan->capacity, plan->bytes, &l)
                                 : umbeli_tight_for_rate(plan->capacity, plan->fpr, &l);
    if (fits) return settle(plan, &l, plan->capacity);
    return refuse(plan, plan->bytes != 0 ? UMBEL_PLAN_TOO_SMALL : UMBEL_PLAN_BEYOND_KIND);
}

static double rate_after(const umbel_plan *plan, uint64_t keys) {
    (void)keys; /* it is built for exactly its keys */
    return plan->rate;
}

const umbeli_model umbeli_model_tight = {
    .id = UMBEL_KIND_TIGHT,
    .hashes_min = 1,
    .hashes_max = 1,
    .solve = solve,
    .rate_after = rate_after,
    .too_large = "a tight filter for this many keys would take 2^60 bytes or more; plan for fewer",
    .too_small =
        "a tight filter needs its thresholds, 1 bit per 320 keys, and a few words; give more bytes "
        "or fewer keys",
    .beyond = "fingerprints have at most 32 bits and a tight filter slightly more slots than "
              "keys; give more bytes, fewer keys or a higher fpr, above 2^-32",
    .bad_hashes = "a tight filter has 1 hash; 0 means the same",
};
