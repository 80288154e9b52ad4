/* SPDX-License-Identifier: MIT */
#include "format/leveldb/leveldb_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "core/diag.h"
#include "core/platform.h"
#include "core/size.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { MIN_BITS = 64, HASH_BITS = 32, GROUP = 64, FIRST = 2 };

/* ---- keys --------------------------------------------------------------------------------- */

/* Classic filters store a modulus of a different form. */
static umbeli_leveldb_modulus modulus_of(const umbeli_classic *c) {
    return (umbeli_leveldb_modulus){c->modulus.divisor, c->modulus.inverse + 1};
}

void umbeli_leveldb_probes(const umbeli_classic *c, uint32_t hash, uint64_t *pos) {
    umbeli_leveldb_modulus m = modulus_of(c);
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        pos[i] = umbeli_leveldb_place(m, umbeli_leveldb_probe(hash, i));
    }
}

void umbeli_leveldb_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    umbeli_leveldb_probes(c, umbeli_leveldb_hash(key, len), pos);
}

static inline unsigned bit_of(const uint8_t *bits, uint32_t p) {
    return (unsigned)bits[p >> 3] >> (p & 7) & 1;
}

#if UMBELI_HAVE_PREFETCH
/* Batches.  Probes follow from 32 bits in a few steps, so it is cheaper to compute the later ones
 * only for keys that pass the first two, and to compute them twice, than to store them all. */

/* Finds the keys that pass the first two probes, and their hashes.  Branch-free, because many
 * branches would be mispredicted. */
static size_t pass_first(const uint8_t *bits, bool is_far, umbeli_leveldb_modulus m,
                         uint32_t hashes, const umbel_key *keys, size_t n, uint8_t *hit,
                         uint8_t *open, uint32_t *open_hash) {
    uint32_t h[GROUP], one[GROUP], two[GROUP];
    size_t passed = 0;
    for (size_t i = 0; i < n; i++) {
        h[i] = umbeli_leveldb_hash(keys[i].data, keys[i].len);
        one[i] = umbeli_leveldb_place(m, h[i]);
        two[i] = hashes > 1 ? umbeli_leveldb_place(m, umbeli_leveldb_probe(h[i], 1)) : one[i];
        umbeli_fetch(bits + (one[i] >> 3), is_far);
        umbeli_fetch(bits + (two[i] >> 3), is_far);
    }
    for (size_t i = 0; i < n; i++) {
        hit[i] = (uint8_t)(bit_of(bits, one[i]) & bit_of(bits, two[i]));
        open[passed] = (uint8_t)i;
        open_hash[passed] = h[i];
        passed += hit[i];
    }
    return passed;
}

static void group_contains(const umbel_filter *f, const umbel_key *keys, size_t n, uint8_t *hit) {
    const uint8_t *bits = f->data;
    umbeli_leveldb_modulus m = modulus_of(umbeli_classic_of(f));
    uint32_t hashes = f->shape.hashes, open_hash[GROUP];
    uint8_t open[GROUP];
    bool is_far = umbeli_is_far(f->data_len);
    size_t left = pass_first(bits, is_far, m, hashes, keys, n, hit, open, open_hash);
    for (size_t i = 0; i < left; i++) {
        for (uint32_t j = FIRST; j < hashes; j++) {
            uint32_t p = umbeli_leveldb_place(m, umbeli_leveldb_probe(open_hash[i], j));
            umbeli_fetch(bits + (p >> 3), is_far);
        }
    }
    for (size_t i = 0; i < left; i++) {
        unsigned all = 1;
        for (uint32_t j = FIRST; j < hashes; j++) {
            all &= bit_of(bits, umbeli_leveldb_place(m, umbeli_leveldb_probe(open_hash[i], j)));
        }
        hit[open[i]] = (uint8_t)all;
    }
}

void umbeli_leveldb_contains_many(const umbel_filter *f, const umbel_key *keys, size_t n,
                                  uint8_t *hit) {
    for (size_t first = 0; first < n; first += GROUP) {
        size_t group = n - first < GROUP ? n - first : GROUP;
        group_contains(f, keys + first, group, hit + first);
    }
}

#endif

/* ---- rates -------------------------------------------------------------------------------- */

/* Start and step are the same 32 bits, rotated, and that shows in large filters.  The third probe
 * is h + 2 rotl(h, 15): with the halves a and b of h it is 65537 (a + b) - a % 2, which has only
 * 196 606 values modulo 2^32.  With a hundred thousand keys most of these are taken, with a million
 * all are, and the probe decides nothing any more.  Other probes are multiples of 3, 5 or 17, give
 * or take a few wraps around 2^32, so they fall unevenly where the number of bits is also such a
 * multiple.  No formula covers all this, so rates are found by trying random hashes. */

enum {
    TRIED_BITS = 4096, /* up to here it is a progression like any other */
    FEW_BITS = 1024,   /* up to here even probes of one key often coincide */
    TRIES = 1 << 21,
};

/* What the number of bits has in common with 2^32 - 1, modulo which a rotation is a product. */
static uint64_t common_factor(uint64_t bits) {
    uint64_t factor = 1;
    if (bits % 3 == 0) factor *= 3;
    if (bits % 5 == 0) factor *= 5;
    if (bits % 17 == 0) factor *= 17;
    return factor;
}

static umbeli_progression progression_of(uint64_t bits, uint32_t hashes) {
    return (umbeli_progression){.bits = bits,
                                .hashes = hashes,
                                .tied = common_factor(bits) > 1 ? common_factor(bits) : 0,
                                .ties = 1 << 15,
                                .jump = umbeli_power_modulo(HASH_BITS, bits),
                                .hash_bits = HASH_BITS};
}

/* The share of random hashes that are found.  Tries enough of them to know the rate to 1%, but at
 * most two million, which is less exact for rates below one in three hundred. */
static double rate_by_trying(const uint8_t *bits, uint64_t nbits, uint32_t hashes, uint64_t most,
                             uint64_t *random) {
    enum { HITS = 8192, AT_LEAST = 1 << 14 };
    umbeli_leveldb_modulus m = umbeli_leveldb_modulus_of(nbits);
    uint64_t hits = 0, tries = 0;
    for (; tries < most && (hits < HITS || tries < AT_LEAST); tries++) {
        uint32_t h = (uint32_t)umbeli_draw(random), i = 0;
        while (i < hashes && bit_of(bits, umbeli_leveldb_place(m, umbeli_leveldb_probe(h, i)))) i++;
        hits += i == hashes;
    }
    return (double)hits / (double)tries;
}

/* The same for filters of few bits, of which only hashes are tried whose first probe is set: few
 * others are, where the rate is low.  The rate is not 0 where none is found, as the keys
 * themselves are. */
static double rate_of_set_bits(const umbeli_classic *c, uint64_t bits_set) {
    enum { MOST = 1 << 17, HITS = 8192 };
    const umbeli_shape *s = &c->base.shape;
    umbeli_leveldb_modulus m = umbeli_leveldb_modulus_of(s->bits);
    uint64_t random = bits_set, hits = 0, tries = 0, firsts = 0;
    uint16_t first[TRIED_BITS];
    for (uint32_t i = 0; i < s->bits; i++) {
        if (bit_of(c->base.data, i)) first[firsts++] = (uint16_t)i;
    }
    for (; tries < MOST && hits < HITS; tries++) {
        uint32_t draw = (uint32_t)umbeli_draw(&random), i = 1;
        uint32_t h = draw - umbeli_leveldb_place(m, draw); /* a multiple of the bits */
        uint32_t at = first[umbeli_mul_high(umbeli_draw(&random), firsts)];
        if (h > UINT32_MAX - at) h -= (uint32_t)s->bits;
        h += at;
        while (i < s->hashes &&
               bit_of(c->base.data, umbeli_leveldb_place(m, umbeli_leveldb_probe(h, i))))
            i++;
        hits += i == s->hashes;
    }
    double one = (double)bits_set / (double)s->bits / (double)tries;
    return hits ? one * (double)hits : umbeli_rate_unseen(one);
}

double umbeli_leveldb_live(const umbeli_classic *c, uint64_t bits_set, double keys) {
    const umbeli_shape *s = &c->base.shape;
    umbeli_progression p = progression_of(s->bits, s->hashes);
    uint64_t random = bits_set;
    if (bits_set == 0 || bits_set == s->bits || s->hashes == 0) {
        return umbeli_progression_live(&p, c->base.data, bits_set, keys);
    }
    if (s->bits <= TRIED_BITS) return rate_of_set_bits(c, bits_set);
    /* In proportion to the work of counting the bits. */
    uint64_t tries = s->bits < TRIES / 16 ? 16 * s->bits : TRIES;
    double rate = rate_by_trying(c->base.data, s->bits, s->hashes, tries, &random);
    return rate > 0 ? rate : umbeli_rate_unseen(1 / (double)tries);
}

/* How probes fall on the remainders modulo what the number of bits has in common with 2^32 - 1. */
enum { FACTORS = 3 * 5 * 17 };
typedef struct spread {
    uint64_t bits, classes;
    uint32_t hashes;
    double third_pairs, share[UMBELI_LEVELDB_MAX_HASHES][FACTORS];
} spread;

/* The third probe modulo 2^32 is 65537 t, less 0, 1 or 2, for t up to 65 536.  Among these values,
 * pairs that are one bit: those whose difference is a multiple of the bits. */
static double third_pairs(uint64_t bits) {
    enum { RANGE = 1 << 16 };
    double pairs = 0;
    for (uint64_t apart = 1; apart < RANGE; apart++) {
        uint64_t at = apart * (RANGE + 1) % bits, off = at < bits - at ? at : bits - at;
        if (off < 3) pairs += (double)(RANGE - apart) * (double)(3 - off);
    }
    return pairs;
}

static void sample_spread(spread *s, uint64_t bits, uint32_t hashes) {
    enum { DRAWS = 1 << 14 };
    uint64_t random = 1;
    *s = (spread){.bits = bits, .classes = common_factor(bits), .hashes = hashes};
    if (hashes > 2) s->third_pairs = third_pairs(bits);
    for (int draw = 0; draw < DRAWS; draw++) {
        uint32_t h = (uint32_t)umbeli_draw(&random);
        for (uint32_t i = 0; i < hashes; i++) {
            s->share[i][umbeli_leveldb_probe(h, i) % s->classes] += 1.0 / DRAWS;
        }
    }
}

/* The share of bits that the third probes of this many keys leave clear.  One of the three values
 * is equally likely for each t; the other two become likelier as t grows or shrinks. */
static double third_clear(const spread *s, double keys) {
    double each = keys / 0x1p17, values = 3 * 0x1p16, bits = (double)s->bits;
    double taken = each > 1e-6 ? -expm1(-each) + 2 + 2 * expm1(-each) / each : 2 * each;
    double share = taken / 3;
    if (bits <= values) return pow(1 - share, values / bits);
    return 1 - (share * values - share * share * s->third_pairs) / bits;
}

/* The fill of each class after this many keys, and of all. */
static double fills_after(const spread *s, double keys, double *fill) {
    const double values = 0x1p32;
    double range = fmin((double)s->bits, values), sum = 0;
    double clear = s->hashes > 2 ? third_clear(s, keys) : 1;
    for (uint64_t r = 0; r < s->classes; r++) {
        double probes = 0;
        for (uint32_t i = 0; i < s->hashes; i++) {
            if (i != 2) probes += keys * s->share[i][r] * (double)s->classes / range;
        }
        fill[r] = 1 - clear * exp(-probes);
        sum += fill[r];
    }
    return sum / (double)s->classes * (range / (double)s->bits);
}

double umbeli_leveldb_estimate(const umbeli_classic *c, uint64_t bits_set) {
    uint64_t bits = c->base.shape.bits;
    uint32_t hashes = c->base.shape.hashes;
    umbeli_progression p = progression_of(bits, hashes);
    double guess = umbeli_progression_keys(&p, bits_set), fill[FACTORS], low = 0;
    if (bits <= FEW_BITS || hashes == 0 || !isfinite(guess)) return guess;
    spread s;
    sample_spread(&s, bits, hashes);
    double wanted = (double)bits_set / (double)bits, high = 2 * guess + 1;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(fills_after(&s, middle, fill) < wanted ? &low : &high) = middle;
    }
    return low;
}

/* Measured: filters of up to ten million keys are off by up to half a percent; by two or three
 * where the values of the third probe make up a good part of the bits. */
double umbeli_leveldb_estimate_error(const umbeli_classic *c, double keys) {
    enum { MANY_BITS = 1 << 21 };
    uint64_t bits = c->base.shape.bits;
    return bits > MANY_BITS ? 0.005 * keys : bits > FEW_BITS ? 0.01 * keys : 0;
}

/* The rate of a filter with enough keys for the third probe to hit a set bit every time.  The
 * other probes count by the fill of their classes; keys with equal hashes are always found. */
static double rate_of_many(uint64_t bits, uint32_t hashes, uint64_t keys) {
    double fill[FACTORS], rate = 1, equal = -expm1(-(double)keys / 0x1p32);
    spread s;
    sample_spread(&s, bits, hashes);
    fills_after(&s, (double)keys, fill);
    for (uint32_t i = 0; i < hashes; i++) {
        double set = 0;
        for (uint64_t r = 0; r < s.classes; r++) set += fill[r] * s.share[i][r];
        if (i != 2) rate *= set;
    }
    return equal + (1 - equal) * rate;
}

/* Fills a filter with that many random keys, or several if the keys are few: small filters vary. */
static bool simulate(uint64_t bits, uint32_t hashes, uint64_t keys, double *rate) {
    enum { ENOUGH = 1 << 17, MOST = 128 };
    umbeli_leveldb_modulus m = umbeli_leveldb_modulus_of(bits);
    uint64_t random = 2, filters = 1 + ENOUGH / (keys + ENOUGH / MOST);
    size_t len = (size_t)(bits / 8 + 1);
    uint8_t *array = malloc(len);
    if (!array) return false;
    *rate = 0;
    for (uint64_t made = 0; made < filters; made++) {
        memset(array, 0, len);
        for (uint64_t n = 0; n < keys; n++) {
            uint32_t h = (uint32_t)umbeli_draw(&random);
            for (uint32_t i = 0; i < hashes; i++) {
                umbeli_bit_set(array, umbeli_leveldb_place(m, umbeli_leveldb_probe(h, i)));
            }
        }
        *rate += rate_by_trying(array, bits, hashes, TRIES / filters, &random) / (double)filters;
    }
    free(array);
    return true;
}

double umbeli_leveldb_guess(uint64_t bits, uint32_t hashes, uint64_t keys) {
    enum { SATURATED = 1 << 20 }; /* keys that leave no value of the third probe */
    umbeli_progression p = progression_of(bits, hashes);
    return keys >= SATURATED ? rate_of_many(bits, hashes, keys)
                             : umbeli_progression_guess(&p, keys);
}

double umbeli_leveldb_rate(uint64_t bits, uint32_t hashes, uint64_t keys) {
    enum { FEW_KEYS = 3000000, MOST_BITS = 1 << 28 };
    umbeli_progression p = progression_of(bits, hashes);
    double rate;
    if (keys == 0 || hashes == 0 || bits <= UMBELI_SIMULATED_BITS) {
        return umbeli_progression_rate(&p, keys);
    }
    if (keys < FEW_KEYS && bits < MOST_BITS && simulate(bits, hashes, keys, &rate)) return rate;
    return rate_of_many(bits, hashes, keys);
}

/* ---- sizes -------------------------------------------------------------------------------- */

uint32_t umbeli_leveldb_hashes(uint32_t bits_per_key) {
    double k = bits_per_key * 0.69; /* 0.69 and not ln 2: 13 bits per key give 8, not 9 */
    if (k < 1) return 1;
    return k > UMBELI_LEVELDB_MAX_HASHES ? UMBELI_LEVELDB_MAX_HASHES : (uint32_t)k;
}

bool umbeli_leveldb_bits(uint64_t keys, uint32_t bits_per_key, uint64_t *bits) {
    uint64_t m;
    if (!umbeli_size_mul(keys, bits_per_key, &m)) return false;
    if (m < MIN_BITS) m = MIN_BITS;
    if (!umbeli_size_round_up(m, 8, &m) || m > INT64_MAX) return false;
    *bits = m;
    return true;
}

/* A size in bytes, with the number of probes that goes with it. */
static umbel_err shape_of_bytes(const umbel_foreign *p, umbeli_shape *shape, umbel_diag *diag) {
    if (p->bytes > INT64_MAX / 8) return umbeli_invalid(diag, "bytes: more than 2^63-1 bits");
    if (p->hashes == 0 || p->hashes > UMBELI_LEVELDB_MAX_HASHES) {
        return umbeli_invalid(diag, "hashes: must be 1 to 30 when only bytes is given");
    }
    shape->bits = p->bytes * 8;
    shape->hashes = p->hashes;
    return UMBEL_OK;
}

static umbel_err bits_per_key_of(const umbeli_leveldb_profile *profile, const umbel_foreign *p,
                                 uint32_t *bits_per_key, umbel_diag *diag) {
    if (p->bits_per_key) {
        if (p->fpr != 0) return umbeli_invalid(diag, "fpr: excludes bits_per_key");
        *bits_per_key = p->bits_per_key;
        return UMBEL_OK;
    }
    if (p->capacity == 0) return umbeli_invalid(diag, "capacity: required to size the filter");
    if (p->fpr != 0) {
        *bits_per_key = profile->bits_per_key(p->capacity, p->fpr);
        if (*bits_per_key) return UMBEL_OK;
        return umbeli_invalid(diag, "fpr: out of reach for this format's 32-bit hash");
    }
    if (p->bytes == 0) {
        return umbeli_invalid(diag, "bits_per_key: give this, fpr or bytes");
    }
    uint64_t each = p->bytes > UINT64_MAX / 8 ? UINT64_MAX : p->bytes * 8 / p->capacity;
    *bits_per_key = each > UINT32_MAX ? UINT32_MAX : (uint32_t)each;
    return UMBEL_OK;
}

umbel_err umbeli_leveldb_draft(const umbeli_leveldb_profile *profile, const umbel_foreign *p,
                               umbeli_draft *draft, umbel_diag *diag) {
    umbeli_shape *shape = &draft->shape;
    draft->scheme = profile->scheme;
    draft->beyond = profile->beyond;
    *shape = (umbeli_shape){.capacity = p->capacity, .fpr = p->fpr};
    umbel_err e = UMBEL_OK;
    if (p->bytes && !p->capacity && p->fpr == 0 && !p->bits_per_key) {
        e = shape_of_bytes(p, shape, diag);
    } else if (p->hashes) {
        e = umbeli_invalid(diag, "hashes: follows from bits_per_key in this format");
    } else {
        uint32_t bits_per_key = 0;
        e = bits_per_key_of(profile, p, &bits_per_key, diag);
        if (e) return e;
        if (!umbeli_leveldb_bits(p->capacity, bits_per_key, &shape->bits)) {
            return umbeli_invalid(diag, "capacity: more than 2^63-1 bits");
        }
        shape->hashes = umbeli_leveldb_hashes(bits_per_key);
        if (p->bytes && shape->bits / 8 > p->bytes) {
            return umbeli_invalid(diag, "bytes: too few for these keys");
        }
    }
    if (!e && shape->bits > profile->max_bits) {
        return umbeli_invalid(diag, "this format cannot have 2^32 bits or more");
    }
    return e;
}

double umbeli_leveldb_draft_rate(const umbeli_draft *draft) {
    const umbeli_shape *s = &draft->shape;
    return umbeli_leveldb_rate(s->bits, s->hashes, s->capacity);
}

static umbel_err view(const umbeli_leveldb_profile *profile, const uint8_t *bytes, size_t len,
                      const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    static const uint8_t nothing[MIN_BITS / 8];
    umbeli_shape shape = {.bits = MIN_BITS, .hashes = 1};
    if (len < 2) {
        bytes = nothing; /* matches no key */
    } else {
        uint8_t k = bytes[len - 1];
        shape.bits = ((uint64_t)len - 1) * 8;
        shape.hashes = k <= UMBELI_LEVELDB_MAX_HASHES ? k : 0; /* 0 probes match every key */
    }
    return umbeli_classic_new(profile->scheme, shape, bytes, settings, out, diag);
}

umbel_err umbeli_leveldb_decode(const umbeli_leveldb_profile *profile, const uint8_t *bytes,
                                size_t len, umbeli_decoding how, const umbeli_settings *settings,
                                umbel_filter **out, umbel_diag *diag) {
    const uint64_t bytes_of_bits = len > 1 ? len - 1 : 0;
    if (bytes_of_bits > profile->max_bits / 8) {
        return umbeli_fail(diag, UMBEL_EVERSION, "longer than this format can be");
    }
    if (how == UMBELI_BORROW) return view(profile, bytes, len, settings, out, diag);
    if (len < 2) return umbeli_bad(diag, len, "too short; bits and k need two bytes");
    uint8_t k = bytes[len - 1];
    if (k == 0) return umbeli_bad(diag, len - 1, "k: 0, so every key would match");
    if (k > UMBELI_LEVELDB_MAX_HASHES) {
        return umbeli_unknown(diag, len - 1, "k: above 30, a reserved encoding");
    }
    umbeli_shape shape = {.bits = ((uint64_t)len - 1) * 8, .hashes = k};
    return umbeli_classic_read(profile->scheme, shape, bytes, how, settings, out, diag);
}

uint64_t umbeli_leveldb_size(const umbeli_leveldb_profile *profile, const umbel_filter *f) {
    /* Schemes that place keys in the same way share the function. */
    bool holds = f->ops == &umbeli_classic_ops &&
                 umbeli_classic_of(f)->scheme->positions == profile->scheme->positions &&
                 f->shape.hashes > 0 && f->shape.bits <= profile->max_bits;
    return holds ? f->data_len + 1 : 0;
}

void umbeli_leveldb_encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_put(w, f->data, (size_t)f->data_len);
    umbeli_put_u8(w, (uint8_t)f->shape.hashes);
}
