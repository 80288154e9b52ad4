/* SPDX-License-Identifier: MIT
 *
 * cityhash102.h - CityHash 1.0.2, the version that ClickHouse froze; later ones hash otherwise
 */
#ifndef UMBELI_CITYHASH102_H
#define UMBELI_CITYHASH102_H

#include <stddef.h>
#include <stdint.h>

uint64_t umbeli_city64(const void *data, size_t len);

/* Continues a hash of umbeli_city64 with a seed: hash once, seed often. */
uint64_t umbeli_city64_reseed(uint64_t hash, uint64_t seed);

/* Two words into one, also on its own the probe function of ClickHouse's bloom_filter index. */
uint64_t umbeli_city_pair(uint64_t low, uint64_t high);

/* The checksum of ClickHouse's compressed blocks. */
typedef struct umbeli_city128 {
    uint64_t low, high;
} umbeli_city128;

umbeli_city128 umbeli_city128_of(const void *data, size_t len);

#endif
