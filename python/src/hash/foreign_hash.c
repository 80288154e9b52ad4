/* SPDX-License-Identifier: MIT
 *
 * foreign_hash.c - the foreign hashes that take a few lines each
 */
#include "hash/foreign_hash.h"
#include "core/bits.h"

static inline uint32_t widened(uint8_t byte, bool is_signed) {
    return is_signed ? (uint32_t)(int8_t)byte : byte;
}

static inline uint32_t leveldb_like(const uint8_t *p, size_t len, bool is_signed) {
    static const uint32_t seed = 0xbc9f1d34, factor = 0xc6a4a793;
    uint32_t h = seed ^ (uint32_t)len * factor;
    for (size_t steps = len / 4; steps > 0; steps--, p += 4) {
        h = (h + umbeli_load_le32(p)) * factor;
        h ^= h >> 16;
    }
    size_t rest = len % 4;
    if (rest == 0) return h;
    uint32_t tail = widened(p[0], is_signed);
    if (rest > 1) tail += widened(p[1], is_signed) << 8;
    if (rest > 2) tail += widened(p[2], is_signed) << 16;
    h = (h + tail) * factor;
    return h ^ h >> 24;
}

uint32_t umbeli_leveldb_hash(const void *key, size_t len) {
    return leveldb_like(key, len, false);
}

uint32_t umbeli_rocksdb_hash(const void *key, size_t len) {
    return leveldb_like(key, len, true);
}

static uint32_t spark_mix(uint32_t h, uint32_t word) {
    h ^= umbeli_rotl32(word * 0xcc9e2d51, 15) * 0x1b873593;
    return umbeli_rotl32(h, 13) * 5 + 0xe6546b64;
}

uint32_t umbeli_spark_hash(const void *key, size_t len, uint32_t seed) {
    const uint8_t *p = key;
    uint32_t h = seed;
    for (size_t steps = len / 4; steps > 0; steps--, p += 4) h = spark_mix(h, umbeli_load_le32(p));
    for (size_t i = 0; i < len % 4; i++) h = spark_mix(h, (uint32_t)(int8_t)p[i]);
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

uint64_t umbeli_murmur2_64a(const void *key, size_t len, uint64_t seed) {
    static const uint64_t factor = 0xc6a4a7935bd1e995;
    const uint8_t *p = key;
    uint64_t h = seed ^ (uint64_t)len * factor;
    for (size_t steps = len / 8; steps > 0; steps--, p += 8) {
        uint64_t word = umbeli_load_le64(p) * factor;
        word ^= word >> 47;
        h = (h ^ word * factor) * factor;
    }
    size_t rest = len % 8;
    if (rest) {
        uint64_t tail = 0;
        for (size_t i = 0; i < rest; i++) tail |= (uint64_t)p[i] << 8 * i;
        h = (h ^ tail) * factor;
    }
    h = (h ^ h >> 47) * factor;
    return h ^ h >> 47;
}

uint64_t umbeli_fnv1_64(const void *key, size_t len) {
    const uint8_t *p = key;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++) h = h * 0x100000001b3 ^ p[i];
    return h;
}

uint32_t umbeli_crc32(const void *key, size_t len) {
    /* The remainders of four bits at a time: small enough to stay in one cache line. */
    static const uint32_t nibble[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *p = key;
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ nibble[crc & 15];
        crc = crc >> 4 ^ nibble[crc & 15];
    }
    return ~crc;
}
