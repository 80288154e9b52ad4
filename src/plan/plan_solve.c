/* SPDX-License-Identifier: MIT
 *
 * plan_solve.c - completes a plan for one kind, by bisection on the kind's model
 *
 * A size keeps a promise when its rate plus three times the spread is within it.  That sum is
 * monotone in bytes and in keys, so 64 halvings find the edge for any request; and as the same sum
 * decides everywhere, a size computed for a promise is never refused for it.
 *
 * Most of the halvings are decided before the sum is computed: a few secant steps over rough sums,
 * which cost a fifth, come so close to the edge that only what lies between is computed exactly.
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

bool umbeli_plan_below_bound(const umbel_plan *plan) {
    uint64_t keys = plan->capacity != 0 ? plan->capacity : 1;
    return plan->bytes != 0 && plan->fpr != 0.0 &&
           (double)plan->bytes * 8.0 < umbeli_bound_bits(keys, plan->fpr);
}

umbel_err umbeli_plan_refuse(const umbeli_model *model, umbel_plan *plan, umbel_verdict verdict) {
    if (verdict == UMBEL_PLAN_BELOW_BOUND && umbeli_plan_below_bound(plan)) {
        return umbeli_plan_verdict(plan, verdict, WHY_BOUND);
    }
    switch (verdict) {
    case UMBEL_PLAN_TOO_LARGE: return umbeli_plan_verdict(plan, verdict, model->too_large);
    case UMBEL_PLAN_TOO_SMALL: return umbeli_plan_verdict(plan, verdict, model->too_small);
    default: return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, model->beyond);
    }
}

umbel_err umbeli_plan_settle(const umbeli_model *model, umbel_plan *plan, uint64_t keys,
                             uint64_t bytes, uint32_t hashes, double rate, double promise) {
    plan->kind = model->id;
    plan->capacity = keys;
    if (plan->fpr == 0.0) plan->fpr = promise;
    plan->bytes = bytes;
    plan->hashes = hashes;
    plan->bits = bytes * 8;
    plan->rate = rate;
    plan->bits_per_key = (double)plan->bits / (double)keys;
    plan->bound = umbeli_bound_rate((double)plan->bits, keys);
    return umbeli_plan_verdict(plan, UMBEL_PLAN_OK, "");
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

/* A candidate of a size that is known to keep the plan's promise; hashes 0: the best number is not
 * known. */
static size kept(const umbeli_model *model, const umbel_plan *plan, uint64_t bytes, uint64_t keys,
                 uint32_t hashes) {
    size s = {.bytes = bytes, .promise = plan->fpr};
    s.hashes = plan->hashes ? plan->hashes : hashes ? hashes : model->hashes(bytes, keys);
    s.rate = model->rate(bytes, s.hashes, keys);
    return s;
}

/* The largest size of this kind within `units`, in bytes. */
static uint64_t bytes_within(const umbeli_model *model, uint64_t units) {
    if (model->step_from != 0 && units >= model->step_from) units &= ~(model->step - 1);
    return units * model->unit;
}

/* How far a rough promise may be off, as a logarithm. */
static const double doubt = 1e-4;

/* log(promise / fpr), roughly; *hashes gets the best number of them unless that is in doubt. */
static double excess(const umbeli_model *model, const umbel_plan *plan, uint64_t bytes,
                     uint64_t keys, uint32_t *hashes) {
    *hashes = plan->hashes;
    return log(model->roughly(bytes, hashes, keys) / plan->fpr);
}

/* ---- Searching ---- */

/* What is searched for: units or, if the bytes are known, keys. */
typedef struct search {
    const umbeli_model *model;
    const umbel_plan *plan;
    uint64_t bytes; /* 0: search for units */
    uint64_t max;
} search;

/* Sizes up to `low` are too small, from `high` on large enough; or, for keys, up to low they fit,
 * from high on they do not.  Nothing is known about what lies between. */
typedef struct bounds {
    uint64_t low, high;
    uint32_t hashes; /* the best for high; 0: not known */
} bounds;

/* Converts to what is proportional to bits per key, and back. */
static double to_line(const search *s, double x) {
    return s->bytes ? 1.0 / x : x;
}

static uint64_t within(double x, uint64_t low, uint64_t high) {
    return !(x > (double)low) ? low : x >= (double)high ? high : (uint64_t)x;
}

/* Log(promise) is nearly proportional to bits per key, so a secant finds the edge in a few steps.
 * Where it ends in doubt, a point on either side bounds the doubt. */
static bounds narrow(const search *s, double guess) {
    enum { STEPS = 16 };
    enum { SECANT, BELOW, ABOVE } phase = SECANT;
    const umbeli_model *m = s->model;
    bounds b = {.low = 0, .high = s->max};
    bool found = false; /* high is known, not just the maximum */
    double t0 = 0.0, y0 = -log(s->plan->fpr), aside = 0.0;
    for (int i = 0; i < STEPS && b.high - b.low > 1; i++) {
        uint32_t hashes;
        uint64_t x = within(guess, b.low + 1, b.high - 1);
        double t = to_line(s, (double)x);
        double y = s->bytes ? excess(m, s->plan, s->bytes, x, &hashes)
                            : excess(m, s->plan, bytes_within(m, x), s->plan->capacity, &hashes);
        bool certain = fabs(y) > doubt, above = (y > 0.0) == (s->bytes != 0);
        if (certain && above) {
            b.high = s->bytes ? x : bytes_within(m, x) / m->unit;
            b.hashes = hashes;
            found = true;
        } else if (certain) {
            b.low = s->bytes || x < m->step_from || !m->step ? x : x | (m->step - 1);
        }
        if (phase == ABOVE) break;
        if (phase == BELOW) {
            phase = ABOVE;
            guess += 2.0 * aside;
        } else if (!certain) {
            phase = BELOW;
            aside = fmax((double)x * 4.0 * doubt, (double)m->step);
            guess = (double)x - aside;
        } else {
            guess = to_line(s, t - y * (t - t0) / (y - y0));
            if (!s->bytes) guess = ceil(guess);
            if (!(guess > 0.0 && guess < HUGE_VAL)) {
                guess = found ? sqrt((double)b.low + 1.0) * sqrt((double)b.high) : 16.0 * (double)x;
            }
            t0 = t;
            y0 = y;
        }
    }
    if (!found) b.high = 0;
    return b;
}

/* The smallest size that keeps the promise; false when even the largest does not. */
static bool min_size(const umbeli_model *model, const umbel_plan *plan, size *out) {
    const search units = {.model = model, .plan = plan, .max = model->units};
    double bits = umbeli_bound_bits(plan->capacity, plan->fpr);
    double slack = 1.08 + 2.0 / sqrt((double)plan->capacity); /* as it often is */
    bounds known = narrow(&units, 1.44 * bits * slack / 8.0 / (double)model->unit);
    uint64_t low = 0, high = model->units; /* low is too small, high is enough */
    if (!known.high &&
        size_of(model, plan, bytes_within(model, high), plan->capacity).promise > plan->fpr) {
        return false;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool enough = known.high && middle >= known.high;
        if (!enough && middle > known.low) {
            size s = size_of(model, plan, bytes_within(model, middle), plan->capacity);
            enough = s.promise <= plan->fpr;
        }
        *(enough ? &high : &low) = middle;
    }
    uint32_t hashes = high == known.high ? known.hashes : 0;
    *out = kept(model, plan, bytes_within(model, high), plan->capacity, hashes);
    return true;
}

/* The maximum number of keys at the promised rate in these bytes; 0: not even one. */
static uint64_t max_keys(const umbeli_model *model, const umbel_plan *plan, uint64_t bytes) {
    const search s = {.model = model, .plan = plan, .bytes = bytes, .max = UINT64_MAX};
    bounds known = narrow(&s, (double)bytes * 8.0 / 1.44 / umbeli_bound_bits(1, plan->fpr));
    uint64_t low = 0, high = UINT64_MAX; /* low fits, nothing above high does */
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        bool fits =
            middle <= known.low || (!(known.high && middle >= known.high) &&
                                    size_of(model, plan, bytes, middle).promise <= plan->fpr);
        if (fits) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* ---- Plans ---- */

static umbel_err settle(const umbeli_model *model, umbel_plan *plan, uint64_t keys, size s) {
    return umbeli_plan_settle(model, plan, keys, s.bytes, s.hashes, s.rate, s.promise);
}

static umbel_err solve_bytes(const umbeli_model *model, umbel_plan *plan) {
    size s;
    if (plan->fpr < model->floor(plan->capacity)) {
        return umbeli_plan_verdict(plan, UMBEL_PLAN_BEYOND_KIND, WHY_FLOOR);
    }
    if (!min_size(model, plan, &s)) return umbeli_plan_refuse(model, plan, UMBEL_PLAN_TOO_LARGE);
    return settle(model, plan, plan->capacity, s);
}

/* Uses as many of the given bytes as this kind can. */
static umbel_err solve_within(const umbeli_model *model, umbel_plan *plan) {
    uint64_t units = plan->bytes / model->unit;
    if (umbeli_plan_below_bound(plan)) {
        return umbeli_plan_refuse(model, plan, UMBEL_PLAN_BELOW_BOUND);
    }
    if (units == 0) return umbeli_plan_refuse(model, plan, UMBEL_PLAN_TOO_SMALL);
    if (units > model->units) return umbeli_plan_refuse(model, plan, UMBEL_PLAN_TOO_LARGE);

    uint64_t bytes = bytes_within(model, units);
    uint64_t keys = plan->capacity != 0 ? plan->capacity : max_keys(model, plan, bytes);
    if (keys == 0) return umbeli_plan_refuse(model, plan, UMBEL_PLAN_BEYOND_KIND);
    uint32_t hashes = 0;
    bool clear = plan->fpr != 0.0 && excess(model, plan, bytes, keys, &hashes) < -doubt;
    size s = clear ? kept(model, plan, bytes, keys, hashes) : size_of(model, plan, bytes, keys);
    plan->rate = s.rate;
    if (plan->fpr != 0.0 && s.promise > plan->fpr) {
        return umbeli_plan_refuse(model, plan, UMBEL_PLAN_BEYOND_KIND);
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
