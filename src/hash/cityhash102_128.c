/* SPDX-License-Identifier: MIT
 *
 * cityhash102_128.c - the 128-bit hash of CityHash 1.0.2, ClickHouse's block checksum
 */
#include "hash/city_mix.h"
#include "hash/cityhash102.h"

/* Fewer than 128 bytes behind the seed. */
static umbeli_city128 hash_few(const uint8_t *s, size_t len, city_words seed) {
    uint64_t a = seed.a, b = seed.b, c, d;
    if (len <= 16) {
        a = city_shift_mix(a * CITY_K1) * CITY_K1;
        c = b * CITY_K1 + umbeli_city_short(s, len);
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
    return (umbeli_city128){a ^ b, umbeli_city_pair(b, a)};
}

static umbeli_city128 hash_many(const uint8_t *s, size_t len, city_words seed) {
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
    /* The rest in pieces of 32 bytes from the end; the last may reach back into a done block. */
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
    return (umbeli_city128){umbeli_city_pair(t.x + t.v.b, t.w.b) + t.y,
                            umbeli_city_pair(t.x + t.w.b, t.y + t.v.b)};
}

umbeli_city128 umbeli_city128_of(const void *data, size_t len) {
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
