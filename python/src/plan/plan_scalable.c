/* SPDX-License-Identifier: MIT
 *
 * plan_scalable.c - the model of scalable filters: a chain of blocked ones that share the rate
 *
 * A lookup checks all layers, so their rates add up (nearly: 1 - product of 1 - rate).  Textbooks
 * halve the rate from layer to layer; the sum then holds for ever, but the tenth layer has to be a
 * thousand times as exact as the promise, and since the last layers hold most of the keys, that
 * costs twice the memory.  Here the first 16 layers, which take a filter from ten thousand keys to
 * 650 million, get the same share, 1/24, and those after them 7/8 of the one before:
 *     16/24 + (1/24) (1 + 7/8 + (7/8)^2 + ...) = 16/24 + 8/24 = 1.
 * The first layer is never tiny unless requested: small layers slow down lookups and save nothing.
 *
 * A plan describes the first layer: its bytes, and its rate once the planned keys are in.
 */
#include <float.h>
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_model.h"

enum { EVEN_LAYERS = 16, SHARES = 24, GROWTH = 2, LAYERS_MAX = 64 };

double umbeli_scalable_share(uint32_t layer) {
    double late = layer < EVEN_LAYERS ? 0.0 : (double)(layer - EVEN_LAYERS);
    return pow(7.0 / 8.0, late) / SHARES;
}

static umbel_err settle(umbel_plan *plan, const umbel_plan *layer) {
    double fpr = plan->fpr != 0.0 ? plan->fpr : layer->fpr * SHARES;
    if (fpr / SHARES < layer->fpr) {
        fpr = nextafter(fpr, 1.0); /* so that the result can be requested */
    }
    if (fpr >= 1.0) {
        return umbeli_plan_verdict(
            plan, UMBEL_PLAN_BEYOND_KIND,
            "later layers need most of the rate; give the first one more bytes "
            "or fewer keys");
    }
    plan->kind = UMBEL_KIND_SCALABLE;
    if (plan->capacity == 0) plan->capacity = layer->capacity;
    plan->fpr = fpr;
    plan->bytes = layer->bytes;
    plan->hashes = layer->hashes;
    plan->bits = layer->bits;
    plan->rate = umbeli_blocked_rate(layer->bytes / 32, plan->capacity);
    plan->bits_per_key = (double)plan->bits / (double)plan->capacity;
    plan->bound = umbeli_bound_rate((double)plan->bits, plan->capacity);
    return umbeli_plan_verdict(plan, UMBEL_PLAN_OK, "");
}

/* The refusal of the first layer, which is blocked, with a message for scalable filters. */
static umbel_err refuse(umbel_plan *plan, const umbel_plan *layer) {
    umbel_verdict verdict = layer->verdict;
    const char *why = layer->why;
    bool bound = plan->bytes != 0 && plan->fpr != 0.0 &&
                 (double)plan->bytes * 8.0 <
                     umbeli_bound_bits(plan->capacity != 0 ? plan->capacity : 1, plan->fpr);
    if (verdict == UMBEL_PLAN_BELOW_BOUND && !bound) verdict = UMBEL_PLAN_BEYOND_KIND;
    if (verdict == UMBEL_PLAN_BEYOND_KIND) why = umbeli_model_scalable.beyond;
    if (verdict == UMBEL_PLAN_TOO_LARGE) why = umbeli_model_scalable.too_large;
    if (verdict == UMBEL_PLAN_TOO_SMALL) why = umbeli_model_scalable.too_small;
    return umbeli_plan_verdict(plan, verdict, why);
}

static umbel_err solve(umbel_plan *plan) {
    umbel_plan layer = {
        .kind = UMBEL_KIND_BLOCKED,
        .capacity = plan->capacity,
        .fpr = plan->fpr / SHARES,
        .bytes = plan->bytes,
    };
    if (plan->fpr != 0.0 && layer.fpr < DBL_MIN) { /* 0 would mean not given */
        layer.verdict = UMBEL_PLAN_BEYOND_KIND;
        return refuse(plan, &layer);
    }
    if (plan->bytes == 0 && layer.capacity < UMBELI_SCALABLE_FIRST) {
        layer.capacity = UMBELI_SCALABLE_FIRST;
    }
    umbel_err e = umbeli_plan_solve(&layer);
    return e ? refuse(plan, &layer) : settle(plan, &layer);
}

/* The chain as it grows, layer by layer, doubling. */
static double rate_after(const umbel_plan *plan, uint64_t keys) {
    double no = 0.0; /* logarithm of the probability that all layers say no */
    umbel_plan layer = {
        .kind = UMBEL_KIND_BLOCKED, .fpr = plan->fpr / SHARES, .bytes = plan->bytes};
    if (umbeli_plan_solve(&layer)) return 1.0;
    for (uint32_t i = 1;; i++) {
        uint64_t here = keys < layer.capacity ? keys : layer.capacity;
        no += log1p(-umbeli_blocked_rate(layer.bytes / 32, here));
        keys -= here;
        if (keys == 0) return -expm1(no);
        layer = (umbel_plan){.kind = UMBEL_KIND_BLOCKED,
                             .capacity = layer.capacity * GROWTH,
                             .fpr = plan->fpr * umbeli_scalable_share(i)};
        if (i == LAYERS_MAX || umbeli_plan_solve(&layer)) return 1.0; /* cannot grow that far */
    }
}

const umbeli_model umbeli_model_scalable = {
    .id = UMBEL_KIND_SCALABLE,
    .hashes_min = 8,
    .hashes_max = 8,
    .solve = solve,
    .rate_after = rate_after,
    .too_large = "the first layer of a scalable filter stays below 128 GiB; start with fewer "
                 "keys, a higher fpr or fewer bytes",
    .too_small = "the smallest first layer of a scalable filter has 32 bytes",
    .beyond = "the first layer of a scalable filter gets 1/24 of the rate and needs more bytes "
              "for that; give more bytes, fewer keys or a higher fpr",
    .bad_hashes = "hashes: a scalable filter always has 8; leave it 0",
};
