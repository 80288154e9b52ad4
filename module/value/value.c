/* SPDX-License-Identifier: MIT
 *
 * value.c - the Bloom filter behind a key of the server
 *
 * What a value is.  A bf_value is one umbel_filter and the parameters that would create it again,
 * empty.  The filter is one of three:
 *
 *   - a chain in the blocked layout, the default.  Its layers are split-block or classic filters,
 *     whichever is better for their size; bf_layers below is its policy.
 *   - a chain in RedisBloom's layout, `LAYOUT classic`, bit for bit what RedisBloom makes
 *     (format/redisbloom), so that dumps, RDB and AOF files go both ways.
 *   - any other native filter on its own: a counting one, a window, or a file that `umbel push`
 *     uploaded.  It does not grow here, unless it is scalable and grows by itself.
 *
 * All three answer lookups through umbel_contains and its batch variants.  How chains query their
 * layers, newest first and each key hashed once, is described in kind/chain/chain.c and not
 * repeated here.
 *
 * Layers and their sizes.  BF.RESERVE names a capacity and a rate.  The first layer is for that
 * capacity and takes no more bytes than RedisBloom would; each later one is for `expansion` times
 * the capacity of the one before, and together they keep the requested rate, however many there
 * are.  A filter that nobody reserved goes in few large steps, and keeps hashes before the first
 * (layer_plan.h).
 *
 * Small values.  A value of one small layer does without the filter: value_small.h.
 *
 * Hashing and the secret.  Filters in the blocked layout are keyed: SipHash-1-3 under 16 secret
 * bytes, drawn at random unless SEED gives them, so that clients cannot craft colliding keys.  The
 * secret is one of the parameters, because replicas, copies and dumps must hash alike.
 * RedisBloom's layout hashes with MurmurHash2 under a publicly known seed.
 *
 * Growth.  A layer takes as many keys as it was planned for.  When it is full and a new key
 * arrives, the policy plans the next layer and appends it; no bit of an older layer moves, and if
 * there is no memory for the new one the value stays as it was.  bf.memory-limit bounds the bits of
 * all layers; the limit is passed in by each command, because commands from a primary or the
 * append-only file are not subject to one.
 *
 * Memory.  Everything comes from the server's allocator (server_memory.c), and asking for too much
 * gives an error reply instead of aborting the server.  A value is a few small allocations and one
 * per layer: MEMORY USAGE adds them up, active defragmentation moves them layer by layer, and large
 * values are freed in the background.
 *
 * Persistence.  RDB, AOF, DUMP and BF.SCANDUMP show a value as a head and the bits of its layers
 * (storage/dump.h).  In the blocked layout the head is the module's own or consists of native file
 * headers, which is why a file built offline can become a key; in RedisBloom's layout it is
 * RedisBloom's own.
 */
#include "value/value.h"

#include <stdatomic.h>
#include <string.h>

#include "core/diag.h"
#include "counters.h"
#include "format/codec.h"
#include "format/redisbloom/redisbloom_link.h"
#include "kind/exceptions.h"
#include "kind/kind.h"
#include "umbel_foreign.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"
#include "value/value_small.h"

/* ---- The policy of the blocked layout ---- */

typedef struct bf_layers {
    umbeli_chain chain;
    bf_params params; /* those of the value */
} bf_layers;

static umbeli_layer layer_of(const bf_layer_plan *plan) {
    return (umbeli_layer){
        .probes = plan->probes,
        .bytes = plan->bytes,
        .nbits = 8 * plan->bytes,
        .hashes = plan->hashes,
        .capacity = plan->keys,
        .rate = plan->rate,
    };
}

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
    const umbeli_layer *last = &c->layers[c->newest];
    bf_full_chain full = {
        .layers = c->count,
        .newest = layer_plan_of(last),
        .first_rate = c->layers[0].rate,
    };
    bf_layer_plan plan;
    umbel_err e = bf_plan_next(&l->params, &full, &plan);
    if (e) return e;
    umbeli_layer layer = layer_of(&plan);
    if (!plan.replaces) return umbeli_chain_append(c, &layer, max_bytes);
    e = umbeli_chain_replace(c, &layer, max_bytes);
    while (e == UMBEL_EFULL && bf_plan_larger(&plan)) { /* its parts fill unevenly */
        layer = layer_of(&plan);
        e = umbeli_chain_replace(c, &layer, max_bytes);
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
    UMBELI_CHAIN_OPS,
    .clear = umbeli_chain_clear,
};

umbel_err bf_layers_new(const bf_params *params, const umbeli_shape *hashing,
                        const umbeli_layer *first, const umbeli_settings *settings,
                        umbel_filter **out, umbel_diag *diag) {
    umbeli_chain *c = NULL;
    umbeli_shape shape = {
        .kind = UMBEL_KIND_SCALABLE,
        .format = UMBEL_FMT_NATIVE,
        .hash = hashing->hash,
        .seed = hashing->seed,
        .secret = hashing->secret,
        .fpr = params->error,
    };
    umbel_err e =
        umbeli_chain_new(&ops, "chain/module", &shape, first->bytes, NULL, settings, &c, diag);
    if (e) return e;
    ((bf_layers *)c)->params = *params;
    c->never_full = first->capacity == 0;
    e = umbeli_chain_lay_out(c, first, 1, diag);
    if (e) {
        umbeli_filter_free(&c->base);
        return e;
    }
    umbeli_count_added(&c->base, first->keys);
    *out = &c->base;
    return UMBEL_OK;
}

const umbeli_chain *bf_value_chain(const bf_value *v) {
    const umbeli_chain_policy *p = v->filter ? v->filter->ops->policy : NULL;
    return p && p->layered ? umbeli_chain_of(v->filter) : NULL;
}

const umbeli_layer *bf_value_layer_at(const bf_value *v, uint32_t i, umbeli_layer *room) {
    if (!v->small) return &umbeli_chain_of(v->filter)->layers[i];
    *room = bf_small_layer(v);
    return room;
}

uint32_t bf_value_layers(const bf_value *v) {
    const umbeli_chain *c = bf_value_chain(v);
    return c ? c->count : 1;
}

/* ---- Totals over all values of the server ---- */

uint64_t bf_value_card(const bf_value *v) {
    return v->small ? v->small->keys : umbeli_keys_added(v->filter);
}

/* A single packed layer gives way to larger ones: it shows what was asked for, then where it
 * ends. */
uint64_t bf_value_capacity(const bf_value *v) {
    const umbeli_chain *c = bf_value_chain(v);
    bool packed = v->small ? v->small->hashes & BF_SMALL_PACKED
                           : c && c->count == 1 && c->layers[0].probes->exact;
    if (packed && bf_value_card(v) > v->params.capacity) return BF_SMALL_KEYS;
    return packed || v->small ? v->params.capacity : v->filter->shape.capacity;
}

uint64_t bf_value_bytes(const bf_value *v) {
    return v->small ? v->small->bytes : umbeli_filter_bytes(v->filter);
}

/* Atomic: lazy freeing runs in another thread of the server. */
static struct { _Atomic uint64_t filters, layers, items, capacity; } totals;

/* A value's contribution to the totals; a change adds the difference between before and after. */
typedef struct account {
    uint64_t layers, items, capacity;
} account;

static account account_of(const bf_value *v) {
    return (account){bf_value_layers(v), bf_value_card(v), bf_value_capacity(v)};
}

static void move(_Atomic uint64_t *total, uint64_t before, uint64_t after) {
    if (after != before) atomic_fetch_add_explicit(total, after - before, memory_order_relaxed);
}

/* v NULL: the value is gone. */
static void note_change(account before, const bf_value *v) {
    account after = v ? account_of(v) : (account){0};
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

/* ---- Life ---- */

static umbel_err check(const bf_params *p, umbel_diag *diag) {
    const char *wrong = NULL;
    if (!(p->error > 0 && p->error < 1)) wrong = "error: not in (0, 1)";
    if (p->capacity == 0 || p->capacity > INT64_MAX) wrong = "capacity: zero or too large";
    if (!(p->tightening >= 0 && p->tightening < 1)) wrong = "tightening: not in (0, 1)";
    if (p->counting && p->window) wrong = "counting, window: mutually exclusive";
    if (p->layout == BF_REDISBLOOM && (p->counting || p->window || p->tightening > 0)) {
        wrong = "layout: classic filters have no COUNTING, WINDOW or TIGHTENING";
    }
    return wrong ? umbeli_fail(diag, UMBEL_EINVAL, wrong) : UMBEL_OK;
}

/* Everything except a chain in the blocked layout is a filter that the library creates as is. */
static umbel_err make_whole(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                            umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    if (p->layout == BF_REDISBLOOM) return bf_redisbloom_new(p, &settings, out, diag);
    umbel_params params = {
        .kind = p->counting ? UMBEL_KIND_COUNTING : UMBEL_KIND_WINDOW,
        .capacity = p->capacity,
        .fpr = p->error,
        .secret = p->keyed ? p->key : NULL,
        .window = {.generations = p->window, .manual = p->by_time},
    };
    umbel_err e = umbeli_kind_params(&params, diag);
    return e ? e : umbeli_kind_by_id(params.kind)->create(&params, &settings, out, diag);
}

umbeli_shape bf_hashing(const bf_params *p) {
    return umbeli_kind_shape(&(umbel_params){.secret = p->keyed ? p->key : NULL});
}

static umbel_err make_layers(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                             umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    umbeli_shape hashing = bf_hashing(p);
    bf_layer_plan plan;
    umbel_err e = bf_plan_first(p, &plan, diag);
    if (e) return e;
    umbeli_layer first = layer_of(&plan);
    return bf_layers_new(p, &hashing, &first, &settings, out, diag);
}

umbel_err bf_value_create(const bf_params *params, uint64_t max_bytes, bf_value **out,
                          umbel_diag *diag) {
    bf_params p = *params;
    umbel_filter *filter = NULL;
    umbel_err e = check(&p, diag);
    if (e) return e;
    if (p.counting || p.window) p.expansion = 0;
    if (p.layout == BF_REDISBLOOM) {
        p.keyed = false;
        p.expansion = bf_expansion(&p) | (bf_grows(&p) ? 0 : BF_EXPANSION_FIXED);
    }
    bool layers = p.layout == BF_BLOCKED && !p.counting && !p.window;
    e = (layers ? make_layers : make_whole)(&p, max_bytes, &filter, diag);
    return e ? e : bf_value_of(&p, filter, out, diag);
}

umbel_err bf_value_of(const bf_params *params, umbel_filter *filter, bf_value **out,
                      umbel_diag *diag) {
    bf_value *v = bf_memory_new(sizeof *v);
    if (!v) {
        umbel_free(filter);
        return umbeli_fail(diag, UMBEL_ENOMEM, "out of memory for the filter");
    }
    v->params = *params;
    v->filter = filter;
    bf_small_fold(v);
    note_change((account){0}, v);
    *out = v;
    return UMBEL_OK;
}

void bf_value_free(bf_value *v) {
    if (!v) return;
    account gone = account_of(v);
    umbel_free(v->filter);
    bf_memory_delete(v->small);
    bf_memory_delete(v);
    note_change(gone, NULL);
}

static umbel_err copy_small(const bf_value *v, bf_value **out) {
    bf_value *twin = bf_memory_new(sizeof *twin);
    if (!twin) return UMBEL_ENOMEM;
    if (bf_small_copy(v, &twin->small)) {
        bf_memory_delete(twin);
        return UMBEL_ENOMEM;
    }
    twin->params = v->params;
    note_change((account){0}, twin);
    *out = twin;
    return UMBEL_OK;
}

umbel_err bf_value_copy(const bf_value *v, bf_value **out) {
    umbel_filter *copy = NULL;
    if (v->small) return copy_small(v, out);
    umbel_err e = umbel_copy(v->filter, &copy, NULL);
    return e ? e : bf_value_of(&v->params, copy, out, NULL);
}

/* Layers of hashes begin small. */
static bool begins_small(const bf_value *v) {
    umbeli_layer room;
    return (v->small || bf_value_chain(v)) && bf_value_layer_at(v, 0, &room)->probes->exact;
}

static umbel_err begin_again(bf_value *v) {
    bf_value *fresh = NULL;
    umbel_err e = bf_value_create(&v->params, 0, &fresh, NULL);
    if (e) return e;
    bf_value old = *v;
    *v = *fresh;
    *fresh = old;
    bf_value_free(fresh);
    return UMBEL_OK;
}

umbel_err bf_value_clear(bf_value *v) {
    account before = account_of(v);
    umbel_err e = UMBEL_OK;
    if (begins_small(v)) return begin_again(v);
    if (v->small) {
        bf_small_clear(v);
    } else {
        e = umbel_clear(v->filter, NULL);
        bf_small_fold(v);
    }
    note_change(before, v);
    return e;
}

umbel_err bf_value_load_chunk(bf_value *v, int64_t iterator, const uint8_t *bytes, size_t len,
                              umbel_diag *diag) {
    account before = account_of(v);
    umbel_err e = v->small ? bf_small_unfold(v) : UMBEL_OK;
    if (!e) e = umbeli_redisbloom_load_chunk(v->filter, iterator, bytes, len, diag);
    bf_small_fold(v);
    note_change(before, v);
    return e;
}

/* ---- Keys ---- */

void bf_value_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    if (v->small) {
        bf_small_contains(v, keys, n, hit);
    } else if (n == 1) {
        *hit = umbel_contains(v->filter, keys->data, keys->len);
    } else {
        umbel_contains_many(v->filter, keys, n, hit);
    }
}

/* Counting filters also count keys they already have, and are full once the count reaches their
 * capacity. */
static umbel_err add_counting(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                              size_t *done) {
    umbel_err e = UMBEL_OK;
    uint64_t capacity = f->shape.capacity;
    *done = 0;
    for (size_t added = 0; *done < n && !e; *done += added) {
        uint64_t counted = umbeli_keys_added(f), room = capacity - counted;
        size_t some = n - *done;
        if (capacity && counted >= capacity) return UMBEL_EFULL;
        if (capacity && some > room) some = (size_t)room;
        e = f->ops->add_many(f, keys + *done, some, was_new + *done, &added);
    }
    return e;
}

/* When the small filter is full it becomes the first layer of a chain. */
static umbel_err add_small(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                           uint8_t *was_new, size_t *done) {
    size_t more = 0;
    umbel_err e = bf_small_add(v, keys, n, was_new, done);
    while (e == UMBEL_EFULL && bf_small_grow(v, max_bytes)) {
        e = bf_small_add(v, keys + *done, n - *done, was_new + *done, &more);
        *done += more;
    }
    if (e != UMBEL_EFULL || !bf_grows(&v->params)) return e;
    e = bf_small_unfold(v);
    if (e) return e;
    e = umbeli_chain_add_within(v->filter, keys + *done, n - *done, max_bytes, was_new + *done,
                                &more);
    *done += more;
    bf_small_fold(v); /* if it could not grow */
    return e;
}

umbel_err bf_value_add(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                       uint8_t *was_new, size_t *done) {
    account before = account_of(v);
    umbel_filter *f = v->filter;
    umbel_err e = UMBEL_EFROZEN;
    uint64_t added_before = f ? umbeli_keys_added(f) : 0;
    *done = 0;
    if (v->small) {
        e = add_small(v, keys, n, max_bytes, was_new, done);
    } else if (umbeli_is_chain(f) && n == 1) {
        e = umbeli_chain_add_one(f, *keys, max_bytes, was_new);
        *done = !e;
    } else if (umbeli_is_chain(f)) {
        e = umbeli_chain_add_within(f, keys, n, max_bytes, was_new, done);
    } else if (!f->frozen) {
        e = add_counting(f, keys, n, was_new, done);
    }
    if (f && v->filter == f) umbeli_admit_keys(f, keys, *done, was_new, added_before);
    bf_count(BF_LAYERS_ADDED, (int64_t)bf_value_layers(v) - (int64_t)before.layers);
    note_change(before, v);
    return e;
}

umbel_err bf_value_remove(bf_value *v, const umbel_key *key) {
    if (v->small) return UMBEL_ENOTSUP;
    account before = account_of(v);
    umbel_err e = umbel_remove(v->filter, key->data, key->len, NULL);
    note_change(before, v);
    return e;
}

uint32_t bf_value_count(const bf_value *v, const umbel_key *key) {
    uint8_t hit = 0;
    if (!v->small) return umbel_count(v->filter, key->data, key->len);
    bf_small_contains(v, key, 1, &hit);
    return hit;
}

/* ---- Merging ---- */

static umbel_err mismatch(umbel_diag *diag, const char *what) {
    return umbeli_fail(diag, UMBEL_EMISMATCH, what);
}

/* The keys of both must not exceed the filter's capacity; if the counts do, the number is estimated
 * from the bits instead. */
static umbel_err recount(umbel_filter *f, umbel_diag *diag) {
    const double tolerance = 1.05; /* estimates of small filters are off by a few percent */
    uint64_t capacity = f->shape.capacity;
    umbel_measurement now;
    if (capacity == 0 || umbeli_keys_added(f) <= capacity) return UMBEL_OK;
    umbel_measure(f, &now);
    double keys = now.keys;
    if (!(keys <= tolerance * (double)capacity) || keys < 1) {
        return umbeli_fail(diag, UMBEL_EFULL,
                           "together they have more keys than a layer is planned for");
    }
    umbeli_set_keys_added(f, keys < (double)capacity ? (uint64_t)keys : capacity);
    return UMBEL_OK;
}

/* How the filters of two values are merged. */
typedef umbel_err (*merger)(umbel_filter *into, const umbel_filter *from, umbel_diag *diag);

static umbel_err merge_chains(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    umbel_err e = umbeli_chain_merge((umbeli_chain *)into, umbeli_chain_of(from), diag);
    if (!e) umbeli_filter_drop_exceptions(into);
    return e;
}

static umbel_err merge_whole(umbel_filter *into, const umbel_filter *from, umbel_diag *diag) {
    const char *differs = umbeli_shape_mismatch(&into->shape, &from->shape);
    if (differs) return mismatch(diag, differs);
    umbel_err e = umbel_merge(into, from, diag);
    return e ? e : recount(into, diag);
}

/* Where a failure may leave something half done. */
static umbel_err merge_in_copy(bf_value *into, const umbel_filter *from, merger merge,
                               umbel_diag *diag) {
    umbel_filter *both = NULL;
    umbel_err e = umbel_copy(into->filter, &both, NULL);
    if (e) return umbeli_fail(diag, e, "out of memory for the merged filter");
    e = merge(both, from, diag);
    umbel_free(e ? both : into->filter);
    if (!e) into->filter = both;
    return e;
}

/* Neither is small. */
static umbel_err merge_filters(bf_value *into, const bf_value *from, umbel_diag *diag) {
    const umbeli_chain *mine = bf_value_chain(into), *theirs = bf_value_chain(from);
    if (!mine != !theirs) return mismatch(diag, "the kinds differ");
    if (!mine) return merge_in_copy(into, from->filter, merge_whole, diag);
    if (umbeli_chain_has_hashes(mine)) return merge_in_copy(into, from->filter, merge_chains, diag);
    return merge_chains(into->filter, from->filter, diag);
}

/* A copy that is a chain, if the value is small; else the value itself. */
static umbel_err as_chain(const bf_value *v, bf_value **out) {
    *out = (bf_value *)(uintptr_t)v;
    if (!v->small) return UMBEL_OK;
    umbel_err e = bf_value_copy(v, out);
    if (!e) e = bf_small_unfold(*out);
    return e;
}

static umbel_err merge_small(bf_value *into, const bf_value *from, umbel_diag *diag) {
    bf_value *mine = NULL, *theirs = NULL;
    umbel_err e = as_chain(into, &mine);
    if (!e) e = as_chain(from, &theirs);
    e = e ? umbeli_fail(diag, e, "out of memory for the merged filter")
          : merge_filters(mine, theirs, diag);
    if (!e && mine != into) {
        bf_value old = *into;
        bf_small_fold(mine);
        *into = *mine;
        *mine = old;
    }
    if (mine != into) bf_value_free(mine);
    if (theirs != from) bf_value_free(theirs);
    return e;
}

umbel_err bf_value_merge(bf_value *into, const bf_value *from, umbel_diag *diag) {
    const bf_params *a = &into->params, *b = &from->params;
    if (a->layout != b->layout) return mismatch(diag, "the layouts differ");
    if (a->keyed != b->keyed || memcmp(a->key, b->key, sizeof a->key) != 0) {
        return mismatch(diag, "the secrets differ (reserve both with the same SEED)");
    }
    account before = account_of(into);
    umbel_err e = (into->small || from->small ? merge_small : merge_filters)(into, from, diag);
    note_change(before, into);
    return e;
}
