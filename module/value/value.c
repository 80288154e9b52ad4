/* SPDX-License-Identifier: MIT
 *
 * value.c - the Bloom filter behind a key of the server
 *
 * What a value is.  A bf_value is one filter and the parameters that would create it again,
 * empty.  The filter is one of three:
 *
 *   - a chain in the blocked layout, the default.  Its layers are split-block or classic filters,
 *     whichever is better for their size; value_layers.c is its policy.
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
 * are.  A filter that nobody reserved grows in few large steps, and keeps hashes before the first
 * (layer_plan.h).
 *
 * Unboxed values.  Chains whose layers follow from the parameters have no handle: value_unboxed.h.
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
#include "core/size.h"
#include "counters.h"
#include "format/codec.h"
#include "format/redisbloom/redisbloom_link.h"
#include "kind/exceptions.h"
#include "kind/kind.h"
#include "umbel_foreign.h"
#include "value/layer_plan.h"
#include "value/server_memory.h"
#include "value/value_unboxed.h"

bool bf_value_layered(const bf_value *v) {
    const umbeli_chain_policy *p = v->form == BF_HANDLE ? v->filter->ops->policy : NULL;
    return v->form != BF_HANDLE || (p && p->layered);
}

uint32_t bf_value_layers(const bf_value *v) {
    if (v->form == BF_LINKS) return v->links->count;
    return v->form == BF_HANDLE && bf_value_layered(v) ? umbeli_chain_of(v->filter)->count : 1;
}

bf_params bf_value_params(const bf_value *v) {
    bf_params out = {
        .error = v->error,
        .capacity = v->capacity,
        .expansion = v->expansion,
        .window = v->window,
        .layout = v->layout,
        .counting = v->counting,
        .keyed = v->keyed,
        .by_time = v->by_time,
    };
    memcpy(out.key, v->key, sizeof out.key);
    if (v->form == BF_HANDLE && v->layout == BF_BLOCKED && bf_value_layered(v)) {
        out.tightening = ((const bf_layers *)umbeli_chain_of(v->filter))->params.tightening;
    }
    return out;
}

static void set_params(bf_value *v, const bf_params *p) {
    v->error = p->error;
    v->capacity = p->capacity;
    v->expansion = p->expansion;
    v->window = p->window;
    v->layout = p->layout;
    v->counting = p->counting;
    v->keyed = p->keyed;
    v->by_time = p->by_time;
    memcpy(v->key, p->key, sizeof v->key);
}

/* ---- Totals over all values of the server ---- */

uint64_t bf_value_card(const bf_value *v) {
    uint64_t keys = 0;
    if (v->form == BF_HANDLE) return umbeli_keys_added(v->filter);
    if (v->form == BF_SMALL) return v->small->keys;
    for (uint32_t i = 0; i < v->links->count; i++) keys += v->links->list[i].keys;
    return keys;
}

static uint64_t links_capacity(const bf_links *links) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < links->count; i++) {
        if (!umbeli_size_add(sum, links->list[i].capacity, &sum)) return UINT64_MAX;
    }
    return sum;
}

/* A single packed layer is replaced by larger ones: it shows the requested capacity, then the one
 * at which it ends. */
uint64_t bf_value_capacity(const bf_value *v) {
    bool single = bf_value_layers(v) == 1, packed = false;
    if (v->form == BF_SMALL) packed = v->small->hashes & BF_SMALL_PACKED;
    if (v->form == BF_LINKS) packed = single && v->layout == BF_BLOCKED;
    if (v->form == BF_HANDLE && bf_value_layered(v)) {
        packed = single && umbeli_is_packed(umbeli_chain_of(v->filter)->layers);
    }
    if (packed && bf_value_card(v) > v->capacity) return BF_SMALL_KEYS;
    if (packed || v->form == BF_SMALL) return v->capacity;
    return v->form == BF_LINKS ? links_capacity(v->links) : v->filter->shape.capacity;
}

uint64_t bf_value_bytes(const bf_value *v) {
    uint64_t bytes = 0;
    if (v->form == BF_HANDLE) return umbeli_filter_bytes(v->filter);
    if (v->form == BF_SMALL) return v->small->bytes;
    for (uint32_t i = 0; i < v->links->count; i++) bytes += 8 * (uint64_t)v->links->list[i].words;
    return bytes;
}

/* Atomic: lazy freeing runs in another thread of the server. */
static struct { _Atomic uint64_t filters, layers, items, capacity; } totals;

/* A value's contribution to the totals.  A change adds the difference between before and after,
 * also to a value that is then thrown away: freeing subtracts what it has become. */
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

bf_totals bf_totals_get(void) {
    return (bf_totals){
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

/* A filter that the library creates as is. */
static umbel_err make_whole(const bf_params *p, uint64_t max_bytes, umbel_filter **out,
                            umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, bf_params_key(p));
    umbel_params params = {
        .kind = p->counting ? UMBEL_KIND_COUNTING : UMBEL_KIND_WINDOW,
        .capacity = p->capacity,
        .fpr = p->error,
        .window = {.generations = p->window, .manual = p->by_time},
    };
    umbel_err e = umbeli_kind_params(&params, diag);
    return e ? e : umbeli_kind_by_id(params.kind)->create(&params, &settings, out, diag);
}

/* The first layer of a chain. */
static umbel_err plan_first(const bf_params *p, umbeli_layer *first, umbel_diag *diag) {
    bf_layer_plan plan;
    if (p->layout == BF_REDISBLOOM) {
        return bf_redisbloom_first(p, first)
                   ? UMBEL_OK
                   : umbeli_fail(diag, UMBEL_EINVAL,
                                 "capacity, error: the filter would be too large");
    }
    umbel_err e = bf_plan_first(p, &plan, diag);
    if (!e) *first = bf_planned_layer(&plan);
    return e;
}

/* Remembers the last plan: filters created in a row are mostly alike, and planning takes longer
 * than everything else.  Per thread, because merges run in threads. */
static umbel_err plan_again(const bf_params *p, umbeli_layer *first, umbel_diag *diag) {
    static _Thread_local bf_params last;
    static _Thread_local umbeli_layer planned;
    umbel_err e = UMBEL_OK;
    if (!bf_params_alike(&last, p)) {
        last.capacity = 0;
        e = plan_first(p, &planned, diag);
        if (!e) last = *p;
        memset(last.key, 0, sizeof last.key);
    }
    *first = planned;
    return e;
}

/* A chain with a handle. */
static umbel_err make_chain(const bf_params *p, const umbeli_layer *first, uint64_t max_bytes,
                            umbel_filter **out, umbel_diag *diag) {
    umbeli_settings settings = bf_memory_settings(max_bytes, NULL);
    if (p->layout == BF_REDISBLOOM) return bf_redisbloom_new(p, &settings, out, diag);
    umbeli_shape hashing = bf_hashing(bf_params_key(p));
    return bf_layers_new(p, &hashing, first, &settings, out, diag);
}

static bf_value *new_value(const bf_params *params) {
    bf_value *v = bf_memory_new(sizeof *v);
    if (v) set_params(v, params);
    return v;
}

/* False: it needs a handle, or there is no memory. */
static bool create_unboxed(const bf_params *p, const umbeli_layer *first, uint64_t max_bytes,
                           bf_value **out) {
    if (p->tightening > 0 || (max_bytes && first->bytes > max_bytes)) return false;
    bf_value *v = new_value(p);
    if (!v) return false;
    if (!bf_unboxed_create(v, first)) {
        bf_memory_delete(v);
        return false;
    }
    note_change((account){0}, v);
    *out = v;
    return true;
}

umbel_err bf_value_create(const bf_params *params, uint64_t max_bytes, bf_value **out,
                          umbel_diag *diag) {
    bf_params p = *params;
    umbel_filter *filter = NULL;
    umbeli_layer first;
    umbel_err e = check(&p, diag);
    if (e) return e;
    if (p.counting || p.window) {
        p.expansion = 0;
        e = make_whole(&p, max_bytes, &filter, diag);
        return e ? e : bf_value_of(&p, filter, out, diag);
    }
    if (p.layout == BF_REDISBLOOM) {
        p.keyed = false;
        p.expansion = bf_expansion(&p) | (bf_grows(&p) ? 0 : BF_EXPANSION_FIXED);
    }
    e = plan_again(&p, &first, diag);
    if (e || create_unboxed(&p, &first, max_bytes, out)) return e;
    e = make_chain(&p, &first, max_bytes, &filter, diag);
    return e ? e : bf_value_of(&p, filter, out, diag);
}

umbel_err bf_value_of(const bf_params *params, umbel_filter *filter, bf_value **out,
                      umbel_diag *diag) {
    bf_value *v = new_value(params);
    if (!v) {
        umbel_free(filter);
        return umbeli_fail(diag, UMBEL_ENOMEM, "out of memory for the filter");
    }
    v->filter = filter;
    bf_unboxed_fold(v);
    note_change((account){0}, v);
    *out = v;
    return UMBEL_OK;
}

umbel_err bf_value_of_hashes(const bf_params *params, uint64_t keys, const uint8_t *coded,
                             size_t len, bf_value **out, umbel_diag *diag) {
    bf_layer_plan plan;
    umbel_err e = check(params, diag);
    if (e || !bf_plan_grown(params, keys, &plan)) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "such a filter does not exist");
    }
    umbeli_layer first = bf_planned_layer(&plan);
    bf_value *v = new_value(params);
    if (!v || !bf_unboxed_create(v, &first)) {
        bf_memory_delete(v);
        return umbeli_fail(diag, UMBEL_ENOMEM, "out of memory for the filter");
    }
    /* umbel 0.3 counted hashes that had not come: BF.LOADCHUNK with a head alone. */
    if (!bf_small_fill(v, len ? keys : 0, coded, len)) {
        bf_unboxed_free(v);
        bf_memory_delete(v);
        return umbeli_fail(diag, UMBEL_ECORRUPT, "the hashes are not valid");
    }
    note_change((account){0}, v);
    *out = v;
    return UMBEL_OK;
}

bool bf_value_is_hashes(const bf_value *v) {
    bf_layer_plan plan;
    bf_params params = bf_value_params(v);
    return v->form == BF_SMALL && v->keyed && v->small->hashes & BF_SMALL_PACKED &&
           bf_plan_grown(&params, v->small->keys, &plan) && plan.bytes == v->small->bytes &&
           plan.hashes == (v->small->hashes & (uint32_t)~BF_SMALL_PACKED);
}

void bf_value_free(bf_value *v) {
    if (!v) return;
    account gone = account_of(v);
    if (v->form == BF_HANDLE) {
        umbel_free(v->filter);
    } else {
        bf_unboxed_free(v);
    }
    bf_memory_delete(v);
    note_change(gone, NULL);
}

static umbel_err copy_unboxed(const bf_value *v, bf_value **out) {
    bf_value *twin = bf_memory_new(sizeof *twin);
    if (!twin) return UMBEL_ENOMEM;
    *twin = *v;
    if (bf_unboxed_copy(v, twin)) {
        bf_memory_delete(twin);
        return UMBEL_ENOMEM;
    }
    note_change((account){0}, twin);
    *out = twin;
    return UMBEL_OK;
}

umbel_err bf_value_copy(const bf_value *v, bf_value **out) {
    umbel_filter *copy = NULL;
    if (v->form != BF_HANDLE) return copy_unboxed(v, out);
    bf_params params = bf_value_params(v);
    umbel_err e = umbel_copy(v->filter, &copy, NULL);
    return e ? e : bf_value_of(&params, copy, out, NULL);
}

static void swap(bf_value *v, bf_value *other) {
    bf_value old = *v;
    *v = *other;
    *other = old;
}

static umbel_err begin_again(bf_value *v) {
    bf_value *fresh = NULL;
    bf_params params = bf_value_params(v);
    umbel_err e = bf_value_create(&params, 0, &fresh, NULL);
    if (e) return e;
    swap(v, fresh);
    bf_value_free(fresh);
    return UMBEL_OK;
}

umbel_err bf_value_clear(bf_value *v) {
    bf_room room;
    account before = account_of(v);
    umbel_filter *f = bf_value_filter_edit(v, &room);
    if (bf_value_layered(v) && umbeli_is_packed(umbeli_chain_of(f)->layers)) return begin_again(v);
    umbel_err e = umbel_clear(f, NULL);
    bf_value_settle(v, &room);
    bf_unboxed_fold(v);
    note_change(before, v);
    return e;
}

umbel_err bf_value_load_chunk(bf_value *v, int64_t iterator, const uint8_t *bytes, size_t len,
                              umbel_diag *diag) {
    bf_room room;
    account before = account_of(v);
    umbel_err e =
        umbeli_redisbloom_load_chunk(bf_value_filter_edit(v, &room), iterator, bytes, len, diag);
    bf_value_settle(v, &room);
    note_change(before, v);
    return e;
}

/* ---- Keys ---- */

void bf_value_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    bf_room room;
    if (v->form != BF_HANDLE && n == 1) {
        *hit = bf_unboxed_contains_one(v, keys);
        return;
    }
    if (v->form == BF_SMALL) {
        bf_small_contains(v, keys, n, hit);
        return;
    }
    const umbel_filter *f = bf_value_filter(v, &room);
    if (n == 1) {
        *hit = umbel_contains(f, keys->data, keys->len);
    } else {
        umbel_contains_many(f, keys, n, hit);
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
        size_t count = n - *done;
        if (capacity && counted >= capacity) return UMBEL_EFULL;
        if (capacity && count > room) count = (size_t)room;
        e = f->ops->add_many(f, keys + *done, count, was_new + *done, &added);
    }
    return e;
}

static umbel_err add_unboxed(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                             uint8_t *was_new, size_t *done) {
    bf_room room;
    size_t more = 0;
    umbel_err e = UMBEL_EFULL;
    if (v->form == BF_SMALL) {
        bool first = v->small->keys == 0 && n > 1; /* mostly all of them are new */
        if (first) bf_small_fit(v, n, max_bytes);
        e = bf_small_add(v, keys, n, was_new, done);
        if (first && v->small->keys < n) bf_small_fit(v, v->small->keys, max_bytes);
        while (e == UMBEL_EFULL && bf_small_grow(v, max_bytes)) {
            e = bf_small_add(v, keys + *done, n - *done, was_new + *done, &more);
            *done += more;
        }
        if (e != UMBEL_EFULL || v->expansion == 0 || v->expansion & BF_EXPANSION_FIXED) return e;
    }
    e = umbeli_chain_add_within(bf_value_filter_edit(v, &room), keys + *done, n - *done, max_bytes,
                                was_new + *done, &more);
    *done += more;
    bf_value_settle(v, &room);
    return e;
}

umbel_err bf_value_add(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                       uint8_t *was_new, size_t *done) {
    account before = account_of(v);
    *done = 0;
    umbel_err e = UMBEL_EFROZEN;
    if (v->form != BF_HANDLE) {
        e = add_unboxed(v, keys, n, max_bytes, was_new, done);
    } else {
        umbel_filter *f = v->filter;
        uint64_t added_before = umbeli_keys_added(f);
        if (umbeli_is_chain(f)) {
            e = umbeli_chain_add_within(f, keys, n, max_bytes, was_new, done);
        } else if (!f->frozen) {
            e = add_counting(f, keys, n, was_new, done);
        }
        umbeli_admit_keys(f, keys, *done, was_new, added_before);
    }
    bf_count(BF_LAYERS_ADDED, (int64_t)bf_value_layers(v) - (int64_t)before.layers);
    note_change(before, v);
    return e;
}

bool bf_value_add_one(bf_value *v, const umbel_key *key, uint8_t *was_new) {
    if (v->form == BF_HANDLE) return false;
    /* The next key may change the reported capacity. */
    if (bf_value_layers(v) == 1 && bf_value_card(v) == v->capacity) return false;
    if (!bf_unboxed_add_one(v, key, was_new)) return false;
    move(&totals.items, 0, *was_new);
    return true;
}

umbel_err bf_value_remove(bf_value *v, const umbel_key *key) {
    if (v->form != BF_HANDLE) return UMBEL_ENOTSUP;
    account before = account_of(v);
    umbel_err e = umbel_remove(v->filter, key->data, key->len, NULL);
    note_change(before, v);
    return e;
}

uint32_t bf_value_count(const bf_value *v, const umbel_key *key) {
    uint8_t hit = 0;
    if (v->form == BF_HANDLE) return umbel_count(v->filter, key->data, key->len);
    bf_value_contains(v, key, 1, &hit);
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

static umbel_err merge_filters(bf_value *into, const umbel_filter *from, umbel_diag *diag) {
    bf_room room;
    account before = account_of(into);
    umbel_filter *f = bf_value_filter_edit(into, &room);
    umbel_err e = (bf_value_layered(into) ? merge_chains : merge_whole)(f, from, diag);
    bf_value_settle(into, &room);
    note_change(before, into);
    return e;
}

/* Such merges could fail half-way. */
static bool must_copy(const bf_value *v) {
    bf_room room;
    return !bf_value_layered(v) ||
           umbeli_chain_has_hashes(umbeli_chain_of(bf_value_filter(v, &room)));
}

static umbel_err merge_in_copy(bf_value *into, const umbel_filter *from, umbel_diag *diag) {
    bf_value *both = NULL;
    umbel_err e = bf_value_copy(into, &both);
    if (e) return umbeli_fail(diag, e, "out of memory for the merged filter");
    e = merge_filters(both, from, diag);
    if (!e) swap(into, both);
    bf_value_free(both);
    return e;
}

umbel_err bf_value_merge(bf_value *into, const bf_value *from, umbel_diag *diag) {
    bf_room room;
    if (into->layout != from->layout) return mismatch(diag, "the layouts differ");
    if (into->keyed != from->keyed || memcmp(into->key, from->key, sizeof into->key) != 0) {
        return mismatch(diag, "the secrets differ (reserve both with the same SEED)");
    }
    if (bf_value_layered(into) != bf_value_layered(from)) return mismatch(diag, "the kinds differ");
    const umbel_filter *other = bf_value_filter(from, &room);
    return (must_copy(into) ? merge_in_copy : merge_filters)(into, other, diag);
}
