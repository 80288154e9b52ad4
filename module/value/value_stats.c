/* SPDX-License-Identifier: MIT
 *
 * value_stats.c - numbers about a value, and about all of them
 */
#include <math.h>
#include <stdatomic.h>

#include "api.h"
#include "core/bits.h"
#include "core/size.h"
#include "format/redisbloom/redisbloom_link.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

bf_layout bf_value_layout(const bf_value *v) {
    return v->params.layout;
}

void bf_value_params(const bf_value *v, bf_params *out) {
    *out = v->params;
}

uint64_t bf_value_card(const bf_value *v) {
    return v->older_keys + umbeli_keys_added(v->newest);
}

uint64_t bf_value_capacity(const bf_value *v) {
    return v->older_capacity + v->newest->shape.capacity;
}

uint32_t bf_value_layers(const bf_value *v) {
    if (v->params.layout == BF_REDISBLOOM) return umbeli_redisbloom_of(v->newest)->count;
    return bf_chain_count(v);
}

uint64_t bf_value_size(const bf_value *v) {
    if (v->params.layout == BF_BLOCKED) return bf_value_memory(v);
    return 32 + 64 * (uint64_t)bf_value_layers(v) + v->newest->data_len;
}

void bf_value_layer(const bf_value *v, uint32_t i, bf_layer *out) {
    if (v->params.layout == BF_REDISBLOOM) {
        const umbeli_redisbloom_link *link = &umbeli_redisbloom_of(v->newest)->links[i];
        *out = (bf_layer){
            .kind = UMBEL_CLASSIC,
            .bytes = link->bytes,
            .bits = link->bits,
            .hashes = link->hashes,
            .capacity = link->entries,
            .keys = link->size,
            .error = link->error,
        };
        return;
    }
    const umbel_filter *f = bf_chain_at(v, i);
    *out = (bf_layer){
        .kind = f->shape.kind,
        .bytes = f->data_len,
        .bits = f->shape.bits,
        .hashes = f->shape.hashes,
        .capacity = f->shape.capacity,
        .keys = umbeli_keys_added(f),
        .error = f->shape.fpr,
    };
}

/* ---- From the bits ---- */

/* Of the first n bits: a link of an old release uses no others. */
static uint64_t count_bits(const uint8_t *bytes, uint64_t n) {
    uint64_t set = umbeli_bits_count(bytes, n / 8);
    uint8_t rest = n % 8 ? (uint8_t)(bytes[n / 8] & ((1u << n % 8) - 1)) : 0;
    return set + umbeli_bits_count(&rest, 1);
}

static void measure_link(const umbel_filter *f, uint32_t i, bf_measure *out) {
    const umbeli_redisbloom_link *link = &umbeli_redisbloom_of(f)->links[i];
    double used = (double)link->modulus.divisor;
    out->bits = link->modulus.divisor;
    out->bits_set = count_bits(f->data + link->at, out->bits);
    double fill = (double)out->bits_set / used;
    out->fpr_now = pow(fill, link->hashes);
    out->keys_estimated = log1p(-fill) / (link->hashes * log1p(-1 / used));
}

void bf_value_measure_layer(const bf_value *v, uint32_t i, bf_measure *out) {
    if (v->params.layout == BF_REDISBLOOM) {
        measure_link(v->newest, i, out);
        return;
    }
    umbel_info info;
    umbel_describe(bf_chain_at(v, i), &info);
    *out = (bf_measure){
        .bits = info.bits,
        .bits_set = info.bits_set,
        .keys_estimated = info.keys_estimated,
        .fpr_now = info.fpr_now,
    };
}

void bf_value_measure(const bf_value *v, bf_measure *out) {
    double none = 1;
    *out = (bf_measure){0};
    for (uint32_t i = 0; i < bf_value_layers(v); i++) {
        bf_measure layer;
        bf_value_measure_layer(v, i, &layer);
        out->bits += layer.bits;
        out->bits_set += layer.bits_set;
        out->keys_estimated += layer.keys_estimated;
        none *= 1 - layer.fpr_now;
    }
    out->fpr_now = 1 - none;
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

/* ---- All values ---- */

/* Lazy freeing runs in a thread of the server. */
static struct { _Atomic uint64_t filters, layers, items, capacity; } totals;

bf_account bf_account_begin(const bf_value *v) {
    return (bf_account){bf_value_layers(v), bf_value_card(v), bf_value_capacity(v)};
}

static void move(_Atomic uint64_t *total, uint64_t before, uint64_t after) {
    if (after != before) atomic_fetch_add_explicit(total, after - before, memory_order_relaxed);
}

void bf_account_end(const bf_value *v, bf_account before) {
    bf_account after = v ? bf_account_begin(v) : (bf_account){0};
    move(&totals.filters, before.layers != 0, after.layers != 0);
    move(&totals.layers, before.layers, after.layers);
    move(&totals.items, before.items, after.items);
    move(&totals.capacity, before.capacity, after.capacity);
}

void bf_totals_get(bf_totals *out) {
    *out = (bf_totals){
        .filters = totals.filters,
        .layers = totals.layers,
        .items = totals.items,
        .capacity = totals.capacity,
        .bytes = bf_memory_bytes(),
    };
}
