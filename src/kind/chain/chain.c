/* SPDX-License-Identifier: MIT
 *
 * chain.c - several filters looked up as one
 *
 * A Bloom filter keeps the size that it was made with: its bits cannot be rehashed into a larger
 * one, because they do not say which keys they came from.  A filter that must take more keys than
 * planned therefore becomes a chain.  Each layer is a separate filter, with its own bits, capacity
 * and share of the false-positive rate; a key is in the chain if any layer has it, so the rates of
 * the layers add up, and the plan of the layers keeps the sum below the promise
 * (plan/plan_scalable.c, format/redisbloom, module/value/layer_plan.c).
 *
 * Lookups.  A batch of keys goes through the layers from the newest, which holds most of the keys
 * when layers grow, to the oldest, and drops what was found on the way, so that each further layer
 * is checked for fewer keys.  All layers of a chain hash alike, so a key is hashed once.  Within a
 * layer the kernels overlap the cache misses of the batch; a single key has no batch, so the lines
 * of all split-block layers are prefetched before the first is checked.  RedisBloom's chains have
 * the most layers, and query all of them a few probes at a time (format/redisbloom).
 *
 * Few keys.  A chain that starts small would collect small layers, so its newest layer may be a
 * table of hashes (packed.c), which is replaced by a larger one when it is full.
 *
 * Adds.  A key that an older layer has is known and changes nothing.  All others go into the newest
 * layer, and whether a bit changed there says whether the key was new.  A batch checks the older
 * layers once, is cut where the newest layer has no room left, and continues with the layer that
 * the policy then provides, after the rest of the batch was checked once against the layer that was
 * the newest.  A full chain is extended only when an unknown key arrives: adding known keys to a
 * full filter that may not grow is not an error.
 *
 * Memory.  Layers that are made or decoded together are stored one after another in the filter's
 * `data`, as in a file, which also lets a frozen chain borrow a mapped file.  An appended layer
 * gets separate memory: growing never copies a bit, needs no more memory than the new layer, and a
 * failure leaves the chain unchanged.  The payload is thus a sequence of segments, `data` first,
 * and everything that reads all of it (saving, comparing, copying) walks these.
 *
 * Policies.  What happens when the newest layer is full is the only real difference between the
 * chains: scalable filters, RedisBloom's and the module's append a planned layer; a window is a
 * ring of equal layers that clears the oldest and makes it the newest.  Windows also add known keys
 * again, because a key that was just added must be remembered as long as any other key added now.
 */
#include "kind/chain/chain.h"

#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "kind/kind.h"

umbel_err umbeli_chain_new_native(const umbeli_ops *ops, const char *layout,
                                  const umbeli_shape *shape, uint32_t scheme, const uint8_t *borrow,
                                  const umbeli_settings *settings, umbel_filter **out,
                                  umbel_diag *diag) {
    umbeli_shape whole = *shape;
    whole.kind = ops->kind->id;
    whole.format = UMBEL_FMT_NATIVE;
    whole.scheme = scheme;
    whole.hashes = UMBELI_BLOCK_LANES;
    return umbeli_filter_new(ops, layout, &whole, whole.bits / 8, borrow, settings, out, diag);
}

/* Fills in what follows from a layer's description. */
static void complete(umbeli_layer *l, uint8_t *bits) {
    l->bits = bits;
    l->kernel = NULL;
    if (l->probes && l->probes->prepare) l->probes->prepare(l); /* RedisBloom sets them after */
    l->modulus = umbeli_modulus_of(l->nbits);
}

/* Points the layers that share `data` to their places in it. */
static void place_shared(umbeli_chain *c) {
    uint8_t *at = c->base.data;
    for (uint32_t i = 0; i < c->shared; i++) {
        if (c->layers[i].bits != at) c->layers[i].bits = at;
        at += c->layers[i].bytes;
    }
}

/* The fields of the shape that describe all layers together. */
static void sum_up(umbeli_chain *c) {
    umbeli_shape *shape = &c->base.shape;
    uint64_t capacity = 0;
    shape->bits = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        shape->bits += 8 * l->bytes;
        if (!umbeli_size_add(capacity, l->capacity, &capacity)) capacity = UINT64_MAX;
    }
    shape->hashes = c->layers[c->newest].hashes;
    if (c->base.ops->policy->sums_capacity) shape->capacity = capacity;
}

umbel_err umbeli_chain_lay_out(umbeli_chain *c, const umbeli_layer *layers, uint32_t count,
                               umbel_diag *diag) {
    c->layers = umbeli_new(&c->base.settings, count * sizeof *layers);
    if (!c->layers) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for the layers");
    memcpy(c->layers, layers, count * sizeof *layers);
    c->count = c->cap = c->shared = count;
    c->newest = count - 1;
    for (uint32_t i = 0; i < count; i++) complete(&c->layers[i], NULL);
    place_shared(c);
    sum_up(c);
    return UMBEL_OK;
}

/* Room for the descriptions of `count` layers. */
static umbel_err reserve(umbeli_chain *c, uint32_t count) {
    if (count <= c->cap) return UMBEL_OK;
    uint32_t cap = count + count / 4; /* few chains have many layers */
    umbeli_layer *layers = umbeli_new(&c->base.settings, cap * sizeof *layers);
    if (!layers) return UMBEL_ENOMEM;
    memcpy(layers, c->layers, c->count * sizeof *layers);
    if (!c->lent) umbeli_delete(&c->base.settings, c->layers);
    c->lent = false;
    c->layers = layers;
    c->cap = cap;
    return UMBEL_OK;
}

/* Zeroed memory for a layer; the limit on the total was checked before. */
static umbel_err new_bits(const umbeli_chain *c, const umbeli_layer *l, umbeli_array *out) {
    umbeli_settings settings = c->base.settings;
    settings.max_bytes = 0;
    settings.plain = settings.hook.alloc && l->probes->plain && !l->short_chunks;
    return umbeli_array_new(&settings, l->bytes, out, NULL);
}

void umbeli_chain_lend(umbeli_chain *c, const umbeli_ops *ops, const char *layout,
                       const umbeli_shape *shape, const umbeli_settings *settings,
                       umbeli_layer *layers, uint32_t count, umbeli_array first) {
    memset(c, 0, ops->size);
    umbeli_set_ops(&c->base, ops);
    c->base.layout = layout;
    c->base.shape = *shape;
    c->base.settings = *settings;
    c->base.array = first;
    c->base.data = layers->bits;
    c->base.data_len = layers->bytes;
    c->layers = layers;
    c->count = c->cap = count;
    c->shared = 1;
    c->newest = count - 1;
    c->lent = true;
    for (uint32_t i = 0; i < count; i++) umbeli_count_added(&c->base, layers[i].keys);
    sum_up(c);
}

umbel_filter *umbeli_chain_keep(umbeli_chain *c) {
    const umbeli_settings *settings = &c->base.settings;
    umbeli_chain *kept = umbeli_new(settings, c->base.ops->size);
    umbeli_layer *layers = c->lent ? umbeli_new(settings, c->count * sizeof *layers) : c->layers;
    umbeli_array first = c->base.array;
    bool moves = !first.raw; /* its first layer is in memory that it does not own */
    if (!kept || !layers || (moves && new_bits(c, c->layers, &first))) {
        if (c->lent) umbeli_delete(settings, layers);
        umbeli_delete(settings, kept);
        return NULL;
    }
    if (moves) memcpy(first.data, c->base.data, (size_t)c->base.data_len);
    if (c->lent) memcpy(layers, c->layers, c->count * sizeof *layers);
    memcpy(kept, c, c->base.ops->size);
    kept->base.settings.plain = first.plain;
    kept->base.array = first;
    kept->base.data = first.data;
    kept->layers = layers;
    if (kept->lent) kept->cap = kept->count;
    kept->lent = false;
    place_shared(kept);
    return &kept->base;
}

/* The caller has made room with reserve. */
static void attach(umbeli_chain *c, const umbeli_layer *layer, umbeli_array own) {
    umbeli_layer *l = &c->layers[c->count];
    *l = *layer;
    l->own = own;
    complete(l, own.data);
    c->newest = c->count++;
    sum_up(c);
}

umbel_err umbeli_chain_may_append(const umbeli_chain *c, uint64_t bytes, uint32_t expansion,
                                  uint64_t max_bytes) {
    enum { SMALL = 1 << 20, TIMES_A_FILE = 64 };
    uint64_t max, held = umbeli_filter_bytes(&c->base);
    if (bytes <= SMALL) return UMBEL_OK;
    bytes -= SMALL;
    if (umbeli_size_mul(c->layers[c->newest].bytes, 2 * (uint64_t)expansion, &max) && bytes > max) {
        return UMBEL_EFULL;
    }
    return c->from_file && !max_bytes && bytes / TIMES_A_FILE > held ? UMBEL_ELIMIT : UMBEL_OK;
}

umbel_err umbeli_chain_append(umbeli_chain *c, const umbeli_layer *layer, uint64_t max_bytes) {
    uint64_t bytes;
    umbeli_array own;
    if (!umbeli_size_add(umbeli_filter_bytes(&c->base), layer->bytes, &bytes)) return UMBEL_EFULL;
    if (max_bytes && bytes > max_bytes) return UMBEL_ELIMIT;
    umbel_err e = reserve(c, c->count + 1);
    if (!e) e = new_bits(c, layer, &own);
    if (e) return e;
    attach(c, layer, own);
    return UMBEL_OK;
}

bool umbeli_chain_has_hashes(const umbeli_chain *c) {
    bool has = false;
    for (uint32_t i = 0; i < c->count; i++) has = has || umbeli_is_packed(&c->layers[i]);
    return has;
}

void umbeli_chain_recount(umbeli_chain *c, umbeli_layer *l) {
    uint64_t sum = 0;
    if (!l->probes->recount) return;
    l->probes->recount(l);
    for (uint32_t i = 0; i < c->count; i++) sum += c->layers[i].keys;
    umbeli_set_keys_added(&c->base, sum);
}

static umbel_err refill(umbeli_layer *fresh, const umbeli_layer *old) {
    if (umbeli_is_packed(fresh)) {
        return umbeli_packed_refill(fresh, old, NULL) ? UMBEL_OK : UMBEL_EFULL;
    }
    umbeli_packed_filter(fresh, old);
    return UMBEL_OK;
}

/* Layer i, appended or the last one in `data`, gives way to one with memory of its own. */
static void exchange(umbeli_chain *c, uint32_t i, umbeli_layer fresh) {
    if (i > 0 && i < c->shared) {
        c->base.data_len -= c->layers[i].bytes;
        c->shared = i;
    } else if (i < c->shared) {
        umbeli_array_delete(&c->base.settings, &c->base.array);
        c->base.array = fresh.own;
        c->base.settings.plain = fresh.own.plain;
        c->base.data = fresh.own.data;
        c->base.data_len = fresh.bytes;
        fresh.own = (umbeli_array){0};
    } else {
        umbeli_array_delete(&c->base.settings, &c->layers[i].own);
    }
    c->layers[i] = fresh;
    sum_up(c);
}

umbel_err umbeli_chain_replace(umbeli_chain *c, uint32_t i, const umbeli_layer *layer,
                               uint64_t max_bytes) {
    umbeli_layer *old = &c->layers[i], fresh = *layer;
    uint64_t bytes = umbeli_filter_bytes(&c->base) - old->bytes;
    if (!umbeli_size_add(bytes, layer->bytes, &bytes)) return UMBEL_EFULL;
    if (max_bytes && bytes > max_bytes) return UMBEL_ELIMIT;
    umbel_err e = new_bits(c, layer, &fresh.own);
    if (e) return e;
    complete(&fresh, fresh.own.data);
    fresh.keys = 0;
    e = refill(&fresh, old);
    if (e) {
        umbeli_array_delete(&c->base.settings, &fresh.own);
        return e;
    }
    fresh.keys = old->keys;
    exchange(c, i, fresh);
    return UMBEL_OK;
}

umbel_err umbeli_chain_unite(umbeli_chain *c, uint32_t i, const umbeli_layer *other) {
    umbeli_layer *l = &c->layers[i], fresh = *l;
    uint64_t keys = l->keys + other->keys;
    for (fresh.bytes = l->bytes;; fresh.bytes += fresh.bytes / 8 / 8 * 8 + 8) {
        if (umbeli_packed_capacity(fresh.bytes, l->hashes) < keys) continue;
        if (new_bits(c, &fresh, &fresh.own)) return UMBEL_ENOMEM;
        complete(&fresh, fresh.own.data);
        fresh.keys = 0;
        if (umbeli_packed_refill(&fresh, l, other)) break;
        umbeli_array_delete(&c->base.settings, &fresh.own);
    }
    fresh.nbits = 8 * fresh.bytes;
    if (fresh.capacity < fresh.keys) fresh.capacity = fresh.keys;
    if (fresh.rate > 0) fresh.rate = umbeli_packed_rate(fresh.capacity, fresh.hashes);
    exchange(c, i, fresh);
    return UMBEL_OK;
}

uint8_t *umbeli_chain_segment(const umbel_filter *f, size_t i, uint64_t *len) {
    const umbeli_chain *c = umbeli_chain_of(f);
    if (i > c->count - c->shared) return NULL;
    const umbeli_layer *l = &c->layers[c->shared + i - 1];
    *len = l->bytes;
    return l->bits;
}

umbel_err umbeli_chain_copy(umbel_filter *into, const umbel_filter *from) {
    umbeli_chain *c = (umbeli_chain *)into;
    const umbeli_layer *layers = umbeli_chain_of(from)->layers;
    uint32_t count = c->count;
    c->layers = NULL;
    c->count = c->shared; /* a state that dispose can handle */
    umbeli_layer *copies = umbeli_new(&into->settings, count * sizeof *copies);
    if (!copies) return UMBEL_ENOMEM;
    memcpy(copies, layers, count * sizeof *copies);
    c->layers = copies;
    c->cap = count;
    place_shared(c);
    for (umbel_err e; c->count < count; c->count++) {
        umbeli_layer *l = &copies[c->count];
        e = new_bits(c, l, &l->own);
        if (e) return e;
        l->bits = l->own.data;
        memcpy(l->bits, layers[c->count].bits, (size_t)l->bytes);
    }
    return UMBEL_OK;
}

static void free_appended(umbeli_chain *c, uint32_t count) {
    for (; c->count > count; c->count--) {
        umbeli_array_delete(&c->base.settings, &c->layers[c->count - 1].own);
    }
}

void umbeli_chain_truncate(umbeli_chain *c, uint32_t count) {
    free_appended(c, count);
    c->newest = count - 1;
    sum_up(c);
}

void umbeli_chain_dispose(umbel_filter *f) {
    umbeli_chain *c = (umbeli_chain *)f;
    free_appended(c, c->shared);
    umbeli_delete(&f->settings, c->layers);
}

/* Step 0 is the handle with everything in `data`, each further step an appended layer. */
bool umbeli_chain_relocate(umbel_filter *f, size_t step, const umbeli_mover *mover) {
    umbeli_chain *c = (umbeli_chain *)f;
    if (step == 0) {
        umbeli_layer *layers = mover->move(mover->ctx, c->layers);
        if (layers != c->layers) c->layers = layers;
        place_shared(c);
    } else {
        umbeli_layer *l = &c->layers[c->shared + step - 1];
        if (umbeli_array_move(&f->settings, &l->own, l->bytes, mover)) l->bits = l->own.data;
    }
    return step < c->count - c->shared;
}

void umbeli_chain_clear(umbel_filter *f) {
    umbeli_chain *c = (umbeli_chain *)f;
    umbeli_array first;
    free_appended(c, c->shared);
    /* Frees the other layers' part of `data`; if there is no memory for a smaller array, it
     * stays. */
    if (c->shared > 1 && !new_bits(c, c->layers, &first)) {
        umbeli_array_delete(&f->settings, &f->array);
        f->array = first;
        f->data = first.data;
    }
    c->count = c->shared = 1;
    c->newest = 0;
    c->layers[0].keys = 0;
    if (c->layers[0].probes->prepare) c->layers[0].probes->prepare(&c->layers[0]);
    place_shared(c);
    f->data_len = c->layers[0].bytes;
    sum_up(c);
}

umbeli_layer *umbeli_chain_layer_at(const umbeli_chain *c, uint64_t *offset) {
    for (uint32_t i = 0; i < c->count; i++) {
        if (*offset < c->layers[i].bytes) return &c->layers[i];
        *offset -= c->layers[i].bytes;
    }
    return NULL;
}

void umbeli_chain_describe(const umbel_filter *f, umbel_info *info) {
    const umbeli_chain *c = umbeli_chain_of(f);
    const umbeli_chain_policy *policy = f->ops->policy;
    info->layers = c->count;
    info->grows = policy->grows && policy->grows(c);
    if (c->layers[0].kernel) info->kernel = c->layers[0].kernel->name;
}
