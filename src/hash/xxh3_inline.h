/* SPDX-License-Identifier: MIT
 *
 * xxh3_inline.h - XXH3 from libxxhash, inlined: for short keys the call would cost as much as the
 * hash
 */
#ifndef UMBELI_XXH3_INLINE_H
#define UMBELI_XXH3_INLINE_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Most filters have no seed, and a constant one saves a fifth of the instructions. */
static inline uint64_t umbeli_xxh3_inline(const void *key, size_t len, uint64_t seed) {
    return seed == 0 ? XXH3_64bits(key, len) : XXH3_64bits_withSeed(key, len, seed);
}

#endif
