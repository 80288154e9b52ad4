/* SPDX-License-Identifier: MIT */
#include "value/value.h"

#include <string.h>

#include "core/diag.h"
#include "format/redisbloom/redisbloom_link.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

/* ---- Layers ---- */

static const uint8_t *key_of(const bf_params *p) {
    return p->keyed ? p->key : NULL;
}

/* Layers of one chain hash alike, so a later one has the seed and key of the first. */
static umbel_err make_layer(const bf_params *p, uint64_t seed, const bf_layer_plan *plan,
                            uint64_t max_bytes, umbel_filter **out, umbel_diag *diag) {
    umbel_opts opts = {.alloc = &bf_memory, .max_bytes = max_bytes};
    umbel_params params = {
        .kind = plan->kind,
        .bytes = plan->bytes,
        .seed = seed,
        .key = key_of(p),
    };
    if (plan->kind == UMBEL_CLASSIC) params.hashes = plan->hashes;
    umbel_err e = umbel_create(&params, &opts, out, diag);
    if (e) return e;
    /* The plan is the module's, not the library's. */
    (*out)->shape.capacity = plan->keys;
    (*out)->shape.fpr = plan->rate;
    return UMBEL_OK;
}

umbel_err bf_chain_append(bf_value *v, umbel_filter *layer) {
    umbel_filter **older = bf_memory_new((v->older_count + 1) * sizeof *older);
    if (!older) return UMBEL_ENOMEM;
    if (v->older_count) memcpy(older, v->older, v->older_count * sizeof *older);
    older[v->older_count] = v->newest;
    bf_memory_delete(v->older);
    v->older = older;
    v->older_count++;
    v->older_keys += umbeli_keys_added(v->newest);
    v->older_capacity += v->newest->shape.capacity;
    v->newest = layer;
    return UMBEL_OK;
}

umbel_err bf_chain_grow(bf_value *v, uint64_t max_bytes) {
    bf_layer_plan plan;
    umbel_filter *layer = NULL;
    umbel_err e = bf_plan_next(&v->params, bf_chain_count(v), v->newest->shape.capacity,
                               bf_chain_at(v, 0)->shape.fpr, &plan);
    if (e) return e;
    if (max_bytes) {
        uint64_t now = bf_value_memory(v);
        if (now >= max_bytes || plan.bytes > max_bytes - now) return UMBEL_ELIMIT;
    }
    e = make_layer(&v->params, v->newest->shape.seed, &plan, 0, &layer, NULL);
    if (e) return e == UMBEL_ENOMEM ? e : UMBEL_EFULL;
    e = bf_chain_append(v, layer);
    if (e) umbel_free(layer);
    return e;
}

/* ---- Life ---- */

bf_value *bf_value_of(const bf_params *params, umbel_filter *const *layers, uint32_t count) {
    bf_value *v = bf_memory_new(sizeof *v);
    if (!v) return NULL;
    v->params = *params;
    v->newest = layers[count - 1];
    v->older_count = count - 1;
    if (v->older_count) {
        v->older = bf_memory_new(v->older_count * sizeof *v->older);
        if (!v->older) {
            bf_memory_delete(v);
            return NULL;
        }
        memcpy(v->older, layers, v->older_count * sizeof *v->older);
    }
    for (uint32_t i = 0; i < v->older_count; i++) {
        v->older_keys += umbeli_keys_added(layers[i]);
        v->older_capacity += layers[i]->shape.capacity;
    }
    /* Limits are those of a command, not of a filter: it can be copied under any. */
    for (uint32_t i = 0; i < count; i++) layers[i]->memory.max_bytes = 0;
    bf_account_end(v, (bf_account){0});
    return v;
}

static umbel_err first_classic(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                               umbel_diag *diag) {
    umbel_opts opts = {.alloc = &bf_memory, .max_bytes = max_bytes};
    umbel_params params = {
        .format = UMBEL_FMT_REDISBLOOM,
        .keys = p->capacity,
        .fpr = p->error,
        .expansion = p->expansion,
        .nonscaling = p->expansion == 0,
    };
    return umbel_create(&params, &opts, out, diag);
}

/* Kinds of a single layer that has the whole promise. */
static umbel_err first_alone(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                             umbel_diag *diag) {
    umbel_opts opts = {.alloc = &bf_memory, .max_bytes = max_bytes};
    umbel_params params = {
        .kind = p->counting ? UMBEL_COUNTING : UMBEL_WINDOW,
        .keys = p->capacity,
        .fpr = p->error,
        .generations = p->window,
        .key = key_of(p),
    };
    return umbel_create(&params, &opts, out, diag);
}

static umbel_err first_blocked(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                               umbel_diag *diag) {
    bf_layer_plan plan;
    umbel_err e = bf_plan_first(p, &plan, diag);
    return e ? e : make_layer(p, 0, &plan, max_bytes, out, diag);
}

static umbel_err check(const bf_params *p, umbel_diag *diag) {
    const char *wrong = NULL;
    if (!(p->error > 0 && p->error < 1)) wrong = "error: not in (0, 1)";
    if (p->capacity == 0 || p->capacity > INT64_MAX) wrong = "capacity: none, or too much";
    if (p->expansion > BF_EXPANSION_MAX) wrong = "expansion: at most 32768";
    if (!(p->tightening >= 0 && p->tightening < 1)) wrong = "tightening: not in (0, 1)";
    if (p->counting && p->window) wrong = "counting, window: not both";
    if (p->layout == BF_REDISBLOOM && (p->counting || p->window || p->tightening > 0)) {
        wrong = "layout: classic filters neither count nor forget, and halve their rate";
    }
    return wrong ? umbeli_fail(diag, UMBEL_EINVAL, wrong) : UMBEL_OK;
}

umbel_err bf_value_create(const bf_params *params, uint64_t max_bytes, bf_value **out,
                          umbel_diag *diag) {
    bf_params p = *params;
    umbel_filter *first = NULL;
    umbel_err e = check(&p, diag);
    if (e) return e;
    if (p.counting || p.window) p.expansion = 0;
    if (p.layout == BF_REDISBLOOM) {
        p.keyed = false;
        e = first_classic(&p, max_bytes, &first, diag);
    } else if (p.counting || p.window) {
        e = first_alone(&p, max_bytes, &first, diag);
    } else {
        e = first_blocked(&p, max_bytes, &first, diag);
    }
    if (e) return e;
    bf_value *v = bf_value_of(&p, &first, 1);
    if (!v) {
        umbel_free(first);
        return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a filter");
    }
    *out = v;
    return UMBEL_OK;
}

void bf_value_free(bf_value *v) {
    if (!v) return;
    bf_account gone = bf_account_begin(v);
    for (uint32_t i = 0; i < bf_chain_count(v); i++) umbel_free(bf_chain_at(v, i));
    bf_memory_delete(v->older);
    bf_memory_delete(v);
    bf_account_end(NULL, gone);
}

umbel_err bf_value_copy(const bf_value *v, bf_value **out) {
    umbel_filter *layers[BF_LAYERS_MAX] = {NULL};
    uint32_t made = 0, count = bf_chain_count(v);
    umbel_err e = UMBEL_OK;
    while (!e && made < count) {
        e = umbel_copy(bf_chain_at(v, made), &layers[made]);
        if (!e) made++;
    }
    bf_value *copy = e ? NULL : bf_value_of(&v->params, layers, count);
    if (copy) {
        *out = copy;
        return UMBEL_OK;
    }
    while (made > 0) umbel_free(layers[--made]);
    return UMBEL_ENOMEM;
}

/* A chain of RedisBloom's with its first link alone. */
static umbel_err first_link(const umbel_filter *f, umbel_filter **out) {
    const umbeli_redisbloom *chain = umbeli_redisbloom_of(f);
    umbeli_redisbloom_link link = chain->links[0];
    link.size = 0;
    return umbeli_redisbloom_new(&link, 1, chain->options, chain->growth, NULL, &f->memory, out,
                                 NULL);
}

umbel_err bf_value_clear(bf_value *v) {
    bf_account before = bf_account_begin(v);
    umbel_filter *first = bf_chain_at(v, 0), *fresh = NULL;
    umbel_err e =
        v->params.layout == BF_REDISBLOOM ? first_link(first, &fresh) : umbel_clear(first);
    if (e) return e;
    while (v->older_count) {
        umbel_free(v->newest);
        v->newest = v->older[--v->older_count];
    }
    bf_memory_delete(v->older);
    v->older = NULL;
    v->older_keys = v->older_capacity = 0;
    if (fresh) {
        umbel_free(v->newest);
        v->newest = fresh;
    }
    bf_account_end(v, before);
    return UMBEL_OK;
}
