/* SPDX-License-Identifier: MIT
 *
 * tight_kernel.h - the work on columns: lookups, and solving a table
 *
 * A file that includes this is a kernel.  It defines TIGHT_TARGET, an attribute or nothing, and
 *
 *   column_sums(window, block, first, row, from, to)   bit i, from <= i < to, is the parity of
 *       column i over all bits of row.  For word j of the row the bits in `first` are taken from
 *       the i-th word of block[j] and the others from that of block[j + 1]
 *   solve_block(window, rows, prints, width, later)   the columns of one block, from its last slot
 *       to its first.  later[j][i] has column i of the slots after the one that is found next, 64 j
 *       and more slots after it, the nearest in bit 0; in the end later[0] is this block
 *
 * Everything is compiled for each window, and chosen once per call.
 */
#ifndef UMBELI_TIGHT_KERNEL_H
#define UMBELI_TIGHT_KERNEL_H

#include "core/cpu.h"
#include "hash/native_hash.h"
#include "kind/kind.h"
#include "kind/static/tight.h"

/* FEW_COLUMNS of two blocks are three or four lines, which are all prefetched together. */
enum { GROUP = 32, FIRST_COLUMNS = 4, FEW_COLUMNS = 12 };

/* Where a key's slots are: `width` columns of the block in which its window begins, and of each
 * block after it as many, which may have one more. */
typedef struct probe {
    const uint8_t *block;
    uint64_t row[UMBELI_TIGHT_MAX_WINDOW]; /* bit i of word j: slot i of the j-th block, or, */
    uint64_t first;                        /* outside `first`, of the one after it */
    uint32_t print, width;
    uint32_t third; /* from the first to the third block, bytes */
} probe;

static UMBELI_TIGHT_INLINE TIGHT_TARGET probe probe_at(uint32_t window, const uint8_t *data,
                                                       const umbeli_tight_rung *r, uint64_t shard,
                                                       uint32_t place, uint64_t mixed) {
    uint32_t block = place / UMBELI_TIGHT_BLOCK, offset = place % UMBELI_TIGHT_BLOCK;
    uint64_t word = shard * r->table_words + umbeli_tight_block_at(r->width, r->narrow, block);
    probe q = {
        .block = data + r->tables_at + 8 * word,
        .row = {umbeli_rotl64(umbeli_tight_row(mixed, 0), offset)},
        .first = UINT64_MAX << offset,
        .print = umbeli_tight_print(mixed),
        .width = r->width + (block >= r->narrow),
    };
    if (window == 2) {
        q.row[1] = umbeli_rotl64(umbeli_tight_row(mixed, 1), offset);
        q.third = 8 * (q.width + r->width + (block + 1 >= r->narrow));
    }
    return q;
}

/* Descends the levels until one keeps the key; thresholds are small and stay in the cache. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET probe probe_of(uint32_t window, const uint8_t *data,
                                                       const umbeli_ribbon *b, uint64_t hash) {
    const umbeli_tight_rung *r = b->rungs, *last = r + (b->layout.levels - 1);
    const uint32_t size = umbeli_tight_bucket(window);
    for (uint64_t x = hash;; r++) {
        uint64_t shard = umbeli_tight_shard(r->shard_bits, x);
        uint64_t inner = umbeli_tight_inner(r->shard_bits, r->odd, x);
        uint32_t place = (uint32_t)umbeli_mul_high(inner, r->places);
        x = umbeli_tight_mix(inner);
        if (r == last) return probe_at(window, data, r, shard, place, x);
        uint32_t bucket = place / size;
        uint8_t marks = data[r->marks_at + shard * r->marks_len + bucket / 4];
        uint32_t threshold = umbeli_tight_threshold(window, (marks >> (2 * (bucket % 4))) & 3);
        if (place - bucket * size >= threshold) {
            return probe_at(window, data, r, shard, place, x);
        }
    }
}

/* Block j of a probe.  A row that starts with its block has no bits after its last word, and the
 * table may end there: then the last block is read twice. */
static UMBELI_TIGHT_INLINE const uint8_t *probe_block(uint32_t window, const probe *q, uint32_t j) {
    uint32_t at = j == window && q->first == UINT64_MAX ? j - 1 : j;
    return q->block + (at == 2 ? q->third : at == 1 ? 8 * q->width : 0);
}

/* Bit i: column i adds up to a different bit than the print has. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET uint32_t differences(uint32_t window, const probe *q,
                                                             uint32_t from, uint32_t to) {
    const uint8_t *block[UMBELI_TIGHT_MAX_WINDOW + 1];
    for (uint32_t j = 0; j <= window; j++) block[j] = probe_block(window, q, j);
    uint32_t sums = column_sums(window, block, q->first, q->row, from, to);
    uint32_t mask = (uint32_t)((UINT64_C(1) << to) - (UINT64_C(1) << from));
    return (sums ^ q->print) & mask;
}

/* Most absent keys fail in the first columns. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET bool first_agree(uint32_t window, const probe *q) {
    return differences(window, q, 0, q->width < FIRST_COLUMNS ? q->width : FIRST_COLUMNS) == 0;
}

static UMBELI_TIGHT_INLINE TIGHT_TARGET bool others_agree(uint32_t window, const probe *q) {
    return differences(window, q, FIRST_COLUMNS, q->width) == 0;
}

static UMBELI_TIGHT_INLINE TIGHT_TARGET bool agrees(uint32_t window, const uint8_t *data,
                                                    const umbeli_ribbon *b, uint64_t hash) {
    probe q = probe_of(window, data, b, hash);
    return first_agree(window, &q) && (q.width <= FIRST_COLUMNS || others_agree(window, &q));
}

static TIGHT_TARGET bool contains_hash(const umbel_filter *f, uint64_t hash) {
    const umbeli_ribbon *b = &umbeli_tight_of(f)->ribbon;
    if (b->layout.levels == 0) return false;
    return b->rungs->window == 1 ? agrees(1, f->data, b, hash) : agrees(2, f->data, b, hash);
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    return contains_hash(f, umbeli_native_hash(&f->shape, key, len));
}

/* Column by column, the bits whose parity is compared with a bit of the print. */
static TIGHT_TARGET size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash,
                                  uint64_t *bits, size_t cap) {
    (void)key;
    const umbeli_ribbon *b = &umbeli_tight_of(f)->ribbon;
    size_t n = 0;
    if (b->layout.levels == 0) return 0;
    uint32_t window = b->rungs->window;
    probe q = window == 1 ? probe_of(1, f->data, b, hash) : probe_of(2, f->data, b, hash);
    for (uint32_t i = 0; i < q.width; i++) {
        for (uint32_t slot = 0; slot < UMBELI_TIGHT_BLOCK * window; slot++) {
            uint32_t j = slot / UMBELI_TIGHT_BLOCK, bit = slot % UMBELI_TIGHT_BLOCK;
            if (!(q.row[j] >> bit & 1)) continue;
            const uint8_t *block = probe_block(window, &q, j + !(q.first >> bit & 1));
            if (n < cap) bits[n] = 8 * (uint64_t)(block - f->data) + UMBELI_TIGHT_BLOCK * i + bit;
            n++;
        }
    }
    return n;
}

static inline void fetch(const uint8_t *from, size_t len, bool is_far) {
    for (size_t at = 0; at < len; at += 64) umbeli_fetch(from + at, is_far);
    if (len) umbeli_fetch(from + len - 1, is_far);
}

static UMBELI_TIGHT_INLINE TIGHT_TARGET void prefetch(uint32_t window, const umbel_filter *f,
                                                      const uint64_t *hashes, size_t n, probe *q) {
    bool is_far = umbeli_is_far(f->data_len);
    for (size_t i = 0; i < n; i++) {
        q[i] = probe_of(window, f->data, &umbeli_tight_of(f)->ribbon, hashes[i]);
        size_t half = 8 * (size_t)q[i].width, first = 8 * FIRST_COLUMNS;
        if (q[i].width <= FEW_COLUMNS) {
            fetch(q[i].block, (window + 1) * half, is_far);
        } else {
            fetch(q[i].block, first, is_far);
            fetch(q[i].block + half, first, is_far);
        }
    }
}

/* First the first columns of all keys, which decide most, then the other columns of the rest. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET void matches(uint32_t window, bool is_far, const probe *q,
                                                     size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) {
        hit[i] = first_agree(window, &q[i]);
        if (q[i].width > FEW_COLUMNS && hit[i]) fetch(q[i].block, 16 * (size_t)q[i].width, is_far);
    }
    for (size_t i = 0; i < n; i++) {
        if (q[i].width > FIRST_COLUMNS && hit[i]) hit[i] = others_agree(window, &q[i]);
    }
}

/* While the lines of one group are being fetched, the group before is compared. */
static UMBELI_TIGHT_INLINE TIGHT_TARGET void match_groups(uint32_t window, const umbel_filter *f,
                                                          const uint64_t *hashes, size_t n,
                                                          uint8_t *hit) {
    probe groups[2][GROUP];
    prefetch(window, f, hashes, n < GROUP ? n : GROUP, groups[0]);
    for (size_t from = 0, turn = 0; from < n; from += GROUP, turn ^= 1) {
        size_t left = n - from, chunk = left < GROUP ? left : GROUP, next = left - chunk;
        prefetch(window, f, hashes + from + chunk, next < GROUP ? next : GROUP, groups[turn ^ 1]);
        matches(window, umbeli_is_far(f->data_len), groups[turn], chunk, hit + from);
    }
}

static TIGHT_TARGET void contains_hashes(const umbel_filter *f, const uint64_t *hashes, size_t n,
                                         uint8_t *hit) {
    const umbeli_ribbon *b = &umbeli_tight_of(f)->ribbon;
    if (b->layout.levels == 0) {
        if (n) memset(hit, 0, n);
    } else if (b->rungs->window == 1) {
        match_groups(1, f, hashes, n, hit);
    } else {
        match_groups(2, f, hashes, n, hit);
    }
}

/* ---- solution ----------------------------------------------------------------------------- */

static UMBELI_TIGHT_INLINE TIGHT_TARGET void solve_blocks(uint32_t window,
                                                          const umbeli_tight_rung *r,
                                                          const umbeli_tight_scratch *b,
                                                          uint8_t *table) {
    uint64_t later[UMBELI_TIGHT_MAX_WINDOW][UMBELI_TIGHT_MAX_WIDTH] = {0};
    for (uint32_t block = r->blocks; block-- > 0;) {
        uint32_t width = r->width + (block >= r->narrow), slot = block * UMBELI_TIGHT_BLOCK;
        solve_block(window, b->rows + (size_t)window * slot, b->prints + slot, width, later);
        uint8_t *at = table + 8 * umbeli_tight_block_at(r->width, r->narrow, block);
        for (uint32_t i = 0; i < width; i++) umbeli_store_le64(at + 8 * (size_t)i, later[0][i]);
    }
}

static TIGHT_TARGET void solve(const umbeli_tight_rung *r, const umbeli_tight_scratch *b,
                               uint8_t *table) {
    if (r->window == 1) {
        solve_blocks(1, r, b, table);
    } else {
        solve_blocks(2, r, b, table);
    }
}

#define TIGHT_OPS(name)                                                                       \
    {                                                                                         \
        .size = sizeof(umbeli_tight), .kind = &umbeli_kind_tight, .kernel = #name,            \
        .contains = contains, .contains_many = umbeli_hashed_contains_many,                   \
        .hash_many = umbeli_hashed_hash_many, .contains_hash = contains_hash,                 \
        .contains_hashes = contains_hashes, .probes = probes,                                 \
        .always_read = umbeli_tight_thresholds,                                               \
        .no_sets = "a tight filter has no bits of single keys; build one from all the keys",  \
        .no_fold =                                                                            \
            "a tight filter has exactly the size its keys need, so there is nothing to fold", \
        .copy = umbeli_tight_copy, .measure = umbeli_tight_measure,                           \
    }

#define TIGHT_KERNEL(name)                         \
    static const umbeli_ops ops = TIGHT_OPS(name); \
    const umbeli_tight_kernel umbeli_tight_##name = {&ops, solve}

#endif
