/* SPDX-License-Identifier: MIT
 *
 * value_merge.c - two values into one
 *
 * All is made aside and put in place at the end, so failing changes nothing.  Keys that both have
 * are counted twice; where that is more than a layer is for, its bits tell how many there are.
 */
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/redisbloom/redisbloom_link.h"
#include "value/server_memory.h"
#include "value/value_internal.h"

static umbel_err differ(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_EMISMATCH, what);
}

/* ---- Chains of RedisBloom's ---- */

static bool same_link(const umbeli_redisbloom_link *a, const umbeli_redisbloom_link *b) {
    return a->bytes == b->bytes && a->hashes == b->hashes && a->n2 == b->n2 &&
           a->entries == b->entries;
}

/* The links of the longer chain, with the keys of both counted. */
static umbel_err unite_links(const umbeli_redisbloom *a, const umbeli_redisbloom *b,
                             umbeli_redisbloom_link *links, umbel_diag *diag) {
    if (a->options != b->options || a->growth != b->growth) {
        return differ(diag, "the filters grow differently");
    }
    for (uint32_t i = 0; i < a->count || i < b->count; i++) {
        links[i] = i < a->count ? a->links[i] : b->links[i];
        if (i >= a->count || i >= b->count) continue;
        if (!same_link(&a->links[i], &b->links[i])) return differ(diag, "the sizes differ");
        links[i].size += b->links[i].size;
    }
    return UMBEL_OK;
}

static umbel_err unite_chains(const umbel_filter *into, const umbel_filter *from,
                              umbel_filter **out, umbel_diag *diag) {
    const umbeli_redisbloom *a = umbeli_redisbloom_of(into), *b = umbeli_redisbloom_of(from);
    uint32_t count = a->count > b->count ? a->count : b->count;
    umbeli_redisbloom_link *links = bf_memory_new(count * sizeof *links);
    if (!links) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the links");
    umbel_err e = unite_links(a, b, links, diag);
    if (!e) {
        e = umbeli_redisbloom_new(links, count, a->options, a->growth, NULL, &into->memory, out,
                                  diag);
    }
    if (!e) {
        memcpy((*out)->data, into->data, (size_t)into->data_len);
        umbeli_bits_or((*out)->data, from->data, from->data_len);
    }
    bf_memory_delete(links);
    return e;
}

/* ---- Chains of native handles ---- */

static umbel_err unite_layers(const umbel_filter *into, const umbel_filter *from,
                              umbel_filter **out, umbel_diag *diag) {
    umbel_filter *both = NULL;
    const char *wrong = umbeli_shape_mismatch(&into->shape, &from->shape);
    if (wrong) return differ(diag, wrong);
    umbel_err e = umbel_copy(into, &both);
    if (e) return umbeli_fail(diag, e, "no memory for both");
    e = umbel_unite(both, from, diag);
    if (e) {
        umbel_free(both);
        return e;
    }
    *out = both;
    return UMBEL_OK;
}

static umbel_err unite_at(const bf_value *into, const bf_value *from, uint32_t i,
                          umbel_filter **out, umbel_diag *diag) {
    if (into->params.layout == BF_REDISBLOOM) {
        return unite_chains(into->newest, from->newest, out, diag);
    }
    bool mine = i < bf_chain_count(into), theirs = i < bf_chain_count(from);
    if (mine && theirs) return unite_layers(bf_chain_at(into, i), bf_chain_at(from, i), out, diag);
    umbel_err e = umbel_copy(bf_chain_at(mine ? into : from, i), out);
    return e ? umbeli_fail(diag, e, "no memory for both") : UMBEL_OK;
}

/* ---- Both ---- */

static umbel_err check_alike(const bf_params *a, const bf_params *b, umbel_diag *diag) {
    if (a->layout != b->layout) return differ(diag, "the layouts differ");
    if (a->keyed != b->keyed || memcmp(a->key, b->key, sizeof a->key) != 0) {
        return differ(diag, "the keys differ: reserve both with the same SEED");
    }
    return UMBEL_OK;
}

/* The distinct keys of a layer that has counted more than it is for; 0: they are too many, too. */
static uint64_t recount(const bf_layer *layer, double estimated) {
    const double luck = 1.05; /* an estimate is off by a few parts in a hundred in small filters */
    if (!(estimated <= luck * (double)layer->capacity)) return 0;
    return estimated < (double)layer->capacity ? (uint64_t)estimated : layer->capacity;
}

static void set_count(bf_value *v, uint32_t i, uint64_t keys) {
    umbel_filter *f = v->params.layout == BF_REDISBLOOM ? v->newest : bf_chain_at(v, i);
    uint64_t before = umbeli_keys_added(f), less = 0;
    if (v->params.layout == BF_REDISBLOOM) {
        umbeli_redisbloom_link *link = &((umbeli_redisbloom *)f)->links[i];
        less = link->size - keys;
        link->size = keys;
    } else {
        less = before - keys;
    }
    if (i < v->older_count) v->older_keys -= less;
    atomic_store_explicit(&f->keys_added, before - less, memory_order_relaxed);
}

/* No layer may hold more keys than it is for. */
static umbel_err check_promise(bf_value *both, umbel_diag *diag) {
    bf_account before = bf_account_begin(both);
    for (uint32_t i = 0; i < bf_value_layers(both); i++) {
        bf_layer layer;
        bf_measure now;
        bf_value_layer(both, i, &layer);
        if (layer.capacity == 0 || layer.keys <= layer.capacity) continue;
        bf_value_measure_layer(both, i, &now);
        uint64_t keys = recount(&layer, now.keys_estimated);
        if (keys == 0) {
            bf_account_end(both, before);
            return umbeli_fail(diag, UMBEL_EFULL, "the keys of both are more than a layer is for");
        }
        set_count(both, i, keys);
    }
    bf_account_end(both, before);
    return UMBEL_OK;
}

static void swap_chains(bf_value *a, bf_value *b) {
    bf_value old = *a;
    *a = *b;
    *b = old;
}

umbel_err bf_value_merge(bf_value *into, const bf_value *from, umbel_diag *diag) {
    umbel_filter *layers[BF_LAYERS_MAX] = {NULL};
    uint32_t a = bf_chain_count(into), b = bf_chain_count(from), count = a > b ? a : b, made = 0;
    umbel_err e = check_alike(&into->params, &from->params, diag);
    while (!e && made < count) {
        e = unite_at(into, from, made, &layers[made], diag);
        if (!e) made++;
    }
    bf_value *both = e ? NULL : bf_value_of(&into->params, layers, count);
    if (!both) {
        while (made > 0) umbel_free(layers[--made]);
        return e ? e : umbeli_fail(diag, UMBEL_ENOMEM, "no memory for both");
    }
    e = check_promise(both, diag);
    if (!e) swap_chains(into, both);
    bf_value_free(both);
    return e;
}
