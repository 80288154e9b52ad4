/* SPDX-License-Identifier: MIT */
#include "value/layer_plan.h"

#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/redisbloom/redisbloom_link.h"
#include "plan/plan.h"

enum { BLOCK = 32, LINE = 64, SMALL = 64 * 1024, UNRESERVED = 100 };

/* Layers above this many bytes are not in the second-level cache, so that each probe of a classic
 * one is an access to memory. */
enum { LARGE = 1024 * 1024 };

/* Of filters that nobody reserved.  What the allocator adds to a table makes its sizes round. */
enum { AROUND = 128, EXACT_MIN = 512, EXACT_MAX = 512 * 1024, STEP = 5, LATE_STEP = 2 };
static const uint64_t late = 8000000;

/* Below this promise 64 bits of hash are not enough. */
static const double narrow_min = 1e-9;

/* The largest share of the promised rate that a blocked first layer may use up. */
static const double first_max = 0.9;

/* Probes are drawn from 128 bits of hash, and there are at most 64 of them. */
static const double rate_min = 0x1p-60;

uint64_t bf_redisbloom_bytes(uint64_t keys, double rate) {
    umbeli_layer link;
    return umbeli_redisbloom_size_link(keys, rate, &link, NULL) ? 0 : link.bytes;
}

/* Classic in exactly this many bytes; a filter that may not grow gets up to one extra block where
 * rounding would make it miss its rate. */
static void plan_classic(uint64_t keys, uint64_t bytes, double rate, bf_layer_plan *out) {
    bool narrow = bytes <= BF_SMALL_BYTES && rate >= narrow_min;
    *out = (bf_layer_plan){
        .probes = narrow ? &umbeli_probes_narrow : &umbeli_probes_classic,
        .keys = keys,
    };
    for (uint64_t more = 0; more <= BLOCK; more += 8) {
        out->bytes = bytes + more;
        out->hashes = umbeli_classic_hashes(8 * out->bytes, keys);
        out->rate = umbeli_classic_rate(8 * out->bytes, out->hashes, keys);
        if (out->rate <= rate) break;
    }
}

/* A blocked or line layer of at most these bytes. */
static bool plan_fast(umbel_kind kind, uint64_t keys, uint64_t bytes, double rate,
                      bf_layer_plan *out) {
    umbel_plan plan = {.kind = kind, .capacity = keys, .bytes = bytes};
    if (umbeli_plan_solve(&plan) || plan.fpr > rate) return false;
    *out = (bf_layer_plan){
        .probes = umbeli_native_probes(kind),
        .keys = keys,
        .bytes = plan.bytes,
        .hashes = plan.hashes,
        .rate = plan.fpr,
    };
    return true;
}

/* Beyond the caches one access per item, where classic has eight and more, is worth up to a quarter
 * more than RedisBloom's bytes. */
static bool plan_line(uint64_t keys, uint64_t bytes, double rate, bf_layer_plan *out) {
    if (plan_fast(UMBEL_KIND_LINE, keys, bytes, rate, out)) return true;
    umbel_plan plan = {.kind = UMBEL_KIND_LINE, .capacity = keys, .fpr = rate};
    if (bytes <= LARGE || rate > 0x1p-8) return false;
    if (umbeli_plan_solve(&plan) || plan.bytes > bytes + bytes / 4) return false;
    return plan_fast(UMBEL_KIND_LINE, keys, plan.bytes, rate, out);
}

/* ---- Layers of any size ---- */

/* What a layer of this many bytes can promise: its mean rate plus three standard deviations. */
typedef double (*promise)(uint64_t bytes, uint64_t keys);

static double classic_promise(uint64_t bytes, uint64_t keys) {
    uint32_t hashes = umbeli_classic_hashes(8 * bytes, keys);
    return umbeli_classic_rate(8 * bytes, hashes, keys) +
           3 * umbeli_classic_spread(8 * bytes, hashes, keys);
}

static double blocked_promise(uint64_t bytes, uint64_t keys) {
    return umbeli_blocked_rate(bytes / BLOCK, keys) +
           3 * umbeli_blocked_spread(bytes / BLOCK, keys);
}

static double line_promise(uint64_t bytes, uint64_t keys) {
    uint32_t lanes = umbeli_line_hashes(bytes / LINE, keys);
    return umbeli_line_rate(bytes / LINE, lanes, keys) +
           3 * umbeli_line_spread(bytes / LINE, lanes, keys);
}

/* The fewest bytes above `low`, in steps of `unit`, that keep the rate.  The planner searches every
 * possible size, which takes ten times as long; here we know roughly where the answer lies, and a
 * client is waiting for it. */
static uint64_t min_bytes(promise of, uint64_t keys, double rate, uint64_t low, uint64_t unit) {
    uint64_t first = low / unit, step = 1;
    while (of((first + step) * unit, keys) > rate) step *= 2;
    uint64_t below = first + step / 2, enough = first + step;
    while (enough - below > 1) {
        uint64_t middle = below + (enough - below) / 2;
        *(of(middle * unit, keys) <= rate ? &enough : &below) = middle;
    }
    return enough * unit;
}

/* Blocked, or line if it is large, where that takes at most a third more than classic: a lookup has
 * to query every layer, and these take a single memory access. */
static umbel_err plan_freely(uint64_t keys, double rate, const umbeli_probes *classic,
                             bf_layer_plan *out) {
    double bits = -log(rate) / 0.480453013918201 * (double)keys;
    if (!(rate >= rate_min && rate < 1) || !(bits < 0x1p59)) return UMBEL_EFULL;
    *out = (bf_layer_plan){.probes = classic, .keys = keys, .rate = rate};
    out->bytes = min_bytes(classic_promise, keys, rate, (uint64_t)bits / 8, 8);
    uint64_t blocked = out->bytes + out->bytes / 3;
    bool addressable = blocked / BLOCK > 0 && blocked / BLOCK <= UINT32_MAX;
    if (blocked > LARGE && blocked / LINE <= UINT32_MAX && line_promise(blocked, keys) <= rate) {
        out->probes = &umbeli_probes_line;
        out->bytes = min_bytes(line_promise, keys, rate, (uint64_t)bits / 8, LINE);
        out->hashes = umbeli_line_hashes(out->bytes / LINE, keys);
    } else if (addressable && blocked_promise(blocked, keys) <= rate) {
        out->probes = &umbeli_probes_blocked;
        out->hashes = UMBELI_BLOCK_LANES;
        out->bytes = min_bytes(blocked_promise, keys, rate, (uint64_t)bits / 8, BLOCK);
    } else {
        out->hashes = umbeli_classic_hashes(8 * out->bytes, keys);
    }
    return UMBEL_OK;
}

/* ---- Chains ---- */

/* Nobody said how large it will be, nor how it should grow. */
static bool unreserved(const bf_params *p) {
    return p->expansion == BF_EXPANSION_AUTO && p->capacity <= UNRESERVED && !(p->tightening > 0) &&
           p->error >= narrow_min;
}

/* The share of the rate that a first layer may use up, by which RedisBloom's bytes are found. */
static double first_share(const bf_params *p) {
    if (!bf_grows(p)) return 1;
    return p->capacity <= UNRESERVED && !unreserved(p) ? umbeli_scalable_share(0) : 0.5;
}

umbel_err bf_plan_first(const bf_params *p, bf_layer_plan *out, umbel_diag *diag) {
    bool grows = bf_grows(p);
    if (grows && p->tightening > 0) {
        umbel_err e =
            plan_freely(p->capacity, p->error * (1 - p->tightening), &umbeli_probes_classic, out);
        return e ? umbeli_fail(diag, UMBEL_EINVAL, "error: no filter can keep it") : UMBEL_OK;
    }
    uint64_t bytes = bf_redisbloom_bytes(p->capacity, p->error * first_share(p));
    if (bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: the filter would be too large");
    }
    double max_rate = grows ? p->error * first_max : p->error;
    bool small = grows ? bytes <= SMALL : bytes <= BF_SMALL_BYTES;
    if (!small && (plan_fast(UMBEL_KIND_BLOCKED, p->capacity, bytes, max_rate, out) ||
                   plan_line(p->capacity, bytes, max_rate, out))) {
        return UMBEL_OK;
    }
    /* Eight bytes more than RedisBloom's leave its successors a fifth more of the rate. */
    if (unreserved(p)) bytes += 8;
    plan_classic(p->capacity, bytes, grows ? p->error : max_rate, out);
    if (p->error < rate_min || out->rate > 1.1 * p->error) {
        return umbeli_fail(diag, UMBEL_EINVAL, "error: lower than the hash allows");
    }
    return UMBEL_OK;
}

/* Sizes as allocators have them, four to an octave. */
static uint64_t larger_table(uint64_t bytes) {
    uint64_t size = bytes + AROUND, octave = EXACT_MIN;
    while (2 * octave <= size) octave *= 2;
    return size + octave / 4 - AROUND;
}

static void plan_exact(uint64_t bytes, bf_layer_plan *out) {
    uint64_t keys = umbeli_exact_capacity(bytes);
    *out = (bf_layer_plan){
        .probes = &umbeli_probes_exact,
        .keys = keys,
        .bytes = bytes,
        .hashes = 1,
        .rate = (double)keys * 0x1p-64,
    };
}

/* The layers after the first of a filter that nobody reserved.  Their shares of what the first one
 * leaves: 0.22 for three of them, which are all up to ten million keys, then 0.6 of the one before;
 * 3 * 0.22 + 0.22 * (0.6 + 0.6^2 + ...) = 0.99, and the table of hashes needs next to nothing. */
static umbel_err plan_few(const bf_params *p, const bf_full_chain *full, bf_layer_plan *out) {
    if (full->layers == 1) {
        plan_exact(EXACT_MIN - AROUND, out);
        return UMBEL_OK;
    }
    if (full->exact && full->exact_bytes + AROUND < EXACT_MAX) {
        plan_exact(larger_table(full->exact_bytes), out);
        return UMBEL_OK;
    }
    uint32_t i = full->layers - full->exact;
    uint64_t all, next;
    if (!umbeli_size_add(full->last, full->others, &all)) return UMBEL_EFULL;
    if (!umbeli_size_mul(all, all < late ? STEP : LATE_STEP, &next)) return UMBEL_EFULL;
    if (next > INT64_MAX || i >= BF_LAYERS_MAX) return UMBEL_EFULL;
    double share = 0.22 * pow(0.6, i > 3 ? (double)(i - 3) : 0);
    return plan_freely(next, (p->error - full->first_rate) * share, &umbeli_probes_narrow, out);
}

umbel_err bf_plan_next(const bf_params *p, const bf_full_chain *full, bf_layer_plan *out) {
    uint64_t next;
    uint32_t i = full->layers;
    if (unreserved(p)) return plan_few(p, full, out);
    if (!bf_grows(p) || i >= BF_LAYERS_MAX || full->exact) return UMBEL_EFULL;
    if (!umbeli_size_mul(full->last, bf_expansion(p), &next) || next > INT64_MAX) {
        return UMBEL_EFULL;
    }
    double rate = p->tightening > 0 ? p->error * (1 - p->tightening) * pow(p->tightening, i)
                                    : (p->error - full->first_rate) * umbeli_scalable_share(i - 1);
    return plan_freely(next, rate, &umbeli_probes_classic, out);
}
