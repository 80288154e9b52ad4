/* SPDX-License-Identifier: MIT */
#include "value/value_unboxed.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "hash/native_hash.h"
#include "plan/plan.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"

enum { CHUNK = 256 };

static bool is_redisblooms(const bf_value *v) {
    return v->layout == BF_REDISBLOOM;
}

/* ---- RedisBloom's links ---- */

bool bf_redisbloom_first(const bf_params *p, umbeli_layer *link) {
    double rate = bf_grows(p) ? p->error * 0.5 : p->error;
    return umbeli_redisbloom_size_link(p->capacity, rate, link, NULL) == UMBEL_OK;
}

static uint32_t options_of(const bf_params *p) {
    uint32_t options = UMBELI_REDISBLOOM_NOROUND | UMBELI_REDISBLOOM_FORCE64;
    return bf_grows(p) ? options : options | UMBELI_REDISBLOOM_NO_SCALING;
}

umbel_err bf_redisbloom_new(const bf_params *p, const umbeli_settings *settings, umbel_filter **out,
                            umbel_diag *diag) {
    umbeli_layer link;
    if (!bf_redisbloom_first(p, &link)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "capacity, error: the filter would be too large");
    }
    return umbeli_redisbloom_new(&link, 1, options_of(p), bf_expansion(p), NULL, settings, out,
                                 diag);
}

/* Dumps may hold links and options that today's RedisBloom never makes. */
static bool are_usual(const bf_params *p, const umbel_filter *f) {
    umbeli_redisbloom_head has = umbeli_redisbloom_head_of(f);
    const umbeli_layer *l = umbeli_chain_of(f)->layers;
    umbeli_layer link;
    bool usual = has.options == options_of(p) && has.growth == bf_expansion(p) &&
                 bf_redisbloom_first(p, &link) && l->capacity == link.capacity;
    for (uint32_t i = 0; i < has.count && usual; i++, l++) {
        usual = l->capacity == link.capacity && l->bytes == link.bytes && l->nbits == link.nbits &&
                l->hashes == link.hashes && l->rate == link.rate && l->n2 == 0 &&
                umbeli_redisbloom_bits_per_entry(l) == umbeli_redisbloom_bits_per_entry(&link);
        if (i + 1 < has.count && usual) {
            usual = link.capacity <= UINT64_MAX / (has.growth ? has.growth : 1) &&
                    !umbeli_redisbloom_size_link(link.capacity * has.growth, link.rate * 0.5, &link,
                                                 NULL);
        }
    }
    return usual;
}

/* ---- Layers ---- */

/* What follows from a layer's size takes divisions, and there are few sizes: recent ones are
 * cached, per thread, because merges run in threads. */
static void prepare(umbeli_layer *l) {
    enum { CACHED = 64 };
    static _Thread_local umbeli_layer cached[CACHED];
    umbeli_layer *last = &cached[(l->bytes / 8 + 7 * l->hashes) % CACHED];
    if (last->bytes != l->bytes || last->hashes != l->hashes || last->probes != l->probes) {
        *last = (umbeli_layer){
            .probes = l->probes,
            .bytes = l->bytes,
            .nbits = l->nbits,
            .modulus = umbeli_modulus_of(l->nbits),
            .hashes = l->hashes,
        };
        if (last->probes->prepare) last->probes->prepare(last);
    }
    l->modulus = last->modulus;
    l->packed = last->packed;
}

/* Leaves out the rate: set_rates. */
static umbeli_layer layer_in(bf_small *s, const umbeli_probes *probes, uint64_t capacity) {
    umbeli_layer layer = {
        .probes = probes,
        .bits = s->bits,
        .bytes = s->bytes,
        .nbits = 8 * (uint64_t)s->bytes,
        .hashes = s->hashes & (uint32_t)~BF_SMALL_PACKED,
        .capacity = capacity,
        .keys = s->keys,
    };
    prepare(&layer);
    if (umbeli_is_packed(&layer)) {
        layer.capacity = layer.packed.slots < BF_SMALL_KEYS ? layer.packed.slots : BF_SMALL_KEYS;
        layer.packed.room -= s->keys;
    }
    return layer;
}

static umbeli_layer small_layer(const bf_value *v) {
    const umbeli_probes *probes = &umbeli_probes_narrow;
    if (is_redisblooms(v)) probes = &umbeli_probes_redisbloom;
    if (v->small->hashes & BF_SMALL_PACKED) probes = &umbeli_probes_packed;
    return layer_in(v->small, probes, v->capacity);
}

static const umbeli_probes *probes_of_links(const bf_value *v) {
    return is_redisblooms(v) ? &umbeli_probes_redisbloom : &umbeli_probes_packed;
}

static umbeli_layer link_layer(const bf_value *v, const bf_link *k, bool first) {
    umbeli_layer layer = {
        .probes = probes_of_links(v),
        .bits = k->bits,
        .bytes = 8 * (uint64_t)k->words,
        .nbits = 64 * (uint64_t)k->words,
        .hashes = k->hashes,
        .capacity = k->capacity,
        .keys = k->keys,
    };
    if (!first) layer.own = (umbeli_array){.data = k->bits, .raw = k->bits, .plain = true};
    prepare(&layer);
    if (umbeli_is_packed(&layer)) layer.packed.room = k->room;
    return layer;
}

static void set_rates(const bf_params *p, umbeli_layer *layers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        umbeli_layer *l = &layers[i];
        if (l->probes == &umbeli_probes_redisbloom) {
            l->rate = ldexp(p->error, -(int)(bf_grows(p) ? i + 1 : i));
        } else {
            l->rate = umbeli_is_packed(l) ? umbeli_packed_rate(l->capacity, l->hashes)
                                          : umbeli_classic_rate(l->nbits, l->hashes, l->capacity);
        }
    }
}

/* ---- As a chain, and back ---- */

static umbel_filter *filter_of(const bf_value *v, bf_room *room) {
    if (v->form == BF_HANDLE) return v->filter;
    umbeli_settings settings = bf_memory_settings(0, NULL);
    umbeli_array first = {0};
    uint32_t count = 1;
    bf_params params = bf_value_params(v);
    if (v->form == BF_SMALL) {
        room->layers[0] = small_layer(v);
    } else {
        count = v->links->count;
        for (uint32_t i = 0; i < count; i++) {
            room->layers[i] = link_layer(v, &v->links->list[i], i == 0);
        }
        first = (umbeli_array){room->layers->bits, room->layers->bits, .plain = true};
    }
    settings.plain = first.plain;
    set_rates(&params, room->layers, count);
    if (is_redisblooms(v)) {
        umbeli_redisbloom_lend(&room->of.redisbloom, room->layers, count, first,
                               options_of(&params), bf_expansion(&params), &settings);
    } else {
        bf_layers_lend(&room->of.blocked, &params, room->layers, count, first, &settings);
    }
    room->of.chain.cap = BF_UNBOXED_LAYERS;
    return &room->of.chain.base;
}

const umbel_filter *bf_value_filter(const bf_value *v, bf_room *room) {
    return filter_of(v, room);
}

umbel_filter *bf_value_filter_edit(bf_value *v, bf_room *room) {
    return filter_of(v, room);
}

const umbeli_chain *bf_value_chain(const bf_value *v, bf_room *room) {
    const umbel_filter *f = bf_value_filter(v, room);
    const umbeli_chain_policy *p = f->ops->policy;
    if (!p || !p->layered) return NULL;
    return umbeli_chain_of(f);
}

/* Whether a chain fits into bf_small or, if all its layers are of these kinds, into bf_links. */
static bool fits_small(const bf_value *v, const umbeli_chain *c) {
    const umbeli_layer *l = c->layers;
    if (c->count != 1 || l->keys > UINT32_MAX) return false;
    if (umbeli_is_packed(l)) return l->bytes <= BF_SMALL_PACKED_BYTES && l->keys <= BF_SMALL_KEYS;
    return l->capacity == v->capacity &&
           l->bytes <= (is_redisblooms(v) ? UINT16_MAX : BF_SMALL_BYTES);
}

static bool fits_links(const umbeli_chain *c) {
    bool fits = c->count <= BF_UNBOXED_LAYERS;
    for (uint32_t i = 0; i < c->count && fits; i++) {
        const umbeli_layer *l = &c->layers[i];
        fits = l->probes->plain && l->bytes % 8 == 0 && l->bytes / 8 <= UINT32_MAX &&
               l->hashes <= UINT16_MAX;
    }
    return fits;
}

static bool fits(const bf_value *v, const umbeli_chain *c) {
    bool narrow = c->layers->probes == &umbeli_probes_narrow;
    return narrow ? fits_small(v, c) : fits_links(c);
}

static void fill_small(bf_small *s, const umbeli_layer *l) {
    s->keys = (uint32_t)l->keys;
    s->bytes = (uint16_t)l->bytes;
    s->hashes = (uint16_t)(l->hashes | (umbeli_is_packed(l) ? BF_SMALL_PACKED : 0));
}

static bf_small *small_of(const umbeli_layer *l) {
    bf_small *s = bf_memory_or_abort(sizeof *s + (size_t)l->bytes);
    fill_small(s, l);
    memcpy(s->bits, l->bits, (size_t)l->bytes);
    return s;
}

/* Takes over a layer's memory if it is as plain as a link's; otherwise copies it. */
static uint8_t *adopt_bits(umbeli_array *own, const umbeli_layer *l) {
    uint8_t *bits = own->raw && own->plain ? own->data : NULL;
    if (bits) {
        *own = (umbeli_array){0};
    } else {
        bits = bf_memory_or_abort((size_t)l->bytes);
        memcpy(bits, l->bits, (size_t)l->bytes);
    }
    return bits;
}

static uint16_t room_of(const umbeli_layer *l) {
    uint32_t room = umbeli_is_packed(l) ? l->packed.room : 0;
    return (uint16_t)(room < UINT16_MAX ? room : UINT16_MAX);
}

static void fill_links(bf_links *links, umbeli_chain *c) {
    for (uint32_t i = 0; i < c->count; i++) {
        umbeli_layer *l = &c->layers[i];
        links->list[i] = (bf_link){
            .bits = adopt_bits(i < c->shared ? &c->base.array : &l->own, l),
            .keys = l->keys,
            .capacity = l->capacity,
            .words = (uint32_t)(l->bytes / 8),
            .hashes = (uint16_t)l->hashes,
            .room = room_of(l),
        };
    }
}

static bf_links *new_links(uint32_t count) {
    bf_links *links = bf_memory_or_abort(sizeof *links + count * sizeof *links->list);
    links->count = count;
    return links;
}

static void keep(bf_value *v, umbeli_chain *c) {
    umbeli_settings settings = bf_memory_settings(0, NULL);
    c->base.settings.hook = bf_memory_abort_hook();
    v->filter = umbeli_chain_keep(c);
    v->filter->settings.hook = settings.hook;
    v->form = BF_HANDLE;
}

void bf_value_settle(bf_value *v, bf_room *room) {
    umbeli_chain *c = &room->of.chain;
    bf_value before = *v;
    if (v->form == BF_HANDLE) return;
    if (v->form == BF_SMALL && c->count == 1 && c->base.data == v->small->bits) {
        v->small->keys = (uint32_t)c->layers->keys;
        return;
    }
    if (!fits(v, c)) {
        keep(v, c);
    } else if (fits_small(v, c)) {
        v->small = small_of(c->layers);
        v->form = BF_SMALL;
        umbeli_array_delete(&c->base.settings, &c->base.array);
    } else {
        if (v->form == BF_SMALL || v->links->count != c->count) v->links = new_links(c->count);
        v->form = BF_LINKS;
        fill_links(v->links, c);
    }
    if (v->form != BF_HANDLE && !c->lent) bf_memory_delete(c->layers);
    if (v->small != before.small) bf_memory_delete(before.small);
}

void bf_unboxed_fold(bf_value *v) {
    if (v->form != BF_HANDLE || !bf_value_layered(v)) return;
    umbel_filter *f = v->filter;
    umbeli_chain *c = (umbeli_chain *)f;
    bf_params params = bf_value_params(v);
    if (c->never_full) return;
    if (f->exceptions || f->meta_count || f->shape.seed || params.tightening > 0) return;
    if (!fits(v, c) || (is_redisblooms(v) && !are_usual(&params, f))) return;
    if (fits_small(v, c)) {
        v->small = small_of(c->layers);
        v->form = BF_SMALL;
    } else {
        v->links = new_links(c->count);
        v->form = BF_LINKS;
        fill_links(v->links, c);
    }
    umbel_free(f);
}

/* ---- Life ---- */

bool bf_unboxed_create(bf_value *v, const umbeli_layer *first) {
    umbeli_chain one = {.layers = (umbeli_layer *)(uintptr_t)first, .count = 1};
    if (!fits(v, &one)) return false;
    bool small = fits_small(v, &one);
    uint8_t *bits =
        bf_memory_new(small ? sizeof *v->small + (size_t)first->bytes : (size_t)first->bytes);
    if (!bits) return false;
    if (small) {
        v->small = (bf_small *)(void *)bits;
        v->form = BF_SMALL;
        fill_small(v->small, first);
    } else {
        umbeli_layer layer = *first;
        layer.bits = bits;
        one.layers = &layer;
        one.shared = 1;
        one.base.array = (umbeli_array){bits, bits, .plain = true};
        v->links = new_links(1);
        v->form = BF_LINKS;
        fill_links(v->links, &one);
    }
    return true;
}

void bf_unboxed_free(bf_value *v) {
    for (uint32_t i = 0; v->form == BF_LINKS && i < v->links->count; i++) {
        bf_memory_delete(v->links->list[i].bits);
    }
    bf_memory_delete(v->small); /* or `links` */
}

static umbel_err copy_links(const bf_links *from, bf_links **out) {
    bf_links *links = new_links(from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        bf_link *k = &links->list[i];
        size_t bytes = 8 * (size_t)from->list[i].words;
        *k = from->list[i];
        k->bits = bf_memory_new(bytes);
        if (!k->bits) {
            while (i-- > 0) bf_memory_delete(links->list[i].bits);
            bf_memory_delete(links);
            return UMBEL_ENOMEM;
        }
        memcpy(k->bits, from->list[i].bits, bytes);
    }
    *out = links;
    return UMBEL_OK;
}

umbel_err bf_unboxed_copy(const bf_value *v, bf_value *twin) {
    if (v->form == BF_LINKS) return copy_links(v->links, &twin->links);
    size_t size = sizeof *v->small + v->small->bytes;
    twin->small = bf_memory_new(size);
    if (!twin->small) return UMBEL_ENOMEM;
    memcpy(twin->small, v->small, size);
    return UMBEL_OK;
}

bool bf_small_fill(bf_value *v, uint64_t keys, const uint8_t *coded, size_t len) {
    umbeli_layer layer = small_layer(v);
    bool fine = umbeli_packed_read(&layer, keys, coded, len);
    v->small->keys = (uint32_t)layer.keys;
    return fine;
}

/* ---- Growing ---- */

/* Moves the hashes into a table of another size. */
static bool resize(bf_value *v, const umbeli_layer *old, uint64_t bytes, uint64_t max_bytes) {
    if (bytes > BF_SMALL_PACKED_BYTES || (max_bytes && bytes > max_bytes)) return false;
    bf_small *s = bf_memory_new(sizeof *s + (size_t)bytes);
    if (!s) return false;
    s->bytes = (uint16_t)bytes;
    s->hashes = v->small->hashes;
    umbeli_layer fresh = layer_in(s, old->probes, 0);
    bool fits = umbeli_packed_refill(&fresh, old, NULL);
    s->keys = (uint32_t)fresh.keys;
    bf_memory_delete(fits ? v->small : s);
    if (fits) v->small = s;
    return fits;
}

bool bf_small_grow(bf_value *v, uint64_t max_bytes) {
    if (!(v->small->hashes & BF_SMALL_PACKED)) return false;
    umbeli_layer old = small_layer(v);
    bf_full_chain full = {
        .layers = 1,
        .newest = {.probes = old.probes,
                   .keys = old.capacity,
                   .bytes = old.bytes,
                   .hashes = old.hashes},
    };
    bf_layer_plan plan;
    bf_params params = bf_value_params(v);
    if (bf_plan_next(&params, &full, &plan) || !plan.replaces) return false;
    return resize(v, &old, plan.bytes, max_bytes);
}

void bf_small_fit(bf_value *v, uint64_t keys, uint64_t max_bytes) {
    bf_layer_plan plan;
    bf_params params = bf_value_params(v);
    if (!(v->small->hashes & BF_SMALL_PACKED) || !bf_plan_grown(&params, keys, &plan)) return;
    umbeli_layer old = small_layer(v);
    if (plan.hashes != old.hashes || plan.bytes == old.bytes) return;
    (void)resize(v, &old, plan.bytes, max_bytes);
}

typedef union hash_room {
    uint64_t narrow[CHUNK];
    umbeli_hash128 wide[CHUNK];
} hash_room;

/* Up to CHUNK keys. */
static umbeli_hashes hash(const bf_value *v, const umbeli_probes *probes, const umbel_key *keys,
                          size_t n, hash_room *room) {
    if (probes->hash_wide) {
        probes->hash_wide(keys, n, room->wide);
        return (umbeli_hashes){.wide = room->wide};
    }
    umbeli_shape hashing = bf_hashing(v->keyed ? v->key : NULL);
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

/* ---- Single keys ---- */

/* The layers of a value, oldest first, until the thread's next call.  One that is where it was, and
 * as large, is still unpacked: chains of many links are mostly asked several times in a row. */
static umbeli_layer *list_layers(const bf_value *v, uint32_t *count) {
    static _Thread_local umbeli_layer recent[BF_UNBOXED_LAYERS];
    umbeli_layer *layers = recent;
    if (v->form == BF_SMALL) {
        layers[0] = small_layer(v);
        *count = 1;
        return layers;
    }
    const umbeli_probes *probes = probes_of_links(v);
    *count = v->links->count;
    for (uint32_t i = 0; i < *count; i++) {
        const bf_link *k = &v->links->list[i];
        umbeli_layer *l = &layers[i];
        if (l->bits != k->bits || l->bytes != 8 * (uint64_t)k->words || l->hashes != k->hashes ||
            l->probes != probes) {
            *l = link_layer(v, k, i == 0);
        }
        l->keys = k->keys;
        l->capacity = k->capacity;
        if (umbeli_is_packed(l)) l->packed.room = k->room;
    }
    return layers;
}

static bool any_has(const umbeli_layer *layers, uint32_t count, umbeli_hashes hash) {
    uint8_t found = 0;
    if (count > 1 && layers->probes->any_contains) {
        return layers->probes->any_contains(layers, count, hash);
    }
    while (count-- > 0 && !found) layers[count].probes->contains(&layers[count], hash, 1, &found);
    return found;
}

bool bf_unboxed_contains_one(const bf_value *v, const umbel_key *key) {
    hash_room room;
    uint32_t count;
    const umbeli_layer *layers = list_layers(v, &count);
    return any_has(layers, count, hash(v, layers->probes, key, 1, &room));
}

bool bf_unboxed_add_one(bf_value *v, const umbel_key *key, uint8_t *was_new) {
    hash_room room;
    uint32_t count;
    umbeli_layer *layers = list_layers(v, &count), *newest = &layers[count - 1];
    uint32_t older = count - 1;
    if (newest->keys >= newest->capacity ||
        (umbeli_is_packed(newest) && newest->packed.room == 0)) {
        return false;
    }
    umbeli_hashes one = hash(v, newest->probes, key, 1, &room);
    *was_new = 0;
    if (older > 0 && any_has(layers, older, one)) return true;
    uint64_t added = newest->probes->add(newest, one, 1, was_new);
    if (v->form == BF_SMALL) {
        v->small->keys += (uint32_t)added;
    } else {
        bf_link *link = &v->links->list[older];
        link->keys += added;
        link->room = room_of(newest);
    }
    return true;
}

/* ---- Keys of a single small layer ---- */

void bf_small_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    umbeli_layer layer = small_layer(v);
    hash_room room;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t count = n - from < CHUNK ? n - from : CHUNK;
        umbeli_hashes hashes = hash(v, layer.probes, keys + from, count, &room);
        layer.probes->contains(&layer, hashes, count, hit + from);
    }
}

/* Adds keys one by one: each may be the last for which there is room. */
static umbel_err add_chunk(bf_value *v, umbeli_layer *layer, umbeli_hashes hashes, size_t n,
                           uint8_t *was_new, size_t *done) {
    for (*done = 0; *done < n; ++*done) {
        umbeli_hashes one = hash_at(layer->probes, hashes, *done);
        uint8_t *is_new = was_new + *done, known = 0;
        if (v->small->keys < layer->capacity) {
            v->small->keys += (uint32_t)layer->probes->add(layer, one, 1, is_new);
            continue;
        }
        layer->probes->contains(layer, one, 1, &known);
        if (!known) return UMBEL_EFULL;
        *is_new = 0;
    }
    return UMBEL_OK;
}

umbel_err bf_small_add(bf_value *v, const umbel_key *keys, size_t n, uint8_t *was_new,
                       size_t *done) {
    umbeli_layer layer = small_layer(v);
    hash_room room;
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        size_t count = n - *done < CHUNK ? n - *done : CHUNK;
        umbeli_hashes hashes = hash(v, layer.probes, keys + *done, count, &room);
        e = add_chunk(v, &layer, hashes, count, was_new + *done, &added);
    }
    return e;
}
