/* SPDX-License-Identifier: MIT
 *
 * siphash13.c - one round per 8-byte word, three at the end (Aumasson and Bernstein, 2012)
 */
#include "hash/siphash13.h"
#include "hash/native_hash.h"

typedef struct state {
    uint64_t v0, v1, v2, v3;
} state;

static inline void sip_round(state *s) {
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = umbeli_rotl64(s->v1, 13) ^ s->v0;
    s->v3 = umbeli_rotl64(s->v3, 16) ^ s->v2;
    s->v0 = umbeli_rotl64(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = umbeli_rotl64(s->v1, 17) ^ s->v2;
    s->v3 = umbeli_rotl64(s->v3, 21) ^ s->v0;
    s->v2 = umbeli_rotl64(s->v2, 32);
}

static inline state begin(umbeli_secret secret) {
    uint64_t k0 = secret.word[0], k1 = secret.word[1];
    return (state){
        .v0 = k0 ^ UMBELI_SIP_V0,
        .v1 = k1 ^ UMBELI_SIP_V1,
        .v2 = k0 ^ UMBELI_SIP_V2,
        .v3 = k1 ^ UMBELI_SIP_V3,
    };
}

static inline void absorb(state *s, uint64_t word) {
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

static inline void absorb_all(state *s, const void *key, size_t len) {
    const uint8_t *p = key;
    for (size_t left = len / 8; left > 0; left--, p += 8) absorb(s, umbeli_load_le64(p));
    absorb(s, umbeli_sip_last(key, len));
}

static inline uint64_t squeeze(state *s) {
    sip_round(s);
    sip_round(s);
    sip_round(s);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static inline uint64_t hash64(const void *key, size_t len, umbeli_secret secret) {
    state s = begin(secret);
    absorb_all(&s, key, len);
    s.v2 ^= 0xff;
    return squeeze(&s);
}

uint64_t umbeli_siphash13(const void *key, size_t len, umbeli_secret secret) {
    return hash64(key, len, secret);
}

uint64_t umbeli_siphash13_one(const umbeli_shape *shape, const void *key, size_t len) {
    return hash64(key, len, umbeli_seeded(shape));
}

static void many(const umbeli_shape *shape, const umbel_key *keys, size_t n, uint64_t *hashes) {
    umbeli_secret secret = umbeli_seeded(shape);
    for (size_t i = 0; i < n; i++) hashes[i] = hash64(keys[i].data, keys[i].len, secret);
}

const umbeli_hasher umbeli_hasher_siphash13 = {.one = umbeli_siphash13_one, .many = many};

umbeli_hash128 umbeli_siphash13_128(const void *key, size_t len, umbeli_secret secret) {
    state s = begin(secret);
    s.v1 ^= 0xee;
    absorb_all(&s, key, len);
    s.v2 ^= 0xee;
    umbeli_hash128 h = {.low = squeeze(&s)};
    s.v1 ^= 0xdd;
    h.high = squeeze(&s);
    return h;
}
