/* SPDX-License-Identifier: MIT
 *
 * plain_fuse.c - an unsharded binary fuse filter, as its authors describe it: the baseline for
 * static filters
 *
 * Three slots per key, fingerprints of 8 bits, one table for all keys; hashes are grouped into
 * blocks by their upper bits before they go into the table.
 */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct table {
    uint32_t length, mask, range; /* of a segment; range: slots that can be a key's first */
    size_t slots;
} table;

struct plain_fuse {
    table t;
    uint64_t seed;
    uint8_t *prints;
};

static uint64_t mixed(uint64_t key, uint64_t seed) {
    uint64_t x = key + seed;
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static void slots_of(const table *t, uint64_t hash, uint32_t slot[3]) {
    __extension__ typedef unsigned __int128 wide;
    slot[0] = (uint32_t)(((wide)hash * t->range) >> 64);
    slot[1] = (slot[0] + t->length) ^ ((uint32_t)(hash >> 18) & t->mask);
    slot[2] = (slot[0] + 2 * t->length) ^ ((uint32_t)hash & t->mask);
}

static uint8_t print_of(uint64_t hash) {
    return (uint8_t)(hash ^ (hash >> 32));
}

static table table_for(size_t n) {
    table t = {.length = 1u << (int)floor(log((double)n) / log(3.33) + 2.25)};
    if (t.length > 1u << 18) t.length = 1u << 18;
    t.mask = t.length - 1;
    double factor = fmax(1.125, 0.875 + 0.25 * log(1e6) / log((double)n));
    size_t segments = (size_t)((double)n * factor) / t.length + 1;
    t.slots = segments * t.length;
    t.range = (uint32_t)(t.slots - 2 * (size_t)t.length);
    return t;
}

/* The hashes by their upper bits: neighbours in `out` are neighbours in the table. */
static void by_block(const uint64_t *keys, size_t n, uint64_t seed, uint64_t *out, size_t *next) {
    int bits = 1;
    while (bits < 20 && n >> (bits + 12)) bits++;
    memset(next, 0, sizeof *next << bits);
    for (size_t i = 0; i < n; i++) next[mixed(keys[i], seed) >> (64 - bits)]++;
    for (size_t i = 0, sum = 0; i < (size_t)1 << bits; i++) {
        size_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = mixed(keys[i], seed);
        out[next[hash >> (64 - bits)]++] = hash;
    }
}

static bool try_seed(const table *t, uint64_t *hashes, size_t n, uint64_t *sums, uint8_t *counts,
                     uint32_t *queue, uint8_t *which, uint8_t *prints) {
    uint32_t slot[3];
    memset(sums, 0, t->slots * sizeof *sums);
    memset(counts, 0, t->slots);
    for (size_t i = 0; i < n; i++) {
        slots_of(t, hashes[i], slot);
        for (int j = 0; j < 3; j++) {
            counts[slot[j]] = (uint8_t)((counts[slot[j]] + 4) ^ j);
            sums[slot[j]] ^= hashes[i];
        }
    }
    size_t waiting = 0, taken = 0;
    for (size_t i = 0; i < t->slots; i++) {
        queue[waiting] = (uint32_t)i;
        waiting += counts[i] >> 2 == 1;
    }
    while (waiting > 0) {
        uint32_t own = queue[--waiting];
        if (counts[own] >> 2 != 1) continue;
        uint64_t hash = sums[own];
        which[taken] = counts[own] & 3;
        hashes[taken++] = hash;
        slots_of(t, hash, slot);
        for (int j = 0; j < 3; j++) {
            sums[slot[j]] ^= hash;
            counts[slot[j]] = (uint8_t)((counts[slot[j]] - 4) ^ j);
            queue[waiting] = slot[j];
            waiting += counts[slot[j]] >> 2 == 1;
        }
    }
    if (taken < n) return false;
    memset(prints, 0, t->slots);
    for (size_t i = n; i-- > 0;) {
        slots_of(t, hashes[i], slot);
        uint8_t all = (uint8_t)(prints[slot[0]] ^ prints[slot[1]] ^ prints[slot[2]]);
        uint8_t *own = &prints[slot[which[i]]];
        *own = (uint8_t)(print_of(hashes[i]) ^ all ^ *own);
    }
    return true;
}

/* On huge pages, like umbel's tables. */
static uint8_t *prints_new(size_t slots) {
    size_t page = 2 << 20, len = (slots + page) & ~(page - 1);
    uint8_t *prints = aligned_alloc(page, len);
    if (prints) (void)madvise(prints, len, MADV_HUGEPAGE);
    return prints;
}

/* hashes[] is consumed while peeling: those taken first are never needed again. */
plain_fuse *plain_fuse_new(const uint64_t *keys, size_t n) {
    plain_fuse *f = malloc(sizeof *f);
    if (!f) return NULL;
    *f = (plain_fuse){.t = table_for(n)};
    f->prints = prints_new(f->t.slots);
    size_t slots = f->t.slots;
    uint64_t *hashes = malloc(n * sizeof *hashes), *sums = malloc(slots * sizeof *sums);
    uint8_t *counts = malloc(slots), *which = malloc(n);
    uint32_t *queue = malloc((slots + 4) * sizeof *queue);
    size_t *next = malloc(sizeof *next << 20);
    bool enough = hashes && sums && counts && which && f->prints && queue && next, done = false;
    for (uint64_t i = 1; enough && !done && i < 100; i++) {
        f->seed = i * UINT64_C(0x9e3779b97f4a7c15);
        by_block(keys, n, f->seed, hashes, next);
        done = try_seed(&f->t, hashes, n, sums, counts, queue, which, f->prints);
    }
    free(hashes);
    free(sums);
    free(counts);
    free(which);
    free(queue);
    free(next);
    if (done) return f;
    plain_fuse_free(f);
    return NULL;
}

void plain_fuse_free(plain_fuse *f) {
    free(f->prints);
    free(f);
}

static bool has(const table *t, const uint8_t *prints, uint64_t hash) {
    uint32_t slot[3];
    slots_of(t, hash, slot);
    unsigned all = prints[slot[0]] ^ prints[slot[1]] ^ prints[slot[2]];
    return all == print_of(hash);
}

size_t plain_fuse_count(const plain_fuse *f, const uint64_t *numbers, size_t n) {
    table t = f->t;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += has(&t, f->prints, mixed(numbers[i], f->seed));
    return found;
}

size_t plain_fuse_count_keys(const plain_fuse *f, const umbel_key *keys, size_t n) {
    table t = f->t;
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = XXH3_64bits(keys[i].data, keys[i].len);
        found += has(&t, f->prints, mixed(number, f->seed));
    }
    return found;
}
