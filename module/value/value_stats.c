/* SPDX-License-Identifier: MIT
 *
 * value_stats.c - figures about a value
 */
#include "core/size.h"
#include "kind/key_count.h"
#include "kind/kind.h"
#include "kind/static/static.h"
#include "kind/static/tight.h"
#include "plan/exact_layout.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"
#include "value/value_unboxed.h"

/* 32 and 64 bytes are RedisBloom's chain and link. */
uint64_t bf_value_size(const bf_value *v) {
    return 32 + 64 * (uint64_t)bf_value_layers(v) + bf_value_bytes(v);
}

void bf_value_layer(const bf_value *v, uint32_t i, bf_layer *out) {
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    if (c) {
        const umbeli_layer *l = &c->layers[i];
        *out = (bf_layer){
            .kind = l->probes->name ? l->probes->name : umbel_kind_name(l->probes->kind),
            .bytes = l->bytes,
            .bits = v->layout == BF_REDISBLOOM ? 8 * l->bytes : l->nbits,
            .hashes = l->hashes,
            .capacity = l->capacity,
            .keys = l->keys,
            .error = l->rate,
        };
        return;
    }
    const umbel_filter *f = v->filter;
    *out = (bf_layer){
        .kind = umbel_kind_name(f->shape.kind),
        .bytes = umbeli_filter_bytes(f),
        .bits = f->shape.bits,
        .hashes = f->shape.hashes,
        .capacity = f->shape.capacity,
        .keys = umbeli_keys_added(f),
        .error = f->shape.fpr,
    };
}

/* ---- Estimated from the bits ---- */

/* Clients wait for this.  A sample of this size gives a layer's keys to a tenth of a percent; many
 * layers, as in a window of 255 generations, share ALL. */
enum { SAMPLE = 4 << 20, LEAST = 64 << 10, ALL = 16 << 20 };

static uint64_t sample_bytes(uint32_t layers) {
    uint64_t each = ALL / layers / LEAST * LEAST;
    return each > SAMPLE ? SAMPLE : each < LEAST ? LEAST : each;
}

static void scale_bits(double times, umbel_measurement *out) {
    out->bits = (uint64_t)((double)out->bits * times);
    out->bits_set = (uint64_t)((double)out->bits_set * times);
}

/* Measures a large counting filter by one that borrows its first counters.  False: there is no
 * memory for the handle. */
static bool sample_counters(const umbel_filter *f, umbel_measurement *out) {
    umbeli_settings settings = bf_memory_settings(0, NULL);
    umbeli_shape shape = f->shape;
    umbel_filter *part = NULL;
    shape.bits = 8 * (uint64_t)SAMPLE;
    if (umbeli_kind_by_id(shape.kind)->restore(&shape, SAMPLE, f->data, &settings, &part, NULL)) {
        return false;
    }
    umbel_measure(part, out);
    scale_bits((double)f->data_len / SAMPLE, out);
    umbeli_measure_keys(f, out);
    umbel_free(part);
    return true;
}

/* For filters that are built once: keys and rate do not depend on the bits. */
static void sample_built(const umbel_filter *f, umbel_measurement *out) {
    uint64_t keys = umbeli_keys_added(f);
    const umbeli_tight_layout *prints = &umbeli_tight_of(f)->ribbon.layout;
    umbel_kind kind = f->shape.kind;
    *out = (umbel_measurement){
        .bits = 8 * (uint64_t)SAMPLE,
        .bits_set = umbeli_bits_count(f->data, SAMPLE),
        .keys = (double)keys,
        .rate = kind == UMBEL_KIND_TIGHT   ? umbeli_tight_rate(prints, keys)
                : kind == UMBEL_KIND_EXACT ? umbeli_exact_rate(prints, keys)
                                           : umbeli_static_rate(&umbeli_static_of(f)->layout, keys),
    };
    scale_bits((double)f->shape.bits / (double)out->bits, out);
}

/* False: it is small, or a kind that is not sampled. */
static bool sample_large(const umbel_filter *f, umbel_measurement *out) {
    if (f->data_len <= SAMPLE) return false;
    switch (f->shape.kind) {
    case UMBEL_KIND_COUNTING: return sample_counters(f, out);
    case UMBEL_KIND_STATIC:
    case UMBEL_KIND_TIGHT:
    case UMBEL_KIND_EXACT: sample_built(f, out); return true;
    default: return false;
    }
}

void bf_value_measure(const bf_value *v, umbel_measurement *out) {
    bf_room room;
    const umbel_filter *f = bf_value_filter(v, &room);
    if (umbeli_is_chain(f)) {
        umbeli_chain_sample(f, sample_bytes(umbeli_chain_of(f)->count), out);
    } else if (!sample_large(f, out)) {
        umbel_measure(f, out);
    }
}

void bf_value_measure_layer(const bf_value *v, uint32_t i, umbel_measurement *out) {
    bf_room room;
    const umbeli_chain *c = bf_value_chain(v, &room);
    if (c) {
        *out = umbeli_layer_sample(&c->layers[i], sample_bytes(c->count));
    } else {
        bf_value_measure(v, out);
    }
}

bool bf_value_overfull(const bf_value *v, const umbel_measurement *now) {
    bf_room room;
    umbel_info info;
    umbel_health health;
    umbel_describe(bf_value_filter(v, &room), &info);
    umbel_judge(&info, now, &health);
    return health.overfull;
}

/* ---- How far it can grow ---- */

typedef struct growth {
    uint64_t bytes, keys;
    bf_full_chain chain;
    bf_layer_plan newest;
} growth;

static bool plan_next(const bf_params *p, growth *g) {
    bf_layer_plan *plan = &g->newest;
    if (p->counting || p->window || !bf_grows(p)) return false;
    if (p->layout == BF_BLOCKED) {
        g->chain.newest = *plan;
        return !bf_plan_next(p, &g->chain, plan);
    }
    plan->rate *= 0.5;
    if (!umbeli_size_mul(plan->keys, bf_expansion(p), &plan->keys)) return false;
    plan->bytes = bf_redisbloom_bytes(plan->keys, plan->rate);
    return plan->bytes != 0;
}

/* Adds the planned layer to the sums, in place of the one that it replaces. */
static bool settle(growth *g, bf_layer_plan before, uint64_t max_bytes) {
    uint64_t bytes = g->bytes, keys = g->keys;
    if (g->newest.replaces) {
        bytes -= before.bytes;
        keys -= before.keys;
    } else {
        g->chain.layers++;
    }
    if (!umbeli_size_add(bytes, g->newest.bytes, &bytes)) return false;
    if (max_bytes && bytes > max_bytes) return false;
    if (!umbeli_size_add(keys, g->newest.keys, &keys) || keys > INT64_MAX) keys = INT64_MAX;
    g->bytes = bytes;
    g->keys = keys;
    return keys < INT64_MAX;
}

uint64_t bf_params_max_keys(const bf_params *p, uint64_t max_bytes) {
    growth g = {.chain = {.roughly = true},
                .newest = {.keys = p->capacity, .rate = bf_grows(p) ? p->error / 2 : p->error}};
    if (p->layout == BF_REDISBLOOM) {
        g.newest.bytes = bf_redisbloom_bytes(g.newest.keys, g.newest.rate);
        if (g.newest.bytes == 0) return 0;
    } else if (bf_plan_first(p, &g.newest, NULL)) {
        return 0;
    }
    g.chain.first_rate = g.newest.rate;
    bf_layer_plan before = g.newest;
    while (settle(&g, before, max_bytes)) {
        before = g.newest;
        if (!plan_next(p, &g)) break;
    }
    return g.keys;
}

uint32_t bf_value_exceptions(const bf_value *v) {
    return v->form == BF_HANDLE && v->filter->exceptions ? v->filter->exceptions->count : 0;
}
