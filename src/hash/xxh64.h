/* SPDX-License-Identifier: MIT
 *
 * xxh64.h - XXH64, with seed 0 the hash of Parquet's Bloom filters
 */
#ifndef UMBELI_XXH64_H
#define UMBELI_XXH64_H

#include "hash/hasher.h"

enum { UMBELI_HASH_XXH64 = 7 };

uint64_t umbeli_xxh64(const void *key, size_t len, uint64_t seed);

extern const umbeli_hasher umbeli_hasher_xxh64;

#endif
