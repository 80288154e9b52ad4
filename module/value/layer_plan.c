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
    *out = (bf_layer_plan){.kind = UMBEL_KIND_CLASSIC, .keys = keys};
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
        .kind = kind,
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
static umbel_err plan_freely(uint64_t keys, double rate, bf_layer_plan *out) {
    double bits = -log(rate) / 0.480453013918201 * (double)keys;
    if (!(rate >= rate_min && rate < 1) || !(bits < 0x1p59)) return UMBEL_EFULL;
    *out = (bf_layer_plan){.kind = UMBEL_KIND_CLASSIC, .keys = keys, .rate = rate};
    out->bytes = min_bytes(classic_promise, keys, rate, (uint64_t)bits / 8, 8);
    uint64_t blocked = out->bytes + out->bytes / 3;
    bool addressable = blocked / BLOCK > 0 && blocked / BLOCK <= UINT32_MAX;
    if (blocked > LARGE && blocked / LINE <= UINT32_MAX && line_promise(blocked, keys) <= rate) {
        out->kind = UMBEL_KIND_LINE;
        out->bytes = min_bytes(line_promise, keys, rate, (uint64_t)bits / 8, LINE);
        out->hashes = umbeli_line_hashes(out->bytes / LINE, keys);
    } else if (addressable && blocked_promise(blocked, keys) <= rate) {
        out->kind = UMBEL_KIND_BLOCKED;
        out->bytes = min_bytes(blocked_promise, keys, rate, (uint64_t)bits / 8, BLOCK);
    } else {
        out->hashes = umbeli_classic_hashes(8 * out->bytes, keys);
    }
    return UMBEL_OK;
}

/* ---- Chains ---- */

umbel_err bf_plan_first(const bf_params *p, bf_layer_plan *out, umbel_diag *diag) {
    bool grows = p->expansion != 0;
    if (grows && p->tightening > 0) {
        umbel_err e = plan_freely(p->capacity, p->error * (1 - p->tightening), out);
        return e ? umbeli_fail(diag, UMBEL_EINVAL, "error: no filter can keep it") : UMBEL_OK;
    }
    double share = !grows ? 1 : p->capacity <= UNRESERVED ? umbeli_scalable_share(0) : 0.5;
    uint64_t bytes = bf_redisbloom_bytes(p->capacity, p->error * share);
    if (bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: the filter would be too large");
    }
    double max_rate = grows ? p->error * first_max : p->error;
    bool small = grows && bytes <= SMALL;
    if (!small && (plan_fast(UMBEL_KIND_BLOCKED, p->capacity, bytes, max_rate, out) ||
                   plan_line(p->capacity, bytes, max_rate, out))) {
        return UMBEL_OK;
    }
    plan_classic(p->capacity, bytes, grows ? p->error : max_rate, out);
    if (p->error < rate_min || out->rate > 1.1 * p->error) {
        return umbeli_fail(diag, UMBEL_EINVAL, "error: lower than the hash allows");
    }
    return UMBEL_OK;
}

umbel_err bf_plan_next(const bf_params *p, uint32_t i, uint64_t keys, double first_rate,
                       bf_layer_plan *out) {
    uint64_t next;
    if (p->expansion == 0 || i >= BF_LAYERS_MAX) return UMBEL_EFULL;
    if (!umbeli_size_mul(keys, p->expansion, &next) || next > INT64_MAX) return UMBEL_EFULL;
    double rate = p->tightening > 0 ? p->error * (1 - p->tightening) * pow(p->tightening, i)
                                    : (p->error - first_rate) * umbeli_scalable_share(i - 1);
    return plan_freely(next, rate, out);
}
