/* SPDX-License-Identifier: MIT
 *
 * cityhash102.c - CityHash 1.0.2 (Geoff Pike, Jyrki Alakuijala): the 64-bit hash, with a function
 * for each range of lengths, and the 128-bit one
 */
#include "core/bits.h"
#include "hash/foreign_hash.h"

#define CITY_K0 0xc3a5c85c97cb3127ULL
#define CITY_K1 0xb492b66fbe98f273ULL
#define CITY_K2 0x9ae16a3b2f90404fULL
#define CITY_K3 0xc949d7c7509e6557ULL

typedef struct city_words {
    uint64_t a, b;
} city_words;

/* The state carried through the 64-byte blocks of a long input. */
typedef struct city_state {
    uint64_t x, y, z;
    city_words v, w;
} city_state;

static uint64_t city_rotr(uint64_t x, unsigned r) {
    return umbeli_rotl64(x, 64 - (r & 63));
}

static uint64_t city_shift_mix(uint64_t x) {
    return x ^ (x >> 47);
}

/* Mixes 32 bytes at s into two words; fast, and weak on its own. */
static city_words city_weak(const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t last = umbeli_load_le64(s + 24);
    a += umbeli_load_le64(s);
    b = city_rotr(b + a + last, 21);
    uint64_t c = a;
    a += umbeli_load_le64(s + 8);
    a += umbeli_load_le64(s + 16);
    b += city_rotr(a, 44);
    return (city_words){a + last, b + c};
}

static void city_block(city_state *t, const uint8_t *s) {
    uint64_t x = city_rotr(t->x + t->y + t->v.a + umbeli_load_le64(s + 16), 37) * CITY_K1;
    uint64_t y = city_rotr(t->y + t->v.b + umbeli_load_le64(s + 48), 42) * CITY_K1;
    x ^= t->w.b;
    y ^= t->v.a;
    uint64_t z = city_rotr(t->z ^ t->w.a, 33);
    t->v = city_weak(s, t->v.b * CITY_K1, x + t->w.a);
    t->w = city_weak(s + 32, z + t->w.b, y);
    t->x = z;
    t->y = y;
    t->z = x;
}

/* ---- 64 bits ------------------------------------------------------------------------------ */

uint64_t umbeli_city_pair(uint64_t low, uint64_t high) {
    const uint64_t mul = 0x9ddfea08eb382d69ULL;
    uint64_t a = city_shift_mix((low ^ high) * mul);
    return city_shift_mix((high ^ a) * mul) * mul;
}

/* At most 16 bytes. */
static uint64_t city_short(const uint8_t *s, size_t len) {
    if (len > 8) {
        uint64_t a = umbeli_load_le64(s), b = umbeli_load_le64(s + len - 8);
        return umbeli_city_pair(a, city_rotr(b + len, (unsigned)len)) ^ b;
    }
    if (len >= 4) {
        uint64_t a = umbeli_load_le32(s);
        return umbeli_city_pair(len + (a << 3), umbeli_load_le32(s + len - 4));
    }
    if (len > 0) {
        uint32_t y = s[0] + ((uint32_t)s[len >> 1] << 8);
        uint32_t z = (uint32_t)len + ((uint32_t)s[len - 1] << 2);
        return city_shift_mix(y * CITY_K2 ^ z * CITY_K3) * CITY_K2;
    }
    return CITY_K2;
}

static uint64_t hash_17_to_32(const uint8_t *s, size_t len) {
    uint64_t a = umbeli_load_le64(s) * CITY_K1;
    uint64_t b = umbeli_load_le64(s + 8);
    uint64_t c = umbeli_load_le64(s + len - 8) * CITY_K2;
    uint64_t d = umbeli_load_le64(s + len - 16) * CITY_K0;
    return umbeli_city_pair(city_rotr(a - b, 43) + city_rotr(c, 30) + d,
                            a + city_rotr(b ^ CITY_K3, 20) - c + len);
}

/* 32 bytes at s, starting from a; z is their last word. */
static city_words half_of_64(const uint8_t *s, uint64_t a, uint64_t z) {
    uint64_t b = city_rotr(a + z, 52), c = city_rotr(a, 37);
    a += umbeli_load_le64(s + 8);
    c += city_rotr(a, 7);
    a += umbeli_load_le64(s + 16);
    return (city_words){a + z, b + city_rotr(a, 31) + c};
}

static uint64_t hash_33_to_64(const uint8_t *s, size_t len) {
    const uint8_t *end = s + len;
    uint64_t start = umbeli_load_le64(s) + (len + umbeli_load_le64(end - 16)) * CITY_K0;
    city_words v = half_of_64(s, start, umbeli_load_le64(s + 24));
    start = umbeli_load_le64(s + 16) + umbeli_load_le64(end - 32);
    city_words w = half_of_64(end - 32, start, umbeli_load_le64(end - 8));
    uint64_t r = city_shift_mix((v.a + w.b) * CITY_K2 + (w.a + v.b) * CITY_K0);
    return city_shift_mix(r * CITY_K0 + v.b) * CITY_K2;
}

static uint64_t hash_long(const uint8_t *s, size_t len) {
    const uint8_t *end = s + len;
    city_state t;
    t.x = umbeli_load_le64(s);
    t.y = umbeli_load_le64(end - 16) ^ CITY_K1;
    t.z = umbeli_load_le64(end - 56) ^ CITY_K0;
    t.v = city_weak(end - 64, len, t.y);
    t.w = city_weak(end - 32, len * CITY_K1, CITY_K0);
    t.z += city_shift_mix(t.v.b) * CITY_K1;
    t.x = city_rotr(t.z + t.x, 39) * CITY_K1;
    t.y = city_rotr(t.y, 33) * CITY_K1;
    for (size_t blocks = (len - 1) / 64; blocks > 0; blocks--, s += 64) city_block(&t, s);
    return umbeli_city_pair(umbeli_city_pair(t.v.a, t.w.a) + city_shift_mix(t.y) * CITY_K1 + t.z,
                            umbeli_city_pair(t.v.b, t.w.b) + t.x);
}

uint64_t umbeli_city64(const void *data, size_t len) {
    if (len <= 16) return city_short(data, len);
    if (len <= 32) return hash_17_to_32(data, len);
    if (len <= 64) return hash_33_to_64(data, len);
    return hash_long(data, len);
}

uint64_t umbeli_city64_reseed(uint64_t hash, uint64_t seed) {
    return umbeli_city_pair(hash - CITY_K2, seed);
}

/* ---- 128 bits ----------------------------------------------------------------------------- */

/* Fewer than 128 bytes after the seed. */
static umbeli_hash128 hash_few(const uint8_t *s, size_t len, city_words seed) {
    uint64_t a = seed.a, b = seed.b, c, d;
    if (len <= 16) {
        a = city_shift_mix(a * CITY_K1) * CITY_K1;
        c = b * CITY_K1 + city_short(s, len);
        d = city_shift_mix(a + (len >= 8 ? umbeli_load_le64(s) : c));
    } else {
        c = umbeli_city_pair(umbeli_load_le64(s + len - 8) + CITY_K1, a);
        d = umbeli_city_pair(b + len, c + umbeli_load_le64(s + len - 16));
        a += d;
        for (size_t done = 0; done + 16 < len; done += 16) {
            a = (a ^ city_shift_mix(umbeli_load_le64(s + done) * CITY_K1) * CITY_K1) * CITY_K1;
            b ^= a;
            c = (c ^ city_shift_mix(umbeli_load_le64(s + done + 8) * CITY_K1) * CITY_K1) * CITY_K1;
            d ^= c;
        }
    }
    a = umbeli_city_pair(a, c);
    b = umbeli_city_pair(d, b);
    return (umbeli_hash128){a ^ b, umbeli_city_pair(b, a)};
}

static umbeli_hash128 hash_many(const uint8_t *s, size_t len, city_words seed) {
    city_state t = {.x = seed.a, .y = seed.b, .z = len * CITY_K1};
    t.v.a = city_rotr(t.y ^ CITY_K1, 49) * CITY_K1 + umbeli_load_le64(s);
    t.v.b = city_rotr(t.v.a, 42) * CITY_K1 + umbeli_load_le64(s + 8);
    t.w.a = city_rotr(t.y + t.z, 35) * CITY_K1 + t.x;
    t.w.b = city_rotr(t.x + umbeli_load_le64(s + 88), 53) * CITY_K1;
    for (; len >= 128; len -= 128, s += 128) {
        city_block(&t, s);
        city_block(&t, s + 64);
    }
    t.y += city_rotr(t.w.a, 37) * CITY_K0 + t.z;
    t.x += city_rotr(t.v.a + t.z, 49) * CITY_K0;
    /* The rest in pieces of 32 bytes from the end; the last may reach back into a finished
     * block. */
    const uint8_t *piece = s + len;
    for (size_t done = 0; done < len; done += 32) {
        piece -= 32;
        t.y = city_rotr(t.y - t.x, 42) * CITY_K0 + t.v.b;
        t.w.a += umbeli_load_le64(piece + 16);
        t.x = city_rotr(t.x, 49) * CITY_K0 + t.w.a;
        t.w.a += t.v.a;
        t.v = city_weak(piece, t.v.a, t.v.b);
    }
    t.x = umbeli_city_pair(t.x, t.v.a);
    t.y = umbeli_city_pair(t.y, t.w.a);
    return (umbeli_hash128){umbeli_city_pair(t.x + t.v.b, t.w.b) + t.y,
                            umbeli_city_pair(t.x + t.w.b, t.y + t.v.b)};
}

umbeli_hash128 umbeli_city128(const void *data, size_t len) {
    const uint8_t *s = data;
    if (len < 8) return hash_few(s, len, (city_words){CITY_K0, CITY_K1});
    city_words seed = {umbeli_load_le64(s), 0};
    if (len < 16) {
        seed.a ^= len * CITY_K0;
        seed.b = umbeli_load_le64(s + len - 8) ^ CITY_K1;
        return hash_few(s, 0, seed);
    }
    seed.a ^= CITY_K3;
    seed.b = umbeli_load_le64(s + 8);
    return len - 16 < 128 ? hash_few(s + 16, len - 16, seed) : hash_many(s + 16, len - 16, seed);
}
