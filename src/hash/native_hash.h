/* SPDX-License-Identifier: MIT
 *
 * native_hash.h - the 64-bit hash functions that filters choose between, and umbel's own choice
 *
 * Natively hashed filters take XXH3 under the shape's seed, which is fast and holds for keys that
 * nobody chose to do harm, or SipHash-1-3 under the shape's secret, which holds for those, too.
 */
#ifndef UMBELI_NATIVE_HASH_H
#define UMBELI_NATIVE_HASH_H

#include "core/filter.h"
#include "hash/siphash13.h"
#include "hash/xxh.h"

/* Numbers of hash functions in native files; they never change. */
enum { UMBELI_HASH_XXH3 = 1, UMBELI_HASH_SIPHASH13 = 2 };

/* Hashes under the seed, and perhaps the secret, of a shape. */
typedef struct umbeli_hasher {
    uint64_t (*one)(const umbeli_shape *shape, const void *key, size_t len);
    void (*many)(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes);
} umbeli_hasher;

extern const umbeli_hasher umbeli_hasher_xxh3, umbeli_hasher_siphash13,
    umbeli_hasher_siphash13_avx2;

/* For one key alone both do the same. */
uint64_t umbeli_siphash13_one(const umbeli_shape *shape, const void *key, size_t len);

static inline bool umbeli_is_keyed(const umbeli_shape *shape) {
    return shape->hash == UMBELI_HASH_SIPHASH13;
}

/* The secret under a seed: as static filters may need, each seed hashes otherwise. */
static inline umbeli_secret umbeli_seeded(const umbeli_shape *shape) {
    return (umbeli_secret){{shape->secret.word[0] ^ shape->seed, shape->secret.word[1]}};
}

static inline uint64_t umbeli_native_hash(const umbeli_shape *shape, const void *key, size_t len) {
    if (umbeli_is_keyed(shape)) return umbeli_siphash13(key, len, umbeli_seeded(shape));
    return umbeli_xxh3_64(key, len, shape->seed);
}

static inline umbeli_hash128 umbeli_native_hash128(const umbeli_shape *shape, const void *key,
                                                   size_t len) {
    if (umbeli_is_keyed(shape)) return umbeli_siphash13_128(key, len, umbeli_seeded(shape));
    return umbeli_xxh3_128(key, len, shape->seed);
}

/* The fastest that this CPU has. */
const umbeli_hasher *umbeli_native_hasher(const umbeli_shape *shape);

static inline void umbeli_native_hashes(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                                        uint64_t *hashes) {
    umbeli_native_hasher(shape)->many(shape, keys, n, hashes);
}

/* Tells one secret from another and says nothing else about it; never 0. */
uint64_t umbeli_fingerprint(umbeli_secret secret);

#endif
