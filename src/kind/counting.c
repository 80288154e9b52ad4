/* SPDX-License-Identifier: MIT */
#include "kind/counting.h"

#include "core/diag.h"
#include "kind/blocked.h"
#include "kind/hashed.h"
#include "kind/kind.h"

enum {
    LANE_BYTES = UMBELI_COUNTING_BLOCK / UMBELI_BLOCK_LANES,
    BLOCK_BITS = 8 * UMBELI_COUNTING_BLOCK,
    LINE = 64,
    AHEAD = 24, /* keys; each fetches two lines */
};

/* The eight counters of a key, as byte and shift. */
typedef struct counters {
    uint8_t *byte[UMBELI_BLOCK_LANES];
    unsigned shift[UMBELI_BLOCK_LANES];
} counters;

static counters counters_of(const umbel_filter *f, uint64_t hash) {
    uint64_t block = umbeli_block_of(hash, umbeli_counting_of(f)->nblocks);
    uint8_t *at = f->data + UMBELI_COUNTING_BLOCK * block;
    counters c;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        uint32_t bit = ((uint32_t)hash * umbeli_block_salts[i]) >> 27;
        c.byte[i] = at + LANE_BYTES * i + bit / 2;
        c.shift[i] = 4 * (bit % 2);
    }
    return c;
}

static unsigned value(const counters *c, int i) {
    return (*c->byte[i] >> c->shift[i]) & UMBELI_COUNTING_MOST;
}

static uint32_t least(const counters *c) {
    unsigned low = UMBELI_COUNTING_MOST;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        unsigned v = value(c, i);
        low = v < low ? v : low;
    }
    return low;
}

/* Whether any counter moved, and whether one was 0 before. */
typedef struct outcome {
    bool changed, was_new;
} outcome;

static outcome put(const counters *c) {
    outcome o = {false, false};
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        unsigned v = value(c, i);
        o.was_new |= v == 0;
        if (v == UMBELI_COUNTING_MOST) continue;
        *c->byte[i] = (uint8_t)(*c->byte[i] + (1u << c->shift[i]));
        o.changed = true;
    }
    return o;
}

static bool contains_hash(const umbel_filter *f, uint64_t hash) {
    counters c = counters_of(f, hash);
    return least(&c) > 0;
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

static uint32_t count(const umbel_filter *f, const void *key, size_t len) {
    counters c = counters_of(f, umbeli_native_hash(&f->shape, key, len));
    return least(&c);
}

static umbel_err add(umbel_filter *f, const void *key, size_t len, bool *was_new) {
    counters c = counters_of(f, umbeli_native_hash(&f->shape, key, len));
    outcome o = put(&c);
    if (o.changed) umbeli_count_added(f, 1);
    if (was_new) *was_new = o.was_new;
    return UMBEL_OK;
}

static umbel_err remove_key(umbel_filter *f, const void *key, size_t len) {
    counters c = counters_of(f, umbeli_native_hash(&f->shape, key, len));
    if (least(&c) == 0) return UMBEL_EABSENT;
    bool changed = false;
    for (int i = 0; i < UMBELI_BLOCK_LANES; i++) {
        if (value(&c, i) == UMBELI_COUNTING_MOST) continue;
        *c.byte[i] = (uint8_t)(*c.byte[i] - (1u << c.shift[i]));
        changed = true;
    }
    /* Keys that were never added may have been taken for some that were. */
    uint64_t added = umbeli_keys_added(f);
    if (changed && added > 0) {
        atomic_store_explicit(&f->keys_added, added - 1, memory_order_relaxed);
    }
    return UMBEL_OK;
}

static void fetch(const umbel_filter *f, uint64_t hash) {
    uint64_t block = umbeli_block_of(hash, umbeli_counting_of(f)->nblocks);
    const uint8_t *at = f->data + UMBELI_COUNTING_BLOCK * block;
    __builtin_prefetch(at);
    __builtin_prefetch(at + LINE);
}

static void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(f, hashes[i]);
    for (size_t i = 0; i < n; i++) {
        if (n - i > AHEAD) fetch(f, hashes[i + AHEAD]);
        hit[i] = contains_hash(f, hashes[i]);
    }
}

static umbel_err add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n, uint8_t *was_new) {
    uint64_t added = 0;
    for (size_t i = 0; i < n && i < AHEAD; i++) fetch(f, hashes[i]);
    for (size_t i = 0; i < n; i++) {
        if (n - i > AHEAD) fetch(f, hashes[i + AHEAD]);
        counters c = counters_of(f, hashes[i]);
        outcome o = put(&c);
        added += o.changed;
        if (was_new) was_new[i] = o.was_new;
    }
    umbeli_count_added(f, added);
    return UMBEL_OK;
}

static const umbeli_ops ops = {
    .size = sizeof(umbeli_counting),
    .kernel = "generic",
    .contains = contains,
    .add = add,
    .contains_many = umbeli_hashed_contains_many,
    .add_many = umbeli_hashed_add_many,
    .hash_many = umbeli_hashed_hash_many,
    .contains_hash = contains_hash,
    .contains_hashes = contains_hashes,
    .add_hashes = add_hashes,
    .unite = umbeli_counting_unite,
    .intersect = umbeli_counting_intersect,
    .subset = umbeli_counting_subset,
    .no_fold = "counting filters are not folded: fold a snapshot of it",
    .remove = remove_key,
    .count = count,
    .snapshot = umbeli_counting_snapshot,
    .measure = umbeli_counting_measure,
};

static umbel_err make(umbeli_shape shape, const uint8_t *borrow, const umbeli_memory *memory,
                      umbel_filter **out, umbel_diag *diag) {
    uint64_t nblocks = shape.bits / BLOCK_BITS;
    if (nblocks == 0 || nblocks > UINT32_MAX || shape.bits % BLOCK_BITS) {
        return umbeli_fail(diag, UMBEL_EINVAL,
                           "bits: a counting filter has 1 to 2^32-1 blocks of 1024");
    }
    shape.kind = UMBEL_COUNTING;
    shape.format = UMBEL_FMT_NATIVE;
    shape.scheme = UMBELI_SCHEME_COUNTING;
    shape.hashes = UMBELI_BLOCK_LANES;
    umbel_err e =
        umbeli_filter_new(&ops, umbeli_is_keyed(&shape) ? "counting/siphash13" : "counting/xxh3",
                          &shape, shape.bits / 8, borrow, memory, out, diag);
    if (!e) ((umbeli_counting *)*out)->nblocks = nblocks;
    return e;
}

static umbel_err create(const umbel_params *params, const umbeli_memory *memory, umbel_filter **out,
                        umbel_diag *diag) {
    if (params->concurrent) {
        return umbeli_fail(diag, UMBEL_EINVAL, "concurrent: only blocked filters can be");
    }
    umbeli_shape shape = umbeli_kind_shape(params);
    if (umbeli_bytes_alone(params)) {
        if (params->hashes && params->hashes != UMBELI_BLOCK_LANES) {
            return umbeli_fail(diag, UMBEL_EINVAL, "hashes: a counting filter always has 8");
        }
        if (params->bytes > (uint64_t)UINT32_MAX * UMBELI_COUNTING_BLOCK) {
            return umbeli_fail(diag, UMBEL_EINVAL, "bytes: a counting filter has below 512 GiB");
        }
        shape.bits = params->bytes / UMBELI_COUNTING_BLOCK * BLOCK_BITS;
    } else {
        umbel_plan plan;
        umbel_err e = umbeli_kind_plan(UMBEL_COUNTING, params, &plan, diag);
        if (e) return e;
        shape.bits = plan.bits;
        shape.capacity = plan.keys;
        shape.fpr = plan.fpr;
    }
    return make(shape, NULL, memory, out, diag);
}

static umbel_err restore(const umbeli_shape *shape, uint64_t data_len, const uint8_t *borrow,
                         const umbeli_memory *memory, umbel_filter **out, umbel_diag *diag) {
    umbel_err e = umbeli_kind_check(shape, UMBELI_SCHEME_COUNTING, diag);
    if (e) return e;
    if (shape->hashes != UMBELI_BLOCK_LANES) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "hashes: a counting filter always has 8");
    }
    if (shape->bits / 8 != data_len) {
        return umbeli_fail(diag, UMBEL_ECORRUPT, "bits and payload size disagree");
    }
    e = make(*shape, borrow, memory, out, diag);
    return e == UMBEL_EINVAL ? UMBEL_ECORRUPT : e;
}

const umbeli_kind umbeli_kind_counting = {
    .id = UMBEL_COUNTING,
    .name = "counting",
    .create = create,
    .restore = restore,
};
