/* SPDX-License-Identifier: MIT
 *
 * xxh64.h - XXH64 with seed 0, the hash of Parquet's Bloom filters
 */
#ifndef UMBELI_XXH64_H
#define UMBELI_XXH64_H

#include <stddef.h>
#include <stdint.h>

uint64_t umbeli_xxh64(const void *data, size_t len);

#endif
