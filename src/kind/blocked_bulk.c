/* SPDX-License-Identifier: MIT
 *
 * blocked_bulk.c - millions of keys on a filter beyond the caches, without a random access each
 *
 * The hashes are sorted by block range first, so that each range (a "part") is then worked through
 * while it lies in the cache: count how many hashes each part gets, scatter them there in whole
 * cache lines, do the parts one after the other, and, where answers are wanted, read them back in
 * the order of the keys.  Everything is sequential in memory but for as many streams as there are
 * parts.
 *
 * Threads: each scatters its own slice of the keys into its own stretch of every part, and parts
 * are handed out whole, so no block is ever shared.  Slices follow each other within a part, so
 * keys meet in the order they came: bytes and answers are those of a single thread.
 */
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "kind/blocked.h"

enum {
    PART_BYTES = 1024 * 1024, /* what one part should have, */
    MAX_PARTS = 1024,         /* but no more streams than this */
    BATCH = 16 * 1024 * 1024, /* more would cost fresh memory, less more passes over the filter */
    LINE_HASHES = 8,
};

typedef struct bulk {
    const umbeli_blocked *b;
    bool adding;
    uint32_t threads;
    unsigned shift; /* part = block >> shift */
    uint32_t nparts;

    const umbel_key *keys; /* NULL: hashes were given */
    const uint64_t *hashes;
    size_t n;
    uint8_t *answers; /* may be NULL for adds */

    uint64_t *hashed; /* of the keys, if keys were given */
    uint64_t *sorted; /* the hashes by part; stretches begin on a line, and once a stretch is
                       * done, its answers, a byte each, lie at its beginning */
    uint64_t *next;   /* [thread][part]: where its next hash goes */
    uint64_t *count;  /* [thread][part]: how many it has there */
    uint64_t *lines;  /* [thread][part][8]: hashes on their way */
    _Atomic uint32_t next_part;
    _Atomic uint64_t added;
} bulk;

typedef struct slice {
    size_t from, n;
} slice;

static slice slice_of(const bulk *k, uint32_t t) {
    size_t each = k->n / k->threads + 1;
    size_t from = t * each < k->n ? t * each : k->n;
    return (slice){from, k->n - from < each ? k->n - from : each};
}

static void hash_and_count(void *ctx, uint32_t t) {
    bulk *k = ctx;
    slice s = slice_of(k, t);
    const umbeli_blocked *b = k->b;
    if (k->keys) b->hasher->many(k->keys + s.from, s.n, b->base.shape.seed, k->hashed + s.from);
    const uint64_t *hashes = k->hashes + s.from;
    uint64_t *count = k->count + (size_t)t * k->nparts;
    memset(count, 0, k->nparts * sizeof *count);
    for (size_t i = 0; i < s.n; i++) count[umbeli_block_of(hashes[i], b->nblocks) >> k->shift]++;
}

/* Gives every thread its stretch of every part, in order, each on a line of its own. */
static void lay_out(bulk *k) {
    uint64_t at = 0;
    for (uint32_t part = 0; part < k->nparts; part++) {
        for (uint32_t t = 0; t < k->threads; t++) {
            size_t i = (size_t)t * k->nparts + part;
            k->next[i] = at;
            at += (k->count[i] + LINE_HASHES - 1) / LINE_HASHES * LINE_HASHES;
        }
    }
}

static void scatter(void *ctx, uint32_t t) {
    bulk *k = ctx;
    slice s = slice_of(k, t);
    size_t row = (size_t)t * k->nparts;
    uint64_t *next = k->next + row, *lines = k->lines + row * LINE_HASHES;
    k->b->kernel->scatter(k->b->nblocks, k->shift, k->hashes + s.from, s.n, k->sorted, next, lines);
    for (uint32_t part = 0; part < k->nparts; part++) { /* lines that did not fill up */
        uint64_t rest = next[part] % LINE_HASHES;
        memcpy(k->sorted + next[part] - rest, lines + (size_t)part * LINE_HASHES,
               rest * sizeof *lines);
        next[part] -= k->count[row + part]; /* back to the start, for the read-back */
    }
}

static void do_part(bulk *k, uint32_t part) {
    const umbeli_blocked *b = k->b;
    for (uint32_t t = 0; t < k->threads; t++) {
        size_t i = (size_t)t * k->nparts + part;
        const uint64_t *hashes = k->sorted + k->next[i];
        /* In place: the n-th answer never overtakes the hash after it, 8 n bytes on. */
        uint8_t *answers = k->answers ? (uint8_t *)(k->sorted + k->next[i]) : NULL;
        if (k->adding) {
            uint64_t added =
                b->kernel->add_ring(b->base.data, b->nblocks, hashes, k->count[i], 0, answers);
            atomic_fetch_add_explicit(&k->added, added, memory_order_relaxed);
        } else {
            b->kernel->contains_ring(b->base.data, b->nblocks, hashes, k->count[i], 0, answers);
        }
    }
}

static void do_parts(void *ctx, uint32_t t) {
    (void)t;
    bulk *k = ctx;
    for (;;) {
        uint32_t part = atomic_fetch_add_explicit(&k->next_part, 1, memory_order_relaxed);
        if (part >= k->nparts) return;
        do_part(k, part);
    }
}

static void read_back(void *ctx, uint32_t t) {
    bulk *k = ctx;
    slice s = slice_of(k, t);
    uint64_t *next = k->next + (size_t)t * k->nparts;
    const uint64_t *hashes = k->hashes + s.from;
    uint8_t *answers = k->answers + s.from;
    const uint8_t *sorted = (const uint8_t *)k->sorted;
    for (uint32_t part = 0; part < k->nparts; part++) next[part] *= sizeof *k->sorted;
    for (size_t i = 0; i < s.n; i++) {
        uint64_t part = umbeli_block_of(hashes[i], k->b->nblocks) >> k->shift;
        answers[i] = sorted[next[part]++];
    }
}

static void do_batch(bulk *k) {
    atomic_store(&k->next_part, 0);
    umbeli_parallel(k->threads, hash_and_count, k);
    lay_out(k);
    umbeli_parallel(k->threads, scatter, k);
    umbeli_parallel(k->threads, do_parts, k);
    if (k->answers) umbeli_parallel(k->threads, read_back, k);
}

/* All scratch memory in one array; false when there is none. */
static bool take_scratch(bulk *k, size_t batch, umbeli_array *scratch) {
    umbeli_memory unlimited = k->b->base.memory; /* the limit is one for filters */
    unlimited.max_bytes = 0;
    uint64_t streams = (uint64_t)k->threads * k->nparts;
    uint64_t room = batch + streams * LINE_HASHES;
    uint64_t words = streams * (LINE_HASHES + 2) + room + (k->keys ? batch : 0);
    if (umbeli_array_new(&unlimited, words * sizeof *k->sorted, scratch, NULL)) return false;
    k->lines = (uint64_t *)(void *)scratch->data; /* both on lines: the array begins on one, */
    k->sorted = k->lines + streams * LINE_HASHES; /* and streams * 8 hashes are whole lines */
    k->next = k->sorted + room;
    k->count = k->next + streams;
    k->hashed = k->count + streams;
    return true;
}

static bool run(bulk *k, size_t n, uint64_t *added) {
    const umbeli_blocked *b = k->b;
    k->threads = b->base.memory.threads;
    k->shift = 0;
    while (((uint64_t)UMBELI_BLOCK_BYTES << k->shift) < PART_BYTES ||
           b->nblocks >> k->shift >= MAX_PARTS) {
        k->shift++;
    }
    k->nparts = (uint32_t)(((b->nblocks - 1) >> k->shift) + 1);
    size_t nbatches = n / BATCH + (n % BATCH != 0);
    size_t batch = n / nbatches + (n % nbatches != 0);
    umbeli_array scratch;
    if (!take_scratch(k, batch, &scratch)) return false;

    const umbel_key *keys = k->keys;
    const uint64_t *hashes = k->hashes;
    uint8_t *answers = k->answers;
    for (size_t from = 0; from < n; from += batch) {
        k->n = n - from < batch ? n - from : batch;
        k->keys = keys ? keys + from : NULL;
        k->hashes = keys ? k->hashed : hashes + from;
        k->answers = answers ? answers + from : NULL;
        do_batch(k);
    }
    umbeli_array_delete(&b->base.memory, &scratch);
    if (added) *added = atomic_load(&k->added);
    return true;
}

bool umbeli_blocked_bulk_hashes(const umbeli_blocked *b, bool adding, const uint64_t *hashes,
                                size_t n, uint8_t *answers, uint64_t *added) {
    bulk k = {.b = b, .adding = adding, .hashes = hashes, .answers = answers};
    return run(&k, n, added);
}

bool umbeli_blocked_bulk_keys(const umbeli_blocked *b, bool adding, const umbel_key *keys, size_t n,
                              uint8_t *answers, uint64_t *added) {
    bulk k = {.b = b, .adding = adding, .keys = keys, .answers = answers};
    return run(&k, n, added);
}
