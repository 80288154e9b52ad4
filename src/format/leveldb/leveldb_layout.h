/* SPDX-License-Identifier: MIT
 *
 * leveldb_layout.h - bits and a byte with the number of probes: LevelDB's filter and its Go
 * relatives
 *
 *   offset  size  field
 *   0       m/8   bits, bit p in byte p/8, lowest first
 *   m/8     1     k, probes per key: 1 to 30; higher values are reserved
 *
 * The formats differ in what a key is and in how fpr becomes bits per key; each has a profile.
 */
#ifndef UMBELI_LEVELDB_LAYOUT_H
#define UMBELI_LEVELDB_LAYOUT_H

#include "core/platform.h"
#include "format/codec.h"
#include "umbel_foreign.h"

enum { UMBELI_LEVELDB_MAX_HASHES = 30 };

/* Probe i of a key with hash h, before it is reduced to the number of bits: h + i * rotr(h, 17). */
static inline uint32_t umbeli_leveldb_probe(uint32_t h, uint32_t i) {
    return h + i * umbeli_rotl32(h, 15);
}

/* Probes modulo a number of bits, for many keys in one filter.  The remainder of a 32-bit number by
 * one below 2^32 takes two products and no division (Lemire, Kaser, Kurz 2019): the product with
 * 2^64 / bits has the fraction in its lower half.  With more bits a probe stays as it is. */
typedef struct umbeli_leveldb_modulus {
    uint64_t bits, inverse;
} umbeli_leveldb_modulus;

static inline umbeli_leveldb_modulus umbeli_leveldb_modulus_of(uint64_t bits) {
    return (umbeli_leveldb_modulus){bits, UINT64_MAX / bits + 1};
}

static inline uint32_t umbeli_leveldb_place(umbeli_leveldb_modulus m, uint32_t probe) {
    return m.bits > UINT32_MAX ? probe : (uint32_t)umbeli_mul_high(m.inverse * probe, m.bits);
}

typedef struct umbeli_leveldb_profile {
    const umbeli_scheme *scheme;
    uint64_t max_bits;
    uint32_t (*bits_per_key)(uint64_t keys, double fpr); /* 0: impossible */
    const char *beyond;                                  /* why a rate may be missed */
} umbeli_leveldb_profile;

/* Writes all probes of a key with this hash. */
void umbeli_leveldb_probes(const umbeli_classic *c, uint32_t hash, uint64_t *pos);

/* The scheme of keys that are bytes: LevelDB's hash, then the probes. */
void umbeli_leveldb_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos);

/* umbeli_leveldb_positions for many keys; at least one probe per key. */
#if UMBELI_HAVE_PREFETCH
void umbeli_leveldb_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit);
#else
#define umbeli_leveldb_contains_many NULL
#endif

/* umbeli_scheme's live_rate, estimate and estimate_error, and the mean rate of such filters. */
double umbeli_leveldb_live(const umbeli_classic *c, uint64_t bits_set, double keys);
double umbeli_leveldb_estimate(const umbeli_classic *c, uint64_t bits_set);
double umbeli_leveldb_estimate_error(const umbeli_classic *c, double keys);
double umbeli_leveldb_rate(uint64_t bits, uint32_t hashes, uint64_t keys);
double umbeli_leveldb_guess(uint64_t bits, uint32_t hashes, uint64_t keys); /* roughly, quickly */

/* trunc(0.69 x bits_per_key), within 1 to 30. */
uint32_t umbeli_leveldb_hashes(uint32_t bits_per_key);

/* max(64, keys x bits_per_key) rounded up to bytes; false above 2^63-1. */
bool umbeli_leveldb_bits(uint64_t keys, uint32_t bits_per_key, uint64_t *bits);

/* umbeli_codec's draft and rate. */
umbel_err umbeli_leveldb_draft(const umbeli_leveldb_profile *profile, const umbel_foreign *params,
                               umbeli_draft *draft, umbel_diag *diag);
double umbeli_leveldb_draft_rate(const umbeli_draft *draft);

/* UMBELI_BORROW behaves like LevelDB where the other modes report damage: k above 30 and k of 0
 * match every key, fewer than two bytes match none. */
umbel_err umbeli_leveldb_decode(const umbeli_leveldb_profile *profile, const uint8_t *bytes,
                                size_t len, umbeli_decoding how, const umbeli_settings *settings,
                                umbel_filter **out, umbel_diag *diag);

uint64_t umbeli_leveldb_size(const umbeli_leveldb_profile *profile, const umbel_filter *f);
void umbeli_leveldb_encode(const umbel_filter *f, umbeli_writer *w);

#endif
