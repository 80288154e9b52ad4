/* SPDX-License-Identifier: MIT
 *
 * blocked_bulk.c - millions of keys on a filter larger than the caches, without a random access per
 * key
 *
 * The hashes are first sorted by block range, so that each range (a "part") can be processed while
 * it is in cache: scatter the hashes to their parts in whole cache lines, process the parts one
 * after another, and, where results are wanted, read them back in key order.  All memory access is
 * sequential, in as many streams as there are parts.
 *
 * Hashes spread evenly, so every part first gets room for the mean plus eight standard deviations.
 * If that is not enough (one key repeated very often, say), hashes are counted and scattered again.
 *
 * Threads: each scatters its own slice of the keys into its own stretch of every part, and parts
 * are handed out whole, so no block is ever shared.  Slices follow each other within a part, so
 * keys are processed in their original order: bits and results are those of a single thread.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/parallel.h"
#include "kind/blocked/blocked.h"

enum {
    PART_BYTES = 1024 * 1024, /* target size of a part, */
    MAX_PARTS = 256,          /* but at most this many streams: a part's number is a byte */
    BATCH = 32 * 1024 * 1024, /* larger: more fresh memory; smaller: more passes over the filter */
    LINE_HASHES = 8,
};

/* When all this beats the ring, as measured (docs/performance.md): sorting costs about half of what
 * the ring does per key, and every batch reads the whole filter once, and writes it for adds.
 * Below the last-level cache the ring is fast enough.  Results have to be read back, so checks need
 * more keys. */
enum {
    BEYOND_CACHES = 32 * 1024 * 1024, /* bytes of filter: a typical last-level cache */
    ADDS_PER_BLOCK = 2,               /* keys in a batch */
    CHECKS_PER_BLOCK = 4,
};

typedef struct bulk {
    const umbeli_blocked *b;
    bool adding;
    uint32_t threads, nparts;
    unsigned shift; /* part = block >> shift */

    const umbel_key *keys; /* NULL: hashes were given */
    const uint64_t *hashes;
    size_t n;
    uint8_t *results; /* may be NULL for adds; holds each key's part until its result */

    /* Scratch memory; tables are [thread][part]. */
    uint64_t *hashed; /* of the keys, if keys were given */
    uint64_t *sorted; /* the hashes by part; stretches begin on a line, and once a stretch is done,
                       * its results, a byte each, are at its beginning */
    uint64_t *start;  /* of a thread's stretch of a part */
    uint64_t *next;   /* where its next hash goes; finally where it stops */
    uint64_t *limit;  /* where it must stop */
    uint64_t *lines;  /* [thread][part][8]: hashes not yet written */

    _Atomic bool overflow;
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

static uint64_t whole_lines(uint64_t hashes) {
    return (hashes + LINE_HASHES - 1) / LINE_HASHES * LINE_HASHES;
}

/* Enough room for one thread's hashes in one part unless they are spread very unevenly. */
static uint64_t even_room(const bulk *k, size_t n) {
    double share = (double)(UINT64_C(1) << k->shift) / (double)k->b->nblocks;
    double mean = (double)n / k->threads * (share < 1 ? share : 1) + 1;
    return whole_lines((uint64_t)(mean + 8 * sqrt(mean)));
}

/* Places the stretches one after another; `limit` holds their lengths. */
static void lay_out(bulk *k) {
    uint64_t at = 0;
    for (uint32_t part = 0; part < k->nparts; part++) {
        for (uint32_t t = 0; t < k->threads; t++) {
            size_t i = (size_t)t * k->nparts + part;
            k->start[i] = at;
            at += whole_lines(k->limit[i]);
            k->limit[i] = at;
        }
    }
}

static void hash_keys(void *ctx, uint32_t t) {
    const bulk *k = ctx;
    slice s = slice_of(k, t);
    k->b->hasher->many(&k->b->base.shape, k->keys + s.from, s.n, k->hashed + s.from);
}

static void count(void *ctx, uint32_t t) {
    const bulk *k = ctx;
    slice s = slice_of(k, t);
    const uint64_t *hashes = k->hashes + s.from;
    uint64_t *counts = k->limit + (size_t)t * k->nparts;
    memset(counts, 0, k->nparts * sizeof *counts);
    for (size_t i = 0; i < s.n; i++) {
        counts[umbeli_block_of(hashes[i], k->b->nblocks) >> k->shift]++;
    }
}

static void scatter(void *ctx, uint32_t t) {
    bulk *k = ctx;
    slice s = slice_of(k, t);
    size_t row = (size_t)t * k->nparts;
    umbeli_scatter to = {
        .nblocks = k->b->nblocks,
        .shift = k->shift,
        .sorted = k->sorted,
        .next = k->next + row,
        .limit = k->limit + row,
        .lines = k->lines + row * LINE_HASHES,
        .part_of = k->results ? k->results + s.from : NULL,
    };
    memcpy(to.next, k->start + row, k->nparts * sizeof *to.next);
    bool fits = k->b->kernel->scatter(&to, k->hashes + s.from, s.n);
    for (uint32_t part = 0; fits && part < k->nparts; part++) { /* lines that did not fill up */
        fits = to.next[part] <= to.limit[part];
        size_t rest = fits ? (size_t)(to.next[part] % LINE_HASHES) : 0;
        memcpy(k->sorted + to.next[part] - rest, to.lines + (size_t)part * LINE_HASHES,
               rest * sizeof *to.lines);
    }
    if (!fits) atomic_store_explicit(&k->overflow, true, memory_order_relaxed);
}

static void sort(bulk *k) {
    size_t stretches = (size_t)k->threads * k->nparts;
    uint64_t room = even_room(k, k->n);
    for (size_t i = 0; i < stretches; i++) k->limit[i] = room;
    lay_out(k);
    atomic_store(&k->overflow, false);
    umbeli_parallel(k->threads, scatter, k);
    if (!atomic_load(&k->overflow)) return;
    umbeli_parallel(k->threads, count, k);
    lay_out(k);
    umbeli_parallel(k->threads, scatter, k);
}

static void do_part(bulk *k, uint32_t part) {
    const umbeli_blocked *b = k->b;
    for (uint32_t t = 0; t < k->threads; t++) {
        size_t i = (size_t)t * k->nparts + part;
        const uint64_t *hashes = k->sorted + k->start[i];
        size_t n = (size_t)(k->next[i] - k->start[i]);
        /* In place: result n is at byte n, before hash n + 1 at byte 8 (n + 1). */
        uint8_t *results = k->results ? (uint8_t *)(k->sorted + k->start[i]) : NULL;
        if (k->adding) {
            uint64_t added = b->kernel->add_ring(b->base.data, b->nblocks, hashes, n, results);
            atomic_fetch_add_explicit(&k->added, added, memory_order_relaxed);
        } else {
            b->kernel->contains_ring(b->base.data, b->nblocks, hashes, n, results);
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
    for (uint32_t part = 0; part < k->nparts; part++) {
        next[part] = k->start[(size_t)t * k->nparts + part] * sizeof *k->sorted;
    }
    const uint8_t *sorted = (const uint8_t *)k->sorted;
    uint8_t *results = k->results + s.from;
    for (size_t i = 0; i < s.n; i++) results[i] = sorted[next[results[i]]++];
}

static void do_batch(bulk *k) {
    if (k->keys) umbeli_parallel(k->threads, hash_keys, k);
    sort(k);
    atomic_store(&k->next_part, 0);
    umbeli_parallel(k->threads, do_parts, k);
    if (k->results) umbeli_parallel(k->threads, read_back, k);
}

/* All scratch memory in one array; false when out of memory. */
static bool take_scratch(bulk *k, size_t batch, umbeli_array *scratch) {
    uint64_t stretches = (uint64_t)k->threads * k->nparts;
    uint64_t even = stretches * even_room(k, batch), exact = batch + stretches * LINE_HASHES;
    uint64_t room = even > exact ? even : exact;
    uint64_t words = room + stretches * (LINE_HASHES + 3) + (k->keys ? batch : 0);
    if (!umbeli_scratch_new(&k->b->base.settings, words * sizeof *k->sorted, scratch)) {
        return false;
    }
    k->sorted = (uint64_t *)(void *)scratch->data; /* both begin on a line */
    k->lines = k->sorted + room;
    k->start = k->lines + stretches * LINE_HASHES;
    k->next = k->start + stretches;
    k->limit = k->next + stretches;
    k->hashed = k->limit + stretches;
    return true;
}

/* n keys in as few batches of equal size as possible. */
static size_t batch_of(size_t n) {
    size_t nbatches = n / BATCH + (n % BATCH != 0);
    return n / nbatches + (n % nbatches != 0);
}

bool umbeli_blocked_bulk_pays(uint64_t nblocks, uint64_t bytes, bool adding, size_t n) {
    uint64_t enough = adding ? ADDS_PER_BLOCK : CHECKS_PER_BLOCK;
    return bytes > BEYOND_CACHES && n > 0 && batch_of(n) / enough >= nblocks;
}

static bool run(bulk *k, size_t n, uint64_t *added) {
    const umbeli_blocked *b = k->b;
    k->threads = b->base.settings.threads;
    uint64_t block_bytes = b->base.data_len / b->nblocks;
    while (block_bytes << k->shift < PART_BYTES || b->nblocks >> k->shift >= MAX_PARTS) {
        k->shift++;
    }
    k->nparts = (uint32_t)(((b->nblocks - 1) >> k->shift) + 1);
    size_t batch = batch_of(n);
    umbeli_array scratch;
    if (!take_scratch(k, batch, &scratch)) return false;

    const umbel_key *keys = k->keys;
    const uint64_t *hashes = k->hashes;
    uint8_t *results = k->results;
    for (size_t from = 0; from < n; from += batch) {
        k->n = n - from < batch ? n - from : batch;
        k->keys = keys ? keys + from : NULL;
        k->hashes = keys ? k->hashed : hashes + from;
        k->results = results ? results + from : NULL;
        do_batch(k);
    }
    umbeli_array_delete(&b->base.settings, &scratch);
    if (added) *added = atomic_load(&k->added);
    return true;
}

bool umbeli_blocked_bulk_hashes(const umbeli_blocked *b, bool adding, const uint64_t *hashes,
                                size_t n, uint8_t *results, uint64_t *added) {
    bulk k = {.b = b, .adding = adding, .hashes = hashes, .results = results};
    return run(&k, n, added);
}

bool umbeli_blocked_bulk_keys(const umbeli_blocked *b, bool adding, const umbel_key *keys, size_t n,
                              uint8_t *results, uint64_t *added) {
    bulk k = {.b = b, .adding = adding, .keys = keys, .results = results};
    return run(&k, n, added);
}
