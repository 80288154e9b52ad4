/* SPDX-License-Identifier: MIT
 *
 * plan_window.c - the model of windows: g + 1 blocked filters of equal size, looked up as one
 *
 * In a window of n keys and g generations each generation gets n / g keys (rounded up).  Just
 * before a step, the g generations that must be remembered and the one being filled are all full.
 * At that moment the rate is highest, 1 - (1 - b)^(g + 1) with the rate b of one blocked filter.
 * The promise is made for that moment, from the promise of one blocked filter in the same way.
 */
#include <float.h>
#include <math.h>

#include "core/size.h"
#include "plan/plan.h"
#include "plan/plan_model.h"

/* The rate of `filters` equal ones looked up as one, and that of one of them. */
static double together(double rate, double filters) {
    return -expm1(filters * log1p(-rate));
}

static double alone(double rate, double filters) {
    return -expm1(log1p(-rate) / filters);
}

static umbel_err solve(umbel_plan *plan) {
    const umbeli_model *m = &umbeli_model_window;
    uint32_t g = plan->generations != 0 ? plan->generations : UMBELI_WINDOW_GENERATIONS;
    uint64_t filters = (uint64_t)g + 1;
    if (g > UMBELI_WINDOW_MAX) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND,
                                   "a window has 1 to 255 generations");
    }
    umbel_plan one = {
        .kind = UMBEL_KIND_BLOCKED,
        .capacity = umbeli_ceil_div(plan->capacity, g),
        .fpr = plan->fpr != 0.0 ? alone(plan->fpr, (double)filters) : 0.0,
        .bytes = plan->bytes / filters,
    };
    if (plan->bytes != 0 && one.bytes == 0) {
        return umbeli_plan_refuse(m, plan, UMBEL_PLAN_TOO_SMALL);
    }
    if (plan->fpr != 0.0 && one.fpr < DBL_MIN) { /* 0 would mean not given */
        return umbeli_plan_refuse(m, plan, UMBEL_PLAN_BEYOND_KIND);
    }
    umbel_err e = umbeli_plan_solve(&one);
    if (e) return umbeli_plan_refuse(m, plan, one.verdict);
    double rate = together(one.rate, (double)filters);
    double fpr = plan->fpr != 0.0 ? plan->fpr : together(one.fpr, (double)filters);
    while (fpr < 1.0 && alone(fpr, (double)filters) < one.fpr) {
        fpr = nextafter(fpr, 1.0); /* so that the result can be requested */
    }
    if (fpr >= 1.0) return umbeli_plan_refuse(m, plan, UMBEL_PLAN_BEYOND_KIND);
    uint64_t keys = plan->capacity;
    if (keys == 0 && !umbeli_size_mul(one.capacity, g, &keys)) keys = UINT64_MAX;
    plan->generations = g;
    plan->fpr = fpr;
    rate = fmin(rate, fpr); /* the logarithms may round up */
    return umbeli_plan_settle(m, plan, keys, one.bytes * filters, one.hashes, rate, fpr);
}

/* After this many adds: the newest generation is being filled, those before it are full. */
static double rate_after(const umbel_plan *plan, uint64_t keys) {
    uint64_t each = umbeli_ceil_div(plan->capacity, plan->generations);
    uint64_t filters = (uint64_t)plan->generations + 1;
    uint64_t nblocks = plan->bytes / filters / 32, full = keys / each;
    double no = full <= plan->generations ? log1p(-umbeli_blocked_rate(nblocks, keys % each))
                                          : log1p(-umbeli_blocked_rate(nblocks, each));
    if (full > plan->generations) full = plan->generations;
    no += (double)full * log1p(-umbeli_blocked_rate(nblocks, each));
    return -expm1(no);
}

const umbeli_model umbeli_model_window = {
    .id = UMBEL_KIND_WINDOW,
    .hashes_min = 8,
    .hashes_max = 8,
    .solve = solve,
    .rate_after = rate_after,
    .too_large = "a generation stays below 128 GiB; choose more generations, fewer keys, a higher "
                 "fpr or fewer bytes",
    .too_small = "a window needs 32 bytes for each generation and 32 more",
    .beyond = "each generation of a window gets its share of the rate and needs more bytes for "
              "that; give more bytes, fewer keys or generations, or a higher fpr",
    .bad_hashes = "hashes: a window always has 8; leave it 0",
};
