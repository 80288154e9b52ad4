/* SPDX-License-Identifier: MIT
 *
 * xxph3.c - the preview of XXH3 that RocksDB froze; its values differ from XXH3's from the first
 * byte on
 *
 * It shares the secret with XXH3.  Empty keys are RocksDB's own addition.
 */
#include "hash/foreign_hash.h"

#include "core/bits.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint64_t prime1 = UINT64_C(0x9e3779b185ebca87);
static const uint64_t prime2 = UINT64_C(0xc2b2ae3d27d4eb4f);
static const uint64_t prime3 = UINT64_C(0x165667b19e3779f9);
static const uint64_t prime4 = UINT64_C(0x85ebca77c2b2ae63);
static const uint64_t prime5 = UINT64_C(0x27d4eb2f165667c5);
static const uint64_t short1 = 0x9e3779b1, short2 = 0x85ebca77, short3 = 0xc2b2ae3d;

static uint64_t secret(size_t at) {
    return umbeli_load_le64(XXH3_kSecret + at);
}

static uint64_t folded(uint64_t a, uint64_t b) {
    return a * b ^ umbeli_mul_high(a, b);
}

static uint64_t finish(uint64_t h) {
    h ^= h >> 37;
    h *= prime3;
    return h ^ h >> 32;
}

static uint64_t mixed(const uint8_t *in, size_t at) {
    return folded(umbeli_load_le64(in) ^ secret(at), umbeli_load_le64(in + 8) ^ secret(at + 8));
}

static uint64_t up_to_16(const uint8_t *in, size_t len) {
    if (len > 8) {
        uint64_t low = umbeli_load_le64(in) ^ secret(0);
        uint64_t high = umbeli_load_le64(in + len - 8) ^ secret(8);
        return finish(len + low + high + folded(low, high));
    }
    if (len >= 4) {
        uint64_t both = umbeli_load_le32(in) | (uint64_t)umbeli_load_le32(in + len - 4) << 32;
        uint64_t keyed = both ^ secret(0);
        uint64_t h = len + (keyed ^ keyed >> 51) * short1;
        return finish((h ^ h >> 47) * prime2);
    }
    if (len > 0) {
        uint32_t all =
            in[0] | (uint32_t)in[len >> 1] << 8 | (uint32_t)in[len - 1] << 16 | (uint32_t)len << 24;
        return finish((all ^ (uint32_t)secret(0)) * prime1);
    }
    return folded(secret(0), prime2);
}

static uint64_t up_to_240(const uint8_t *in, size_t len) {
    uint64_t h = len * prime1;
    if (len <= 128) {
        for (size_t i = 0; i <= (len - 1) / 32; i++) {
            h += mixed(in + 16 * i, 32 * i) + mixed(in + len - 16 * (i + 1), 32 * i + 16);
        }
        return finish(h);
    }
    for (size_t i = 0; i < 8; i++) h += mixed(in + 16 * i, 16 * i);
    h = finish(h);
    for (size_t i = 8; i < len / 16; i++) h += mixed(in + 16 * i, 16 * (i - 8) + 3);
    return finish(h + mixed(in + len - 16, 119));
}

enum { STRIPE = 64, LANES = 8, STRIPES = 16, BLOCK = STRIPE * STRIPES };

static void take_stripe(uint64_t acc[LANES], const uint8_t *in, size_t at) {
    for (size_t i = 0; i < LANES; i++) {
        uint64_t word = umbeli_load_le64(in + 8 * i), keyed = word ^ secret(at + 8 * i);
        acc[i] += word + (keyed & UINT32_MAX) * (keyed >> 32);
    }
}

static uint64_t long_one(const uint8_t *in, size_t len) {
    uint64_t acc[LANES] = {short3, prime1, prime2, prime3, prime4, short2, prime5, short1};
    size_t stripes = len / STRIPE;
    for (size_t i = 0; i < stripes; i++) {
        take_stripe(acc, in + i * STRIPE, 8 * (i % STRIPES));
        if (i % STRIPES < STRIPES - 1) continue;
        for (size_t lane = 0; lane < LANES; lane++) {
            acc[lane] = (acc[lane] ^ acc[lane] >> 47 ^ secret(128 + 8 * lane)) * short1;
        }
    }
    if (len % STRIPE) take_stripe(acc, in + len - STRIPE, 121);
    uint64_t h = len * prime1;
    for (size_t i = 0; i < LANES; i += 2) {
        h += folded(acc[i] ^ secret(11 + 8 * i), acc[i + 1] ^ secret(19 + 8 * i));
    }
    return finish(h);
}

uint64_t umbeli_xxph3_64(const void *key, size_t len) {
    return len <= 16 ? up_to_16(key, len) : len <= 240 ? up_to_240(key, len) : long_one(key, len);
}
