/* SPDX-License-Identifier: MIT */
#include "format/leveldb/leveldb_layout.h"

#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec_params.h"
#include "hash/foreign_hash.h"

enum { LEAST_BITS = 64, HASH_BITS = 32 };

void umbeli_leveldb_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    umbeli_leveldb_probes(c, umbeli_leveldb_hash(key, len), pos);
}

uint32_t umbeli_leveldb_hashes(uint32_t bits_per_key) {
    double k = bits_per_key * 0.69; /* this number, not ln 2: 13 bits a key give 8, not 9 */
    if (k < 1) return 1;
    return k > UMBELI_LEVELDB_MOST_HASHES ? UMBELI_LEVELDB_MOST_HASHES : (uint32_t)k;
}

bool umbeli_leveldb_bits(uint64_t keys, uint32_t bits_per_key, uint64_t *bits) {
    uint64_t m;
    if (!umbeli_size_mul(keys, bits_per_key, &m)) return false;
    if (m < LEAST_BITS) m = LEAST_BITS;
    if (!umbeli_size_round_up(m, 8, &m) || m > INT64_MAX) return false;
    *bits = m;
    return true;
}

/* A size in bytes, with the number of probes that goes with it. */
static umbel_err shape_of_bytes(const umbel_params *p, umbeli_shape *shape, umbel_diag *diag) {
    if (p->bytes > INT64_MAX / 8) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bytes: more than 2^63-1 bits");
    }
    if (p->hashes == 0 || p->hashes > UMBELI_LEVELDB_MOST_HASHES) {
        return umbeli_fail(diag, UMBEL_EINVAL, "hashes: with bytes alone it must be 1 to 30");
    }
    shape->bits = p->bytes * 8;
    shape->hashes = p->hashes;
    return UMBEL_OK;
}

static umbel_err bits_per_key_of(const umbeli_leveldb_profile *profile, const umbel_params *p,
                                 uint32_t *bits_per_key, umbel_diag *diag) {
    if (p->bits_per_key) {
        if (p->fpr != 0) {
            return umbeli_fail(diag, UMBEL_EINVAL, "fpr: not together with bits_per_key");
        }
        *bits_per_key = p->bits_per_key;
        return UMBEL_OK;
    }
    if (p->keys == 0) return umbeli_fail(diag, UMBEL_EINVAL, "keys: needed to size the filter");
    if (p->fpr != 0) {
        *bits_per_key = profile->bits_per_key(p->keys, p->fpr);
        if (*bits_per_key) return UMBEL_OK;
        return umbeli_fail(diag, UMBEL_EINVAL, "fpr: out of reach for this format's 32-bit hash");
    }
    if (p->bytes == 0) {
        return umbeli_fail(diag, UMBEL_EINVAL, "bits_per_key: give it, or fpr, or bytes");
    }
    uint64_t each = p->bytes > UINT64_MAX / 8 ? UINT64_MAX : p->bytes * 8 / p->keys;
    *bits_per_key = each > UINT32_MAX ? UINT32_MAX : (uint32_t)each;
    return UMBEL_OK;
}

/* Everything that follows from the parameters; shape->fpr is what was asked for. */
static umbel_err shape_of(const umbeli_leveldb_profile *profile, const umbel_params *p,
                          umbeli_shape *shape, umbel_diag *diag) {
    *shape = (umbeli_shape){.capacity = p->keys, .fpr = p->fpr};
    uint32_t takes = UMBELI_TAKES_KEYS | UMBELI_TAKES_FPR | UMBELI_TAKES_BYTES |
                     UMBELI_TAKES_HASHES | UMBELI_TAKES_BITS_PER_KEY;
    umbel_err e = umbeli_params_check(p, UMBEL_CLASSIC, takes, 0, diag);
    if (e) return e;
    if (p->bytes && !p->keys && p->fpr == 0 && !p->bits_per_key) {
        e = shape_of_bytes(p, shape, diag);
    } else if (p->hashes) {
        e = umbeli_fail(diag, UMBEL_EINVAL, "hashes: follows from bits_per_key in this format");
    } else {
        uint32_t bits_per_key = 0;
        e = bits_per_key_of(profile, p, &bits_per_key, diag);
        if (e) return e;
        if (!umbeli_leveldb_bits(p->keys, bits_per_key, &shape->bits)) {
            return umbeli_fail(diag, UMBEL_EINVAL, "keys: more than 2^63-1 bits");
        }
        shape->hashes = umbeli_leveldb_hashes(bits_per_key);
        if (p->bytes && shape->bits / 8 > p->bytes) {
            return umbeli_fail(diag, UMBEL_EINVAL, "bytes: too few for these keys");
        }
    }
    if (!e && shape->bits > profile->most_bits) {
        return umbeli_fail(diag, UMBEL_EINVAL, "this format cannot have 2^32 bits or more");
    }
    return e;
}

static double rate_of(const umbeli_shape *shape) {
    return umbeli_narrow_rate(shape->bits, shape->hashes, shape->capacity, HASH_BITS);
}

umbel_err umbeli_leveldb_create(const umbeli_leveldb_profile *profile, const umbel_params *params,
                                const umbeli_settings *memory, umbel_filter **out,
                                umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = shape_of(profile, params, &shape, diag);
    if (e) return e;
    /* Never promise what the model knows to be out of reach. */
    if (shape.fpr > 0 && rate_of(&shape) > shape.fpr) shape.fpr = rate_of(&shape);
    return umbeli_classic_new(profile->scheme, shape, NULL, memory, out, diag);
}

umbel_err umbeli_leveldb_plan(const umbeli_leveldb_profile *profile, const umbel_params *params,
                              umbel_plan *plan, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = shape_of(profile, params, &shape, diag);
    if (!e) umbeli_params_plan(&shape, rate_of(&shape), profile->beyond, plan);
    return e;
}

static umbel_err view(const umbeli_leveldb_profile *profile, const uint8_t *bytes, size_t len,
                      const umbeli_settings *memory, umbel_filter **out, umbel_diag *diag) {
    static const uint8_t nothing[LEAST_BITS / 8];
    umbeli_shape shape = {.bits = LEAST_BITS, .hashes = 1};
    if (len < 2) {
        bytes = nothing; /* matches no key */
    } else {
        uint8_t k = bytes[len - 1];
        shape.bits = ((uint64_t)len - 1) * 8;
        shape.hashes = k <= UMBELI_LEVELDB_MOST_HASHES ? k : 0; /* 0 probes match every key */
    }
    return umbeli_classic_new(profile->scheme, shape, bytes, memory, out, diag);
}

umbel_err umbeli_leveldb_decode(const umbeli_leveldb_profile *profile, const uint8_t *bytes,
                                size_t len, umbeli_decoding how, const umbeli_settings *memory,
                                umbel_filter **out, umbel_diag *diag) {
    const uint64_t bytes_of_bits = len > 1 ? len - 1 : 0;
    if (bytes_of_bits > profile->most_bits / 8) {
        return umbeli_fail(diag, UMBEL_EVERSION, "longer than this format can be");
    }
    if (how == UMBELI_BORROW) return view(profile, bytes, len, memory, out, diag);
    if (len < 2) {
        return umbeli_fail_at(diag, UMBEL_ECORRUPT, len, "too short: bits and k need two bytes");
    }
    uint8_t k = bytes[len - 1];
    if (k == 0) {
        return umbeli_fail_at(diag, UMBEL_ECORRUPT, len - 1, "k: no probes, every key would match");
    }
    if (k > UMBELI_LEVELDB_MOST_HASHES) {
        return umbeli_fail_at(diag, UMBEL_EVERSION, len - 1, "k: above 30, a reserved encoding");
    }
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    umbeli_shape shape = {.bits = ((uint64_t)len - 1) * 8, .hashes = k};
    umbel_err e = umbeli_classic_new(profile->scheme, shape, NULL, memory, out, diag);
    if (!e) memcpy((*out)->data, bytes, len - 1);
    return e;
}

uint64_t umbeli_leveldb_size(const umbeli_leveldb_profile *profile, const umbel_filter *f) {
    /* Schemes that place keys alike share the function that does it. */
    bool holds = f->ops == &umbeli_classic_ops &&
                 umbeli_classic_of(f)->scheme->positions == profile->scheme->positions &&
                 f->shape.hashes > 0 && f->shape.bits <= profile->most_bits;
    return holds ? f->data_len + 1 : 0;
}

void umbeli_leveldb_encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_put(w, f->data, (size_t)f->data_len);
    umbeli_put_u8(w, (uint8_t)f->shape.hashes);
}
