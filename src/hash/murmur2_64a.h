/* SPDX-License-Identifier: MIT
 *
 * murmur2_64a.h - MurmurHash64A, as RedisBloom uses it
 */
#ifndef UMBELI_MURMUR2_64A_H
#define UMBELI_MURMUR2_64A_H

#include <stddef.h>
#include <stdint.h>

uint64_t umbeli_murmur2_64a(const void *key, size_t len, uint64_t seed);

#endif
