/* SPDX-License-Identifier: MIT */
#include "value/layer_plan.h"

#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/redisbloom/redisbloom_link.h"
#include "plan/plan.h"

#define TOO_LOW \
    "error: lower than 64 bits of hash allow for this many items (LAYOUT classic has 128)"

enum { BLOCK = 32, LINE = 64, SMALL = 64 * 1024, SMALL_FIXED = 1024, UNRESERVED = 100 };

/* Layers above this many bytes are not in the second-level cache, so that each probe of a narrow
 * one is an access to memory. */
enum { LARGE = 1024 * 1024 };

/* Below this promise the bits of a hash that packed layers keep are not enough. */
static const double packed_min = 1e-6;

/* The largest share of the promised rate that a blocked first layer may use up. */
static const double first_max = 0.9;

/* Of n keys in 64 bits of hash, one that is absent has the hash of another with a chance of
 * n / 2^64: at most a sixteenth of the promise. */
static bool hash_allows(uint64_t keys, double promise) {
    return (double)keys <= 0x1p60 * promise;
}

/* The lowest rate of a layer: there are at most 64 probes. */
static const double rate_min = 0x1p-60;

uint64_t bf_redisbloom_bytes(uint64_t keys, double rate) {
    umbeli_layer link;
    return umbeli_redisbloom_size_link(keys, rate, &link, NULL) ? 0 : link.bytes;
}

/* Narrow in exactly this many bytes; a filter that may not grow gets up to one extra block where
 * rounding would make it miss its rate. */
static void plan_narrow(uint64_t keys, uint64_t bytes, double rate, bf_layer_plan *out) {
    *out = (bf_layer_plan){.probes = &umbeli_probes_narrow, .keys = keys};
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

/* Beyond the caches, one memory access per item instead of eight or more is worth up to a quarter
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

static double narrow_promise(uint64_t bytes, uint64_t keys) {
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

enum { MILLIONS = 4000000 };

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

/* Blocked, or line if it is large, where that takes at most a third more than narrow: a lookup has
 * to query every layer, and these take a single memory access. */
static umbel_err plan_freely(uint64_t keys, double rate, bool roughly, bf_layer_plan *out) {
    double bits = -log(rate) / 0.480453013918201 * (double)keys;
    if (!(rate >= rate_min && rate < 1) || !(bits < 0x1p59)) return UMBEL_EFULL;
    *out = (bf_layer_plan){.probes = &umbeli_probes_narrow, .keys = keys, .rate = rate};
    if (roughly && keys > MILLIONS) { /* a tenth more than narrow, as fast layers take */
        out->bytes = (uint64_t)(1.1 * bits / 8);
        return UMBEL_OK;
    }
    out->bytes = min_bytes(narrow_promise, keys, rate, (uint64_t)bits / 8, 8);
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
        out->rate = umbeli_classic_rate(8 * out->bytes, out->hashes, keys);
    }
    return UMBEL_OK;
}

/* Neither its size nor its growth was requested. */
static bool unreserved(const bf_params *p) {
    return p->expansion == BF_EXPANSION_AUTO && p->capacity <= UNRESERVED && !(p->tightening > 0) &&
           p->error >= packed_min;
}

/* The share of the rate that a first layer may use up, by which RedisBloom's bytes are found. */
static double first_share(const bf_params *p) {
    if (!bf_grows(p)) return 1;
    return p->capacity <= UNRESERVED ? umbeli_scalable_share(0) : 0.5;
}

/* ---- Filters that nobody reserved ---- */

/* Packed layers: how many bits of a hash they keep for a promise of 1% (more for a lower one),
 * after how many keys the next one begins, and how many bytes it begins with.  When full they have
 * rates of 0.27%, 0.13% and 0.33%, and the filters that follow share what is left. */
static const struct stage {
    uint32_t bits;
    uint64_t max_keys, first_bytes;
} stages[] = {{18, BF_SMALL_KEYS, 24}, {25, 45000, 384}, {31, 7000000, 4096}};
enum { STAGES = sizeof stages / sizeof *stages };

/* A dump has a layer of hashes in one piece, of 16 MiB at most. */
enum { PACKED_MAX = 15 << 20 };

static uint32_t stage_bits(const bf_params *p, uint32_t i) {
    return (uint32_t)((int)stages[i].bits + (int)ceil(log2(0.01 / p->error)));
}

static void size_packed(uint64_t max_keys, bf_layer_plan *plan) {
    uint64_t keys = umbeli_packed_capacity(plan->bytes, plan->hashes);
    plan->keys = keys < max_keys ? keys : max_keys;
    plan->rate = umbeli_packed_rate(plan->keys, plan->hashes);
}

static void plan_stage(const bf_params *p, uint32_t i, bf_layer_plan *out) {
    *out = (bf_layer_plan){
        .probes = &umbeli_probes_packed,
        .bytes = stages[i].first_bytes,
        .hashes = stage_bits(p, i),
    };
    size_packed(stages[i].max_keys, out);
}

/* Sizes as allocators have them, four to an octave, with the 8 bytes before a bf_small's. */
bool bf_plan_larger(bf_layer_plan *plan) {
    uint64_t before = plan->bytes % 16, size = plan->bytes + before, octave = 32;
    while (2 * octave <= size) octave *= 2;
    uint64_t step = size < 192 ? 16 : octave / 4;
    plan->bytes = (size / step + 1) * step - before;
    plan->replaces = true;
    size_packed(UINT64_MAX, plan);
    return plan->bytes <= PACKED_MAX;
}

/* For a chain that ends in a packed layer: a larger one in its place, up to the size where the next
 * stage begins. */
static bool plan_growth(const bf_params *p, const bf_full_chain *full, bf_layer_plan *out) {
    uint32_t i = 0;
    while (i + 1 < STAGES && full->newest.hashes > stage_bits(p, i)) i++;
    *out = full->newest;
    if (out->keys >= stages[i].max_keys) return false;
    do {
        if (!bf_plan_larger(out)) return false;
    } while (out->keys <= full->newest.keys);
    size_packed(stages[i].max_keys, out);
    return true;
}

bool bf_plan_grown(const bf_params *p, uint64_t keys, bf_layer_plan *out) {
    bf_full_chain full = {.layers = 1};
    if (!unreserved(p) || keys > BF_SMALL_KEYS) return false;
    for (plan_stage(p, 0, out); out->keys < keys;) {
        full.newest = *out;
        if (!plan_growth(p, &full, out)) return false;
    }
    return true;
}

/* Filters after the packed layers, each for half as many keys as there are before it, so that all
 * together take at most 22 bits per key at any time.  Each gets 0.45 of the rate that is left. */
static umbel_err plan_late(const bf_params *p, const bf_full_chain *full, bf_layer_plan *out) {
    double keys = 0, next = 0, left = p->error;
    uint32_t before = full->layers < STAGES ? STAGES : full->layers;
    for (uint32_t i = 0; i < STAGES; i++) {
        keys += (double)stages[i].max_keys;
        left -= umbeli_packed_rate(stages[i].max_keys, stage_bits(p, i));
    }
    for (uint32_t i = STAGES; i <= before; i++) {
        next = 0.5 * keys;
        keys += next;
        if (i < before) left *= 0.55;
    }
    if (full->layers >= BF_LAYERS_MAX || !(keys < 0x1p62)) return UMBEL_EFULL;
    if (!hash_allows((uint64_t)keys, p->error)) return UMBEL_EFULL;
    return plan_freely((uint64_t)next, left * 0.45, full->roughly, out);
}

static umbel_err plan_unreserved(const bf_params *p, const bf_full_chain *full,
                                 bf_layer_plan *out) {
    if (full->newest.probes == &umbeli_probes_packed && plan_growth(p, full, out)) return UMBEL_OK;
    if (full->layers < STAGES) {
        plan_stage(p, full->layers, out);
        return UMBEL_OK;
    }
    return plan_late(p, full, out);
}

/* ---- Chains ---- */

umbeli_layer bf_planned_layer(const bf_layer_plan *plan) {
    return (umbeli_layer){
        .probes = plan->probes,
        .bytes = plan->bytes,
        .nbits = 8 * plan->bytes,
        .hashes = plan->hashes,
        .capacity = plan->keys,
        .rate = plan->rate,
    };
}

umbel_err bf_plan_first(const bf_params *p, bf_layer_plan *out, umbel_diag *diag) {
    bool grows = bf_grows(p), fits = hash_allows(p->capacity, p->error);
    if (unreserved(p)) {
        plan_stage(p, 0, out);
        return UMBEL_OK;
    }
    if (grows && p->tightening > 0) {
        umbel_err e = plan_freely(p->capacity, p->error * (1 - p->tightening), false, out);
        return e || !fits ? umbeli_fail(diag, UMBEL_EINVAL, TOO_LOW) : UMBEL_OK;
    }
    uint64_t bytes = bf_redisbloom_bytes(p->capacity, p->error * first_share(p));
    if (bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: the filter would be too large");
    }
    double max_rate = grows ? p->error * first_max : p->error;
    bool small = bytes <= (grows ? SMALL : SMALL_FIXED);
    if (!small && (plan_fast(UMBEL_KIND_BLOCKED, p->capacity, bytes, max_rate, out) ||
                   plan_line(p->capacity, bytes, max_rate, out))) {
        return UMBEL_OK;
    }
    plan_narrow(p->capacity, bytes, grows ? p->error : max_rate, out);
    return fits && out->rate <= 1.1 * p->error ? UMBEL_OK
                                               : umbeli_fail(diag, UMBEL_EINVAL, TOO_LOW);
}

umbel_err bf_plan_next(const bf_params *p, const bf_full_chain *full, bf_layer_plan *out) {
    uint64_t next;
    uint32_t i = full->layers;
    if (unreserved(p)) return plan_unreserved(p, full, out);
    if (!bf_grows(p) || i >= BF_LAYERS_MAX || full->newest.probes == &umbeli_probes_packed)
        return UMBEL_EFULL;
    if (!umbeli_size_mul(full->newest.keys, bf_expansion(p), &next) || next > INT64_MAX) {
        return UMBEL_EFULL;
    }
    if (!hash_allows(next, p->error)) return UMBEL_EFULL;
    double rate = p->tightening > 0 ? p->error * (1 - p->tightening) * pow(p->tightening, i)
                                    : (p->error - full->first_rate) * umbeli_scalable_share(i - 1);
    return plan_freely(next, rate, full->roughly, out);
}
