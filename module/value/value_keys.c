/* SPDX-License-Identifier: MIT
 *
 * value_keys.c - keys in, answers out
 *
 * A single layer takes a batch as it is.  In a chain the newest layer, which has most of the keys,
 * is asked first, and each older one only about keys that were not found yet.
 */
#include <string.h>

#include "hash/native_hash.h"
#include "kind/classic/classic.h"
#include "value/value_internal.h"

enum { BATCH = 256 };

/* ---- Asking ---- */

/* Keys of a batch that no layer had so far, and where they were in it.  All layers of a chain hash
 * alike, so each hash is computed once, for the first layer that wants it. */
typedef struct missing {
    size_t n;
    bool has_narrow, has_wide;
    uint8_t place[BATCH];
    umbel_key keys[BATCH];
    uint64_t narrow[BATCH];     /* of blocked layers */
    umbeli_hash128 wide[BATCH]; /* of classic ones */
} missing;

static void hash_narrow(const umbel_filter *layer, missing *m) {
    if (m->has_narrow) return;
    for (size_t i = 0; i < m->n; i++) {
        m->narrow[i] = umbel_hash(layer, m->keys[i].data, m->keys[i].len);
    }
    m->has_narrow = true;
}

static void hash_wide(const umbel_filter *layer, missing *m) {
    if (m->has_wide) return;
    for (size_t i = 0; i < m->n; i++) {
        m->wide[i] = umbeli_native_hash128(&layer->shape, m->keys[i].data, m->keys[i].len);
    }
    m->has_wide = true;
}

/* Asks one layer about all that are missing, and drops those that it has. */
static void ask(const umbel_filter *layer, missing *m, uint8_t *hit) {
    uint8_t found[BATCH];
    size_t left = 0;
    if (umbeli_classic_is_native(layer)) {
        hash_wide(layer, m);
        umbeli_classic_contains_hashed(layer, m->wide, m->n, found);
    } else {
        hash_narrow(layer, m);
        (void)umbel_contains_hashes(layer, m->narrow, m->n, found);
    }
    for (size_t i = 0; i < m->n; i++) {
        hit[m->place[i]] = found[i];
        if (found[i]) continue;
        m->place[left] = m->place[i];
        m->keys[left] = m->keys[i];
        if (m->has_narrow) m->narrow[left] = m->narrow[i];
        if (m->has_wide) m->wide[left] = m->wide[i];
        left++;
    }
    m->n = left;
}

/* At most BATCH keys; asks the `layers` oldest layers, and leaves in m what none of them has. */
static void ask_chain(const bf_value *v, uint32_t layers, const umbel_key *keys, size_t n,
                      uint8_t *hit, missing *m) {
    m->n = n;
    m->has_narrow = m->has_wide = false;
    for (size_t i = 0; i < n; i++) {
        m->keys[i] = keys[i];
        m->place[i] = (uint8_t)i;
        hit[i] = 0;
    }
    for (uint32_t i = layers; i-- > 0 && m->n > 0;) ask(bf_chain_at(v, i), m, hit);
}

void bf_value_contains(const bf_value *v, const umbel_key *keys, size_t n, uint8_t *hit) {
    if (v->older_count == 0) {
        if (n == 1) {
            *hit = umbel_contains(v->newest, keys->data, keys->len);
        } else {
            umbel_contains_many(v->newest, keys, n, hit);
        }
        return;
    }
    for (size_t from = 0; from < n; from += BATCH) {
        missing m;
        size_t some = n - from < BATCH ? n - from : BATCH;
        ask_chain(v, bf_chain_count(v), keys + from, some, hit + from, &m);
    }
}

/* ---- Adding ---- */

/* Keys that the newest layer still takes. */
static uint64_t room(const bf_value *v) {
    const umbel_filter *f = v->newest;
    uint64_t keys = umbeli_keys_added(f), capacity = f->shape.capacity;
    if (bf_keeps_itself(f) || capacity == 0) return UINT64_MAX;
    return keys < capacity ? capacity - keys : 0;
}

static umbel_err add_singly(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                            size_t *done) {
    umbel_err e = UMBEL_OK;
    for (bool fresh; *done < n && !e; *done += !e) {
        e = umbel_add(f, keys[*done].data, keys[*done].len, &fresh);
        if (!e) was_new[*done] = fresh;
    }
    return e;
}

/* Stops somewhere in the batch: was_new tells where, for it is set in order. */
static umbel_err add_at_once(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new,
                             size_t *done) {
    enum { UNSET = 2 };
    memset(was_new, UNSET, n);
    umbel_err e = umbel_add_many(f, keys, n, was_new);
    while (*done < n && was_new[*done] != UNSET) ++*done;
    return e;
}

/* Filters that grow by themselves. */
static umbel_err add_itself(umbel_filter *f, const umbel_key *keys, size_t n, uint64_t max_bytes,
                            uint8_t *was_new, size_t *done) {
    bool in_order = f->shape.kind != UMBEL_SCALABLE; /* which sets was_new for a batch at once */
    f->memory.max_bytes = max_bytes;
    umbel_err e = (in_order ? add_at_once : add_singly)(f, keys, n, was_new, done);
    f->memory.max_bytes = 0;
    return e;
}

/* At most BATCH keys and no more than the newest layer has room for. */
static umbel_err add_some(bf_value *v, const umbel_key *keys, size_t n, uint8_t *was_new) {
    if (v->older_count == 0 && n == 1) {
        bool fresh = false;
        umbel_err e = umbel_add(v->newest, keys->data, keys->len, &fresh);
        *was_new = fresh;
        return e;
    }
    if (v->older_count == 0) return umbel_add_many(v->newest, keys, n, was_new);
    missing m;
    uint8_t known[BATCH], fresh[BATCH];
    ask_chain(v, v->older_count, keys, n, known, &m);
    umbel_err e = umbel_add_many(v->newest, m.keys, m.n, fresh);
    if (e) return e;
    memset(was_new, 0, n);
    for (size_t i = 0; i < m.n; i++) was_new[m.place[i]] = fresh[i];
    return UMBEL_OK;
}

/* The newest layer is full: the keys that the chain has anyway, then one more layer for the first
 * that it has not. */
static umbel_err pass_full(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                           uint8_t *was_new, size_t *done) {
    missing m;
    uint8_t known[BATCH];
    size_t some = n < BATCH ? n : BATCH, i = 0;
    if (v->newest->frozen) return UMBEL_EFROZEN;
    if (v->newest->shape.kind == UMBEL_COUNTING) return UMBEL_EFULL; /* it counts known keys, too */
    ask_chain(v, bf_chain_count(v), keys, some, known, &m);
    for (; i < some && known[i]; i++) was_new[i] = 0;
    *done += i;
    return i < some ? bf_chain_grow(v, max_bytes) : UMBEL_OK;
}

static umbel_err add_all(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                         uint8_t *was_new, size_t *done) {
    umbel_err e = UMBEL_OK;
    if (bf_keeps_itself(v->newest)) {
        return add_itself(v->newest, keys, n, max_bytes, was_new, done);
    }
    while (*done < n && !e) {
        size_t at = *done, some = n - at;
        uint64_t free_places = room(v);
        if (free_places == 0) {
            e = pass_full(v, keys + at, some, max_bytes, was_new + at, done);
            continue;
        }
        if (some > free_places) some = (size_t)free_places;
        if (v->older_count && some > BATCH) some = BATCH;
        e = add_some(v, keys + at, some, was_new + at);
        if (!e) *done += some;
    }
    return e;
}

umbel_err bf_value_add(bf_value *v, const umbel_key *keys, size_t n, uint64_t max_bytes,
                       uint8_t *was_new, size_t *done) {
    bf_account before = bf_account_begin(v);
    *done = 0;
    umbel_err e = add_all(v, keys, n, max_bytes, was_new, done);
    bf_account_end(v, before);
    return e;
}

/* ---- Counting ---- */

umbel_err bf_value_remove(bf_value *v, const umbel_key *key) {
    bf_account before = bf_account_begin(v);
    umbel_err e = umbel_remove(v->newest, key->data, key->len);
    bf_account_end(v, before);
    return e;
}

uint32_t bf_value_count(const bf_value *v, const umbel_key *key) {
    if (v->older_count == 0) return umbel_count(v->newest, key->data, key->len);
    uint8_t hit;
    bf_value_contains(v, key, 1, &hit);
    return hit;
}
