/* SPDX-License-Identifier: MIT */
#include "kind/chain/window.h"

#include <string.h>

#include "kind/hash_batches.h"

enum { BATCH = UMBELI_LAYERS_BATCH };

static umbel_err advance(umbel_filter *f) {
    umbeli_window *w = (umbeli_window *)f;
    w->newest = (w->newest + 1) % w->nlayers;
    umbeli_layer *fresh = &w->layers[w->newest];
    memset(f->data + fresh->at, 0, (size_t)(UMBELI_BLOCK_BYTES * fresh->nblocks));
    fresh->keys = 0;
    return UMBEL_OK;
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_window *w = umbeli_window_of(f);
    return umbeli_layers_contain(w->kernel, f->data, w->layers, w->nlayers, hash);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

static void contains_batch(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    const umbeli_window *w = umbeli_window_of(f);
    umbeli_layers_contain_batch(w->kernel, f->data, w->layers, w->nlayers, hashes, n, hit);
}

/* Whether the generations before the newest have them: those before it in the ring, and behind. */
static void ask_older(const umbeli_window *w, const uint64_t *hashes, size_t n, uint8_t *hit) {
    uint8_t more[BATCH];
    const uint8_t *data = w->base.data;
    uint32_t behind = w->newest + 1;
    umbeli_layers_contain_batch(w->kernel, data, w->layers, w->newest, hashes, n, hit);
    umbeli_layers_contain_batch(w->kernel, data, w->layers + behind, w->nlayers - behind, hashes, n,
                                more);
    for (size_t i = 0; i < n; i++) hit[i] |= more[i];
}

/* All into the newest generation; new are those that changed it and that no other has. */
static void add_some(umbeli_window *w, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint8_t old[BATCH];
    uint64_t added = 0;
    ask_older(w, hashes, n, old);
    umbeli_layer_add(w->kernel, w->base.data, &w->layers[w->newest], hashes, n, was_new);
    for (size_t i = 0; i < n; i++) {
        was_new[i] = was_new[i] && !old[i];
        added += was_new[i];
    }
    umbeli_count_added(&w->base, added);
}

/* At most BATCH.  A full generation is left when the next key comes. */
static void add_batch(umbeli_window *w, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    while (n > 0) {
        const umbeli_layer *newest = &w->layers[w->newest];
        size_t some = n;
        if (!w->manual) {
            if (newest->keys >= newest->capacity) {
                advance(&w->base);
                newest = &w->layers[w->newest];
            }
            uint64_t room = newest->capacity - newest->keys;
            some = n < room ? n : (size_t)room;
        }
        add_some(w, hashes, some, was_new);
        hashes += some;
        was_new += some;
        n -= some;
    }
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    uint64_t hash = umbeli_native_hash(&f->shape, key, len);
    uint8_t is_new = 0;
    add_batch((umbeli_window *)f, &hash, 1, &is_new);
    if (was_new) *was_new = is_new;
    return UMBEL_OK;
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint8_t ignored[BATCH];
    for (size_t from = 0; from < n; from += BATCH) {
        size_t some = n - from < BATCH ? n - from : BATCH;
        add_batch((umbeli_window *)f, hashes + from, some, was_new ? was_new + from : ignored);
    }
    return UMBEL_OK;
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    for (size_t from = 0; from < n; from += BATCH) {
        contains_batch(f, hashes + from, n - from < BATCH ? n - from : BATCH, hit + from);
    }
}

static void clear(umbel_filter *f) {
    umbeli_window *w = (umbeli_window *)f;
    w->newest = 0;
    for (uint32_t i = 0; i < w->nlayers; i++) w->layers[i].keys = 0;
}

static umbel_err copy(umbel_filter *into, const umbel_filter *from) {
    umbeli_window *w = (umbeli_window *)into;
    size_t len = w->nlayers * sizeof *w->layers;
    w->layers = umbeli_new(&into->memory, len);
    if (!w->layers) return UMBEL_ENOMEM;
    memcpy(w->layers, umbeli_window_of(from)->layers, len);
    return UMBEL_OK;
}

static void dispose(umbel_filter *f) {
    umbeli_delete(&f->memory, ((umbeli_window *)f)->layers);
}

static void relocate(umbel_filter *f, const umbeli_mover *mover) {
    umbeli_window *w = (umbeli_window *)f;
    w->layers = mover->move(mover->ctx, w->layers);
}

static void measure(const umbel_filter *f, umbel_info *info) {
    const umbeli_window *w = umbeli_window_of(f);
    info->kernel = w->kernel->name;
    umbeli_layers_measure(f->data, w->layers, w->nlayers, info);
}

const umbeli_ops umbeli_window_ops = {
    .size = sizeof(umbeli_window),
    .kernel = "blocked",
    .contains = contains,
    .add = add,
    .contains_many = umbeli_hashed_contains_many,
    .add_many = umbeli_hashed_add_many,
    .hash_many = umbeli_hashed_hash_many,
    .contains_hash = contains_hash,
    .contains_hashes = contains_hashes,
    .add_hashes = add_hashes,
    .no_sets = "windows are about the order in which their keys came, and two of them have none "
               "together",
    .no_fold = "a window has the size that its generations need: nothing to fold",
    .advance = advance,
    .copy = copy,
    .dispose = dispose,
    .relocate = relocate,
    .clear = clear,
    .measure = measure,
};
