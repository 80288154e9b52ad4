/* SPDX-License-Identifier: MIT */
#include "xxh3_inverse.h"

#include <string.h>

#include "core/bits.h"

/* An odd number's inverse modulo 2^64: each step doubles how many bits are right, three at
 * first. */
static uint64_t inverse_of(uint64_t odd) {
    uint64_t x = odd;
    for (int right = 3; right < 64; right *= 2) x *= 2 - odd * x;
    return x;
}

/* x ^ rotl(x, 49) ^ rotl(x, 24) multiplies x, as a polynomial modulo X^64 + 1, by one whose 64th
 * power is 1 + X^(49 * 64) + X^(24 * 64) = 1: so 63 times more undo it. */
static uint64_t unrotate(uint64_t x) {
    for (int i = 0; i < 63; i++) x ^= umbeli_rotl64(x, 49) ^ umbeli_rotl64(x, 24);
    return x;
}

bool xxh3_inverse(uint64_t hash, uint64_t seed, size_t len, uint8_t *key) {
    const uint64_t back = inverse_of(UINT64_C(0x9fb21c651e98df25));
    /* Bytes 8 to 24 of the default secret, less the seed, whose halves are mixed first. */
    const uint64_t mixed = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    const uint64_t flip = (UINT64_C(0x1cad21f72c81017c) ^ UINT64_C(0xdb979083e96dd4de)) - mixed;
    uint64_t x = hash ^ hash >> 28 ^ hash >> 56, y = 0;
    x *= back;
    for (int i = 0; i < 2; i++) y = x ^ ((y >> 35) + len); /* the upper 35 bits, then the others */
    x = unrotate(y * back) ^ flip;
    umbeli_store_le32(key, (uint32_t)(x >> 32)); /* the first four bytes, and the last four */
    umbeli_store_le32(key + len - 4, (uint32_t)x);
    return umbeli_load_le32(key) == (uint32_t)(x >> 32);
}
