/* SPDX-License-Identifier: MIT
 *
 * plan_static.c - the model of static filters: r bits of fingerprint match by chance one time in
 * 2^r
 *
 * Shards may have r or r + 1 bits, so neither a rate between two powers of two nor a budget between
 * two widths is rounded.
 */
#include "plan/plan.h"
#include "plan/plan_model.h"
#include "plan/static_layout.h"

static umbel_err refuse(umbel_plan *plan, umbel_verdict verdict) {
    const umbeli_model *m = &umbeli_model_static;
    bool bound = plan->bytes != 0 && plan->fpr != 0.0 &&
                 (double)plan->bytes * 8.0 <
                     umbeli_bound_bits(plan->capacity != 0 ? plan->capacity : 1, plan->fpr);
    if (bound) {
        return umbeli_plan_verdict(
            plan, UMBEL_PLAN_BELOW_BOUND,
            "below log2(1/fpr) bits per key, which every filter needs; give more bytes, fewer "
            "keys or a higher fpr");
    }
    return umbeli_plan_verdict(plan, verdict,
                               verdict == UMBEL_PLAN_TOO_LARGE   ? m->too_large
                               : verdict == UMBEL_PLAN_TOO_SMALL ? m->too_small
                                                                 : m->beyond);
}

static umbel_err settle(umbel_plan *plan, const umbeli_static_layout *l, uint64_t keys) {
    uint64_t bytes = umbeli_static_len(l);
    double rate = umbeli_static_rate(l, keys);
    if (bytes == 0) return refuse(plan, UMBEL_PLAN_TOO_LARGE);
    plan->rate = rate;
    if (plan->fpr != 0.0 && rate > plan->fpr) return refuse(plan, UMBEL_PLAN_BEYOND_KIND);
    plan->kind = UMBEL_KIND_STATIC;
    plan->capacity = keys;
    if (plan->fpr == 0.0) plan->fpr = rate;
    plan->bytes = bytes;
    plan->hashes = l->arity;
    plan->bits = bytes * 8;
    plan->bits_per_key = (double)plan->bits / (double)keys;
    plan->bound = umbeli_bound_rate((double)plan->bits, keys);
    return umbeli_plan_verdict(plan, UMBEL_PLAN_OK, "");
}

/* The smallest filter for this many keys at the plan's rate. */
static bool min(const umbel_plan *plan, uint64_t keys, umbeli_static_layout *l) {
    return umbeli_static_divide(keys, plan->hashes, 0, l) &&
           umbeli_static_widths_for_rate(l, keys, plan->fpr) && umbeli_static_len(l) != 0;
}

static umbel_err solve_keys(umbel_plan *plan) {
    uint64_t low = 0, high = UINT64_C(1) << 48; /* low fits, high does not */
    umbeli_static_layout l;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool fits = min(plan, middle, &l) && umbeli_static_len(&l) <= plan->bytes;
        *(fits ? &low : &high) = middle;
    }
    if (low == 0) return refuse(plan, UMBEL_PLAN_TOO_SMALL);
    return min(plan, low, &l) ? settle(plan, &l, low) : refuse(plan, UMBEL_PLAN_BEYOND_KIND);
}

static umbel_err solve(umbel_plan *plan) {
    umbeli_static_layout l;
    if (plan->capacity == 0) return solve_keys(plan);
    if (!umbeli_static_divide(plan->capacity, plan->hashes, 0, &l)) {
        return refuse(plan, UMBEL_PLAN_TOO_LARGE);
    }
    bool fits = plan->bytes != 0 ? umbeli_static_widths_for_bytes(&l, plan->bytes)
                                 : umbeli_static_widths_for_rate(&l, plan->capacity, plan->fpr);
    if (fits) return settle(plan, &l, plan->capacity);
    return refuse(plan, plan->bytes != 0 ? UMBEL_PLAN_TOO_SMALL : UMBEL_PLAN_BEYOND_KIND);
}

static double rate_after(const umbel_plan *plan, uint64_t keys) {
    (void)keys; /* it is built for exactly its keys */
    return plan->rate;
}

const umbeli_model umbeli_model_static = {
    .id = UMBEL_KIND_STATIC,
    .hashes_min = 3,
    .hashes_max = 4,
    .solve = solve,
    .rate_after = rate_after,
    .too_large = "a static filter for this many keys would take 2^60 bytes or more; plan for fewer",
    .too_small = "a static filter needs at least 1.08 to 1.7 bits per key; give more bytes or "
                 "fewer keys",
    .beyond = "fingerprints have 1 to 32 bits and a static filter a few percent more slots than "
              "keys; give more bytes, fewer keys or a higher fpr, above 2^-32",
    .bad_hashes = "a static filter has 3 or 4 hashes; 0 chooses the smaller filter",
};
