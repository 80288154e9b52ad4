/* SPDX-License-Identifier: MIT
 *
 * chain.c - several filters looked up as one
 *
 * A Bloom filter keeps the size that it was made with: its bits cannot be rehashed into a larger
 * one, because they do not say which keys they came from.  A filter that must take more keys than
 * planned therefore becomes a chain.  Each layer is a filter of its own, with its own bits,
 * capacity and share of the false-positive rate; a key is in the chain if any layer has it, so the
 * rates of the layers add up, and the plan of the layers keeps the sum below the promise
 * (plan/plan_scalable.c, format/redisbloom, module/value/layer_plan.c).
 *
 * Lookups.  A batch of keys goes through the layers from the newest, which holds most of the keys
 * when layers grow, to the oldest, and drops what was found on the way, so that each further layer
 * is checked for fewer keys.  All layers of a chain hash alike: a key is hashed at most once to 128
 * bits, for classic layers, and at most once to 64, for all others, and only when the first layer
 * needs that width.  Within a layer the kernels overlap the cache misses of the batch; a
 * single key has no batch, so the lines of all split-block layers, and the first ones of all
 * classic layers, are prefetched before the first is checked.  RedisBloom's chains have the most
 * layers, and ask all of them a few probes at a time (format/redisbloom).
 *
 * Few keys.  A chain that starts small would collect small layers, so its newest layer may be a
 * table of hashes (exact.c), which is replaced by a larger one or by a filter when it is full.
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
 * gets memory of its own: growing never copies a bit, needs no more memory than the new layer, and
 * a failure leaves the chain unchanged.  The payload is thus a sequence of segments, `data` first,
 * and everything that reads all of it (saving, comparing, copying) walks these.
 *
 * Policies.  What happens when the newest layer is full is the only real difference between the
 * chains: scalable filters, RedisBloom's and the module's append a planned layer; a window is a
 * ring of equal layers that clears the oldest and makes it the newest.  Windows also add known keys
 * again, because a key that was just added must be remembered as long as any other key added now.
 */
#include "kind/chain/chain.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "core/platform.h"
#include "core/size.h"
#include "kind/blocked/line.h"
#include "kind/classic/classic.h"
#include "kind/key_count.h"
#include "kind/kind.h"
#include "plan/plan.h"

enum {
    BATCH = 1024,
    FEW_LAYERS = 64, /* more come only from files that are made to cost time */
};

/* ---- Layers and memory -------------------------------------------------------------------- */

umbel_err umbeli_chain_new(const umbeli_ops *ops, const char *layout, const umbeli_shape *shape,
                           uint64_t data_len, const uint8_t *borrow,
                           const umbeli_settings *settings, umbeli_chain **out, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_err e = umbeli_filter_new(ops, layout, shape, data_len, borrow, settings, &f, diag);
    if (!e) *out = (umbeli_chain *)f;
    return e;
}

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
    l->kernel = l->probes == &umbeli_probes_blocked ? umbeli_blocked_best()
                : l->probes == &umbeli_probes_line  ? umbeli_line_best(l->hashes)
                                                    : NULL;
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
    uint32_t cap = 2 * c->cap > count ? 2 * c->cap : count;
    umbeli_layer *layers = umbeli_new(&c->base.settings, cap * sizeof *layers);
    if (!layers) return UMBEL_ENOMEM;
    memcpy(layers, c->layers, c->count * sizeof *layers);
    umbeli_delete(&c->base.settings, c->layers);
    c->layers = layers;
    c->cap = cap;
    return UMBEL_OK;
}

/* Zeroed memory for a layer; the limit on the total was checked before. */
static umbel_err new_bits(const umbeli_chain *c, uint64_t bytes, umbeli_array *out) {
    umbeli_settings settings = c->base.settings;
    settings.max_bytes = 0;
    return umbeli_array_new(&settings, bytes, out, NULL);
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
    if (!e) e = new_bits(c, layer->bytes, &own);
    if (e) return e;
    attach(c, layer, own);
    return UMBEL_OK;
}

const umbeli_layer *umbeli_chain_exact(const umbeli_chain *c) {
    const umbeli_layer *l = &c->layers[c->newest];
    return l->probes == &umbeli_probes_exact ? l : NULL;
}

void umbeli_chain_recount(umbeli_chain *c, umbeli_layer *l) {
    uint64_t sum = 0;
    if (!l->probes->recount) return;
    l->probes->recount(l);
    for (uint32_t i = 0; i < c->count; i++) sum += c->layers[i].keys;
    umbeli_set_keys_added(&c->base, sum);
}

umbel_err umbeli_chain_replace(umbeli_chain *c, const umbeli_layer *layer, uint64_t max_bytes) {
    enum { SOME = 256 };
    uint64_t hashes[SOME], at = 0, n, bytes;
    uint8_t changed[SOME];
    umbeli_layer *old = &c->layers[c->newest], fresh = *layer;
    bytes = umbeli_filter_bytes(&c->base) - old->bytes;
    if (!umbeli_size_add(bytes, layer->bytes, &bytes)) return UMBEL_EFULL;
    if (max_bytes && bytes > max_bytes) return UMBEL_ELIMIT;
    umbel_err e = new_bits(c, layer->bytes, &fresh.own);
    if (e) return e;
    complete(&fresh, fresh.own.data);
    fresh.keys = old->keys;
    while ((n = umbeli_exact_take(old, &at, hashes, SOME)) > 0) {
        (void)fresh.probes->add(&fresh, (umbeli_hashes){.narrow = hashes}, (size_t)n, changed);
    }
    umbeli_array_delete(&c->base.settings, &old->own);
    *old = fresh;
    sum_up(c);
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
        e = new_bits(c, l->bytes, &l->own);
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
    if (c->shared > 1 && !new_bits(c, c->layers[0].bytes, &first)) {
        umbeli_array_delete(&f->settings, &f->array);
        f->array = first;
        f->data = first.data;
    }
    c->count = c->shared = 1;
    c->newest = 0;
    c->layers[0].keys = 0;
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

/* ---- Batches ------------------------------------------------------------------------------ */

/* Keys of a batch that no layer has had so far, and their positions in the batch. */
typedef struct batch {
    const umbel_key *keys; /* NULL: only narrow hashes are known and needed */
    size_t n;
    bool has_narrow, has_wide;
    uint16_t place[BATCH];
    uint64_t narrow[BATCH];
    umbeli_hash128 wide[BATCH];
} batch;

static void take_keys(batch *b, const umbel_key *keys, size_t n) {
    b->keys = keys;
    b->n = n;
    b->has_narrow = b->has_wide = false;
    for (size_t i = 0; i < n; i++) b->place[i] = (uint16_t)i;
}

static void take_hashes(batch *b, const uint64_t *hashes, size_t n) {
    take_keys(b, NULL, n);
    b->has_narrow = true;
    memcpy(b->narrow, hashes, n * sizeof *hashes);
}

/* Hash functions need the keys in one array: the caller's, or, once some were found, a gathered
 * copy. */
static void hash_missing(const umbeli_chain *c, const umbeli_probes *probes, batch *b) {
    enum { GROUP = 64 };
    umbel_key some[GROUP];
    bool all = b->n > 0 && b->place[b->n - 1] == b->n - 1;
    size_t group = all ? b->n : GROUP;
    for (size_t from = 0; from < b->n; from += group) {
        size_t n = b->n - from < group ? b->n - from : group;
        for (size_t i = 0; i < n && !all; i++) some[i] = b->keys[b->place[from + i]];
        const umbel_key *keys = all ? b->keys : some;
        if (probes->hash_wide) {
            probes->hash_wide(&c->base.shape, keys, n, b->wide + from);
        } else {
            umbeli_native_hashes(&c->base.shape, keys, n, b->narrow + from);
        }
    }
}

/* The hashes that a layer takes, starting with the missing key `from`. */
static umbeli_hashes hashes_for(const umbeli_chain *c, const umbeli_layer *l, batch *b,
                                size_t from) {
    bool wide = l->probes->hash_wide != NULL;
    bool *has = wide ? &b->has_wide : &b->has_narrow;
    if (!*has) hash_missing(c, l->probes, b);
    *has = true;
    return wide ? (umbeli_hashes){.wide = b->wide + from}
                : (umbeli_hashes){.narrow = b->narrow + from};
}

/* Moves n of the missing keys from one place among them to an earlier one. */
static void move_keys(batch *b, size_t to, size_t from, size_t n) {
    memmove(b->place + to, b->place + from, n * sizeof *b->place);
    if (b->has_narrow) memmove(b->narrow + to, b->narrow + from, n * sizeof *b->narrow);
    if (b->has_wide) memmove(b->wide + to, b->wide + from, n * sizeof *b->wide);
}

/* Drops the first n of the missing keys. */
static void drop_first(batch *b, size_t n) {
    b->n -= n;
    move_keys(b, 0, n, b->n);
}

/* What lies between two found keys is moved as a whole. */
static void drop_few(batch *b, const uint8_t *found, uint8_t *hit) {
    const uint8_t *next = memchr(found, 1, b->n);
    size_t left = next ? (size_t)(next - found) : b->n, at = left;
    while (at < b->n) {
        hit[b->place[at++]] = 1;
        next = memchr(found + at, 1, b->n - at);
        size_t run = (next ? (size_t)(next - found) : b->n) - at;
        move_keys(b, left, at, run);
        left += run;
        at += run;
    }
    b->n = left;
}

/* Branch-free, because half of the branches would be mispredicted. */
static void drop_many(batch *b, const uint8_t *found, uint8_t *hit) {
    size_t left = 0;
    for (size_t i = 0; i < b->n && b->has_wide; i++) {
        b->wide[left] = b->wide[i];
        left += !found[i];
    }
    left = 0;
    for (size_t i = 0; i < b->n; i++) {
        hit[b->place[i]] = found[i];
        b->place[left] = b->place[i];
        b->narrow[left] = b->narrow[i]; /* garbage where only wide hashes are known */
        left += !found[i];
    }
    b->n = left;
}

/* Records in `hit` which of the missing keys were found, and drops those.  Of absent keys a layer
 * finds one in a hundred or fewer. */
static void drop_found(batch *b, const uint8_t *found, uint8_t *hit) {
    enum { KEYS_PER_MOVE = 32 };
    size_t hits = 0;
    for (size_t i = 0; i < b->n; i++) hits += found[i];
    if (hits * KEYS_PER_MOVE < b->n) {
        drop_few(b, found, hit);
    } else {
        drop_many(b, found, hit);
    }
}

/* The layer that is `age` layers older than the newest. */
static umbeli_layer *layer_of_age(const umbeli_chain *c, uint32_t age) {
    return &c->layers[age <= c->newest ? c->newest - age : c->newest + c->count - age];
}

/* Looks up the keys in the layers of that age and older, records what they have in `hit`, which
 * starts as 0, and leaves the rest in b. */
static void look_up(const umbeli_chain *c, uint32_t age, batch *b, uint8_t *hit) {
    uint8_t found[BATCH];
    for (; age < c->count && b->n > 0; age++) {
        const umbeli_layer *l = layer_of_age(c, age);
        l->probes->contains(l, hashes_for(c, l, b, 0), b->n, found);
        drop_found(b, found, hit);
    }
}

/* ---- Single keys -------------------------------------------------------------------------- */

/* One key and those of its hashes that have been needed so far. */
typedef struct single {
    umbel_key key;
    bool has_narrow, has_wide;
    uint64_t narrow;
    umbeli_hash128 wide;
} single;

static inline void prefetch(const umbeli_layer *l, uint64_t hash) {
    uint64_t block = umbeli_block_of(hash, umbeli_layer_blocks(l));
    __builtin_prefetch(l->bits + (block << l->probes->log2_bytes));
}

/* Once the hash is known, the lines of all split-block layers are prefetched. */
static const uint64_t *narrow_of(const umbeli_chain *c, single *s) {
    if (s->has_narrow) return &s->narrow;
    s->narrow = umbeli_native_hash(&c->base.shape, s->key.data, s->key.len);
    s->has_narrow = true;
    for (uint32_t i = 0; i < c->count && c->count > 1; i++) {
        if (c->layers[i].kernel) prefetch(&c->layers[i], s->narrow);
    }
    return &s->narrow;
}

/* The first probes of all classic layers; in most of them no other is needed. */
static void prefetch_first(const umbeli_chain *c, const umbeli_hash128 *wide) {
    for (uint32_t i = 0; i < c->count && c->count > 1 && UMBELI_HAVE_PREFETCH; i++) {
        const umbeli_layer *l = &c->layers[i];
        if (!l->probes->hash_wide || l->probes->any_contains) continue;
        __builtin_prefetch(l->bits + l->probes->bit(l, (umbeli_hashes){.wide = wide}, 0) / 8);
    }
}

static umbeli_hashes hashes_of(const umbeli_chain *c, const umbeli_layer *l, single *s) {
    if (!l->probes->hash_wide) return (umbeli_hashes){.narrow = narrow_of(c, s)};
    if (!s->has_wide) l->probes->hash_wide(&c->base.shape, &s->key, 1, &s->wide);
    if (!s->has_wide) prefetch_first(c, &s->wide);
    s->has_wide = true;
    return (umbeli_hashes){.wide = &s->wide};
}

static inline bool layer_has(const umbeli_chain *c, const umbeli_layer *l, single *s) {
    uint8_t found;
    if (l->kernel) {
        l->kernel->contains_plain(l->bits, umbeli_layer_blocks(l), narrow_of(c, s), 1, &found);
    } else {
        l->probes->contains(l, hashes_of(c, l, s), 1, &found);
    }
    return found;
}

/* Layers [from, to), last one first.  Where one layer knows how to ask many, all are like it. */
static inline bool range_has(const umbeli_chain *c, uint32_t from, uint32_t to, single *s) {
    const umbeli_layer *l = &c->layers[from];
    if (UMBELI_HAVE_PREFETCH && to > from + 1 && l->probes->any_contains) {
        return l->probes->any_contains(l, to - from, hashes_of(c, l, s));
    }
    while (to > from) {
        if (layer_has(c, &c->layers[--to], s)) return true;
    }
    return false;
}

/* The same as `has` for chains whose layers are all split-block. */
static bool has_narrow(const umbeli_chain *c, uint32_t age, uint64_t hash) {
    const umbeli_layer *l = c->layers;
    const umbeli_blocked_kernel *kernel = l->kernel;
    uint8_t found = 0;
    for (uint32_t i = c->newest + 1 - age; i-- > 0 && !found;) {
        kernel->contains_plain(l[i].bits, umbeli_layer_blocks(&l[i]), &hash, 1, &found);
    }
    for (uint32_t i = c->count; i-- > c->newest + 1 && !found;) {
        kernel->contains_plain(l[i].bits, umbeli_layer_blocks(&l[i]), &hash, 1, &found);
    }
    return found;
}

/* Layers of that age, 0 or 1, and older. */
static bool has(const umbeli_chain *c, uint32_t age, single *s) {
    if (c->base.ops->hash_many) return has_narrow(c, age, *narrow_of(c, s));
    return range_has(c, 0, c->newest + 1 - age, s) || range_has(c, c->newest + 1, c->count, s);
}

bool umbeli_chain_contains(const umbel_filter *f, const void *key, size_t len) {
    single s = {.key = {key, len}};
    return has(umbeli_chain_of(f), 0, &s);
}

bool umbeli_chain_contains_hash(const umbel_filter *f, uint64_t hash) {
    return has_narrow(umbeli_chain_of(f), 0, hash);
}

/* ---- Batches of lookups ------------------------------------------------------------------ */

void umbeli_chain_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                uint8_t *hit) {
    batch b;
    for (size_t from = 0; from < n; from += BATCH) {
        take_keys(&b, keys + from, n - from < BATCH ? n - from : BATCH);
        memset(hit + from, 0, b.n);
        look_up(umbeli_chain_of(f), 0, &b, hit + from);
    }
}

void umbeli_chain_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *hit) {
    batch b;
    for (size_t from = 0; from < n; from += BATCH) {
        take_hashes(&b, hashes + from, n - from < BATCH ? n - from : BATCH);
        memset(hit + from, 0, b.n);
        look_up(umbeli_chain_of(f), 0, &b, hit + from);
    }
}

/* ---- Adds --------------------------------------------------------------------------------- */

/* How many keys the newest layer can still take, at most n. */
static size_t room_for(const umbeli_chain *c, size_t n) {
    const umbeli_layer *l = &c->layers[c->newest];
    if (c->never_full) return n;
    uint64_t room = l->keys < l->capacity ? l->capacity - l->keys : 0;
    return n < room ? n : (size_t)room;
}

/* Adds n missing keys, starting with `from`, to the newest layer; returns how many changed it. */
static uint64_t add_newest(umbeli_chain *c, batch *b, size_t from, size_t n, uint8_t *changed) {
    umbeli_layer *l = &c->layers[c->newest];
    uint64_t added = l->probes->add(l, hashes_for(c, l, b, from), n, changed);
    l->keys += added;
    return added;
}

/* Like add_refreshing and add_growing, without their arrays. */
umbel_err umbeli_chain_add_one(umbel_filter *f, umbel_key key, uint64_t max_bytes,
                               uint8_t *was_new) {
    umbeli_chain *c = (umbeli_chain *)f;
    const umbeli_chain_policy *policy = f->ops->policy;
    single s = {.key = key};
    umbel_err e = UMBEL_OK;
    uint8_t is_new = 0;
    bool full = room_for(c, 1) == 0;
    if (full && policy->refreshes) e = policy->next(c, max_bytes);
    bool known = !e && has(c, 1, &s);
    if (full && !policy->refreshes && !known) {
        known = layer_has(c, &c->layers[c->newest], &s);
        if (!known) e = policy->next(c, max_bytes);
    }
    if (e) return e;
    if (!known || policy->refreshes) {
        umbeli_layer *l = &c->layers[c->newest];
        umbeli_hashes hash = hashes_of(c, l, &s);
        l->keys += l->kernel ? l->kernel->add_plain(l->bits, umbeli_layer_blocks(l), hash.narrow, 1,
                                                    &is_new)
                             : l->probes->add(l, hash, 1, &is_new);
        is_new = is_new && !known;
        umbeli_count_added(f, is_new);
    }
    if (was_new) *was_new = is_new;
    return UMBEL_OK;
}

/* Adds the whole batch to the newest layer, as much as it takes at a time; a key is new if it
 * changed the layer and no older layer has it.  Older layers are checked piece by piece: the
 * policy's next layer may be one of them. */
static umbel_err add_refreshing(umbeli_chain *c, batch *b, size_t n, uint64_t max_bytes,
                                uint8_t *was_new, size_t *done) {
    batch older;
    uint8_t known[BATCH];
    (void)hashes_for(c, &c->layers[c->newest], b, 0);
    for (*done = 0; *done < n;) {
        size_t at = *done, some = room_for(c, n - at);
        if (some == 0) {
            umbel_err e = c->base.ops->policy->next(c, max_bytes);
            if (e) return e;
            continue;
        }
        take_hashes(&older, b->narrow + at, some);
        memset(known, 0, some);
        look_up(c, 1, &older, known);
        add_newest(c, b, at, some, was_new + at);
        uint64_t fresh = 0;
        for (size_t i = 0; i < some; i++) {
            was_new[at + i] = was_new[at + i] && !known[i];
            fresh += was_new[at + i];
        }
        umbeli_count_added(&c->base, fresh);
        *done += some;
    }
    return UMBEL_OK;
}

/* Adds the keys that no older layer has to the newest, and to the layers that follow when it is
 * full. */
static umbel_err add_growing(umbeli_chain *c, batch *b, size_t n, uint64_t max_bytes,
                             uint8_t *was_new, size_t *done) {
    uint8_t fresh[BATCH], changed[BATCH], known[BATCH];
    umbel_err e = UMBEL_OK;
    memset(fresh, 0, n);
    look_up(c, 1, b, known);
    for (size_t at = 0; at < b->n && !e;) {
        size_t some = room_for(c, b->n - at);
        if (some > 0) {
            umbeli_count_added(&c->base, add_newest(c, b, at, some, changed));
            for (size_t i = 0; i < some; i++) fresh[b->place[at + i]] = changed[i];
            at += some;
            continue;
        }
        const umbeli_layer *full = &c->layers[c->newest];
        drop_first(b, at);
        at = 0;
        full->probes->contains(full, hashes_for(c, full, b, 0), b->n, changed);
        drop_found(b, changed, known);
        if (b->n > 0) e = c->base.ops->policy->next(c, max_bytes);
    }
    *done = e ? b->place[0] : n;
    memcpy(was_new, fresh, *done);
    return e;
}

static umbel_err add_batch(umbeli_chain *c, batch *b, uint64_t max_bytes, uint8_t *was_new,
                           size_t *done) {
    uint8_t ignored[BATCH];
    if (!was_new) was_new = ignored;
    return (c->base.ops->policy->refreshes ? add_refreshing : add_growing)(c, b, b->n, max_bytes,
                                                                           was_new, done);
}

umbel_err umbeli_chain_add_within(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint64_t max_bytes, uint8_t *was_new, size_t *done) {
    batch b;
    umbel_err e = UMBEL_OK;
    *done = 0;
    if (n == 1) {
        e = umbeli_chain_add_one(f, *keys, max_bytes, was_new);
        *done = !e;
        return e;
    }
    for (size_t added = 0; *done < n && !e; *done += added) {
        take_keys(&b, keys + *done, n - *done < BATCH ? n - *done : BATCH);
        e = add_batch((umbeli_chain *)f, &b, max_bytes, was_new ? was_new + *done : NULL, &added);
    }
    return e;
}

umbel_err umbeli_chain_add_many(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                                size_t *done) {
    return umbeli_chain_add_within(f, keys, n, f->settings.max_bytes, was_new, done);
}

umbel_err umbeli_chain_add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint8_t is_new = 0;
    umbel_err e = umbeli_chain_add_one(f, (umbel_key){key, len}, f->settings.max_bytes, &is_new);
    if (!e && was_new) *was_new = is_new;
    return e;
}

umbel_err umbeli_chain_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                  uint8_t *was_new, size_t *done) {
    batch b;
    umbel_err e = UMBEL_OK;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        take_hashes(&b, hashes + *done, n - *done < BATCH ? n - *done : BATCH);
        e = add_batch((umbeli_chain *)f, &b, f->settings.max_bytes,
                      was_new ? was_new + *done : NULL, &added);
    }
    return e;
}

/* ---- Which bits --------------------------------------------------------------------------- */

size_t umbeli_chain_probes(const umbel_filter *f, const void *key, size_t len, uint64_t *bits,
                           size_t cap) {
    const umbeli_chain *c = umbeli_chain_of(f);
    size_t n = 0;
    uint64_t at = 0; /* of the layer in the payload */
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        umbel_key one = {key, len};
        uint64_t narrow = 0;
        umbeli_hash128 wide = {0, 0};
        umbeli_hashes hash = {.narrow = &narrow};
        if (l->probes->hash_wide) {
            l->probes->hash_wide(&f->shape, &one, 1, &wide);
            hash.wide = &wide;
        } else {
            narrow = umbeli_native_hash(&f->shape, key, len);
        }
        for (uint32_t p = 0; p < l->hashes; p++, n++) {
            if (n < cap) bits[n] = 8 * at + l->probes->bit(l, hash, p);
        }
        at += l->bytes;
    }
    return n;
}

/* ---- Measuring ---------------------------------------------------------------------------- */

/* Keys are spread evenly over a layer, so that its beginning tells about all of it.  Roughly: with
 * probes as if they were independent. */
static umbel_measurement sample(const umbeli_layer *l, uint64_t most, bool roughly) {
    umbeli_layer part = *l;
    bool exact = l->probes == &umbeli_probes_exact;
    if (!exact && l->bytes > most) {
        part.bytes = most;
        part.nbits = 8 * most;
    }
    uint64_t set = exact ? 64 * l->keys : umbeli_bits_count_first(part.bits, part.nbits);
    uint64_t all = set;
    if (part.bytes < l->bytes) {
        all = (uint64_t)((double)set / (double)part.nbits * (double)l->nbits);
        if (all > l->nbits) all = l->nbits;
    }
    /* Blocks are judged one by one; for the others their number and the fill are enough. */
    bool blocked = l->probes->log2_bytes != 0;
    return (umbel_measurement){
        .bits = l->nbits,
        .bits_set = all,
        .keys = l->probes->estimate(l, all),
        .rate = blocked             ? l->probes->live_rate(&part, set)
                : roughly && !exact ? umbeli_classic_live_rate(l->nbits, l->hashes, all)
                                    : l->probes->live_rate(l, all),
    };
}

umbel_measurement umbeli_layer_sample(const umbeli_layer *l, uint64_t most) {
    return sample(l, most, false);
}

umbel_measurement umbeli_layer_measure(const umbeli_layer *l) {
    return umbeli_layer_sample(l, UINT64_MAX);
}

static double layer_rate_after(const void *layer, uint64_t keys) {
    const umbeli_layer *l = layer;
    if (l->probes == &umbeli_probes_exact) return 0;
    switch (l->probes->kind) {
    case UMBEL_KIND_BLOCKED: return umbeli_blocked_rate(umbeli_layer_blocks(l), keys);
    case UMBEL_KIND_LINE: return umbeli_line_rate(umbeli_layer_blocks(l), l->hashes, keys);
    default: return umbeli_classic_rate(l->nbits, l->hashes, keys);
    }
}

static double layer_error(const umbeli_layer *l, const umbel_measurement *now) {
    if (l->probes == &umbeli_probes_exact) return 0;
    double error = umbeli_estimate_error((double)l->nbits, l->hashes, now->keys);
    if (l->probes->log2_bytes) {
        umbeli_blocked_keys(umbeli_layer_form(l), umbeli_layer_blocks(l), now->bits_set, &error);
    }
    return error;
}

/* A window's layers are alike, and a key that is added again is in several: the bits of all of them
 * together say how many keys there are. */
static void count_once(const umbeli_chain *c, umbeli_key_evidence *e) {
    uint8_t any[4096];
    uint64_t set = 0, each = c->layers[0].bytes;
    for (uint64_t at = 0; at < each; at += sizeof any) {
        uint64_t len = each - at < sizeof any ? each - at : sizeof any;
        memcpy(any, c->layers[0].bits + at, (size_t)len);
        for (uint32_t i = 1; i < c->count; i++) umbeli_bits_or(any, c->layers[i].bits + at, len);
        set += umbeli_bits_count(any, len);
    }
    double error, together = umbeli_blocked_keys(umbeli_layer_form(&c->layers[0]),
                                                 umbeli_layer_blocks(&c->layers[0]), set, &error);
    if (isfinite(together)) {
        e->by_bits = together;
        e->error = e->count_error = error;
    } else { /* none of them is full, but all together are, so how many are in two is unknown */
        e->error = e->count_error = e->by_bits / 4;
    }
}

/* A key that an older layer seems to have goes into none and is not counted. */
void umbeli_chain_sample(const umbel_filter *f, uint64_t most, umbel_measurement *now) {
    const umbeli_chain *c = umbeli_chain_of(f);
    umbeli_key_evidence e = {0};
    bool refreshes = f->ops->policy->refreshes;
    double variance = 0;
    *now = (umbel_measurement){0};
    for (uint32_t i = 0; i < c->count; i++) {
        const umbeli_layer *l = &c->layers[i];
        umbel_measurement layer = sample(l, most, c->count > FEW_LAYERS);
        double error = layer_error(l, &layer);
        /* Those that an older layer hid are in no bits of this one. */
        double older = refreshes ? 0 : now->rate / fmax(1 - now->rate, 1e-3);
        e.hidden += (double)l->keys * older;
        if (c->count <= FEW_LAYERS) e.hidden += umbeli_hidden_from(layer_rate_after, l, l->keys);
        e.by_bits += layer.keys * (1 + older);
        e.counted += (double)l->keys;
        variance += error * error;
        now->bits += layer.bits;
        now->bits_set += layer.bits_set;
        now->rate = umbeli_rate_of_union(now->rate, layer.rate);
    }
    e.error = sqrt(variance);
    if (refreshes && isfinite(e.by_bits) && most == UINT64_MAX) count_once(c, &e);
    umbeli_conclude_keys(&e, now);
}

void umbeli_chain_measure(const umbel_filter *f, umbel_measurement *now) {
    umbeli_chain_sample(f, UINT64_MAX, now);
}

void umbeli_chain_describe(const umbel_filter *f, umbel_info *info) {
    const umbeli_chain *c = umbeli_chain_of(f);
    const umbeli_chain_policy *policy = f->ops->policy;
    info->layers = c->count;
    info->grows = policy->grows && policy->grows(c);
    info->generations = umbeli_window_generations(f);
    info->manual = info->generations && c->never_full;
    if (c->layers[0].kernel) info->kernel = c->layers[0].kernel->name;
}

double umbeli_layer_rate(uint64_t nblocks, uint64_t keys) {
    umbel_plan full = {
        .kind = UMBEL_KIND_BLOCKED,
        .bits = 8 * UMBELI_BLOCK_BYTES * nblocks,
        .hashes = UMBELI_BLOCK_LANES,
    };
    return umbeli_plan_rate(&full, keys);
}
