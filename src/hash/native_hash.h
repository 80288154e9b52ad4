/* SPDX-License-Identifier: MIT
 *
 * native_hash.h - the 64-bit hash functions of filters, and umbel's own choice
 *
 * Natively hashed filters use XXH3 under the shape's seed, which is fast but only for keys that are
 * not adversarial, or SipHash-1-3 under the shape's secret, which resists those as well.
 */
#ifndef UMBELI_NATIVE_HASH_H
#define UMBELI_NATIVE_HASH_H

#include "core/filter.h"
#include "hash/siphash13.h"
#include "hash/xxh.h"

/* Hashes under the seed of a shape, and its secret if it has one. */
typedef struct umbeli_hasher {
    uint64_t (*one)(const umbeli_shape *shape, const void *key, size_t len);
    void (*many)(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes);
} umbeli_hasher;

extern const umbeli_hasher umbeli_hasher_xxh3, umbeli_hasher_xxh3_avx2, umbeli_hasher_siphash13,
    umbeli_hasher_siphash13_avx2;

/* The `one` of both hashers with XXH3, and of both with SipHash. */
uint64_t umbeli_xxh3_one(const umbeli_shape *shape, const void *key, size_t len);
uint64_t umbeli_siphash13_one(const umbeli_shape *shape, const void *key, size_t len);

static inline bool umbeli_is_keyed(const umbeli_shape *shape) {
    return shape->hash == UMBEL_HASH_SIPHASH13;
}

/* The secret combined with the seed: each seed gives different hashes, as static filters may
 * need. */
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

/* The fastest that this CPU runs. */
const umbeli_hasher *umbeli_native_hasher(const umbeli_shape *shape);

static inline void umbeli_native_hashes(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                                        uint64_t *hashes) {
    umbeli_native_hasher(shape)->many(shape, keys, n, hashes);
}

void umbeli_native_hashes128(const umbeli_shape *shape, const umbel_key *keys, size_t n,
                             umbeli_hash128 *hashes);

/* Hashes the 8-byte keys at the beginning of a batch, four at a time; returns how many there
 * were. */
size_t umbeli_xxh3_128_numbers_avx2(uint64_t seed, const umbel_key *keys, size_t n,
                                    umbeli_hash128 *hashes);

/* Tells secrets apart and reveals nothing else about them; never 0. */
uint64_t umbeli_fingerprint(umbeli_secret secret);

#endif
