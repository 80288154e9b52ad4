/* SPDX-License-Identifier: MIT
 *
 * rocksdb_ribbon.c - RocksDB's Ribbon filter: read only
 *
 * A key has a row of 128 bits that begins at one of the slots, and a fingerprint.  The filter is
 * the solution of a system of equations over GF(2): in each column, the bits that the row selects
 * have the parity of the fingerprint's bit.  Blocks of 128 slots are stored one after another, each
 * as its columns, which are segments of 16 bytes; the first blocks may have one column less.
 */
#include <math.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/rocksdb/rocksdb_filters.h"
#include "hash/foreign_hash.h"

enum { SCHEME_RIBBON = 17, SLOTS = 128, SEGMENT = 16, MAX_COLUMNS = 32 };

typedef struct ribbon {
    umbel_filter base;
    umbeli_ribbon_meta meta;
    uint64_t seed;             /* what a hash is XORed with */
    uint64_t starts;           /* slots that a row can begin at */
    uint32_t columns, shorter; /* of all blocks except the first ones, and how many those are */
} ribbon;

/* ---- Lookups ---- */

/* Where a key looks: `columns` segments from this one, and as many of the next block. */
typedef struct query {
    uint64_t segment;
    uint32_t columns, shift, want;
    uint64_t low, high; /* the row */
} query;

static query query_of(const ribbon *r, const void *key, size_t len) {
    uint64_t h = (umbeli_xxph3_64(key, len) ^ r->seed) * UINT64_C(0x6193d459236a3a0d);
    uint64_t start = umbeli_mul_high(h, r->starts), block = start / SLOTS;
    uint64_t row = h * UINT64_C(0xc28f82822b650bed);
    uint64_t before = block < r->shorter ? block : r->shorter;
    return (query){.segment = block * r->columns - before,
                   .columns = r->columns - (block < r->shorter),
                   .shift = start % SLOTS,
                   .want = (uint32_t)__builtin_bswap64(row),
                   .low = (row ^ UINT64_C(0xc367844a6e52731d)) | 1,
                   .high = row};
}

/* The row's part in the block where it begins, and in the next: shifted left, and out of it. */
static void split_row(const query *q, uint64_t this_block[2], uint64_t next_block[2]) {
    unsigned s = q->shift % 64;
    uint64_t low = q->low << s, middle = q->high << s | (s ? q->low >> (64 - s) : 0);
    uint64_t top = s ? q->high >> (64 - s) : 0;
    bool far = q->shift >= 64;
    this_block[0] = far ? 0 : low;
    this_block[1] = far ? low : middle;
    next_block[0] = far ? middle : top;
    next_block[1] = far ? top : 0;
}

static uint32_t selected(const uint8_t *segment, const uint64_t row[2]) {
    return (uint32_t)__builtin_parityll((umbeli_load_le64(segment) & row[0]) ^
                                        (umbeli_load_le64(segment + 8) & row[1]));
}

static bool contains(const umbel_filter *f, const void *key, size_t len) {
    query q = query_of((const ribbon *)f, key, len);
    uint64_t this_block[2], next_block[2];
    split_row(&q, this_block, next_block);
    const uint8_t *first = f->data + q.segment * SEGMENT;
    const uint8_t *second = first + (size_t)q.columns * SEGMENT;
    for (uint32_t i = 0; i < q.columns; i++) {
        uint32_t sum = selected(first + (size_t)i * SEGMENT, this_block);
        if (q.shift) sum ^= selected(second + (size_t)i * SEGMENT, next_block);
        if (sum != ((q.want >> i) & 1)) return false;
    }
    return true;
}

static void contains_many(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    for (size_t i = 0; i < n; i++) hit[i] = contains(f, keys[i].data, keys[i].len);
}

static size_t probes(const umbel_filter *f, umbel_key key, uint64_t hash, uint64_t *bits,
                     size_t cap) {
    (void)hash;
    query q = query_of((const ribbon *)f, key.data, key.len);
    uint64_t rows[2][2];
    size_t count = 0;
    split_row(&q, rows[0], rows[1]);
    for (uint32_t i = 0; i < q.columns; i++) {
        for (uint32_t side = 0; side < (q.shift ? 2 : 1); side++) {
            uint64_t at = (q.segment + side * q.columns + i) * SLOTS;
            for (uint32_t slot = 0; slot < SLOTS; slot++) {
                if (!(rows[side][slot / 64] >> slot % 64 & 1)) continue;
                if (count < cap) bits[count] = at + slot;
                count++;
            }
        }
    }
    return count;
}

/* ---- What is known ---- */

/* How many keys RocksDB adds to that many slots: 2^8, 2^9, ... */
static double keys_for(double slots) {
    static const double known[] = {248.851, 499.532, 1001.26, 2003.97, 4005.59,
                                   8000.39, 15966.6, 31828.1, 63447.3, 126506};
    enum { FIRST = 8, LAST = 17 };
    double power = log2(slots);
    if (power <= FIRST) return slots * known[0] / 256;
    if (power >= LAST) return slots / (0x1p17 / known[LAST - FIRST] + (power - LAST) * 0.0038);
    int below = (int)power;
    double lower = ldexp(1, below), part = slots / lower - 1;
    return known[below - FIRST] * (1 - part) + known[below - FIRST + 1] * part;
}

/* The number of slots is what the number of keys needs, rounded up to blocks: so is the estimate.
 * Every column halves the rate. */
static void measure(const umbel_filter *f, umbel_measurement *now) {
    const ribbon *r = (const ribbon *)f;
    double slots = (double)r->meta.blocks * SLOTS, most = keys_for(slots);
    double least = r->meta.blocks > 2 ? keys_for(slots - SLOTS) : 1;
    double lower = fmin(1, (double)r->shorter * SLOTS / (double)r->starts);
    double upper_rate = ldexp(1, -(int)r->columns);
    now->bits_set = umbeli_bits_count(f->data, f->data_len);
    now->keys = (most + least) / 2;
    now->keys_error = (most - least) / sqrt(12);
    now->rate = fmin(1, upper_rate * (1 + lower));
}

/* A copy is read-only as well. */
static umbel_err copy(umbel_filter *into, const umbel_filter *from) {
    (void)from;
    into->frozen = true;
    return UMBEL_OK;
}

static const umbeli_ops ribbon_ops = {
    .size = sizeof(ribbon),
    .kernel = "generic",
    .contains = contains,
    .contains_many = contains_many,
    .probes = probes,
    .copy = copy,
    .measure = measure,
    .no_sets = "a Ribbon filter cannot be merged; build one from all keys",
    .no_fold = "a Ribbon filter cannot be folded",
};

/* ---- Making ---- */

umbel_err umbeli_ribbon_new(umbeli_ribbon_meta meta, uint64_t len, const uint8_t *borrow,
                            const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    uint64_t segments = len / SEGMENT, columns = (segments + meta.blocks - 1) / meta.blocks;
    uint64_t shorter = columns * meta.blocks - segments;
    if (columns > MAX_COLUMNS) { /* segments after these are unused */
        columns = MAX_COLUMNS;
        shorter = 0;
    }
    umbeli_shape shape = {.kind = UMBEL_KIND_TIGHT,
                          .format = UMBEL_FMT_ROCKSDB,
                          .scheme = SCHEME_RIBBON,
                          .hash = UMBEL_HASH_XXPH3,
                          .hashes = (uint32_t)columns,
                          .seed = meta.seed,
                          .bits = 8 * len};
    umbel_err e = umbeli_filter_new(&ribbon_ops, "rocksdb-ribbon/xxph3", &shape, len, borrow,
                                    settings, out, diag);
    if (e) return e;
    ribbon *r = (ribbon *)*out;
    uint64_t seed = meta.seed * UINT64_C(0xc78219a23eeadd03);
    r->base.frozen = true;
    r->meta = meta;
    r->seed = (seed ^ (seed & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4) & UINT32_MAX;
    r->starts = (uint64_t)meta.blocks * SLOTS - (SLOTS - 1);
    r->columns = (uint32_t)columns;
    r->shorter = (uint32_t)shorter;
    return UMBEL_OK;
}

bool umbeli_ribbon_meta_of(const umbel_filter *f, umbeli_ribbon_meta *meta) {
    if (f->ops != &ribbon_ops) return false;
    *meta = ((const ribbon *)f)->meta;
    return true;
}
