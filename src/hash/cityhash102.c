/* SPDX-License-Identifier: MIT
 *
 * cityhash102.c - the 64-bit hash of CityHash 1.0.2 (Geoff Pike, Jyrki Alakuijala), a function for
 * each range of lengths
 */
#include "hash/cityhash102.h"

#include "core/bits.h"
#include "hash/city_mix.h"

uint64_t umbeli_city_pair(uint64_t low, uint64_t high) {
    const uint64_t mul = 0x9ddfea08eb382d69ULL;
    uint64_t a = city_shift_mix((low ^ high) * mul);
    return city_shift_mix((high ^ a) * mul) * mul;
}

uint64_t umbeli_city_short(const uint8_t *s, size_t len) {
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

/* 32 bytes at s, started with a; z is their last word. */
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
    if (len <= 16) return umbeli_city_short(data, len);
    if (len <= 32) return hash_17_to_32(data, len);
    if (len <= 64) return hash_33_to_64(data, len);
    return hash_long(data, len);
}

uint64_t umbeli_city64_reseed(uint64_t hash, uint64_t seed) {
    return umbeli_city_pair(hash - CITY_K2, seed);
}
