/* SPDX-License-Identifier: MIT
 *
 * classic.h - m bits, k probes; a scheme decides where the probes are
 *
 * A scheme maps a key to positions and does nothing else.  umbel's own is in classic_native.c, with
 * its adds for AVX2 in classic_avx2.c; each foreign Bloom format has one next to its codec.
 */
#ifndef UMBELI_CLASSIC_H
#define UMBELI_CLASSIC_H

#include "core/bits.h"
#include "core/filter.h"
#include "core/platform.h"
#include "hash/xxh.h"

enum { UMBELI_CLASSIC_MAX_HASHES = 1024 };

/* umbel's own scheme in native files; the number never changes. */
enum { UMBELI_SCHEME_CLASSIC = 1 };

typedef struct umbeli_classic umbeli_classic;

typedef struct umbeli_scheme {
    uint32_t id, hash;  /* shape.scheme, shape.hash; hash 0: one of umbel's own */
    const char *layout; /* for people ... */
    const char *keyed;  /* ... and with a secret, or NULL */
    umbel_format format;

    /* Writes shape.hashes positions, each below shape.bits, into pos. */
    void (*positions)(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos);

    /* One lookup that stops at the first bit that is not set, never called with shape.hashes 0;
     * NULL: by positions. */
    bool (*contains)(const umbel_filter *f, const void *key, size_t len);

    /* The scheme's own batch lookups, never called with shape.hashes 0; NULL: by positions. */
    void (*contains_many)(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit);

    /* The scheme's own batch adds: returns how many keys were new; was_new may be NULL. */
    uint64_t (*add_many)(umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *was_new);

    /* Keys of other lengths than this, or shorter ones, are refused and never found; 0: any. */
    size_t key_len, min_key_len;

    /* Positions are scaled to the size, not taken modulo it: halving ORs neighbours. */
    bool folds;

    /* Distinct keys, estimated from the set bits, by how much the model of that may be wrong, and
     * the live rate, or umbeli_rate_unseen; NULL: as if probes were independent. */
    double (*estimate)(const umbeli_classic *c, uint64_t bits_set);
    double (*estimate_error)(const umbeli_classic *c, double keys);
    double (*live_rate)(const umbeli_classic *c, uint64_t bits_set, double keys);

    /* umbel_measurement.rate_alike; NULL: none. */
    double (*rate_alike)(const umbeli_classic *c);
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

/* shape.scheme, .hash (unless it is 0 there) and .format are filled in from the scheme;
 * shape.hashes 0 makes a filter that matches everything; only then may shape.bits be 0.  data_len
 * is ceil(bits / 8); borrow as in umbeli_filter_new. */
umbel_err umbeli_classic_new(const umbeli_scheme *scheme, umbeli_shape shape, const uint8_t *borrow,
                             const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag);

/* umbel's own scheme over raw bits, by hash (umbeli_native_hash128): for callers that look up the
 * same keys in several arrays with the same seed and secret.  hashes, per key, is at least 1; add
 * returns how many keys were new; was_new may be NULL. */
typedef struct umbeli_classic_bits {
    uint8_t *data;
    uint64_t bits;
    uint32_t hashes;
} umbeli_classic_bits;
void umbeli_classic_contains_hashed(umbeli_classic_bits in, const umbeli_hash128 *h, size_t n,
                                    uint8_t *hit);
uint64_t umbeli_classic_add_hashed(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                                   uint8_t *was_new);

/* Adds the first keys, as many as make whole groups of four, for processors with AVX2.  Returns how
 * many it added, 0 for shapes that it does not support; *added grows by the new ones. */
size_t umbeli_classic_add_avx2(umbeli_classic_bits into, const umbeli_hash128 *h, size_t n,
                               uint8_t *was_new, uint64_t *added);

/* 2^64 divided by the golden ratio.  It is 5 mod 8, so with an odd step a key's sequence visits all
 * 2^64 values before it repeats, and no key has all its probes on a few bits. */
#define UMBELI_CLASSIC_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Filters of up to a megabyte are in the second-level cache, where prefetching costs more than it
 * gains. */
static inline bool umbeli_classic_is_near(uint64_t bits) {
    return !UMBELI_HAVE_PREFETCH || bits <= 8 * 1024 * 1024;
}

/* Where the i-th probe of umbel's own scheme falls. */
uint64_t umbeli_classic_bit(uint64_t bits, umbeli_hash128 hash, uint32_t i);

/* UMBEL_ECORRUPT or UMBEL_EVERSION unless a native classic filter can have this shape. */
umbel_err umbeli_classic_check(const umbeli_shape *shape, uint64_t data_len, umbel_diag *diag);

/* The ops table of every classic filter, which distinguishes it from other kinds. */
extern const umbeli_ops umbeli_classic_ops;

/* What a live_rate returns that tried hashes and found none: a negative number.  With a single find
 * the rate would have been `one`. */
static inline double umbeli_rate_unseen(double one) {
    return -one;
}

/* Sets rate and rate_below from what a live_rate returned. */
void umbeli_conclude_rate(double rate, umbel_measurement *now);

/* The probability that a random key finds all its bits set; and the distinct keys estimated from
 * the set bits, infinite when all are set. */
double umbeli_classic_live_rate(uint64_t bits, uint32_t hashes, uint64_t bits_set);
double umbeli_classic_estimate(uint64_t bits, uint32_t hashes, uint64_t bits_set);

#endif
