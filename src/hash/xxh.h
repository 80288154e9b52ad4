/* SPDX-License-Identifier: MIT
 *
 * xxh.h - XXH3, umbel's own hash for filters without a secret
 */
#ifndef UMBELI_XXH_H
#define UMBELI_XXH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct umbeli_hash128 {
    uint64_t low, high;
} umbeli_hash128;

uint64_t umbeli_xxh3_64(const void *key, size_t len, uint64_t seed);
umbeli_hash128 umbeli_xxh3_128(const void *key, size_t len, uint64_t seed);

/* XXH3-64 of bytes that arrive in pieces: the same value as umbeli_xxh3_64 of the whole. */
typedef struct umbeli_xxh3_stream {
    _Alignas(64) uint8_t state[640]; /* libxxhash's, whose header stays out of this one */
} umbeli_xxh3_stream;

void umbeli_xxh3_begin(umbeli_xxh3_stream *stream, uint64_t seed);
bool umbeli_xxh3_sink(void *stream, const void *bytes, size_t len); /* an umbeli_sink */
uint64_t umbeli_xxh3_end(const umbeli_xxh3_stream *stream);

#endif
