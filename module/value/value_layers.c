/* SPDX-License-Identifier: MIT */
#include "value/value_layers.h"

#include "kind/kind.h"
#include "value/layer_plan.h"

static bf_layer_plan layer_plan_of(const umbeli_layer *l) {
    return (bf_layer_plan){
        .probes = l->probes,
        .keys = l->capacity,
        .bytes = l->bytes,
        .hashes = l->hashes,
        .rate = l->rate,
    };
}

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    const bf_layers *l = (const bf_layers *)c;
    bf_full_chain full = {
        .layers = c->count,
        .newest = layer_plan_of(&c->layers[c->newest]),
        .first_rate = c->layers[0].rate,
    };
    bf_layer_plan plan;
    umbel_err e = bf_plan_next(&l->params, &full, &plan);
    if (e) return e;
    umbeli_layer layer = bf_planned_layer(&plan);
    if (!plan.replaces) return umbeli_chain_append(c, &layer, max_bytes);
    e = umbeli_chain_replace(c, c->newest, &layer, max_bytes);
    while (e == UMBEL_EFULL && bf_plan_larger(&plan)) { /* its parts fill unevenly */
        layer = bf_planned_layer(&plan);
        e = umbeli_chain_replace(c, c->newest, &layer, max_bytes);
    }
    return e;
}

static bool grows(const umbeli_chain *c) {
    return bf_grows(&((const bf_layers *)c)->params);
}

static const umbeli_chain_policy policy = {
    .sums_capacity = true,
    .layered = true,
    .next = next,
    .grows = grows,
};

static const umbeli_ops ops = {
    .size = sizeof(bf_layers),
    .policy = &policy,
    .kernel = "generic",
    UMBELI_NARROW_CHAIN_OPS,
    .clear = umbeli_chain_clear,
    .describe = umbeli_chain_describe,
};

static const char layout[] = "chain/module";

umbeli_shape bf_hashing(const uint8_t *key) {
    umbeli_settings settings = {.keyed = key != NULL};
    if (key) settings.secret = umbeli_secret_from(key);
    return umbeli_kind_shape(&(umbel_params){0}, &settings);
}

static umbeli_shape shape_of(const umbeli_shape *hashing, const bf_params *params) {
    return (umbeli_shape){
        .kind = UMBEL_KIND_SCALABLE,
        .format = UMBEL_FMT_NATIVE,
        .hash = hashing->hash,
        .seed = hashing->seed,
        .secret = hashing->secret,
        .fpr = params->error,
    };
}

umbel_err bf_layers_new(const bf_params *params, const umbeli_shape *hashing,
                        const umbeli_layer *first, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbeli_shape shape = shape_of(hashing, params);
    umbeli_settings own = *settings;
    own.plain = first->probes->plain;
    umbel_err e = umbeli_filter_new(&ops, layout, &shape, first->bytes, NULL, &own, &f, diag);
    if (e) return e;
    umbeli_chain *c = (umbeli_chain *)f;
    ((bf_layers *)c)->params = *params;
    c->never_full = first->capacity == 0;
    e = umbeli_chain_lay_out(c, first, 1, diag);
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    umbeli_count_added(f, first->keys);
    *out = f;
    return UMBEL_OK;
}

void bf_layers_lend(bf_layers *l, const bf_params *params, umbeli_layer *layers, uint32_t count,
                    umbeli_array first, const umbeli_settings *settings) {
    umbeli_shape hashing = bf_hashing(bf_params_key(params)), shape = shape_of(&hashing, params);
    umbeli_chain_lend(&l->chain, &ops, layout, &shape, settings, layers, count, first);
    l->params = *params;
}
