/* SPDX-License-Identifier: MIT */
#include "layer_plan.h"

#include <math.h>

#include "codec/redisbloom_chain.h"
#include "core/diag.h"
#include "core/size.h"
#include "plan/plan.h"

enum { BLOCK = 32, SMALL = 64 * 1024, UNRESERVED = 100 };

/* A first blocked layer may use up so much of the promise. */
static const double first_most = 0.9;

/* Blocked layers may be so much larger than classic ones: a look-up has to ask every layer, and
 * asks blocked ones with a single access and one hash for all. */
static const double blocked_most = 4.0 / 3;

uint64_t bf_redisbloom_bytes(uint64_t keys, double rate) {
    umbeli_redisbloom_link link;
    return umbeli_redisbloom_size_link(keys, rate, &link, NULL) ? 0 : link.bytes;
}

/* Classic in just these bytes; a filter that may not grow gets up to one block more where rounding
 * would make it miss its rate. */
static void plan_classic(uint64_t keys, uint64_t bytes, double rate, bf_layer_plan *out) {
    *out = (bf_layer_plan){.kind = UMBEL_CLASSIC, .keys = keys};
    for (uint64_t more = 0; more <= BLOCK; more += 8) {
        out->bytes = bytes + more;
        out->hashes = umbeli_classic_hashes(8 * out->bytes, keys);
        out->rate = umbeli_classic_rate(8 * out->bytes, out->hashes, keys);
        if (out->rate <= rate) break;
    }
}

static bool plan_blocked(uint64_t keys, uint64_t bytes, double rate, bf_layer_plan *out) {
    umbel_plan plan = {.kind = UMBEL_BLOCKED, .keys = keys, .bytes = bytes};
    if (umbeli_plan_solve(&plan) || plan.fpr > rate) return false;
    *out = (bf_layer_plan){
        .kind = UMBEL_BLOCKED,
        .keys = keys,
        .bytes = plan.bytes,
        .hashes = plan.hashes,
        .rate = plan.fpr,
    };
    return true;
}

/* In as many bytes as it takes. */
static umbel_err plan_freely(uint64_t keys, double rate, bf_layer_plan *out) {
    umbel_plan plan = {.kind = UMBEL_CLASSIC, .keys = keys, .fpr = rate};
    umbel_plan blocked = {.kind = UMBEL_BLOCKED, .keys = keys, .fpr = rate};
    if (!(rate > 0 && rate < 1) || umbeli_plan_solve(&plan)) return UMBEL_EFULL;
    if (!umbeli_plan_solve(&blocked) &&
        (double)blocked.bytes <= blocked_most * (double)plan.bytes) {
        plan = blocked;
    }
    *out = (bf_layer_plan){
        .kind = plan.kind,
        .keys = keys,
        .bytes = plan.bytes,
        .hashes = plan.hashes,
        .rate = rate,
    };
    return UMBEL_OK;
}

umbel_err bf_plan_first(const bf_params *p, bf_layer_plan *out, umbel_diag *diag) {
    bool grows = p->expansion != 0;
    if (grows && (p->tightening > 0 || p->capacity <= UNRESERVED)) {
        double share = p->tightening > 0 ? 1 - p->tightening : umbeli_scalable_share(0);
        umbel_err e = plan_freely(p->capacity, p->error * share, out);
        return e ? umbeli_fail(diag, UMBEL_EINVAL, "error: no filter keeps it") : UMBEL_OK;
    }
    uint64_t bytes = bf_redisbloom_bytes(p->capacity, grows ? p->error * 0.5 : p->error);
    if (bytes == 0) return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: too large a filter");
    double most = grows ? p->error * first_most : p->error;
    bool small = grows && bytes <= SMALL;
    if (!small && plan_blocked(p->capacity, bytes, most, out)) return UMBEL_OK;
    plan_classic(p->capacity, bytes, grows ? p->error : most, out);
    /* Probes are drawn from 128 bits of hash, and there are at most 64 of them. */
    if (p->error < 0x1p-60 || out->rate > 1.1 * p->error) {
        return umbeli_fail(diag, UMBEL_EINVAL, "error: lower than hashes can keep");
    }
    return UMBEL_OK;
}

umbel_err bf_plan_next(const bf_params *p, uint32_t i, uint64_t keys, double first_rate,
                       bf_layer_plan *out) {
    uint64_t next;
    if (p->expansion == 0 || i >= BF_LAYERS_MOST) return UMBEL_EFULL;
    if (!umbeli_size_mul(keys, p->expansion, &next) || next > INT64_MAX) return UMBEL_EFULL;
    double rate = p->tightening > 0 ? p->error * (1 - p->tightening) * pow(p->tightening, i)
                                    : (p->error - first_rate) * umbeli_scalable_share(i - 1);
    return plan_freely(next, rate, out);
}
