/* SPDX-License-Identifier: MIT
 *
 * blocked_many.c - batches on split-block filters: which loop, how many threads, and hashing ahead
 *
 * Small filters and small batches take the plain loop, because prefetching would only cost time.
 * Others take the ring, where each step prefetches the blocks of keys RING places ahead.
 *
 * Threads divide lookups by key, since readers do not disturb each other, and adds by block: first
 * each thread deals a slice of the hashes out to the owners of their blocks, then each adds what it
 * was dealt, in the order of the keys, so that bits and answers are those of a single thread.
 */
#include <math.h>
#include <stdatomic.h>

#include "core/cpu.h"
#include "core/parallel.h"
#include "core/platform.h"
#include "kind/blocked/blocked.h"

enum { CHUNK = 4096, SMALL_BATCH = 64, NUMBER = 8 /* bytes */ };

static bool is_plain(const umbeli_blocked *b, size_t n) {
    return b->base.data_len <= UMBELI_PLAIN_BELOW || n < SMALL_BATCH;
}

/* Numbers, which are hashed in a fraction of the time that their blocks take, and many keys whose
 * blocks are in cache, are hashed first, CHUNK at a time, and then treated as if their hashes had
 * been given; so are keys whose hash takes longer than their blocks, and a few where the kernel has
 * no loops over keys.  The first key decides for all; a wrong guess only costs time. */
static bool is_hashed_first(const umbeli_blocked *b, const umbel_key *keys, size_t n) {
    bool is_long = n >= UMBELI_LONG_BATCH;
    if (b->hasher->one != umbeli_xxh3_one || (!is_long && !b->kernel->contains_keys)) return true;
    return n == 0 || keys[0].len <= NUMBER || (is_long && is_plain(b, n));
}

/* Several threads beat one when there are enough keys to pay for starting them, and enough work per
 * key.  If the filter is in cache, fetching a hash costs as much as looking it up, and dealing it
 * out for an add costs more: there threads pay only for keys that take long to hash. */
enum {
    SHARED_KEYS = 256 * 1024,
    SHARED_ABOVE = 4 * 1024 * 1024, /* bytes of filter */
    SHARED_ADDS_ABOVE = 16 * 1024 * 1024,
};

static bool is_shared(const umbeli_blocked *b, bool adding, const umbel_key *keys, size_t n) {
    if (!UMBELI_HAVE_THREADS || b->base.settings.threads < 2 || n < SHARED_KEYS) return false;
    bool quick = !keys || keys[0].len <= NUMBER;
    if (!adding && !quick) return true;
    return b->base.data_len > (adding && quick ? SHARED_ADDS_ABOVE : SHARED_ABOVE);
}

void umbeli_blocked_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                              uint64_t *hashes) {
    umbeli_blocked_of(f)->hasher->many(&f->shape, keys, n, hashes);
}

static void contains_hashed(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                            uint8_t *hit) {
    (is_plain(b, n) ? b->kernel->contains_plain
                    : b->kernel->contains_ring)(b->base.data, b->nblocks, hashes, n, hit);
}

/* Hashes a group of keys, fetches their blocks, and looks up or, without `hit`, adds the group that
 * was hashed AHEAD keys before. */
static uint64_t in_turns(const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *hit,
                         uint8_t *was_new) {
    enum { GROUP = 16, AHEAD = 64, RING = AHEAD + GROUP };
    const uint64_t block_bytes = b->base.data_len / b->nblocks;
    const bool is_far = umbeli_is_far(b->base.data_len);
    uint64_t ring[RING], added = 0;
    for (size_t i = 0; i < n + AHEAD; i += GROUP) {
        uint64_t *turn = ring + i % RING;
        size_t left = i < n ? (n - i < GROUP ? n - i : GROUP) : 0;
        b->hasher->many(&b->base.shape, keys + i, left, turn);
        for (size_t j = 0; j < left; j++) {
            umbeli_fetch(b->base.data + umbeli_block_of(turn[j], b->nblocks) * block_bytes, is_far);
        }
        if (i < AHEAD) continue;
        size_t at = i - AHEAD, now = n - at < GROUP ? n - at : GROUP;
        if (hit) {
            b->kernel->contains_plain(b->base.data, b->nblocks, ring + at % RING, now, hit + at);
        } else {
            added += b->kernel->add_plain(b->base.data, b->nblocks, ring + at % RING, now,
                                          was_new ? was_new + at : NULL);
        }
    }
    return added;
}

static void contains_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *hit) {
    uint64_t hashes[CHUNK];
    if (!is_hashed_first(b, keys, n)) {
        if (b->kernel->contains_keys) {
            b->kernel->contains_keys(b, keys, n, hit);
        } else {
            in_turns(b, keys, n, hit, NULL);
        }
        return;
    }
    for (size_t i = 0, chunk; i < n; i += chunk) {
        chunk = n - i < CHUNK ? n - i : CHUNK;
        b->hasher->many(&b->base.shape, keys + i, chunk, hashes);
        contains_hashed(b, hashes, chunk, hit + i);
    }
}

/* A batch of lookups, divided into a slice for each thread.  Either keys or hashes is set. */
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

void umbeli_blocked_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (!is_shared(b, false, keys, n)) {
        contains_keys(b, keys, n, hit);
        return;
    }
    slices s = {.b = b, .keys = keys, .n = n, .hit = hit, .threads = f->settings.threads};
    umbeli_parallel(s.threads, contains_slice, &s);
}

void umbeli_blocked_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (!is_shared(b, false, NULL, n)) {
        contains_hashed(b, hashes, n, hit);
        return;
    }
    slices s = {.b = b, .hashes = hashes, .n = n, .hit = hit, .threads = f->settings.threads};
    umbeli_parallel(s.threads, contains_slice, &s);
}

static uint64_t add_hashed(const umbeli_blocked *b, const uint64_t *hashes, size_t n,
                           uint8_t *was_new) {
    if (b->shards) return umbeli_shards_add(b, hashes, n, was_new);
    return (is_plain(b, n) ? b->kernel->add_plain : b->kernel->add_ring)(b->base.data, b->nblocks,
                                                                         hashes, n, was_new);
}

/* ---- adds by several threads -------------------------------------------------------------- */

enum {
    DEALT_AT_ONCE = 1024 * 1024, /* keys: 8 MiB of scratch memory */
    HASHED_AT_ONCE = 512,
    MAX_OWNERS = 64, /* an owner's number is a byte */
};

typedef struct shared_adds {
    const umbeli_blocked *b;
    const umbel_key *keys; /* NULL: hashes were given */
    const uint64_t *hashes;
    size_t n;
    uint8_t *was_new; /* or NULL; holds each key's owner until its answer */
    uint64_t *dealt;  /* [thread][owner][room]; once added, their answers, a byte each */
    size_t room;
    uint64_t scale; /* owner = block * scale >> 32 */
    uint32_t threads;
    uint64_t *counts; /* [thread][MAX_OWNERS]: how many each owner was dealt; whole lines */
    _Atomic bool overflow;
    _Atomic uint64_t added;
} shared_adds;

typedef struct slice {
    size_t from, n;
} slice;

static slice slice_of(size_t n, uint32_t threads, uint32_t t) {
    size_t each = n / threads + 1, from = t * each < n ? t * each : n;
    return (slice){from, n - from < each ? n - from : each};
}

static uint64_t *dealt_to(const shared_adds *a, uint32_t t, uint32_t owner) {
    return a->dealt + ((size_t)t * a->threads + owner) * a->room;
}

static uint64_t *counts_of(const shared_adds *a, uint32_t t) {
    return a->counts + (size_t)t * MAX_OWNERS;
}

/* False when an owner gets more than its room. */
static bool deal_slice(shared_adds *a, uint32_t t, const uint64_t *hashes, size_t n,
                       uint8_t *owners) {
    uint64_t nblocks = a->b->nblocks, scale = a->scale, *to = dealt_to(a, t, 0);
    uint64_t *counts = counts_of(a, t), room = a->room;
    for (size_t i = 0; i < n; i++) {
        uint64_t owner = umbeli_block_of(hashes[i], nblocks) * scale >> 32;
        uint64_t at = counts[owner]++;
        if (at >= room) return false;
        to[owner * room + at] = hashes[i];
        if (owners) owners[i] = (uint8_t)owner;
    }
    return true;
}

static void deal(void *ctx, uint32_t t) {
    shared_adds *a = ctx;
    slice s = slice_of(a->n, a->threads, t);
    uint64_t hashed[HASHED_AT_ONCE];
    bool fits = true;
    for (uint32_t owner = 0; owner < a->threads; owner++) counts_of(a, t)[owner] = 0;
    for (size_t end = s.from + s.n, i = s.from; fits && i < end; i += HASHED_AT_ONCE) {
        size_t n = end - i < HASHED_AT_ONCE ? end - i : HASHED_AT_ONCE;
        if (a->keys) a->b->hasher->many(&a->b->base.shape, a->keys + i, n, hashed);
        fits = deal_slice(a, t, a->keys ? hashed : a->hashes + i, n,
                          a->was_new ? a->was_new + i : NULL);
    }
    if (!fits) atomic_store_explicit(&a->overflow, true, memory_order_relaxed);
}

static void add_dealt(void *ctx, uint32_t owner) {
    shared_adds *a = ctx;
    uint64_t added = 0;
    for (uint32_t t = 0; t < a->threads; t++) {
        uint64_t *hashes = dealt_to(a, t, owner);
        /* In place: answer n is at byte n, before hash n + 1 at byte 8 (n + 1). */
        added += add_hashed(a->b, hashes, (size_t)counts_of(a, t)[owner],
                            a->was_new ? (uint8_t *)hashes : NULL);
    }
    atomic_fetch_add_explicit(&a->added, added, memory_order_relaxed);
}

static void collect_answers(void *ctx, uint32_t t) {
    const shared_adds *a = ctx;
    slice s = slice_of(a->n, a->threads, t);
    const uint8_t *next[MAX_OWNERS];
    for (uint32_t owner = 0; owner < a->threads; owner++) {
        next[owner] = (const uint8_t *)dealt_to(a, t, owner);
    }
    for (size_t i = s.from; i < s.from + s.n; i++) a->was_new[i] = *next[a->was_new[i]]++;
}

/* Hashes spread evenly, so every owner gets room for the mean and eight standard deviations.  If
 * that is not enough (one key very often, say), several threads have little to share anyway. */
static size_t room_of(size_t n, uint32_t threads) {
    double mean = (double)n / threads / threads + 1;
    return (size_t)(mean + 8 * sqrt(mean)) + 8;
}

static uint64_t add_alone(const umbeli_blocked *b, const umbel_key *keys, const uint64_t *hashes,
                          size_t n, uint8_t *was_new);

static void add_batch(shared_adds *a) {
    atomic_store(&a->overflow, false);
    umbeli_parallel(a->threads, deal, a);
    if (atomic_load(&a->overflow)) {
        uint64_t added = add_alone(a->b, a->keys, a->hashes, a->n, a->was_new);
        atomic_fetch_add(&a->added, added);
        return;
    }
    umbeli_parallel(a->threads, add_dealt, a);
    if (a->was_new) umbeli_parallel(a->threads, collect_answers, a);
}

/* Exactly one of keys and hashes is set.  False, with nothing done, when there is no memory. */
static bool add_shared(const umbeli_blocked *b, const umbel_key *keys, const uint64_t *hashes,
                       size_t n, uint8_t *was_new, uint64_t *added) {
    shared_adds a = {.b = b, .threads = b->base.settings.threads};
    if (a.threads > MAX_OWNERS) a.threads = MAX_OWNERS;
    a.scale = ((uint64_t)a.threads << 32) / b->nblocks;
    a.room = room_of(n < DEALT_AT_ONCE ? n : DEALT_AT_ONCE, a.threads);
    umbeli_array dealt;
    uint64_t counts = (uint64_t)a.threads * MAX_OWNERS;
    uint64_t words = counts + (uint64_t)a.threads * a.threads * a.room;
    if (!umbeli_scratch_new(&b->base.settings, words * sizeof *hashes, &dealt)) return false;
    a.counts = (uint64_t *)(void *)dealt.data;
    a.dealt = a.counts + counts;
    for (size_t from = 0; from < n; from += DEALT_AT_ONCE) {
        a.n = n - from < DEALT_AT_ONCE ? n - from : DEALT_AT_ONCE;
        a.keys = keys ? keys + from : NULL;
        a.hashes = hashes ? hashes + from : NULL;
        a.was_new = was_new ? was_new + from : NULL;
        add_batch(&a);
    }
    umbeli_array_delete(&b->base.settings, &dealt);
    *added = atomic_load(&a.added);
    return true;
}

/* ---- adds --------------------------------------------------------------------------------- */

static uint64_t add_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n,
                         uint8_t *was_new) {
    uint64_t hashes[CHUNK], added = 0;
    if (!b->shards && !is_hashed_first(b, keys, n)) {
        return b->kernel->add_keys ? b->kernel->add_keys(b, keys, n, was_new)
                                   : in_turns(b, keys, n, NULL, was_new);
    }
    for (size_t i = 0, chunk; i < n; i += chunk) {
        chunk = n - i < CHUNK ? n - i : CHUNK;
        b->hasher->many(&b->base.shape, keys + i, chunk, hashes);
        added += add_hashed(b, hashes, chunk, was_new ? was_new + i : NULL);
    }
    return added;
}

static uint64_t add_alone(const umbeli_blocked *b, const umbel_key *keys, const uint64_t *hashes,
                          size_t n, uint8_t *was_new) {
    return keys ? add_keys(b, keys, n, was_new) : add_hashed(b, hashes, n, was_new);
}

static umbel_err add_any(umbel_filter *f, const umbel_key *keys, const uint64_t *hashes, size_t n,
                         uint8_t *was_new, size_t *done) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t added = 0;
    bool finished = is_shared(b, true, keys, n) && add_shared(b, keys, hashes, n, was_new, &added);
    if (!finished) added = add_alone(b, keys, hashes, n, was_new);
    umbeli_count_added(f, added);
    *done = n;
    return UMBEL_OK;
}

umbel_err umbeli_blocked_add_many(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *was_new, size_t *done) {
    return add_any(f, keys, NULL, n, was_new, done);
}

umbel_err umbeli_blocked_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *was_new, size_t *done) {
    return add_any(f, NULL, hashes, n, was_new, done);
}
