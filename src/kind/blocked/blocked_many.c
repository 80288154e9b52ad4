/* SPDX-License-Identifier: MIT
 *
 * blocked_many.c - batches on split-block filters: which loop, how many threads, and hashing ahead
 *
 * Small filters: the plain loop; prefetching would only cost time.  Larger ones: the ring, where
 * each step prefetches the blocks of keys RING places ahead.  Several keys per block on a filter
 * beyond the last-level cache: the bulk path, which beats one random access per key.
 *
 * Threads divide look-ups by key, since readers do not disturb each other, and adds by block: each
 * thread goes through all hashes and adds those whose blocks are its own, in their order, so that
 * bits and answers are those of a single thread.
 */
#include <stdatomic.h>

#include "core/parallel.h"
#include "kind/blocked/blocked.h"

enum {
    OWN_AT_ONCE = 2048,
    HASHED_FOR_ALL = 256 * 1024,
};

/* When several threads beat one: when there are so many keys that starting threads is nothing
 * beside them, and when they have something to do.  On a filter in the caches, fetching a hash
 * costs as much as looking it up, but keys have to be hashed. */
enum { SHARED_KEYS = 256 * 1024, SHARED_ABOVE = 4 * 1024 * 1024 /* bytes of filter */ };

static bool is_shared(const umbeli_blocked *b, size_t n, bool hashed) {
    return b->base.settings.threads > 1 && n >= SHARED_KEYS &&
           (!hashed || b->base.data_len > SHARED_ABOVE);
}

void umbeli_blocked_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                              uint64_t *hashes) {
    umbeli_blocked_of(f)->hasher->many(&f->shape, keys, n, hashes);
}

/* Keys go through a ring of their hashes: a group is hashed and its blocks are prefetched, and when
 * they have arrived, LAG groups later, they are looked at.  Hashing one group overlaps with the
 * memory accesses of the others. */
enum { GROUP = 8, LAG = 7, RING_KEYS = (LAG + 1) * GROUP };

static size_t group_at(size_t i, size_t n) {
    return n - i < GROUP ? n - i : GROUP;
}

static void hash_group(const umbeli_blocked *b, uint64_t block_bytes, const umbel_key *keys,
                       size_t n, uint64_t *hashes) {
    b->hasher->many(&b->base.shape, keys, n, hashes);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *block = b->base.data + block_bytes * umbeli_block_of(hashes[i], b->nblocks);
        __builtin_prefetch(block, 0, 3);
    }
}

static void contains_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *hit) {
    uint64_t ring[RING_KEYS], block_bytes = b->base.data_len / b->nblocks;
    for (size_t i = 0; i < n + LAG * GROUP; i += GROUP) {
        if (i < n) hash_group(b, block_bytes, keys + i, group_at(i, n), ring + i % RING_KEYS);
        if (i < LAG * GROUP) continue;
        size_t now = i - LAG * GROUP;
        b->kernel->contains_plain(b->base.data, b->nblocks, ring + now % RING_KEYS,
                                  group_at(now, n), hit + now);
    }
}

static uint64_t add_ring_of_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n,
                                 uint8_t *was_new) {
    uint64_t ring[RING_KEYS], block_bytes = b->base.data_len / b->nblocks, added = 0;
    for (size_t i = 0; i < n + LAG * GROUP; i += GROUP) {
        if (i < n) hash_group(b, block_bytes, keys + i, group_at(i, n), ring + i % RING_KEYS);
        if (i < LAG * GROUP) continue;
        size_t now = i - LAG * GROUP;
        added += b->kernel->add_plain(b->base.data, b->nblocks, ring + now % RING_KEYS,
                                      group_at(now, n), was_new ? was_new + now : NULL);
    }
    return added;
}

static void contains_hashed(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                            uint8_t *hit) {
    const umbel_filter *f = &b->base;
    if (f->data_len <= UMBELI_PLAIN_BELOW) {
        b->kernel->contains_plain(f->data, b->nblocks, hashes, n, hit);
    } else {
        b->kernel->contains_ring(f->data, b->nblocks, hashes, n, 0, hit);
    }
}

/* A look-up batch cut into one slice per thread; exactly one of keys and hashes is set. */
typedef struct slices {
    const umbeli_blocked *b;
    const umbel_key *keys;
    const uint64_t *hashes;
    size_t n;
    uint8_t *hit;
    uint32_t threads;
} slices;

static void contains_slice(void *ctx, uint32_t t) {
    const slices *s = ctx;
    size_t each = s->n / s->threads + 1;
    size_t from = t * each < s->n ? t * each : s->n;
    size_t n = s->n - from < each ? s->n - from : each;
    if (s->keys) {
        contains_keys(s->b, s->keys + from, n, s->hit + from);
    } else {
        contains_hashed(s->b, s->hashes + from, n, s->hit + from);
    }
}

static void contains_sliced(slices s) {
    s.threads = is_shared(s.b, s.n, s.hashes) ? s.b->base.settings.threads : 1;
    umbeli_parallel(s.threads, contains_slice, &s);
}

static bool is_bulk(const umbeli_blocked *b, bool adding, size_t n) {
    return umbeli_blocked_bulk_pays(b->nblocks, b->base.data_len, adding, n);
}

void umbeli_blocked_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (is_bulk(b, false, n) && umbeli_blocked_bulk_keys(b, false, keys, n, hit, NULL)) return;
    contains_sliced((slices){.b = b, .keys = keys, .n = n, .hit = hit});
}

void umbeli_blocked_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (is_bulk(b, false, n) && umbeli_blocked_bulk_hashes(b, false, hashes, n, hit, NULL)) return;
    contains_sliced((slices){.b = b, .hashes = hashes, .n = n, .hit = hit});
}

/* ---- adds by several threads -------------------------------------------------------------- */

typedef struct shared_adds {
    const umbeli_blocked *b;
    const umbel_key *keys; /* NULL: hashes were given */
    const uint64_t *hashes;
    uint64_t *hashed; /* where those of the keys go */
    size_t n;
    uint8_t *was_new;
    uint32_t threads;
    _Atomic uint64_t added;
} shared_adds;

/* The least upper half of a hash whose block belongs to thread t or a later one. */
static uint64_t first_upper(const shared_adds *a, uint32_t t) {
    uint64_t nblocks = a->b->nblocks, block = nblocks * t / a->threads;
    return ((block << 32) + nblocks - 1) / nblocks;
}

static void add_own(void *ctx, uint32_t t) {
    shared_adds *a = ctx;
    uint64_t first = first_upper(a, t), end = first_upper(a, t + 1), added = 0;
    uint64_t own[OWN_AT_ONCE];
    uint16_t at[OWN_AT_ONCE];
    uint8_t was_new[OWN_AT_ONCE];
    for (size_t from = 0; from < a->n; from += OWN_AT_ONCE) {
        size_t some = a->n - from < OWN_AT_ONCE ? a->n - from : OWN_AT_ONCE, n = 0;
        for (size_t i = 0; i < some; i++) {
            uint64_t hash = a->hashes[from + i];
            own[n] = hash;
            at[n] = (uint16_t)i;
            n += (hash >> 32) - first < end - first;
        }
        added += a->b->kernel->add_ring(a->b->base.data, a->b->nblocks, own, n, 0,
                                        a->was_new ? was_new : NULL);
        for (size_t i = 0; a->was_new && i < n; i++) a->was_new[from + at[i]] = was_new[i];
    }
    atomic_fetch_add_explicit(&a->added, added, memory_order_relaxed);
}

static void hash_slice(void *ctx, uint32_t t) {
    const shared_adds *a = ctx;
    size_t each = a->n / a->threads + 1;
    size_t from = t * each < a->n ? t * each : a->n;
    size_t n = a->n - from < each ? a->n - from : each;
    a->b->hasher->many(&a->b->base.shape, a->keys + from, n, a->hashed + from);
}

static uint64_t add_hashes_shared(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                                  uint8_t *was_new) {
    shared_adds a = {.b = b, .hashes = hashes, .n = n, .was_new = was_new};
    a.threads = b->base.settings.threads;
    umbeli_parallel(a.threads, add_own, &a);
    return atomic_load(&a.added);
}

/* False, with nothing done, when there is no memory for hashes. */
static bool add_keys_shared(const umbeli_blocked *b, const umbel_key *keys, size_t n,
                            uint8_t *was_new, uint64_t *added) {
    umbeli_array hashed;
    if (!umbeli_scratch_new(&b->base.settings, HASHED_FOR_ALL * sizeof(uint64_t), &hashed)) {
        return false;
    }
    shared_adds a = {.b = b, .threads = b->base.settings.threads};
    a.hashes = a.hashed = (uint64_t *)(void *)hashed.data;
    for (size_t from = 0; from < n; from += HASHED_FOR_ALL) {
        a.n = n - from < HASHED_FOR_ALL ? n - from : HASHED_FOR_ALL;
        a.keys = keys + from;
        a.was_new = was_new ? was_new + from : NULL;
        umbeli_parallel(a.threads, hash_slice, &a);
        umbeli_parallel(a.threads, add_own, &a);
    }
    umbeli_array_delete(&b->base.settings, &hashed);
    *added = atomic_load(&a.added);
    return true;
}

/* ---- adds --------------------------------------------------------------------------------- */

static uint64_t add_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n,
                         uint8_t *was_new) {
    uint64_t added = 0;
    if (is_bulk(b, true, n) && umbeli_blocked_bulk_keys(b, true, keys, n, was_new, &added)) {
        return added;
    }
    if (is_shared(b, n, false) && add_keys_shared(b, keys, n, was_new, &added)) return added;
    return add_ring_of_keys(b, keys, n, was_new);
}

umbel_err umbeli_blocked_add_many(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *was_new, size_t *done) {
    umbeli_count_added(f, add_keys(umbeli_blocked_of(f), keys, n, was_new));
    *done = n;
    return UMBEL_OK;
}

static uint64_t add_hashed(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                           uint8_t *was_new) {
    uint64_t added = 0;
    if (is_bulk(b, true, n) && umbeli_blocked_bulk_hashes(b, true, hashes, n, was_new, &added)) {
        return added;
    }
    if (is_shared(b, n, true)) return add_hashes_shared(b, hashes, n, was_new);
    if (b->base.data_len <= UMBELI_PLAIN_BELOW) {
        return b->kernel->add_plain(b->base.data, b->nblocks, hashes, n, was_new);
    }
    return b->kernel->add_ring(b->base.data, b->nblocks, hashes, n, 0, was_new);
}

umbel_err umbeli_blocked_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *was_new, size_t *done) {
    umbeli_count_added(f, add_hashed(umbeli_blocked_of(f), hashes, n, was_new));
    *done = n;
    return UMBEL_OK;
}
