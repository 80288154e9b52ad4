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
 * are (layer_plan.h).
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
 * (storage/dump.h).  In the blocked layout the head consists of native file headers, which is why a
 * file built offline can become a key; in RedisBloom's layout it is RedisBloom's own.
 */
#include "value/value.h"

#include <stdatomic.h>
#include <string.h>

#include "core/diag.h"
#include "format/codec.h"
#include "format/redisbloom/redisbloom_link.h"
#include "kind/kind.h"
#include "umbel_foreign.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"

/* ---- The policy of the blocked layout ---- */

typedef struct bf_layers {
    umbeli_chain chain;
    double error, tightening;
    uint32_t expansion;
} bf_layers;

static umbeli_layer layer_of(const bf_layer_plan *plan) {
    bool blocked = plan->kind == UMBEL_KIND_BLOCKED;
    return (umbeli_layer){
        .probes = umbeli_native_probes(plan->kind),
        .bytes = plan->bytes,
        .nbits = 8 * plan->bytes,
        .hashes = blocked ? UMBELI_BLOCK_LANES : plan->hashes,
        .capacity = plan->keys,
        .rate = plan->rate,
    };
}

static umbel_err next(umbeli_chain *c, uint64_t max_bytes) {
    const bf_layers *l = (const bf_layers *)c;
    bf_params params = {.error = l->error, .tightening = l->tightening, .expansion = l->expansion};
    bf_layer_plan plan;
    umbel_err e =
        bf_plan_next(&params, c->count, c->layers[c->newest].capacity, c->layers[0].rate, &plan);
    if (e) return e;
    umbeli_layer layer = layer_of(&plan);
    return umbeli_chain_append(c, &layer, max_bytes);
}

static bool grows(const umbeli_chain *c) {
    return ((const bf_layers *)c)->expansion != 0;
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
    bf_layers *l = (bf_layers *)c;
    l->error = params->error;
    l->tightening = params->tightening;
    l->expansion = params->expansion;
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
    const umbeli_chain_policy *p = v->filter->ops->policy;
    return p && p->layered ? umbeli_chain_of(v->filter) : NULL;
}

uint32_t bf_value_layers(const bf_value *v) {
    const umbeli_chain *c = bf_value_chain(v);
    return c ? c->count : 1;
}

/* ---- Totals over all values of the server ---- */

uint64_t bf_value_card(const bf_value *v) {
    return umbeli_keys_added(v->filter);
}

uint64_t bf_value_capacity(const bf_value *v) {
    return v->filter->shape.capacity;
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
    if (p->expansion > BF_EXPANSION_MAX) wrong = "expansion: at most 32768";
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
    if (p->layout == BF_REDISBLOOM) {
        umbel_foreign foreign = {
            .format = UMBEL_FMT_REDISBLOOM,
            .capacity = p->capacity,
            .fpr = p->error,
            .expansion = p->expansion,
            .nonscaling = p->expansion == 0,
        };
        return umbeli_codec_redisbloom.create(&foreign, &settings, out, diag);
    }
    umbel_params params = {
        .kind = p->counting ? UMBEL_KIND_COUNTING : UMBEL_KIND_WINDOW,
        .capacity = p->capacity,
        .fpr = p->error,
        .secret = p->keyed ? p->key : NULL,
        .window = {.generations = p->window},
    };
    umbel_err e = umbeli_kind_params(&params, diag);
    return e ? e : umbeli_kind_by_id(params.kind)->create(&params, &settings, out, diag);
}

static umbel_err make_layers(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                             umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    umbeli_shape hashing = umbeli_kind_shape(&(umbel_params){.secret = p->keyed ? p->key : NULL});
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
    if (p.layout == BF_REDISBLOOM) p.keyed = false;
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
    note_change((account){0}, v);
    *out = v;
    return UMBEL_OK;
}

void bf_value_free(bf_value *v) {
    if (!v) return;
    account gone = account_of(v);
    umbel_free(v->filter);
    bf_memory_delete(v);
    note_change(gone, NULL);
}

umbel_err bf_value_copy(const bf_value *v, bf_value **out) {
    umbel_filter *copy = NULL;
    umbel_err e = umbel_copy(v->filter, &copy, NULL);
    return e ? e : bf_value_of(&v->params, copy, out, NULL);
}

umbel_err bf_value_clear(bf_value *v) {
    account before = account_of(v);
    umbel_err e = umbel_clear(v->filter, NULL);
    note_change(before, v);
    return e;
}

/* ---- Keys ---- */

void bf_value_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    if (n == 1) {
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

umbel_err bf_value_add(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                       uint8_t *was_new, size_t *done) {
    account before = account_of(v);
    umbel_filter *f = v->filter;
    umbel_err e = UMBEL_EFROZEN;
    *done = 0;
    if (umbeli_is_chain(f)) {
        e = umbeli_chain_add_within(f, keys, n, max_bytes, was_new, done);
    } else if (!f->frozen) {
        e = add_counting(f, keys, n, was_new, done);
    }
    note_change(before, v);
    return e;
}

umbel_err bf_value_remove(bf_value *v, const umbel_key *key) {
    account before = account_of(v);
    umbel_err e = umbel_remove(v->filter, key->data, key->len, NULL);
    note_change(before, v);
    return e;
}

uint32_t bf_value_count(const bf_value *v, const umbel_key *key) {
    return umbel_count(v->filter, key->data, key->len);
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

/* Filters that are not chains: merged in a copy, so that a failure changes nothing. */
static umbel_err merge_whole(bf_value *into, const bf_value *from, umbel_diag *diag) {
    umbel_filter *both = NULL;
    const char *differs = umbeli_shape_mismatch(&into->filter->shape, &from->filter->shape);
    if (differs) return mismatch(diag, differs);
    umbel_err e = umbel_copy(into->filter, &both, NULL);
    if (e) return umbeli_fail(diag, e, "out of memory for the merged filter");
    e = umbel_merge(both, from->filter, diag);
    if (!e) e = recount(both, diag);
    umbel_free(e ? both : into->filter);
    if (!e) into->filter = both;
    return e;
}

umbel_err bf_value_merge(bf_value *into, const bf_value *from, umbel_diag *diag) {
    const bf_params *a = &into->params, *b = &from->params;
    if (a->layout != b->layout) return mismatch(diag, "the layouts differ");
    if (a->keyed != b->keyed || memcmp(a->key, b->key, sizeof a->key) != 0) {
        return mismatch(diag, "the secrets differ (reserve both with the same SEED)");
    }
    bool mine = bf_value_chain(into) != NULL, theirs = bf_value_chain(from) != NULL;
    if (mine != theirs) return mismatch(diag, "the kinds differ");
    account before = account_of(into);
    umbel_err e = mine
                      ? umbeli_chain_merge((umbeli_chain *)into->filter, bf_value_chain(from), diag)
                      : merge_whole(into, from, diag);
    note_change(before, into);
    return e;
}
