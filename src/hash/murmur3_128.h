/* SPDX-License-Identifier: MIT
 *
 * murmur3_128.h - MurmurHash3_x64_128, what Guava hashes with
 */
#ifndef UMBELI_MURMUR3_128_H
#define UMBELI_MURMUR3_128_H

#include <stddef.h>
#include <stdint.h>

typedef struct umbeli_murmur3 {
    uint64_t h1, h2;
} umbeli_murmur3;

/* The same on machines of either byte order. */
umbeli_murmur3 umbeli_murmur3_128(const void *data, size_t len, uint32_t seed);

#endif
