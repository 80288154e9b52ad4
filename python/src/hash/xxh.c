/* SPDX-License-Identifier: MIT
 *
 * xxh.c - XXH3 and XXH64 from libxxhash, inlined: for short keys the call would cost as much as the
 * hash
 */
#include "hash/foreign_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t umbeli_xxh3_64(const void *key, size_t len, uint64_t seed) {
    return XXH3_64bits_withSeed(key, len, seed);
}

umbeli_hash128 umbeli_xxh3_128(const void *key, size_t len, uint64_t seed) {
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return (umbeli_hash128){.low = h.low64, .high = h.high64};
}

uint64_t umbeli_xxh3_one(const umbeli_shape *shape, const void *key, size_t len) {
    return XXH3_64bits_withSeed(key, len, shape->seed);
}

static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes) {
    uint64_t seed = shape->seed;
    for (size_t i = 0; i < n; i++) {
        hashes[i] = XXH3_64bits_withSeed(keys[i].data, keys[i].len, seed);
    }
}

const umbeli_hasher umbeli_hasher_xxh3 = {.one = umbeli_xxh3_one, .many = many};

_Static_assert(sizeof(XXH3_state_t) <= sizeof(umbeli_xxh3_stream), "the state fits");

void umbeli_xxh3_begin(umbeli_xxh3_stream *stream, uint64_t seed) {
    /* Otherwise a reused stream under the same seed would keep its stale XXH3 secret. */
    XXH3_INITSTATE((XXH3_state_t *)stream);
    XXH3_64bits_reset_withSeed((XXH3_state_t *)stream, seed);
}

bool umbeli_xxh3_sink(void *stream, const void *bytes, size_t len) {
    return XXH3_64bits_update(stream, bytes, len) == XXH_OK;
}

uint64_t umbeli_xxh3_end(const umbeli_xxh3_stream *stream) {
    return XXH3_64bits_digest((const XXH3_state_t *)stream);
}

/* ---- XXH64 -------------------------------------------------------------------------------- */

uint64_t umbeli_xxh64(const void *key, size_t len, uint64_t seed) {
    return XXH64(key, len, seed);
}

static uint64_t one_xxh64(const umbeli_shape *shape, const void *key, size_t len) {
    return XXH64(key, len, shape->seed);
}

static void many_xxh64(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                       uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = XXH64(keys[i].data, keys[i].len, shape->seed);
}

const umbeli_hasher umbeli_hasher_xxh64 = {.one = one_xxh64, .many = many_xxh64};
