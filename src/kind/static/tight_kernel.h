/* SPDX-License-Identifier: MIT
 *
 * tight_kernel.h - the work on columns: look-ups, and solving a table
 *
 * A file that includes this is a kernel.  It defines TIGHT_TARGET, an attribute or nothing, and
 *
 *   column_sums(block, second, first, row, from, to)   bit i, from <= i < to, is the parity of the
 *       bits of row in column i, of which those in `first` are taken from the i-th word of block
 *       and the others from that of second
 *   solve_block(rows, prints, width, later)   the columns of one block, from its last slot to its
 *       first.  later[i] has column i of the 64 slots after the one that is found next, the nearest
 *       in bit 0; in the end it is the column of this block
 */
#ifndef UMBELI_TIGHT_KERNEL_H
#define UMBELI_TIGHT_KERNEL_H

#include "hash/native_hash.h"
#include "kind/kind.h"
#include "kind/static/tight.h"

/* FEW_COLUMNS of two blocks are three or four lines, which are all prefetched at once. */
enum { GROUP = 32, FIRST_COLUMNS = 4, FEW_COLUMNS = 12 };

/* Where a key's slots are: `width` columns of the block in which its row begins, then those of the
 * next block, of which the first `width` count. */
typedef struct probe {
    const uint8_t *block;
    uint64_t row;   /* bit i: slot i of the first block, or, outside `first`, of the second */
    uint64_t first; /* the bits of row that are in the first block */
    uint32_t print, width;
} probe;

static inline TIGHT_TARGET probe probe_at(const umbeli_tight *t, const umbeli_tight_rung *r,
                                          uint64_t shard, uint32_t place, uint64_t mixed) {
    uint32_t block = place / UMBELI_TIGHT_BLOCK, offset = place % UMBELI_TIGHT_BLOCK;
    uint64_t word = shard * r->table_words + umbeli_tight_block_at(r->width, r->narrow, block);
    return (probe){
        .block = t->base.data + r->tables_at + 8 * word,
        .row = umbeli_rotl64(umbeli_tight_row(mixed), offset),
        .first = UINT64_MAX << offset,
        .print = umbeli_tight_print(mixed),
        .width = r->width + (block >= r->narrow),
    };
}

/* Descends the levels until one keeps the key; thresholds are small and stay in the cache. */
static inline TIGHT_TARGET probe probe_of(const umbeli_tight *t, uint64_t hash) {
    const umbeli_tight_rung *r = t->rungs, *last = r + (t->layout.levels - 1);
    for (uint64_t x = hash;; r++) {
        uint64_t shard = umbeli_tight_shard(r->shard_bits, x);
        uint64_t inner = umbeli_tight_inner(r->shard_bits, r->odd, x);
        uint32_t place = (uint32_t)umbeli_mul_high(inner, r->places);
        x = umbeli_tight_mix(inner);
        if (r == last) return probe_at(t, r, shard, place, x);
        uint32_t bucket = place / UMBELI_TIGHT_BUCKET;
        uint8_t marks = t->base.data[r->marks_at + shard * r->marks_len + bucket / 4];
        uint32_t threshold = umbeli_tight_threshold((marks >> (2 * (bucket % 4))) & 3);
        if (place - bucket * UMBELI_TIGHT_BUCKET >= threshold) {
            return probe_at(t, r, shard, place, x);
        }
    }
}

/* Bit i: column i adds up to a different bit than the print has.  A row that starts with its block
 * needs no second block, and the last block of a table has only such rows: then the first is read
 * twice. */
static inline TIGHT_TARGET uint32_t differences(const probe *q, uint32_t from, uint32_t to) {
    const uint8_t *second = q->block + (q->first == UINT64_MAX ? 0 : 8 * (size_t)q->width);
    uint32_t sums = column_sums(q->block, second, q->first, q->row, from, to);
    uint32_t mask = (uint32_t)((UINT64_C(1) << to) - (UINT64_C(1) << from));
    return (sums ^ q->print) & mask;
}

/* Most absent keys fail in the first columns. */
static inline TIGHT_TARGET bool first_agree(const probe *q) {
    return differences(q, 0, q->width < FIRST_COLUMNS ? q->width : FIRST_COLUMNS) == 0;
}

static inline TIGHT_TARGET bool others_agree(const probe *q) {
    return q->width <= FIRST_COLUMNS || differences(q, FIRST_COLUMNS, q->width) == 0;
}

static TIGHT_TARGET bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_tight *t = umbeli_tight_of(f);
    if (t->layout.levels == 0) return false;
    probe q = probe_of(t, hash);
    return first_agree(&q) && others_agree(&q);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

/* Column by column, the bits whose parity is compared with a bit of the print. */
static size_t probes(const umbel_filter *f, const void *key, size_t len, uint64_t *bits,
                     size_t cap) {
    const umbeli_tight *t = umbeli_tight_of(f);
    size_t n = 0;
    if (t->layout.levels == 0) return 0;
    probe q = probe_of(t, umbeli_native_hash(&f->shape, key, len));
    uint64_t first = 8 * (uint64_t)(q.block - f->data), second = first + 64 * (uint64_t)q.width;
    for (uint32_t i = 0; i < q.width; i++) {
        for (uint32_t slot = 0; slot < UMBELI_TIGHT_BLOCK; slot++) {
            if (!(q.row >> slot & 1)) continue;
            uint64_t block = q.first >> slot & 1 ? first : second;
            if (n < cap) bits[n] = block + UMBELI_TIGHT_BLOCK * i + slot;
            n++;
        }
    }
    return n;
}

static inline void fetch(const uint8_t *from, size_t len) {
    for (size_t at = 0; at < len; at += 64) __builtin_prefetch(from + at);
    if (len) __builtin_prefetch(from + len - 1);
}

static inline TIGHT_TARGET void prefetch(const umbeli_tight *t, const uint64_t *hashes, size_t n,
                                         probe *q) {
    for (size_t i = 0; i < n; i++) {
        q[i] = probe_of(t, hashes[i]);
        size_t half = 8 * (size_t)q[i].width, first = 8 * FIRST_COLUMNS;
        if (q[i].width <= FEW_COLUMNS) {
            fetch(q[i].block, 2 * half);
        } else {
            fetch(q[i].block, first);
            fetch(q[i].block + half, first);
        }
    }
}

/* First the first columns of all keys, which decide most, then the other columns of the rest. */
static inline TIGHT_TARGET void matches(const probe *q, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) {
        hit[i] = first_agree(&q[i]);
        if (hit[i] && q[i].width > FEW_COLUMNS) fetch(q[i].block, 16 * (size_t)q[i].width);
    }
    for (size_t i = 0; i < n; i++) {
        if (hit[i]) hit[i] = others_agree(&q[i]);
    }
}

/* While the lines of one group are being fetched, the group before is compared. */
static TIGHT_TARGET void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                         uint8_t *hit) {
    const umbeli_tight *t = umbeli_tight_of(f);
    if (t->layout.levels == 0) {
        if (n) memset(hit, 0, n);
        return;
    }
    probe groups[2][GROUP];
    prefetch(t, hashes, n < GROUP ? n : GROUP, groups[0]);
    for (size_t from = 0, turn = 0; from < n; from += GROUP, turn ^= 1) {
        size_t left = n - from, some = left < GROUP ? left : GROUP, next = left - some;
        prefetch(t, hashes + from + some, next < GROUP ? next : GROUP, groups[turn ^ 1]);
        matches(groups[turn], some, hit + from);
    }
}

/* ---- solution ----------------------------------------------------------------------------- */

static TIGHT_TARGET void solve(const umbeli_tight_rung *r, const umbeli_tight_scratch *b,
                               uint8_t *table) {
    uint64_t later[UMBELI_TIGHT_MAX_WIDTH] = {0};
    for (uint32_t block = r->places / UMBELI_TIGHT_BLOCK + 1; block-- > 0;) {
        uint32_t width = r->width + (block >= r->narrow), slot = block * UMBELI_TIGHT_BLOCK;
        solve_block(b->rows + slot, b->prints + slot, width, later);
        uint8_t *at = table + 8 * umbeli_tight_block_at(r->width, r->narrow, block);
        for (uint32_t i = 0; i < width; i++) umbeli_store_le64(at + 8 * (size_t)i, later[i]);
    }
}

#define TIGHT_OPS(name)                                                                       \
    {                                                                                         \
        .size = sizeof(umbeli_tight), .kind = &umbeli_kind_tight, .kernel = #name,            \
        .contains = contains, .contains_many = umbeli_hashed_contains_many,                   \
        .hash_many = umbeli_hashed_hash_many, .contains_hash = contains_hash,                 \
        .contains_hashes = contains_hashes, .probes = probes,                                 \
        .no_sets = "a tight filter has no bits of single keys; build one from all the keys",  \
        .no_fold =                                                                            \
            "a tight filter has exactly the size its keys need, so there is nothing to fold", \
        .copy = umbeli_tight_copy, .measure = umbeli_tight_measure,                           \
    }

#define TIGHT_KERNEL(name)                         \
    static const umbeli_ops ops = TIGHT_OPS(name); \
    const umbeli_tight_kernel umbeli_tight_##name = {&ops, solve}

#endif
