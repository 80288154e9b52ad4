/* SPDX-License-Identifier: MIT */
#include "hash/murmur2_64a.h"

#include "core/bits.h"

static const uint64_t factor = 0xc6a4a7935bd1e995;

uint64_t umbeli_murmur2_64a(const void *key, size_t len, uint64_t seed) {
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
