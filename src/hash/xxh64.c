/* SPDX-License-Identifier: MIT */
#include "hash/xxh64.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t umbeli_xxh64(const void *key, size_t len, uint64_t seed) {
    return XXH64(key, len, seed);
}

static uint64_t one(const umbeli_shape *shape, const void *key, size_t len) {
    return XXH64(key, len, shape->seed);
}

static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = XXH64(keys[i].data, keys[i].len, shape->seed);
}

const umbeli_hasher umbeli_hasher_xxh64 = {.one = one, .many = many};
