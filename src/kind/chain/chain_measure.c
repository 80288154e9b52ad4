/* SPDX-License-Identifier: MIT
 *
 * chain_measure.c - what the bits of a chain say: its keys and its live rate
 */
#include <math.h>
#include <string.h>

#include "kind/chain/chain.h"
#include "kind/classic/classic.h"
#include "kind/key_count.h"
#include "plan/plan.h"

enum { FEW_LAYERS = 64 }; /* more come only from files crafted to cost time */

/* Keys are spread evenly over a layer, so that its beginning stands for all of it.  An
 * approximation: as if probes were independent. */
static umbel_measurement sample(const umbeli_layer *l, uint64_t most, bool roughly) {
    umbeli_layer part = *l;
    bool packed = umbeli_is_packed(l);
    if (!packed && l->bytes > most) {
        part.bytes = most;
        part.nbits = 8 * most;
    }
    uint64_t set =
        packed ? (l->packed.low + 1) * l->keys : umbeli_bits_count_first(part.bits, part.nbits);
    uint64_t all = set;
    if (part.bytes < l->bytes) {
        all = (uint64_t)((double)set / (double)part.nbits * (double)l->nbits);
        if (all > l->nbits) all = l->nbits;
    }
    /* Blocks are judged one by one; for the others their number and the fill are enough. */
    bool blocked = l->probes->log2_bytes != 0;
    umbel_measurement now = {
        .bits = l->nbits, .bits_set = all, .keys = l->probes->estimate(l, all)};
    umbeli_conclude_rate(blocked              ? l->probes->live_rate(&part, set)
                         : roughly && !packed ? umbeli_classic_live_rate(l->nbits, l->hashes, all)
                                              : l->probes->live_rate(l, all),
                         &now);
    return now;
}

umbel_measurement umbeli_layer_sample(const umbeli_layer *l, uint64_t most) {
    return sample(l, most, false);
}

umbel_measurement umbeli_layer_measure(const umbeli_layer *l) {
    return umbeli_layer_sample(l, UINT64_MAX);
}

static double layer_rate_after(const void *layer, uint64_t keys) {
    const umbeli_layer *l = layer;
    return l->probes->rate_after ? l->probes->rate_after(l, keys) : 0;
}

static double layer_error(const umbeli_layer *l, const umbel_measurement *now) {
    if (umbeli_is_packed(l))
        return sqrt(fmax(now->keys - (double)l->keys, 0)); /* of hashes alike */
    double error = umbeli_estimate_error((double)l->nbits, l->hashes, now->keys);
    if (l->probes->log2_bytes) {
        umbeli_blocked_keys(umbeli_layer_form(l), umbeli_layer_blocks(l), now->bits_set, &error);
    }
    return error;
}

/* A window's layers are alike, and a key that is added again is in several of them, so the bits of
 * all together say how many keys there are. */
static void count_once(const umbeli_chain *c, umbeli_key_evidence *e) {
    uint8_t any[4096];
    uint64_t set = 0, each = c->layers[0].bytes;
    for (uint64_t at = 0; at < each; at += sizeof any) {
        uint64_t len = each - at < sizeof any ? each - at : sizeof any;
        memcpy(any, c->layers[0].bits + at, (size_t)len);
        for (uint32_t i = 1; i < c->count; i++) umbeli_bits_or(any, c->layers[i].bits + at, len);
        set += umbeli_bits_count(any, len);
    }
    double error, together = umbeli_blocked_keys(umbeli_layer_form(&c->layers[0]),
                                                 umbeli_layer_blocks(&c->layers[0]), set, &error);
    if (isfinite(together)) {
        e->by_bits = together;
        e->error = e->count_error = error;
    } else { /* no layer is full, but their union is, so how many keys are in two is unknown */
        e->error = e->count_error = e->by_bits / 4;
    }
}

/* A key that an older layer seems to have goes into no layer and is not counted. */
void umbeli_chain_sample(const umbel_filter *f, uint64_t most, umbel_measurement *now) {
    const umbeli_chain *c = umbeli_chain_of(f);
    umbeli_key_evidence e = {0};
    bool refreshes = f->ops->policy->refreshes;
    double variance = 0, unseen = 0, below = 0;
    *now = (umbel_measurement){0};
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        umbel_measurement layer = sample(l, most, c->count > FEW_LAYERS);
        double error = layer_error(l, &layer);
        /* Keys that an older layer hid have no bits in this one. */
        double older = refreshes ? 0 : now->rate / fmax(1 - now->rate, 1e-3);
        e.hidden += (double)l->keys * older;
        if (c->count <= FEW_LAYERS) e.hidden += umbeli_hidden_from(layer_rate_after, l, l->keys);
        e.by_bits += layer.keys * (1 + older);
        e.counted += (double)l->keys;
        variance += error * error;
        now->bits += layer.bits;
        now->bits_set += layer.bits_set;
        now->rate = umbeli_rate_of_union(now->rate, layer.rate);
        below = umbeli_rate_of_union(below, fmax(layer.rate, layer.rate_below));
        if (layer.rate_below > 0) unseen += layer.rate;
    }
    if (unseen > now->rate / 2) now->rate_below = below; /* it is not known of most of it */
    e.error = sqrt(variance);
    if (refreshes && isfinite(e.by_bits) && most == UINT64_MAX) count_once(c, &e);
    umbeli_conclude_keys(&e, now);
}

void umbeli_chain_measure(const umbel_filter *f, umbel_measurement *now) {
    umbeli_chain_sample(f, UINT64_MAX, now);
}

double umbeli_layer_rate(uint64_t nblocks, uint64_t keys) {
    umbel_plan full = {
        .kind = UMBEL_KIND_BLOCKED,
        .bits = 8 * UMBELI_BLOCK_BYTES * nblocks,
        .hashes = UMBELI_BLOCK_LANES,
    };
    return umbeli_plan_rate(&full, keys);
}
