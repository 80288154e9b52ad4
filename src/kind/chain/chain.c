/* SPDX-License-Identifier: MIT */
#include "kind/chain/chain.h"

#include "core/bits.h"
#include "plan/plan.h"

enum { PLAIN_BELOW = 256 * 1024 /* bytes: half of a usual second-level cache */ };

static bool is_small(const umbeli_layer *layer) {
    return layer->nblocks * UMBELI_BLOCK_BYTES <= PLAIN_BELOW;
}

bool umbeli_layers_contain(const umbeli_blocked_kernel *kernel, const uint8_t *data,
                           const umbeli_layer *layers, size_t n, uint64_t hash) {
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(data + layers[i].at +
                           UMBELI_BLOCK_BYTES * umbeli_block_of(hash, layers[i].nblocks));
    }
    uint8_t hit = 0;
    for (size_t i = n; i-- > 0 && !hit;) {
        kernel->contains_plain(data + layers[i].at, layers[i].nblocks, &hash, 1, &hit);
    }
    return hit;
}

void umbeli_layers_contain_batch(const umbeli_blocked_kernel *kernel, const uint8_t *data,
                                 const umbeli_layer *layers, size_t n, const uint64_t *hashes,
                                 size_t count, uint8_t *hit) {
    uint64_t missing[UMBELI_LAYERS_BATCH];
    uint16_t place[UMBELI_LAYERS_BATCH];
    uint8_t found[UMBELI_LAYERS_BATCH];
    for (size_t i = 0; i < count; i++) {
        missing[i] = hashes[i];
        place[i] = (uint16_t)i;
        hit[i] = 0;
    }
    for (size_t layer = n; layer-- > 0 && count > 0;) {
        const umbeli_layer *l = &layers[layer];
        if (is_small(l)) {
            kernel->contains_plain(data + l->at, l->nblocks, missing, count, found);
        } else {
            kernel->contains_ring(data + l->at, l->nblocks, missing, count, 0, found);
        }
        size_t left = 0;
        for (size_t i = 0; i < count; i++) {
            hit[place[i]] = found[i];
            missing[left] = missing[i];
            place[left] = place[i];
            left += !found[i];
        }
        count = left;
    }
}

uint64_t umbeli_layer_add(const umbeli_blocked_kernel *kernel, uint8_t *data, umbeli_layer *layer,
                          const uint64_t *hashes, size_t count, uint8_t *was_new) {
    uint8_t *blocks = data + layer->at;
    uint64_t added = is_small(layer)
                         ? kernel->add_plain(blocks, layer->nblocks, hashes, count, was_new)
                         : kernel->add_ring(blocks, layer->nblocks, hashes, count, 0, was_new);
    layer->keys += added;
    return added;
}

double umbeli_layer_rate(uint64_t nblocks, uint64_t keys) {
    umbel_plan full = {
        .kind = UMBEL_BLOCKED,
        .bits = 8 * UMBELI_BLOCK_BYTES * nblocks,
        .hashes = UMBELI_BLOCK_LANES,
    };
    return umbeli_plan_rate(&full, keys);
}

void umbeli_layers_measure(const uint8_t *data, const umbeli_layer *layers, size_t n,
                           umbel_info *info) {
    info->bits_set = 0;
    info->keys_estimated = 0;
    info->fpr_now = 0;
    info->parts = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *blocks = data + layers[i].at;
        uint64_t set = umbeli_bits_count(blocks, UMBELI_BLOCK_BYTES * layers[i].nblocks);
        info->bits_set += set;
        info->keys_estimated += umbeli_blocked_estimate(layers[i].nblocks, set);
        double rate = umbeli_blocked_live_rate(blocks, layers[i].nblocks, 1);
        info->fpr_now = umbeli_either(info->fpr_now, rate);
    }
}
