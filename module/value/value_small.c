/* SPDX-License-Identifier: MIT */
#include "value/value_small.h"

#include <string.h>

#include "format/redisbloom/redisbloom_dump.h"
#include "hash/native_hash.h"
#include "plan/plan.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"

enum { SOME = 256 };

/* Without the rate, which takes longer to compute than anything else here. */
static umbeli_layer layer_of(const bf_value *v) {
    const bf_small *s = v->small;
    return (umbeli_layer){
        .probes = &umbeli_probes_narrow,
        .bits = v->small->bits,
        .bytes = s->bytes,
        .nbits = 8 * (uint64_t)s->bytes,
        .hashes = s->hashes,
        .capacity = v->params.capacity,
        .keys = s->keys,
    };
}

umbeli_layer bf_small_layer(const bf_value *v) {
    umbeli_layer layer = layer_of(v);
    layer.rate = umbeli_classic_rate(layer.nbits, layer.hashes, layer.capacity);
    return layer;
}

/* ---- To a chain and back ---- */

umbel_err bf_small_unfold(bf_value *v) {
    umbeli_settings settings = bf_memory_settings(0, NULL);
    umbeli_shape hashing = bf_hashing(&v->params);
    umbeli_layer layer = bf_small_layer(v);
    umbel_filter *f = NULL;
    umbel_err e = bf_layers_new(&v->params, &hashing, &layer, &settings, &f, NULL);
    if (e) return e;
    (void)umbeli_redisbloom_load_chunk(f, (int64_t)layer.bytes + 1, layer.bits, (size_t)layer.bytes,
                                       NULL);
    bf_memory_delete(v->small);
    v->small = NULL;
    v->filter = f;
    return UMBEL_OK;
}

static bool is_small(const bf_value *v) {
    const umbeli_chain *c = v->small ? NULL : bf_value_chain(v);
    if (!c || c->count != 1 || c->never_full) return false;
    const umbeli_layer *l = c->layers;
    return l->probes == &umbeli_probes_narrow && l->bytes <= BF_SMALL_BYTES &&
           l->hashes <= UINT16_MAX && l->capacity == v->params.capacity && l->keys <= UINT32_MAX;
}

static bf_small *small_new(size_t bytes) {
    return bf_memory_new(sizeof(bf_small) + bytes);
}

void bf_small_fold(bf_value *v) {
    if (!is_small(v)) return;
    const umbeli_layer *l = bf_value_chain(v)->layers;
    bf_small *s = small_new((size_t)l->bytes);
    if (!s) return;
    s->keys = (uint32_t)l->keys;
    s->bytes = (uint16_t)l->bytes;
    s->hashes = (uint16_t)l->hashes;
    memcpy(s->bits, l->bits, (size_t)l->bytes);
    umbel_free(v->filter);
    v->filter = NULL;
    v->small = s;
}

umbel_err bf_small_copy(const bf_value *v, bf_small **out) {
    *out = small_new(v->small->bytes);
    if (!*out) return UMBEL_ENOMEM;
    memcpy(*out, v->small, sizeof(bf_small) + v->small->bytes);
    return UMBEL_OK;
}

void bf_small_clear(bf_value *v) {
    memset(v->small->bits, 0, v->small->bytes);
    v->small->keys = 0;
}

/* ---- Keys ---- */

static void hash(const umbeli_shape *hashing, const umbel_key *keys, size_t n, uint64_t *hashes) {
    if (n == 1) {
        *hashes = umbeli_native_hash(hashing, keys->data, keys->len);
    } else {
        umbeli_native_hashes(hashing, keys, n, hashes);
    }
}

void bf_small_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    umbeli_shape hashing = bf_hashing(&v->params);
    umbeli_layer layer = layer_of(v);
    uint64_t hashes[SOME];
    for (size_t from = 0; from < n; from += SOME) {
        size_t some = n - from < SOME ? n - from : SOME;
        hash(&hashing, keys + from, some, hashes);
        layer.probes->contains(&layer, (umbeli_hashes){.narrow = hashes}, some, hit + from);
    }
}

/* Up to SOME keys; a key may be the last for which there is room, so each is added on its own. */
static umbel_err add_some(bf_value *v, const uint64_t *hashes, size_t n, uint8_t *was_new,
                          size_t *done) {
    umbeli_layer layer = layer_of(v);
    for (*done = 0; *done < n; ++*done) {
        umbeli_hashes one = {.narrow = hashes + *done};
        uint8_t *is_new = was_new + *done, known = 0;
        if (v->small->keys < layer.capacity) {
            v->small->keys += (uint32_t)layer.probes->add(&layer, one, 1, is_new);
            continue;
        }
        layer.probes->contains(&layer, one, 1, &known);
        if (!known) return UMBEL_EFULL;
        *is_new = 0;
    }
    return UMBEL_OK;
}

umbel_err bf_small_add(bf_value *v, const umbel_key *keys, size_t n, uint8_t *was_new,
                       size_t *done) {
    umbeli_shape hashing = bf_hashing(&v->params);
    uint64_t hashes[SOME];
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        size_t some = n - *done < SOME ? n - *done : SOME;
        hash(&hashing, keys + *done, some, hashes);
        e = add_some(v, hashes, some, was_new + *done, &added);
    }
    return e;
}
