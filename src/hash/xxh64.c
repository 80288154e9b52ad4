/* SPDX-License-Identifier: MIT */
#include "hash/xxh64.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t one(const void *key, size_t len, uint64_t seed) {
    return XXH64(key, len, seed);
}

static void many(const umbel_key *keys, size_t n, uint64_t seed, uint64_t *hashes) {
    for (size_t i = 0; i < n; i++) hashes[i] = XXH64(keys[i].data, keys[i].len, seed);
}

const umbeli_hasher umbeli_hasher_xxh64 = {
    .id = UMBELI_HASH_XXH64,
    .one = one,
    .many = many,
};
