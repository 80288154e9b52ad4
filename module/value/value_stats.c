/* SPDX-License-Identifier: MIT
 *
 * value_stats.c - figures about a value
 */
#include "core/size.h"
#include "value/layer_plan.h"

bf_layout bf_value_layout(const bf_value *v) {
    return v->params.layout;
}

void bf_value_params(const bf_value *v, bf_params *out) {
    *out = v->params;
}

/* 32 and 64 bytes are RedisBloom's chain and link. */
uint64_t bf_value_size(const bf_value *v) {
    return 32 + 64 * (uint64_t)bf_value_layers(v) + umbeli_filter_bytes(v->filter);
}

void bf_value_layer(const bf_value *v, uint32_t i, bf_layer *out) {
    const umbeli_chain *c = bf_value_chain(v);
    if (c) {
        const umbeli_layer *l = &c->layers[i];
        *out = (bf_layer){
            .kind = l->probes->kind,
            .bytes = l->bytes,
            .bits = v->params.layout == BF_REDISBLOOM ? 8 * l->bytes : l->nbits,
            .hashes = l->hashes,
            .capacity = l->capacity,
            .keys = l->keys,
            .error = l->rate,
        };
        return;
    }
    const umbel_filter *f = v->filter;
    *out = (bf_layer){
        .kind = f->shape.kind,
        .bytes = umbeli_filter_bytes(f),
        .bits = f->shape.bits,
        .hashes = f->shape.hashes,
        .capacity = f->shape.capacity,
        .keys = umbeli_keys_added(f),
        .error = f->shape.fpr,
    };
}

/* ---- Estimated from the bits ---- */

void bf_value_measure(const bf_value *v, umbel_measurement *out) {
    umbel_measure(v->filter, out);
}

void bf_value_measure_layer(const bf_value *v, uint32_t i, umbel_measurement *out) {
    const umbeli_chain *c = bf_value_chain(v);
    if (c) {
        *out = umbeli_layer_measure(&c->layers[i]);
    } else {
        bf_value_measure(v, out);
    }
}

/* ---- How far it can grow ---- */

static bool next_layer(const bf_params *p, uint32_t i, double first_rate, bf_layer_plan *plan) {
    if (p->layout == BF_BLOCKED) {
        return !bf_plan_next(p, i, plan->keys, first_rate, plan);
    }
    plan->rate *= 0.5;
    if (p->expansion == 0 || !umbeli_size_mul(plan->keys, p->expansion, &plan->keys)) return false;
    plan->bytes = bf_redisbloom_bytes(plan->keys, plan->rate);
    return plan->bytes != 0;
}

uint64_t bf_params_max_keys(const bf_params *p, uint64_t max_bytes) {
    bf_layer_plan plan = {.keys = p->capacity, .rate = p->expansion ? p->error / 2 : p->error};
    uint64_t keys = 0, bytes = 0;
    bool more = true;
    if (p->layout == BF_REDISBLOOM) {
        plan.bytes = bf_redisbloom_bytes(plan.keys, plan.rate);
        more = plan.bytes != 0;
    } else {
        more = !bf_plan_first(p, &plan, NULL);
    }
    double first_rate = plan.rate;
    for (uint32_t i = 1; more; i++) {
        if (!umbeli_size_add(bytes, plan.bytes, &bytes) || (max_bytes && bytes > max_bytes)) break;
        if (!umbeli_size_add(keys, plan.keys, &keys) || keys > INT64_MAX) return INT64_MAX;
        more = !p->counting && !p->window && next_layer(p, i, first_rate, &plan);
    }
    return keys;
}
