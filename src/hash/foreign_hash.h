/* SPDX-License-Identifier: MIT
 *
 * foreign_hash.h - the hash functions of other systems' filters
 *
 * All give the same value on machines of any byte order.
 */
#ifndef UMBELI_FOREIGN_HASH_H
#define UMBELI_FOREIGN_HASH_H

#include "hash/native_hash.h"

/* XXH64: with seed 0, the hash of Parquet's Bloom filters. */
uint64_t umbeli_xxh64(const void *key, size_t len, uint64_t seed);
extern const umbeli_hasher umbeli_hasher_xxh64;

/* XXH32 with seed 0: a checksum of RocksDB's blocks. */
uint32_t umbeli_xxh32(const void *bytes, size_t len);

/* LevelDB's 32-bit hash, with the seed its filters use.  Murmur-like: four bytes per step and no
 * mixing after the last full step, so the upper bytes of a key of 4n bytes hardly reach the lower
 * bits.  RocksDB's copy, for filters of format versions below 5, sign-extends the bytes of the tail
 * and so differs for those from 0x80 up. */
uint32_t umbeli_leveldb_hash(const void *key, size_t len);
uint32_t umbeli_rocksdb_hash(const void *key, size_t len);

/* RocksDB's hash since format version 5: a preview of XXH3 that differs from the released one. */
uint64_t umbeli_xxph3_64(const void *key, size_t len);

/* Spark's variant of MurmurHash3_x86_32: each byte of the tail is mixed as a signed word. */
uint32_t umbeli_spark_hash(const void *key, size_t len, uint32_t seed);

/* CityHash 1.0.2, the version that ClickHouse froze; later versions differ. */
uint64_t umbeli_city64(const void *data, size_t len);

/* Continues a umbeli_city64 hash with a seed: hash once, seed many times. */
uint64_t umbeli_city64_reseed(uint64_t hash, uint64_t seed);

/* Mixes two words into one; by itself the probe function of ClickHouse's bloom_filter index. */
uint64_t umbeli_city_pair(uint64_t low, uint64_t high);

/* The checksum of ClickHouse's compressed blocks. */
umbeli_hash128 umbeli_city128(const void *data, size_t len);

/* MurmurHash3_x64_128, Guava's hash. */
umbeli_hash128 umbeli_murmur3_128(const void *data, size_t len, uint32_t seed);

/* The 64-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
static inline uint64_t umbeli_fmix64(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

/* MurmurHash64A, as RedisBloom uses it. */
uint64_t umbeli_murmur2_64a(const void *key, size_t len, uint64_t seed);

/* FNV-1, 64 bits: multiply, then xor (FNV-1a does it the other way round); DCSO's hash. */
uint64_t umbeli_fnv1_64(const void *key, size_t len);

/* CRC-32 (IEEE 802.3), as in zlib and Go's hash/crc32. */
uint32_t umbeli_crc32(const void *key, size_t len);

#endif
