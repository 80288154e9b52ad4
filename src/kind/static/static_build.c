/* SPDX-License-Identifier: MIT
 *
 * static_build.c - static filters from keys in any order, some of them twice
 *
 * Hashes go into 256 buckets as they come.  When there are no more, each bucket is sorted and rid
 * of duplicates; then the number of keys is known, and with it the layout; then each shard, a part
 * of a bucket or several buckets, is built for itself.  Buckets and shards are handed out to
 * threads one at a time and share nothing, so the bytes do not depend on who does what.
 *
 * Memory: 8 bytes a key (with a temporary file none), and for each thread two buckets or one shard
 * and its bench.
 */
#include <stdatomic.h>

#include "core/diag.h"
#include "core/parallel.h"
#include "hash/native_hash.h"
#include "kind/kind.h"
#include "kind/static/static.h"

enum { HASHED_AT_ONCE = 256, THREADS_MOST = 64 };

struct umbeli_static_builder {
    umbel_params params; /* but the pointer in it is not followed any more */
    umbeli_shape shape;  /* how keys are hashed */
    umbeli_memory memory;
    umbeli_store *store;
    uint32_t part_bits; /* at least those of a bucket and of a shard */
    uint32_t *parts;    /* [2^part_bits] keys whose hashes begin so, once they are sorted */
};

/* What the threads of one step share. */
typedef struct step {
    umbeli_static_builder *b;
    umbeli_static *filter; /* when shards are built */
    _Atomic uint32_t next; /* bucket, or group of buckets that shards begin and end with */
    uint64_t room;         /* hashes that a thread's buffers hold */
    uint64_t *buffers[THREADS_MOST], *scratch[THREADS_MOST];
    umbeli_static_bench benches[THREADS_MOST];
    umbel_err errors[THREADS_MOST];
    umbel_diag diags[THREADS_MOST];
} step;

umbel_err umbeli_static_builder_new(const umbel_params *params, const char *directory,
                                    const umbeli_memory *memory, umbeli_static_builder **out,
                                    umbel_diag *diag) {
    if (params->fpr == 0 && params->bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr, bytes: a static filter needs one of them");
    }
    if (params->hashes != 0 && params->hashes != 3 && params->hashes != 4) {
        return umbeli_fail(diag, UMBEL_EINVAL, "hashes: a static filter has 3 or 4");
    }
    umbeli_static_builder *b = umbeli_new(memory, sizeof *b);
    if (!b) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory for a builder");
    b->params = *params;
    b->shape = umbeli_kind_shape(params);
    b->memory = *memory;
    if (b->memory.threads > THREADS_MOST) b->memory.threads = THREADS_MOST;
    umbel_err e = umbeli_store_new(directory, memory, &b->store, diag);
    if (e) {
        umbeli_delete(memory, b);
        return e;
    }
    *out = b;
    return UMBEL_OK;
}

void umbeli_static_builder_delete(umbeli_static_builder *b) {
    if (!b) return;
    umbeli_memory memory = b->memory;
    umbeli_store_delete(b->store);
    umbeli_delete(&memory, b->parts);
    umbeli_delete(&memory, b);
}

umbel_err umbeli_static_builder_add(umbeli_static_builder *b, const umbel_key *keys, size_t n,
                                    umbel_diag *diag) {
    uint64_t hashes[HASHED_AT_ONCE];
    umbel_err e = UMBEL_OK;
    for (size_t from = 0; from < n && !e; from += HASHED_AT_ONCE) {
        size_t some = n - from < HASHED_AT_ONCE ? n - from : HASHED_AT_ONCE;
        umbeli_native_hashes(&b->shape, keys + from, some, hashes);
        e = umbeli_store_add(b->store, hashes, some, diag);
    }
    return e;
}

/* ---- steps -------------------------------------------------------------------------------- */

static void step_delete(step *s) {
    const umbeli_memory *memory = &s->b->memory;
    for (uint32_t t = 0; t < memory->threads; t++) {
        umbeli_delete(memory, s->buffers[t]);
        umbeli_delete(memory, s->scratch[t]);
        umbeli_static_bench_delete(memory, &s->benches[t]);
    }
}

/* Buffers for every thread; and a second one to sort with, or a bench to build on. */
static umbel_err step_new(step *s, uint64_t room, uint64_t fullest, umbel_diag *diag) {
    const umbeli_memory *memory = &s->b->memory;
    size_t len = (size_t)(room + 1) * sizeof(uint64_t);
    umbel_err e = UMBEL_OK;
    s->room = room;
    for (uint32_t t = 0; t < memory->threads && !e; t++) {
        s->buffers[t] = umbeli_new(memory, len);
        if (!s->buffers[t]) e = UMBEL_ENOMEM;
        if (!e && s->filter) {
            e = umbeli_static_bench_new(&s->filter->layout, fullest, memory, &s->benches[t]);
        } else if (!e) {
            s->scratch[t] = umbeli_new(memory, len);
            if (!s->scratch[t]) e = UMBEL_ENOMEM;
        }
    }
    if (!e) return UMBEL_OK;
    step_delete(s);
    return umbeli_fail(diag, e, "no memory to build in");
}

/* Runs it and tidies up: the error of the first thread that has one. */
static umbel_err step_run(step *s, void (*work)(void *, uint32_t), umbel_diag *diag) {
    umbeli_parallel(s->b->memory.threads, work, s);
    step_delete(s);
    for (uint32_t t = 0; t < s->b->memory.threads; t++) {
        if (!s->errors[t]) continue;
        if (diag) *diag = s->diags[t];
        return s->errors[t];
    }
    return UMBEL_OK;
}

/* ---- sorting ------------------------------------------------------------------------------ */

/* How many of n sorted hashes are below this one. */
static size_t below(const uint64_t *hashes, size_t n, uint64_t hash) {
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (hashes[middle] < hash) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return low;
}

static void count_parts(umbeli_static_builder *b, uint32_t bucket, const uint64_t *hashes,
                        size_t n) {
    uint32_t each = 1u << (b->part_bits - UMBELI_STORE_BITS);
    for (uint32_t i = 0; i < each; i++) {
        uint64_t part = (uint64_t)bucket * each + i, after = part + 1;
        size_t count = after >> b->part_bits ? n : below(hashes, n, after << (64 - b->part_bits));
        b->parts[part] = (uint32_t)count;
        hashes += count;
        n -= count;
    }
}

static void sort_buckets(void *ctx, uint32_t t) {
    step *s = ctx;
    umbeli_store *store = s->b->store;
    while (!s->errors[t]) {
        uint32_t bucket = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (bucket >= UMBELI_STORE_BUCKETS) return;
        uint64_t *hashes = s->buffers[t], n = umbeli_store_count(store, bucket);
        s->errors[t] = umbeli_store_load(store, bucket, hashes, &s->diags[t]);
        if (s->errors[t]) return;
        n = umbeli_static_sort(hashes, s->scratch[t], (size_t)n);
        count_parts(s->b, bucket, hashes, (size_t)n);
        s->errors[t] = umbeli_store_replace(store, bucket, hashes, n, &s->diags[t]);
    }
}

static uint64_t fullest_bucket(const umbeli_store *store) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < UMBELI_STORE_BUCKETS; i++) {
        uint64_t n = umbeli_store_count(store, i);
        most = n > most ? n : most;
    }
    return most;
}

static umbel_err sort_all(umbeli_static_builder *b, umbel_diag *diag) {
    umbeli_static_layout most = {0}; /* shards, if no key came twice */
    uint64_t n = 0;
    for (uint32_t i = 0; i < UMBELI_STORE_BUCKETS; i++) n += umbeli_store_count(b->store, i);
    if (!umbeli_static_divide(n, 0, 0, &most)) most.shard_bits = UMBELI_STATIC_SHARD_BITS;
    b->part_bits = most.shard_bits > UMBELI_STORE_BITS ? most.shard_bits : UMBELI_STORE_BITS;
    umbeli_delete(&b->memory, b->parts);
    b->parts = umbeli_new(&b->memory, ((size_t)1 << b->part_bits) * sizeof *b->parts);
    if (!b->parts) return umbeli_fail(diag, UMBEL_ENOMEM, "no memory to build in");
    step s = {.b = b};
    umbel_err e = step_new(&s, fullest_bucket(b->store), 0, diag);
    return e ? e : step_run(&s, sort_buckets, diag);
}

/* ---- shards ------------------------------------------------------------------------------- */

/* Buckets are taken in groups: one, if it is several shards, or as many as make one shard. */
static uint32_t group_len(const umbeli_static_layout *l) {
    return l->shard_bits >= UMBELI_STORE_BITS ? 1u : 1u << (UMBELI_STORE_BITS - l->shard_bits);
}

static umbel_err load_group(const step *s, uint32_t group, uint64_t *hashes, uint64_t *n,
                            umbel_diag *diag) {
    uint32_t len = group_len(&s->filter->layout);
    umbel_err e = UMBEL_OK;
    *n = 0;
    for (uint32_t i = 0; i < len && !e; i++) {
        e = umbeli_store_load(s->b->store, group * len + i, hashes + *n, diag);
        *n += umbeli_store_count(s->b->store, group * len + i);
    }
    return e;
}

static umbel_err build_shards(step *s, uint32_t t, uint64_t n, uint64_t first, uint64_t count) {
    const umbeli_static_layout *l = &s->filter->layout;
    const uint64_t *hashes = s->buffers[t];
    for (uint64_t shard = first, from = 0; shard < first + count; shard++) {
        uint64_t to = from;
        while (to < n && umbeli_static_shard(l, hashes[to]) == shard) to++;
        uint8_t seed = umbeli_static_build_shard(l, &s->benches[t], hashes + from,
                                                 (size_t)(to - from), umbeli_static_width(l, shard),
                                                 umbeli_static_table(s->filter, shard));
        if (seed == 0) {
            return umbeli_fail(&s->diags[t], UMBEL_EINVAL,
                               "seed: the keys fit no table under it; another seed will do");
        }
        s->filter->base.data[shard] = seed;
        from = to;
    }
    return UMBEL_OK;
}

static void build_groups(void *ctx, uint32_t t) {
    step *s = ctx;
    const umbeli_static_layout *l = &s->filter->layout;
    uint32_t groups = UMBELI_STORE_BUCKETS / group_len(l);
    uint64_t each = umbeli_static_shards(l) / groups; /* at least 1 */
    while (!s->errors[t]) {
        uint32_t group = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (group >= groups) return;
        uint64_t n;
        s->errors[t] = load_group(s, group, s->buffers[t], &n, &s->diags[t]);
        if (!s->errors[t]) s->errors[t] = build_shards(s, t, n, group * each, each);
    }
}

/* The most hashes of a group of buckets. */
static uint64_t fullest_group(const umbeli_store *store, uint32_t len) {
    uint64_t most = 0;
    for (uint32_t first = 0; first < UMBELI_STORE_BUCKETS; first += len) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < len; i++) n += umbeli_store_count(store, first + i);
        most = n > most ? n : most;
    }
    return most;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static umbel_err choose_widths(const umbel_params *p, umbeli_static_layout *l, uint64_t keys,
                               umbel_diag *diag) {
    if (p->bytes == 0) {
        if (umbeli_static_widths_for_rate(l, keys, p->fpr)) return UMBEL_OK;
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: a static filter has 2^-32 at least");
    }
    if (!umbeli_static_widths_for_bytes(l, p->bytes)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: fewer than a bit for each slot of the keys");
    }
    if (p->fpr != 0 && umbeli_static_rate(l, keys) > p->fpr) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for fpr with so many keys");
    }
    return UMBEL_OK;
}

static umbel_err build(umbeli_static_builder *b, uint64_t keys, const umbeli_static_layout *l,
                       uint64_t fullest, umbel_filter **out, umbel_diag *diag) {
    double rate = umbeli_static_rate(l, keys);
    umbeli_shape shape = b->shape;
    shape.capacity = keys;
    shape.fpr = b->params.fpr != 0 ? b->params.fpr : rate;
    umbel_filter *f = NULL;
    umbel_err e = umbeli_static_new(l, shape, &b->memory, &f, diag);
    if (e) return e;
    umbeli_set_keys_added(f, keys);
    if (keys > 0) {
        step s = {.b = b, .filter = (umbeli_static *)f};
        e = step_new(&s, fullest_group(b->store, group_len(l)), fullest, diag);
        if (!e) e = step_run(&s, build_groups, diag);
    }
    if (e) {
        umbeli_filter_free(f);
        return e;
    }
    *out = f;
    return UMBEL_OK;
}

/* The most keys of one shard, from counts of equal or smaller parts. */
static uint64_t fullest_shard(const umbeli_static_builder *b, uint32_t shard_bits) {
    size_t each = (size_t)1 << (b->part_bits - shard_bits), parts = (size_t)1 << b->part_bits;
    uint64_t most = 0;
    for (size_t first = 0; first < parts; first += each) {
        uint64_t n = 0;
        for (size_t i = 0; i < each; i++) n += b->parts[first + i];
        most = n > most ? n : most;
    }
    return most;
}

umbel_err umbeli_static_builder_finish(umbeli_static_builder *b, umbel_filter **out,
                                       umbel_diag *diag) {
    umbeli_static_layout l;
    umbel_err e = sort_all(b, diag);
    if (e) return e;
    uint64_t keys = 0;
    for (uint32_t i = 0; i < UMBELI_STORE_BUCKETS; i++) keys += umbeli_store_count(b->store, i);
    if (!umbeli_static_divide(keys, b->params.hashes, 0, &l)) {
        return umbeli_fail(diag, UMBEL_EINVAL, "keys: too many for a static filter");
    }
    uint64_t fullest = fullest_shard(b, l.shard_bits);
    if (fullest > 2 * umbeli_static_room(keys, l.shard_bits)) {
        return umbeli_fail(diag, UMBEL_EINVAL,
                           "seed: the keys' hashes are uneven under it; another seed will do");
    }
    umbeli_static_divide(keys, b->params.hashes, fullest, &l);
    e = choose_widths(&b->params, &l, keys, diag);
    return e ? e : build(b, keys, &l, fullest, out, diag);
}
