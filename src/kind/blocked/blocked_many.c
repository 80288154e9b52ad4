/* SPDX-License-Identifier: MIT
 *
 * blocked_many.c - batches on split-block filters: which loop, and hashing ahead of it
 *
 * Small filters: the plain loop; prefetching would only cost time.  Larger ones: the ring, where
 * each step prefetches the block of a key RING places ahead.  A filter beyond the last-level cache
 * and a batch of a million: the bulk path, which beats one random access per key.
 */
#include <string.h>

#include "core/parallel.h"
#include "kind/blocked/blocked.h"

enum {
    BULK_ABOVE = 32 * 1024 * 1024, /* a typical last-level cache */
    BULK_KEYS = 1024 * 1024,
    HASHED_AT_ONCE = 256,
};

static bool is_bulk(const umbel_filter *f, bool adding, size_t n) {
    if (n < BULK_KEYS) return false;
    return f->data_len > BULK_ABOVE || (adding && f->settings.threads > 1);
}

void umbeli_blocked_hash_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                              uint64_t *hashes) {
    umbeli_blocked_of(f)->hasher->many(&f->shape, keys, n, hashes);
}

/* A window over the hashes of a batch: `now` hashes are being looked up while the ring already
 * prefetches for `ahead` more after them. */
typedef struct hashed_keys {
    const umbeli_blocked *b;
    const umbel_key *keys;
    size_t left; /* keys not hashed yet */
    size_t now, ahead;
    uint64_t hashes[2 * HASHED_AT_ONCE];
} hashed_keys;

static size_t hash_more(hashed_keys *w, uint64_t *hashes) {
    size_t n = w->left < HASHED_AT_ONCE ? w->left : HASHED_AT_ONCE;
    w->b->hasher->many(&w->b->base.shape, w->keys, n, hashes);
    w->keys += n;
    w->left -= n;
    return n;
}

static void window_open(hashed_keys *w, const umbeli_blocked *b, const umbel_key *keys, size_t n) {
    w->b = b;
    w->keys = keys;
    w->left = n;
    w->now = hash_more(w, w->hashes);
    w->ahead = hash_more(w, w->hashes + w->now);
}

static void window_slide(hashed_keys *w) {
    memmove(w->hashes, w->hashes + w->now, w->ahead * sizeof w->hashes[0]);
    w->now = w->ahead;
    w->ahead = hash_more(w, w->hashes + w->now);
}

static void contains_keys(const umbeli_blocked *b, const umbel_key *keys, size_t n, uint8_t *hit) {
    const umbel_filter *f = &b->base;
    hashed_keys w;
    for (window_open(&w, b, keys, n); w.now > 0; window_slide(&w)) {
        if (f->data_len <= UMBELI_PLAIN_BELOW) {
            b->kernel->contains_plain(f->data, b->nblocks, w.hashes, w.now, hit);
        } else {
            b->kernel->contains_ring(f->data, b->nblocks, w.hashes, w.now, w.ahead, hit);
        }
        hit += w.now;
    }
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
    s.threads = s.n < BULK_KEYS ? 1 : s.b->base.settings.threads;
    umbeli_parallel(s.threads, contains_slice, &s);
}

void umbeli_blocked_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (is_bulk(f, false, n) && umbeli_blocked_bulk_keys(b, false, keys, n, hit, NULL)) return;
    contains_sliced((slices){.b = b, .keys = keys, .n = n, .hit = hit});
}

void umbeli_blocked_contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *hit) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    if (is_bulk(f, false, n) && umbeli_blocked_bulk_hashes(b, false, hashes, n, hit, NULL)) return;
    contains_sliced((slices){.b = b, .hashes = hashes, .n = n, .hit = hit});
}

umbel_err umbeli_blocked_add_many(umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *was_new, size_t *done) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t added = 0;
    if (!is_bulk(f, true, n) || !umbeli_blocked_bulk_keys(b, true, keys, n, was_new, &added)) {
        hashed_keys w;
        for (window_open(&w, b, keys, n); w.now > 0; window_slide(&w)) {
            if (f->data_len <= UMBELI_PLAIN_BELOW) {
                added += b->kernel->add_plain(f->data, b->nblocks, w.hashes, w.now, was_new);
            } else {
                added +=
                    b->kernel->add_ring(f->data, b->nblocks, w.hashes, w.now, w.ahead, was_new);
            }
            if (was_new) was_new += w.now;
        }
    }
    umbeli_count_added(f, added);
    *done = n;
    return UMBEL_OK;
}

umbel_err umbeli_blocked_add_hashes(umbel_filter *f, const uint64_t *hashes, size_t n,
                                    uint8_t *was_new, size_t *done) {
    const umbeli_blocked *b = umbeli_blocked_of(f);
    uint64_t added = 0;
    if (!is_bulk(f, true, n) || !umbeli_blocked_bulk_hashes(b, true, hashes, n, was_new, &added)) {
        if (f->data_len <= UMBELI_PLAIN_BELOW) {
            added = b->kernel->add_plain(f->data, b->nblocks, hashes, n, was_new);
        } else {
            added = b->kernel->add_ring(f->data, b->nblocks, hashes, n, 0, was_new);
        }
    }
    umbeli_count_added(f, added);
    *done = n;
    return UMBEL_OK;
}
