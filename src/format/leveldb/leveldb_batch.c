/* SPDX-License-Identifier: MIT
 *
 * leveldb_batch.c - many keys at once in LevelDB's scheme
 *
 * Probes follow from 32 bits in a few steps, so it is cheaper to compute the later ones only for the
 * keys that pass the first two, and to compute them twice, than to keep all of them.
 */
#include "format/leveldb/leveldb_layout.h"
#include "hash/foreign_hash.h"

enum { GROUP = 64, FIRST = 2 };

typedef struct places {
    uint64_t bits, inverse;
} places;

static inline uint32_t place(places in, uint32_t h) {
    return in.bits > UINT32_MAX ? h : (uint32_t)umbeli_mul_high(in.inverse * h, in.bits);
}

static inline unsigned bit_of(const uint8_t *bits, uint32_t p) {
    return (unsigned)bits[p >> 3] >> (p & 7) & 1;
}

/* The keys that pass the first two probes: which, and their hashes.  No branches here: many would
 * be guessed wrong. */
static size_t pass_first(const uint8_t *bits, places in, uint32_t hashes, const umbel_key *keys,
                         size_t n, uint8_t *hit, uint8_t *open, uint32_t *open_hash) {
    uint32_t h[GROUP], one[GROUP], two[GROUP];
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        h[i] = umbeli_leveldb_hash(keys[i].data, keys[i].len);
        one[i] = place(in, h[i]);
        two[i] = hashes > 1 ? place(in, h[i] + umbeli_rotl32(h[i], 15)) : one[i];
        __builtin_prefetch(bits + (one[i] >> 3));
        __builtin_prefetch(bits + (two[i] >> 3));
    }
    for (size_t i = 0; i < n; i++) {
        hit[i] = (uint8_t)(bit_of(bits, one[i]) & bit_of(bits, two[i]));
        open[passed] = (uint8_t)i;
        open_hash[passed] = h[i];
        passed += hit[i];
    }
    return passed;
}

static void group_contains(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    const uint8_t *bits = f->data;
    const umbeli_classic *c = umbeli_classic_of(f);
    places in = {c->modulus.divisor, c->modulus.inverse + 1};
    uint32_t hashes = f->shape.hashes, open_hash[GROUP];
    uint8_t open[GROUP];
    size_t left = pass_first(bits, in, hashes, keys, n, hit, open, open_hash);
    if (hashes <= FIRST) return;
    for (size_t i = 0; i < left; i++) {
        uint32_t step = umbeli_rotl32(open_hash[i], 15), h = open_hash[i] + FIRST * step;
        for (uint32_t j = FIRST; j < hashes; j++, h += step) {
            __builtin_prefetch(bits + (place(in, h) >> 3));
        }
    }
    for (size_t i = 0; i < left; i++) {
        uint32_t step = umbeli_rotl32(open_hash[i], 15), h = open_hash[i] + FIRST * step;
        unsigned all = 1;
        for (uint32_t j = FIRST; j < hashes; j++, h += step) all &= bit_of(bits, place(in, h));
        hit[open[i]] = (uint8_t)all;
    }
}

void umbeli_leveldb_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit) {
    for (size_t first = 0; first < n; first += GROUP) {
        size_t some = n - first < GROUP ? n - first : GROUP;
        group_contains(f, keys + first, some, hit + first);
    }
}
