/* SPDX-License-Identifier: MIT */
#include "value/value_small.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "hash/native_hash.h"
#include "plan/plan.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"

enum { SOME = 256 };

static bool is_redisblooms(const bf_value *v) {
    return v->params.layout == BF_REDISBLOOM;
}

static umbeli_layer packed_of(bf_small *s) {
    umbeli_layer layer = {
        .probes = &umbeli_probes_packed,
        .bits = s->bits,
        .bytes = s->bytes,
        .nbits = 8 * (uint64_t)s->bytes,
        .hashes = s->hashes & (uint32_t)~BF_SMALL_PACKED,
        .keys = s->keys,
    };
    layer.probes->prepare(&layer);
    layer.capacity = layer.packed.slots < BF_SMALL_KEYS ? layer.packed.slots : BF_SMALL_KEYS;
    layer.packed.room -= s->keys;
    return layer;
}

/* Without what takes longer to compute than anything else here: the rate and, of RedisBloom's
 * links, the bits per entry. */
static umbeli_layer layer_of(const bf_value *v) {
    bf_small *s = v->small;
    uint64_t nbits = 8 * (uint64_t)s->bytes;
    if (s->hashes & BF_SMALL_PACKED) return packed_of(s);
    return (umbeli_layer){
        .probes = is_redisblooms(v) ? &umbeli_probes_redisbloom : &umbeli_probes_narrow,
        .bits = s->bits,
        .bytes = s->bytes,
        .nbits = nbits,
        .modulus = umbeli_modulus_of(nbits),
        .hashes = s->hashes,
        .capacity = v->params.capacity,
        .keys = s->keys,
    };
}

/* The only link that RedisBloom makes of such parameters, and the options of its chain. */
static bool first_link(const bf_params *p, umbeli_layer *link) {
    double rate = bf_grows(p) ? p->error * 0.5 : p->error;
    return umbeli_redisbloom_size_link(p->capacity, rate, link, NULL) == UMBEL_OK;
}

static umbeli_redisbloom_head head_of(const bf_params *p) {
    uint32_t options = UMBELI_REDISBLOOM_NOROUND | UMBELI_REDISBLOOM_FORCE64;
    return (umbeli_redisbloom_head){
        .count = 1,
        .options = bf_grows(p) ? options : options | UMBELI_REDISBLOOM_NO_SCALING,
        .growth = bf_expansion(p),
    };
}

umbel_err bf_redisbloom_new(const bf_params *p, const umbeli_settings *settings, umbel_filter **out,
                            umbel_diag *diag) {
    umbeli_redisbloom_head head = head_of(p);
    umbeli_layer link;
    if (!first_link(p, &link)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: the filter would be too large");
    }
    return umbeli_redisbloom_new(&link, 1, head.options, head.growth, NULL, settings, out, diag);
}

umbeli_layer bf_small_layer(const bf_value *v) {
    umbeli_layer layer = layer_of(v), link;
    if (layer.probes->exact) {
        layer.rate = ldexp((double)layer.capacity, -(int)layer.hashes);
    } else if (!is_redisblooms(v)) {
        layer.rate = umbeli_classic_rate(layer.nbits, layer.hashes, layer.capacity);
    } else if (first_link(&v->params, &link)) {
        layer.rate = link.rate;
        layer.bits_per_entry = link.bits_per_entry;
    }
    return layer;
}

umbeli_redisbloom_head bf_small_head(const bf_value *v) {
    umbeli_redisbloom_head head = head_of(&v->params);
    head.keys = v->small->keys;
    return head;
}

/* ---- To a chain and back ---- */

static umbel_err chain_of(const bf_value *v, const umbeli_layer *layer, umbel_filter **out) {
    umbeli_settings settings = bf_memory_settings(0, NULL);
    if (is_redisblooms(v)) {
        umbeli_redisbloom_head head = head_of(&v->params);
        return umbeli_redisbloom_new(layer, 1, head.options, head.growth, NULL, &settings, out,
                                     NULL);
    }
    umbeli_shape hashing = bf_hashing(&v->params);
    return bf_layers_new(&v->params, &hashing, layer, &settings, out, NULL);
}

umbel_err bf_small_unfold(bf_value *v) {
    umbeli_layer layer = bf_small_layer(v);
    umbel_filter *f = NULL;
    umbel_err e = chain_of(v, &layer, &f);
    if (e) return e;
    umbeli_layer *first = umbeli_chain_of(f)->layers;
    memcpy(first->bits, layer.bits, (size_t)layer.bytes);
    umbeli_chain_recount((umbeli_chain *)f, first);
    bf_memory_delete(v->small);
    v->small = NULL;
    v->filter = f;
    return UMBEL_OK;
}

/* Dumps may hold links and options that today's RedisBloom makes of no parameters. */
static bool is_usual(const bf_value *v, const umbeli_layer *l) {
    umbeli_redisbloom_head has = umbeli_redisbloom_head_of(v->filter), usual = head_of(&v->params);
    umbeli_layer link;
    return has.options == usual.options && has.growth == usual.growth &&
           first_link(&v->params, &link) && l->bytes == link.bytes && l->nbits == link.nbits &&
           l->hashes == link.hashes && l->rate == link.rate &&
           l->bits_per_entry == link.bits_per_entry && l->n2 == 0;
}

static bool is_small(const bf_value *v) {
    const umbeli_chain *c = v->small ? NULL : bf_value_chain(v);
    if (!c || c->count != 1 || c->never_full || v->filter->exceptions) return false;
    const umbeli_layer *l = c->layers;
    if (l->probes == &umbeli_probes_packed) {
        return l->bytes <= BF_SMALL_PACKED_BYTES && l->keys <= BF_SMALL_KEYS;
    }
    if (l->hashes > UINT16_MAX || l->capacity != v->params.capacity || l->keys > UINT32_MAX) {
        return false;
    }
    return is_redisblooms(v) ? l->bytes <= UINT16_MAX && is_usual(v, l)
                             : l->bytes <= BF_SMALL_BYTES && l->probes == &umbeli_probes_narrow;
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
    s->hashes = (uint16_t)(l->hashes | (l->probes->exact ? BF_SMALL_PACKED : 0));
    memcpy(s->bits, l->bits, (size_t)l->bytes);
    umbel_free(v->filter);
    v->filter = NULL;
    v->small = s;
}

bool bf_small_grow(bf_value *v, uint64_t max_bytes) {
    if (!(v->small->hashes & BF_SMALL_PACKED)) return false;
    umbeli_layer old = layer_of(v);
    bf_full_chain full = {
        .layers = 1,
        .newest = {.probes = old.probes,
                   .keys = old.capacity,
                   .bytes = old.bytes,
                   .hashes = old.hashes},
    };
    bf_layer_plan plan;
    if (bf_plan_next(&v->params, &full, &plan) || !plan.replaces ||
        plan.bytes > BF_SMALL_PACKED_BYTES || (max_bytes && plan.bytes > max_bytes)) {
        return false;
    }
    bf_small *s = small_new((size_t)plan.bytes);
    if (!s) return false;
    s->bytes = (uint16_t)plan.bytes;
    s->hashes = v->small->hashes;
    umbeli_layer fresh = packed_of(s);
    bool fits = umbeli_packed_refill(&fresh, &old, NULL);
    s->keys = (uint32_t)fresh.keys;
    bf_memory_delete(fits ? v->small : s);
    if (fits) v->small = s;
    return fits;
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

typedef union hash_room {
    uint64_t narrow[SOME];
    umbeli_hash128 wide[SOME];
} hash_room;

/* Up to SOME keys. */
static umbeli_hashes hash(const bf_value *v, const umbeli_probes *probes, const umbel_key *keys,
                          size_t n, hash_room *room) {
    if (probes->hash_wide) {
        probes->hash_wide(NULL, keys, n, room->wide);
        return (umbeli_hashes){.wide = room->wide};
    }
    umbeli_shape hashing = bf_hashing(&v->params);
    if (n == 1) {
        room->narrow[0] = umbeli_native_hash(&hashing, keys->data, keys->len);
    } else {
        umbeli_native_hashes(&hashing, keys, n, room->narrow);
    }
    return (umbeli_hashes){.narrow = room->narrow};
}

static umbeli_hashes hash_at(const umbeli_probes *probes, umbeli_hashes hashes, size_t i) {
    return probes->hash_wide ? (umbeli_hashes){.wide = hashes.wide + i}
                             : (umbeli_hashes){.narrow = hashes.narrow + i};
}

void bf_small_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    umbeli_layer layer = layer_of(v);
    hash_room room;
    for (size_t from = 0; from < n; from += SOME) {
        size_t some = n - from < SOME ? n - from : SOME;
        umbeli_hashes hashes = hash(v, layer.probes, keys + from, some, &room);
        layer.probes->contains(&layer, hashes, some, hit + from);
    }
}

/* A key may be the last for which there is room, so each is added on its own. */
static umbel_err add_some(bf_value *v, umbeli_hashes hashes, size_t n, uint8_t *was_new,
                          size_t *done) {
    umbeli_layer layer = layer_of(v);
    for (*done = 0; *done < n; ++*done) {
        umbeli_hashes one = hash_at(layer.probes, hashes, *done);
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
    const umbeli_probes *probes = layer_of(v).probes;
    hash_room room;
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        size_t some = n - *done < SOME ? n - *done : SOME;
        umbeli_hashes hashes = hash(v, probes, keys + *done, some, &room);
        e = add_some(v, hashes, some, was_new + *done, &added);
    }
    return e;
}
