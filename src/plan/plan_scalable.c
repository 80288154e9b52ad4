/* SPDX-License-Identifier: MIT
 *
 * plan_scalable.c - the model of scalable filters: a blocked one, and then hashes
 *
 * A lookup checks all layers, so their rates add up (nearly: 1 - product of 1 - rate).  The first
 * layer is a blocked filter with a quarter of the rate; what it has no room for is kept as packed
 * hashes (kind/chain/packed.c), which move into more memory as they become more.  A layer of n
 * hashes of b bits has a rate of n / 2^b and takes about b - log2(n) + 4 bits per key, so few keys
 * want few bits of a hash and many want more.  Three layers take a filter to a hundred million
 * keys, each for 32 times as many as the one before.  When a layer has become a fifth of all, a
 * filter takes its place, which is faster.  The first layer is never tiny unless requested.
 *
 * Where the rate is too low for that, or the caller says by how much to grow, all layers are
 * filters and share what the first one leaves.  Textbooks halve the rate from layer to layer; the
 * sum then holds forever, but the tenth layer has to be a thousand times as exact as the promise,
 * and since the last layers hold most of the keys, that costs twice the memory.  Here the first 16,
 * which take a filter from ten thousand keys to 650 million, get the same share, 1/24, and those
 * after them 7/8 of the one before:
 *     16/24 + (1/24) (1 + 7/8 + (7/8)^2 + ...) = 16/24 + 8/24 = 1.
 *
 * A plan describes the first layer: its bytes, and its rate once the planned keys are in.
 */
#include <float.h>
#include <math.h>

#include "plan/plan.h"
#include "plan/plan_model.h"

enum { EVEN_LAYERS = 16, PARTS = 24, GROWTH = 2, LAYERS_MAX = 64, SHARES = UMBELI_SCALABLE_SHARES };

double umbeli_scalable_share(uint32_t layer) {
    double late = layer < EVEN_LAYERS ? 0.0 : (double)(layer - EVEN_LAYERS);
    return pow(7.0 / 8.0, late) / PARTS;
}

bool umbeli_scalable_of_filters(double fpr) {
    return fpr < 1e-6;
}

/* Layers of hashes, by the logarithm of how many they take: what they get of the rate that is left
 * when they begin, and the filters that they become. */
static const struct stage {
    uint32_t log2_keys;
    double hashes, filter;
} stages[] = {{17, 0.13, 0.1}, {22, 0.3, 0.18}, {27, 0.8, 0.5}, {32, 0.5, 0.4}, {37, 0.5, 0.4}};
enum { STAGES = sizeof stages / sizeof *stages, BITS_MAX = 60 };

/* The first one for four times as many keys as there are. */
static const struct stage *stage_after(uint64_t before) {
    uint32_t i = 0;
    while (i < STAGES && before >> (stages[i].log2_keys - 2)) i++;
    return i < STAGES ? &stages[i] : NULL;
}

double umbeli_scalable_filter_share(uint64_t keys) {
    const struct stage *next = stage_after(keys);
    return next ? next->filter : stages[STAGES - 1].filter;
}

bool umbeli_scalable_stage(uint64_t before, double left, uint32_t *bits, uint64_t *keys) {
    const struct stage *stage = stage_after(before);
    if (!stage || !(left > 0.0)) return false;
    int exponent;
    double rate = left * stage->hashes, part = frexp(rate, &exponent);
    int kept =
        (int)stage->log2_keys - exponent + (part < 0.70710678); /* the nearest power of two */
    if (kept > BITS_MAX) return false;
    *bits = (uint32_t)kept;
    *keys = (uint64_t)ldexp(rate, kept);
    return true;
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
    uint64_t keys = plan->capacity ? plan->capacity : layer->capacity;
    plan->fpr = fpr;
    return umbeli_plan_settle(&umbeli_model_scalable, plan, keys, layer->bytes, layer->hashes,
                              umbeli_blocked_rate(layer->bytes / 32, keys), fpr);
}

static umbel_err solve(umbel_plan *plan) {
    umbel_plan layer = {
        .kind = UMBEL_KIND_BLOCKED,
        .capacity = plan->capacity,
        .fpr = plan->fpr / SHARES,
        .bytes = plan->bytes,
    };
    if (plan->fpr != 0.0 && layer.fpr < DBL_MIN) { /* 0 would mean not given */
        return umbeli_plan_refuse(&umbeli_model_scalable, plan, UMBEL_PLAN_BEYOND_KIND);
    }
    if (plan->bytes == 0 && layer.capacity < UMBELI_SCALABLE_FIRST) {
        layer.capacity = UMBELI_SCALABLE_FIRST;
    }
    umbel_err e = umbeli_plan_solve(&layer);
    return e ? umbeli_plan_refuse(&umbeli_model_scalable, plan, layer.verdict)
             : settle(plan, &layer);
}

/* The layers after the first as they grow.  A filter takes the place of the hashes of a layer when
 * the next one has four times as many. */
static double rate_of_hashes(uint64_t before, double left, uint64_t keys) {
    double no = 0.0; /* logarithm of the probability that all layers say no */
    uint64_t closed = 0;
    while (keys > 0) {
        uint32_t bits;
        uint64_t most;
        if (!umbeli_scalable_stage(before, left, &bits, &most)) return 1.0; /* cannot grow so far */
        uint64_t kept = keys < most ? keys : most;
        no += log1p(-ldexp((double)kept, -(int)bits));
        left -= ldexp((double)most, -(int)bits);
        if (closed && kept / 4 >= closed) {
            double filter = left * umbeli_scalable_filter_share(closed);
            no += log1p(-filter);
            left -= filter;
        }
        closed = most;
        before += most;
        keys -= kept;
    }
    return -expm1(no);
}

static double rate_of_filters(uint64_t capacity, double left, uint64_t keys) {
    double no = 0.0;
    for (uint32_t i = 0; keys > 0; i++) {
        capacity *= GROWTH;
        umbel_plan layer = {.kind = UMBEL_KIND_BLOCKED,
                            .capacity = capacity,
                            .fpr = left * umbeli_scalable_share(i)};
        if (i == LAYERS_MAX || umbeli_plan_solve(&layer)) return 1.0;
        uint64_t kept = keys < layer.capacity ? keys : layer.capacity;
        no += log1p(-umbeli_blocked_rate(layer.bytes / 32, kept));
        keys -= kept;
    }
    return -expm1(no);
}

static double rate_after(const umbel_plan *plan, uint64_t keys) {
    umbel_plan first = {
        .kind = UMBEL_KIND_BLOCKED, .fpr = plan->fpr / SHARES, .bytes = plan->bytes};
    if (umbeli_plan_solve(&first)) return 1.0;
    uint64_t kept = keys < first.capacity ? keys : first.capacity;
    double rate = umbeli_blocked_rate(first.bytes / 32, kept);
    if (kept == keys) return rate;
    double left = plan->fpr - umbeli_blocked_rate(first.bytes / 32, first.capacity);
    double later = umbeli_scalable_of_filters(plan->fpr)
                       ? rate_of_filters(first.capacity, left, keys - kept)
                       : rate_of_hashes(first.capacity, left, keys - kept);
    return rate + later - rate * later;
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
    .beyond = "the first layer of a scalable filter gets 1/4 of the rate and needs more bytes "
              "for that; give more bytes, fewer keys or a higher fpr",
    .bad_hashes = "hashes: a scalable filter always has 8; leave it 0",
};
