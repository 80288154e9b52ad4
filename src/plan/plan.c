/* SPDX-License-Identifier: MIT
 *
 * plan.c - the planner's entry: checks the request and chooses a kind for UMBEL_KIND_AUTO
 */
#include "plan/plan.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "plan/plan_model.h"

/* Filters would have different sizes on different machines. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "doubles are computed with more than 53 bits here; with gcc add -msse2 -mfpmath=sse"
#endif

static const umbeli_model *const models[] = {
    &umbeli_model_blocked,  &umbeli_model_classic, &umbeli_model_static, &umbeli_model_counting,
    &umbeli_model_scalable, &umbeli_model_window,  &umbeli_model_tight,
};

static const umbeli_model *model_of(umbel_kind kind) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (models[i]->id == kind) return models[i];
    }
    return NULL;
}

/* Bytes that a kind needs for the capacity and fpr of a solved plan; 0: not possible. */
static uint64_t bytes_needed(const umbeli_model *model, const umbel_plan *promise,
                             uint32_t hashes) {
    umbel_plan plan = {.capacity = promise->capacity, .fpr = promise->fpr, .hashes = hashes};
    return umbeli_model_solve(model, &plan) ? 0 : plan.bytes;
}

/* Blocked is several times faster, which is worth up to a quarter more memory.  If only one of the
 * two is possible, that one is chosen. */
static umbel_err solve_auto(umbel_plan *plan) {
    umbel_plan blocked = *plan, classic = *plan;
    umbel_err blocked_err = umbeli_model_solve(&umbeli_model_blocked, &blocked);
    umbel_err classic_err = umbeli_model_solve(&umbeli_model_classic, &classic);
    bool fast = false;
    if (!blocked_err) {
        double blocked_bytes = (double)bytes_needed(&umbeli_model_blocked, &blocked, plan->hashes);
        double classic_bytes = (double)bytes_needed(&umbeli_model_classic, &blocked, plan->hashes);
        fast = classic_err || blocked_bytes <= 1.25 * classic_bytes;
    }
    *plan = fast ? blocked : classic;
    return fast ? UMBEL_OK : classic_err;
}

static umbel_err solve(umbel_plan *plan) {
    int given = (plan->capacity != 0) + (plan->fpr != 0.0) + (plan->bytes != 0);
    const umbeli_model *model = model_of(plan->kind);
    if (plan->kind != UMBEL_KIND_AUTO && model == NULL) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_KIND,
                                   "kind: must be auto or one that umbel_kind_name knows");
    }
    if (plan->fpr != 0.0 && !(plan->fpr > 0.0 && plan->fpr < 1.0)) { /* also NaN */
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BAD_RATE,
                                   "fpr: must be between 0 and 1, exclusive, such as 0.01");
    }
    if (given < 2) {
        return umbeli_plan_verdict(
            plan, UMBEL_PLAN_UNDERDETERMINED,
            "give at least two of capacity, fpr and bytes; 0 means not given");
    }
    return model ? umbeli_model_solve(model, plan) : solve_auto(plan);
}

umbel_err umbeli_plan_solve(umbel_plan *plan) {
    plan->bits = 0;
    plan->rate = plan->bits_per_key = plan->bound = 0.0;
    if (plan->capacity != 0 && plan->bytes != 0) {
        plan->bits_per_key = (double)plan->bytes * 8.0 / (double)plan->capacity;
        plan->bound = umbeli_bound_rate((double)plan->bytes * 8.0, plan->capacity);
    }
    int saved = errno; /* set when a rate underflows */
    umbel_err e = solve(plan);
    errno = saved;
    return e;
}

double umbeli_plan_rate(const umbel_plan *plan, uint64_t keys) {
    const umbeli_model *model = model_of(plan->kind);
    if (model == NULL || plan->bits == 0) return 1.0;
    if (keys == 0) return 0.0;
    int saved = errno;
    double rate = model->rate_after ? model->rate_after(plan, keys)
                                    : model->rate(plan->bits / 8, plan->hashes, keys);
    errno = saved;
    return rate;
}

double umbeli_bound_rate(double bits, uint64_t keys) {
    return keys == 0 ? 0.0 : exp2(-bits / (double)keys);
}

double umbeli_bound_bits(uint64_t keys, double fpr) {
    return -log2(fpr) * (double)keys;
}
