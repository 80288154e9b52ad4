/* SPDX-License-Identifier: MIT
 *
 * leveldb_layout.h - bits and one byte with the number of probes: LevelDB's filter and its Go kin
 *
 *   offset  size  field
 *   0       m/8   bits, bit p in byte p/8, lowest first
 *   m/8     1     k, probes a key: 1 to 30; above is reserved
 *
 * The formats differ in what a key is and in how fpr becomes bits a key: a profile each.
 */
#ifndef UMBELI_LEVELDB_LAYOUT_H
#define UMBELI_LEVELDB_LAYOUT_H

#include "format/codec.h"
#include "kind/classic/classic.h"

enum { UMBELI_LEVELDB_MOST_HASHES = 30 };

typedef struct umbeli_leveldb_profile {
    const umbeli_scheme *scheme;
    uint64_t most_bits;
    uint32_t (*bits_per_key)(uint64_t keys, double fpr); /* 0: no number of bits can do it */
    const char *beyond;                                  /* why a rate may be missed */
} umbeli_leveldb_profile;

/* Probe i is (h + i * rotr(h, 17) mod 2^32) mod bits.  Remainders of 32-bit numbers by 32-bit ones
 * take two products: the fraction h / bits, to 64 places, times bits.  More bits leave h as it
 * is. */
static inline void umbeli_leveldb_probes(const umbeli_classic *c, uint32_t h, uint64_t *pos) {
    uint32_t step = umbeli_rotl32(h, 15), hashes = c->base.shape.hashes;
    uint64_t bits = c->modulus.divisor, inverse = c->modulus.inverse + 1;
    if (bits > UINT32_MAX) {
        for (uint32_t i = 0; i < hashes; i++, h += step) pos[i] = h;
    } else {
        for (uint32_t i = 0; i < hashes; i++, h += step)
            pos[i] = umbeli_mul_high(inverse * h, bits);
    }
}

/* The scheme of keys that are bytes: LevelDB's hash, then the probes. */
void umbeli_leveldb_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos);

/* The same for many keys; at least one probe a key. */
void umbeli_leveldb_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit);

/* trunc(0.69 x bits_per_key), within 1 to 30. */
uint32_t umbeli_leveldb_hashes(uint32_t bits_per_key);

/* max(64, keys x bits_per_key) rounded up to bytes; false above 2^63-1. */
bool umbeli_leveldb_bits(uint64_t keys, uint32_t bits_per_key, uint64_t *bits);

umbel_err umbeli_leveldb_create(const umbeli_leveldb_profile *profile, const umbel_params *params,
                                const umbeli_settings *memory, umbel_filter **out,
                                umbel_diag *diag);
umbel_err umbeli_leveldb_plan(const umbeli_leveldb_profile *profile, const umbel_params *params,
                              umbel_plan *plan, umbel_diag *diag);

/* UMBELI_BORROW answers as LevelDB does where the others report damage: k above 30 and k of 0 match
 * every key, fewer than two bytes match none. */
umbel_err umbeli_leveldb_decode(const umbeli_leveldb_profile *profile, const uint8_t *bytes,
                                size_t len, umbeli_decoding how, const umbeli_settings *memory,
                                umbel_filter **out, umbel_diag *diag);

uint64_t umbeli_leveldb_size(const umbeli_leveldb_profile *profile, const umbel_filter *f);
void umbeli_leveldb_encode(const umbel_filter *f, umbeli_writer *w);

#endif
