/* SPDX-License-Identifier: MIT
 *
 * plan_static.c - the models of static, tight and exact filters, which are built once from all keys
 *
 * Static: r bits of fingerprint match by chance one time in 2^r.  Shards may have r or r + 1 bits,
 * so neither a rate between two powers of two nor a budget between two widths is rounded.  Tight:
 * slots for 1.002 times the keys, of r or r + 1 bits.  All sizes follow from the number of keys and
 * the rate or the bytes, so a filter has exactly the planned length once built.  Exact: one bit
 * more for each key, and for each of the universe that has a key's fingerprint by chance, so once
 * built it differs from the plan by what chance does.
 */
#include "plan/exact_layout.h"
#include "plan/plan.h"
#include "plan/plan_model.h"
#include "plan/static_layout.h"
#include "plan/tight_layout.h"

/* A layout, as far as a plan is concerned. */
typedef struct sizes {
    uint64_t bytes; /* 0: too many */
    double rate, promise;
    uint32_t hashes;
} sizes;

/* The smallest layout for the rate or, with fpr 0, the one with the lowest rate in these bytes.
 * UMBEL_PLAN_TOO_LARGE: too many keys; UMBEL_PLAN_BEYOND_KIND: no width is possible. */
typedef umbel_verdict lay_out(const umbel_plan *plan, uint64_t keys, double fpr, uint64_t bytes,
                              sizes *out);

static umbel_err refuse(const umbeli_model *m, umbel_plan *plan, umbel_verdict verdict) {
    bool bound = umbeli_plan_below_bound(plan);
    return umbeli_plan_refuse(m, plan, bound ? UMBEL_PLAN_BELOW_BOUND : verdict);
}

static umbel_err settle(const umbeli_model *m, umbel_plan *plan, const sizes *s, uint64_t keys) {
    if (s->bytes == 0) return refuse(m, plan, UMBEL_PLAN_TOO_LARGE);
    plan->rate = s->rate;
    if (plan->fpr != 0.0 && s->promise > plan->fpr) return refuse(m, plan, UMBEL_PLAN_BEYOND_KIND);
    return umbeli_plan_settle(m, plan, keys, s->bytes, s->hashes, s->rate, s->promise);
}

static umbel_err solve_keys(const umbeli_model *m, lay_out *of_kind, umbel_plan *plan) {
    uint64_t low = 0, high = UINT64_C(1) << 48; /* low fits, high does not */
    sizes s, best = {0};
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        bool fits =
            !of_kind(plan, middle, plan->fpr, 0, &s) && s.bytes != 0 && s.bytes <= plan->bytes;
        *(fits ? &low : &high) = middle;
        if (fits) best = s;
    }
    return low == 0 ? refuse(m, plan, UMBEL_PLAN_TOO_SMALL) : settle(m, plan, &best, low);
}

static umbel_err solve(const umbeli_model *m, lay_out *of_kind, umbel_plan *plan) {
    sizes s;
    if (plan->capacity == 0) return solve_keys(m, of_kind, plan);
    umbel_verdict v = of_kind(plan, plan->capacity, plan->bytes ? 0.0 : plan->fpr, plan->bytes, &s);
    if (v == UMBEL_PLAN_OK) return settle(m, plan, &s, plan->capacity);
    if (v == UMBEL_PLAN_BEYOND_KIND && plan->bytes != 0) v = UMBEL_PLAN_TOO_SMALL;
    return refuse(m, plan, v);
}

static double rate_after(const umbel_plan *plan, uint64_t keys) {
    (void)keys; /* it is built for exactly its keys */
    return plan->rate;
}

/* ---- static ---- */

static umbel_verdict lay_out_static(const umbel_plan *plan, uint64_t keys, double fpr,
                                    uint64_t bytes, sizes *out) {
    umbeli_static_layout l;
    if (!umbeli_static_divide(keys, plan->hashes, 0, &l)) return UMBEL_PLAN_TOO_LARGE;
    if (!(fpr != 0.0 ? umbeli_static_widths_for_rate(&l, keys, fpr)
                     : umbeli_static_widths_for_bytes(&l, bytes))) {
        return UMBEL_PLAN_BEYOND_KIND;
    }
    double rate = umbeli_static_rate(&l, keys);
    *out = (sizes){umbeli_static_len(&l), rate, rate, l.arity};
    return UMBEL_PLAN_OK;
}

static umbel_err solve_static(umbel_plan *plan) {
    return solve(&umbeli_model_static, lay_out_static, plan);
}

const umbeli_model umbeli_model_static = {
    .id = UMBEL_KIND_STATIC,
    .hashes_min = 3,
    .hashes_max = 4,
    .solve = solve_static,
    .rate_after = rate_after,
    .too_large = "a static filter for this many keys would take 2^60 bytes or more; plan for fewer",
    .too_small = "a static filter needs at least 1.08 to 1.7 bits per key; give more bytes or "
                 "fewer keys",
    .beyond = "fingerprints have 1 to 32 bits and a static filter a few percent more slots than "
              "keys; give more bytes, fewer keys or a higher fpr, above 2^-32",
    .bad_hashes = "a static filter has 3 or 4 hashes; 0 chooses the smaller filter",
};

/* ---- tight ---- */

static umbel_verdict lay_out_tight(const umbel_plan *plan, uint64_t keys, double fpr,
                                   uint64_t bytes, sizes *out) {
    umbeli_tight_layout l;
    (void)plan; /* one hash, always */
    if (!(fpr != 0.0 ? umbeli_tight_for_rate(keys, fpr, &l)
                     : umbeli_tight_for_bytes(keys, bytes, &l))) {
        return UMBEL_PLAN_BEYOND_KIND;
    }
    *out = (sizes){umbeli_tight_len(&l), umbeli_tight_rate(&l, keys),
                   umbeli_tight_promise(&l, keys), 1};
    return UMBEL_PLAN_OK;
}

static umbel_err solve_tight(umbel_plan *plan) {
    bool large = plan->capacity != 0 && umbeli_tight_too_many(plan->capacity);
    return large ? refuse(&umbeli_model_tight, plan, UMBEL_PLAN_TOO_LARGE)
                 : solve(&umbeli_model_tight, lay_out_tight, plan);
}

const umbeli_model umbeli_model_tight = {
    .id = UMBEL_KIND_TIGHT,
    .hashes_min = 1,
    .hashes_max = 1,
    .solve = solve_tight,
    .rate_after = rate_after,
    .too_large = "a tight filter for this many keys would take 2^60 bytes or more; plan for fewer",
    .too_small =
        "a tight filter needs its thresholds, 1 bit per 320 keys, and a few words; give more bytes "
        "or fewer keys",
    .beyond = "fingerprints have at most 32 bits and a tight filter slightly more slots than "
              "keys; give more bytes, fewer keys or a higher fpr, above 2^-32",
    .bad_hashes = "a tight filter has 1 hash; 0 means the same",
};

/* ---- exact ---- */

static bool size_of_width(uint64_t keys, uint64_t universe, uint32_t width, sizes *out) {
    umbeli_tight_layout prints, verdicts;
    if (!umbeli_exact_prints(keys, width, &prints)) return false;
    if (!umbeli_tight_for_width(umbeli_exact_verdicts(keys, universe, width), 1, &verdicts)) {
        return false;
    }
    double rate = umbeli_exact_rate(&prints, keys);
    *out = (sizes){umbeli_tight_len(&prints) + umbeli_tight_len(&verdicts), rate, rate, 1};
    return true;
}

static umbel_verdict lay_out_exact(const umbel_plan *plan, uint64_t keys, double fpr,
                                   uint64_t bytes, sizes *out) {
    uint32_t width = umbeli_exact_width(keys, plan->universe, fpr);
    if (width > UMBELI_TIGHT_MAX_WIDTH) return UMBEL_PLAN_BEYOND_KIND;
    if (!size_of_width(keys, plan->universe, width, out)) return UMBEL_PLAN_TOO_LARGE;
    if (bytes == 0) return UMBEL_PLAN_OK;
    if (out->bytes > bytes) return UMBEL_PLAN_BEYOND_KIND;
    sizes more;
    while (width++ < UMBELI_TIGHT_MAX_WIDTH && size_of_width(keys, plan->universe, width, &more) &&
           more.bytes <= bytes) {
        *out = more;
    }
    return UMBEL_PLAN_OK;
}

static umbel_err solve_exact(umbel_plan *plan) {
    return solve(&umbeli_model_exact, lay_out_exact, plan);
}

const umbeli_model umbeli_model_exact = {
    .id = UMBEL_KIND_EXACT,
    .hashes_min = 1,
    .hashes_max = 1,
    .solve = solve_exact,
    .rate_after = rate_after,
    .too_large = "an exact filter for this many keys would take 2^60 bytes or more; plan for fewer",
    .too_small = "an exact filter needs about log2(universe / keys) + 1.9 bits per key; give more "
                 "bytes or fewer keys",
    .beyond = "fingerprints have at most 32 bits and every key a bit more; give more bytes, fewer "
              "keys or a higher fpr, above 2^-33",
    .bad_hashes = "an exact filter has 1 hash; 0 means the same",
};
