/* SPDX-License-Identifier: MIT */
#include "bench.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The same distance as umbel's own ring. */
enum { AHEAD = 48, RING = 64 };

static const uint8_t *line_of(const uint8_t *lines, uint64_t nlines, uint64_t hash) {
    return lines + 32 * (((hash >> 32) * nlines) >> 32);
}

uint64_t floor_by_hash(const uint8_t *lines, uint64_t nlines, const uint64_t *hashes, size_t n) {
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + AHEAD < n; i++) {
        __builtin_prefetch(line_of(lines, nlines, hashes[i + AHEAD]));
        sum += *line_of(lines, nlines, hashes[i]);
    }
    for (; i < n; i++) sum += *line_of(lines, nlines, hashes[i]);
    return sum;
}

uint64_t floor_by_key(const uint8_t *lines, uint64_t nlines, const umbel_key *keys, size_t n) {
    const uint8_t *ring[RING];
    uint64_t sum = 0;
    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i >= AHEAD) sum += *ring[(i - AHEAD) % RING];
        if (i >= n) continue;
        uint64_t hash = XXH3_64bits_withSeed(keys[i].data, keys[i].len, 0);
        ring[i % RING] = line_of(lines, nlines, hash);
        __builtin_prefetch(ring[i % RING]);
    }
    return sum;
}
