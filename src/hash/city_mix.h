/* SPDX-License-Identifier: MIT
 *
 * city_mix.h - the pieces that CityHash's 64-bit and 128-bit functions share
 */
#ifndef UMBELI_CITY_MIX_H
#define UMBELI_CITY_MIX_H

#include "core/bits.h"

#define CITY_K0 0xc3a5c85c97cb3127ULL
#define CITY_K1 0xb492b66fbe98f273ULL
#define CITY_K2 0x9ae16a3b2f90404fULL
#define CITY_K3 0xc949d7c7509e6557ULL

typedef struct city_words {
    uint64_t a, b;
} city_words;

/* What runs through the 64-byte blocks of a long input. */
typedef struct city_state {
    uint64_t x, y, z;
    city_words v, w;
} city_state;

static inline uint64_t city_rotr(uint64_t x, unsigned r) {
    return umbeli_rotl64(x, 64 - (r & 63));
}

static inline uint64_t city_shift_mix(uint64_t x) {
    return x ^ (x >> 47);
}

/* 32 bytes at s into two words; quick, and weak on its own. */
static inline city_words city_weak(const uint8_t *s, uint64_t a, uint64_t b) {
    uint64_t last = umbeli_load_le64(s + 24);
    a += umbeli_load_le64(s);
    b = city_rotr(b + a + last, 21);
    uint64_t c = a;
    a += umbeli_load_le64(s + 8);
    a += umbeli_load_le64(s + 16);
    b += city_rotr(a, 44);
    return (city_words){a + last, b + c};
}

static inline void city_block(city_state *t, const uint8_t *s) {
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

/* Inputs of at most 16 bytes; cityhash102.c. */
uint64_t umbeli_city_short(const uint8_t *s, size_t len);

#endif
