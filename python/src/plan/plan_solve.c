/* SPDX-License-Identifier: MIT
 *
 * plan_solve.c - completes a plan for one kind, by bisection on the kind's model
 *
 * A size keeps a promise when its rate plus three times the spread is within it.  That sum is
 * monotone in bytes and in keys, so 64 halvings find the edge for any request; and as the same sum
 * decides everywhere, a size computed for a promise is never refused for it.
 */
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_model.h"

#define WHY_BOUND                                                                            \
    "below log2(1/fpr) bits per key, which every filter needs; give more bytes, fewer keys " \
    "or a higher fpr"
#define WHY_FLOOR "keys share hashes by chance more often than that; choose a higher fpr"
#define WHY_FULL \
    "too few bits for this many keys, they may all be set; give more bytes or fewer keys"

umbel_err umbeli_plan_verdict(umbel_plan *plan, umbel_verdict verdict, const char *why) {
    plan->verdict = verdict;
    plan->why = why;
    return verdict == UMBEL_PLAN_OK ? UMBEL_OK : UMBEL_EINVAL;
}

/* A candidate size. */
typedef struct size {
    uint64_t bytes;
    uint32_t hashes;
    double rate;    /* the mean over such filters */
    double promise; /* what all but one in a thousand such filters keep */
} size;

static size size_of(const umbeli_model *model, const umbel_plan *plan, uint64_t bytes,
                    uint64_t keys) {
    size s = {.bytes = bytes};
    s.hashes = plan->hashes != 0 ? plan->hashes : model->hashes(bytes, keys);
    s.rate = model->rate(bytes, s.hashes, keys);
    s.promise = s.rate;
    if (model->spread) s.promise = fmin(s.rate + 3.0 * model->spread(bytes, s.hashes, keys), 1.0);
    return s;
}

/* The largest size of this kind within `units`, in bytes. */
static uint64_t bytes_within(const umbeli_model *model, uint64_t units) {
    if (model->step_from != 0 && units >= model->step_from) units &= ~(model->step - 1);
    return units * model->unit;
}

/* The smallest size that keeps the promise; false when even the largest does not. */
static bool min_size(const umbeli_model *model, const umbel_plan *plan, size *out) {
    uint64_t low = 0, high = model->units; /* low is too small, high is enough */
    size best = size_of(model, plan, bytes_within(model, high), plan->capacity);
    if (best.promise > plan->fpr) return false;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        size s = size_of(model, plan, bytes_within(model, middle), plan->capacity);
        if (s.promise <= plan->fpr) {
            high = middle;
            best = s;
        } else {
            low = middle;
        }
    }
    *out = best;
    return true;
}

/* The maximum number of keys at the promised rate in these bytes; 0: not even one. */
static uint64_t max_keys(const umbeli_model *model, const umbel_plan *plan, uint64_t bytes) {
    uint64_t low = 0, high = UINT64_MAX; /* low fits, nothing above high does */
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (size_of(model, plan, bytes, middle).promise <= plan->fpr) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static umbel_err settle(const umbeli_model *model, umbel_plan *plan, uint64_t keys, size s) {
    plan->kind = model->id;
    plan->capacity = keys;
    if (plan->fpr == 0.0) plan->fpr = s.promise;
    plan->bytes = s.bytes;
    plan->hashes = s.hashes;
    plan->bits = s.bytes * 8;
    plan->rate = s.rate;
    plan->bits_per_key = (double)plan->bits / (double)keys;
    plan->bound = umbeli_bound_rate((double)plan->bits, keys);
    return umbeli_plan_verdict(plan, UMBEL_PLAN_OK, "");
}

static umbel_err solve_bytes(const umbeli_model *model, umbel_plan *plan) {
    size s;
    if (plan->fpr < model->floor(plan->capacity)) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, WHY_FLOOR);
    }
    if (!min_size(model, plan, &s)) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_TOO_LARGE, model->too_large);
    }
    return settle(model, plan, plan->capacity, s);
}

/* Uses as many of the given bytes as this kind can. */
static umbel_err solve_within(const umbeli_model *model, umbel_plan *plan) {
    double given = (double)plan->bytes * 8.0;
    uint64_t units = plan->bytes / model->unit;
    uint64_t min_keys = plan->capacity != 0 ? plan->capacity : 1;
    if (plan->fpr != 0.0 && given < umbeli_bound_bits(min_keys, plan->fpr)) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BELOW_BOUND, WHY_BOUND);
    }
    if (units == 0) return umbeli_plan_verdict(plan, UMBEL_PLAN_TOO_SMALL, model->too_small);
    if (units > model->units) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_TOO_LARGE, model->too_large);
    }

    uint64_t bytes = bytes_within(model, units);
    uint64_t keys = plan->capacity != 0 ? plan->capacity : max_keys(model, plan, bytes);
    if (keys == 0) return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, model->beyond);
    size s = size_of(model, plan, bytes, keys);
    plan->rate = s.rate;
    if (plan->fpr != 0.0 && s.promise > plan->fpr) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, model->beyond);
    }
    if (s.promise >= 1.0) return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, WHY_FULL);
    return settle(model, plan, keys, s);
}

umbel_err umbeli_model_solve(const umbeli_model *model, umbel_plan *plan) {
    if (plan->hashes != 0 &&
        (plan->hashes < model->hashes_min || plan->hashes > model->hashes_max ||
         (model->hashes_doubling && (plan->hashes & (plan->hashes - 1)) != 0))) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_HASHES, model->bad_hashes);
    }
    if (model->solve) return model->solve(plan);
    return plan->bytes == 0 ? solve_bytes(model, plan) : solve_within(model, plan);
}
