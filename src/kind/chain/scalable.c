/* SPDX-License-Identifier: MIT */
#include "kind/chain/scalable.h"

#include <string.h>

#include "core/size.h"
#include "kind/hash_batches.h"
#include "plan/plan.h"

enum { BATCH = UMBELI_LAYERS_BATCH };

/* ---- growing ------------------------------------------------------------------------------ */

/* The layer that follows the last one; UMBEL_EFULL when there may not be one. */
static umbel_err next_layer(const umbeli_scalable *s, umbeli_layer *next) {
    if (s->nlayers >= s->layers_most) return UMBEL_EFULL;
    umbel_plan plan = {
        .kind = UMBEL_BLOCKED,
        .fpr = s->base.shape.fpr * umbeli_scalable_share(s->nlayers),
    };
    uint64_t keys = s->layers[s->nlayers - 1].capacity;
    if (!umbeli_size_mul(keys, s->expansion, &plan.keys)) return UMBEL_EFULL;
    if (umbeli_plan_solve(&plan)) return UMBEL_EFULL;
    *next = (umbeli_layer){
        .at = s->base.data_len,
        .nblocks = plan.bytes / UMBELI_BLOCK_BYTES,
        .capacity = plan.keys,
    };
    return UMBEL_OK;
}

static umbel_err grow(umbeli_scalable *s) {
    umbel_filter *f = &s->base;
    umbeli_layer next;
    umbel_err e = next_layer(s, &next);
    if (e) return e;
    uint64_t len = f->data_len + UMBELI_BLOCK_BYTES * next.nblocks;
    umbeli_array larger;
    e = umbeli_array_new(&f->memory, len, &larger, NULL);
    if (e) return e == UMBEL_ELIMIT ? UMBEL_EFULL : e;
    memcpy(larger.data, f->data, (size_t)f->data_len);
    umbeli_array_delete(&f->memory, &f->array);
    f->array = larger;
    f->data = larger.data;
    f->data_len = len;
    f->shape.bits = 8 * len;
    s->layers[s->nlayers++] = next;
    return UMBEL_OK;
}

/* ---- keys --------------------------------------------------------------------------------- */

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_scalable *s = umbeli_scalable_of(f);
    return umbeli_layers_contain(s->kernel, f->data, s->layers, s->nlayers, hash);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

static void contains_batch(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    const umbeli_scalable *s = umbeli_scalable_of(f);
    umbeli_layers_contain_batch(s->kernel, f->data, s->layers, s->nlayers, hashes, n, hit);
}

/* At most as many as the last layer has room for: those that no older layer has go there. */
static void add_some(umbeli_scalable *s, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint64_t fresh[BATCH];
    uint16_t place[BATCH];
    uint8_t old[BATCH], changed[BATCH];
    umbel_filter *f = &s->base;
    umbeli_layers_contain_batch(s->kernel, f->data, s->layers, s->nlayers - 1, hashes, n, old);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        was_new[i] = 0;
        fresh[count] = hashes[i];
        place[count] = (uint16_t)i;
        count += !old[i];
    }
    umbeli_layer *last = &s->layers[s->nlayers - 1];
    umbeli_count_added(f, umbeli_layer_add(s->kernel, f->data, last, fresh, count, changed));
    for (size_t i = 0; i < count; i++) was_new[place[i]] = changed[i];
}

/* At most BATCH.  A full filter grows when a key comes that it does not have, not before. */
static umbel_err add_batch(umbeli_scalable *s, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    while (n > 0) {
        const umbeli_layer *last = &s->layers[s->nlayers - 1];
        uint64_t room = last->capacity - last->keys;
        size_t some = n < room ? n : (size_t)room;
        if (room > 0) {
            add_some(s, hashes, some, was_new);
        } else {
            while (some < n && contains_hash(&s->base, hashes[some])) was_new[some++] = 0;
            umbel_err e = some < n ? grow(s) : UMBEL_OK;
            if (e) return e;
        }
        hashes += some;
        was_new += some;
        n -= some;
    }
    return UMBEL_OK;
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint64_t hash = umbeli_native_hash(&f->shape, key, len);
    uint8_t is_new = 0;
    umbel_err e = add_batch((umbeli_scalable *)f, &hash, 1, &is_new);
    if (!e && was_new) *was_new = is_new;
    return e;
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint8_t ignored[BATCH];
    umbel_err e = UMBEL_OK;
    for (size_t from = 0; from < n && !e; from += BATCH) {
        size_t some = n - from < BATCH ? n - from : BATCH;
        e = add_batch((umbeli_scalable *)f, hashes + from, some,
                      was_new ? was_new + from : ignored);
    }
    return e;
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    for (size_t from = 0; from < n; from += BATCH) {
        contains_batch(f, hashes + from, n - from < BATCH ? n - from : BATCH, hit + from);
    }
}

/* Back to the first layer; the memory of the others goes when it grows again. */
static void clear(umbel_filter *f) {
    umbeli_scalable *s = (umbeli_scalable *)f;
    s->nlayers = 1;
    s->layers[0].keys = 0;
    f->data_len = UMBELI_BLOCK_BYTES * s->layers[0].nblocks;
    f->shape.bits = 8 * f->data_len;
}

static void measure(const umbel_filter *f, umbel_info *info) {
    const umbeli_scalable *s = umbeli_scalable_of(f);
    info->kernel = s->kernel->name;
    umbeli_layers_measure(f->data, s->layers, s->nlayers, info);
}

const umbeli_ops umbeli_scalable_ops = {
    .size = sizeof(umbeli_scalable),
    .kernel = "blocked",
    .contains = contains,
    .add = add,
    .contains_many = umbeli_hashed_contains_many,
    .add_many = umbeli_hashed_add_many,
    .hash_many = umbeli_hashed_hash_many,
    .contains_hash = contains_hash,
    .contains_hashes = contains_hashes,
    .add_hashes = add_hashes,
    .no_sets = "scalable filters of the same keys can differ in their layers: add the keys of one "
               "to the other",
    .no_fold = "a scalable filter is never larger than it had to become: nothing to fold",
    .clear = clear,
    .measure = measure,
};
