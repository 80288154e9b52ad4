/* SPDX-License-Identifier: MIT
 *
 * xxh3_inline.h - XXH3 from libxxhash, inlined: for short keys the call would cost as much as the
 * hash
 */
#ifndef UMBELI_XXH3_INLINE_H
#define UMBELI_XXH3_INLINE_H

#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Most filters have no seed, and a constant one saves a fifth of the instructions. */
static inline uint64_t umbeli_xxh3_inline(const void *key, size_t len, uint64_t seed) {
    return seed == 0 ? XXH3_64bits(key, len) : XXH3_64bits_withSeed(key, len, seed);
}

/* ---- Numbers: keys of 8 bytes ----
 *
 * So short that a call takes as long as the hash. */

static inline uint64_t umbeli_xxh3_mixed(uint64_t seed) {
    return seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
}

/* Bytes 8 to 24 of XXH3's default secret, less the seed. */
static inline uint64_t umbeli_xxh3_flip(uint64_t seed) {
    return UINT64_C(0xc73ab174c5ecd5a2) - umbeli_xxh3_mixed(seed);
}

#define UMBELI_XXH3_PRIME_MX2 UINT64_C(0x9fb21c651e98df25)

static inline uint64_t umbeli_xxh3_number(const void *key, uint64_t seed) {
    uint64_t x = umbeli_rotl64(umbeli_load_le64(key), 32) ^ umbeli_xxh3_flip(seed);
    x ^= umbeli_rotl64(x, 49) ^ umbeli_rotl64(x, 24);
    x *= UMBELI_XXH3_PRIME_MX2;
    x = (x ^ ((x >> 35) + 8)) * UMBELI_XXH3_PRIME_MX2;
    return x ^ x >> 28;
}

#endif
