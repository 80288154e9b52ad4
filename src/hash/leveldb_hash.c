/* SPDX-License-Identifier: MIT */
#include "hash/leveldb_hash.h"

#include "core/bits.h"

static const uint32_t seed = 0xbc9f1d34, factor = 0xc6a4a793;

uint32_t umbeli_leveldb_hash(const void *key, size_t len) {
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)len * factor;
    for (size_t steps = len / 4; steps > 0; steps--, p += 4) {
        h = (h + umbeli_load_le32(p)) * factor;
        h ^= h >> 16;
    }
    size_t rest = len % 4;
    if (rest == 0) return h;
    uint32_t tail = p[0];
    if (rest > 1) tail |= (uint32_t)p[1] << 8;
    if (rest > 2) tail |= (uint32_t)p[2] << 16;
    h = (h + tail) * factor;
    return h ^ h >> 24;
}
