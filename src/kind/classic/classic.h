/* SPDX-License-Identifier: MIT
 *
 * classic.h - m bits, k probes; where the probes fall is a scheme's business
 *
 * A scheme is key -> positions and nothing else.  umbel's own is in classic_native.c; each foreign
 * Bloom format brings one beside its codec.
 */
#ifndef UMBELI_CLASSIC_H
#define UMBELI_CLASSIC_H

#include "core/bits.h"
#include "core/filter.h"
#include "hash/xxh.h"

enum { UMBELI_CLASSIC_MAX_HASHES = 1024 };

typedef struct umbeli_classic umbeli_classic;

typedef struct umbeli_scheme {
    uint32_t id, hash;  /* shape.scheme, shape.hash; hash 0: umbel's own, either of them */
    const char *layout; /* for people ... */
    const char *keyed;  /* ... and with a secret, or NULL */
    umbel_format format;

    /* Writes shape.hashes positions, each below shape.bits, into pos. */
    void (*positions)(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos);

    /* Look-ups in batches by a way of its own, never with shape.hashes 0; NULL: by positions. */
    void (*contains_many)(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit);

    size_t key_len; /* keys have so many bytes, others are refused and never in; 0: any length */

    /* Positions are scaled to the size, not taken modulo it: halving ORs neighbours. */
    bool folds;

    /* Distinct keys, told from the set bits just as that system does; NULL: the exact estimate. */
    double (*estimate)(const umbeli_classic *c, uint64_t bits_set);
} umbeli_scheme;

struct umbeli_classic {
    umbel_filter base;
    const umbeli_scheme *scheme;
    umbeli_modulus modulus; /* of shape.bits, for schemes that divide */
};

static inline const umbeli_classic *umbeli_classic_of(const umbel_filter *f) {
    return (const umbeli_classic *)f;
}

extern const umbeli_scheme umbeli_scheme_native;

/* shape.scheme, .hash (unless it is 0 there) and .format are filled in from the scheme; shape.hashes 0 is a filter that
 * matches everything; only then may shape.bits be 0.  data_len is ceil(bits / 8); borrow as in
 * umbeli_filter_new. */
umbel_err umbeli_classic_new(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *borrow,
                             const umbeli_settings *memory, umbel_filter **out, umbel_diag *diag);

/* Of filters with umbel's own scheme: look-ups by hash (umbeli_native_hash128), for callers that ask
 * several filters with the same seed and secret about the same keys. */
bool umbeli_classic_is_native(const umbel_filter *f);
void umbeli_classic_contains_hashed(const umbel_filter *f, const umbeli_hash128 *hashes, size_t n,
                                    uint8_t *hit);

/* The ops table of every classic filter: what tells one apart from other kinds. */
extern const umbeli_ops umbeli_classic_ops;

#endif
