/* SPDX-License-Identifier: MIT
 *
 * gocrc32.c - the Go filter over one CRC-32: NewBloomFilter(n, p), Put, Contains, String
 *
 *   offset  size              field
 *   0       8 ceil(m / 64)    words of 64 bits, little-endian; bits from m on are 0
 *
 * The bytes do not say n, p or the size of int: the caller must know them.  Page:
 * docs/formats/gocrc32.md.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { SCHEME_INT64 = 6, SCHEME_INT32 = 7 };

static const double ln2 = 0.69314718055994530941723212145817656808;

/* The square as Go computes constants: exact, rounded once. */
static const double ln2_squared = 0.48045301391820142466710252632666497173;

/* ---- Positions: hash + i * (hash >> 16), i from 1 ---- */

static void int64_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint64_t h = umbeli_crc32(key, len), step = h >> 16;
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        h += step; /* never negative in 64 bits */
        pos[i] = umbeli_mod(h, c->modulus);
    }
}

/* 32-bit sums wrap, and negative ones are complemented. */
static void int32_positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint32_t h = umbeli_crc32(key, len), sign = UINT32_C(1) << 31;
    if (h & sign) h = 0 - h; /* the absolute value, except that -2^31 stays */
    uint32_t step = h >> 16 | (h & sign ? UINT32_C(0xffff0000) : 0);
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        h += step;
        pos[i] = umbeli_mod(h & sign ? ~h : h, c->modulus);
    }
}

/* One CRC gives start and step: the step is its upper half. */
static umbeli_progression progression_of(const umbeli_shape *s, uint32_t scheme) {
    bool narrow = scheme == SCHEME_INT32;
    return (umbeli_progression){.bits = s->bits,
                                .hashes = s->hashes,
                                .steps = UINT64_C(1) << (narrow ? 15 : 16),
                                .hash_bits = narrow ? 31 : 32};
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    umbeli_progression p = progression_of(&c->base.shape, c->base.shape.scheme);
    return umbeli_progression_live(&p, c->base.data, bits_set, keys);
}

static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    umbeli_progression p = progression_of(&c->base.shape, c->base.shape.scheme);
    return umbeli_progression_keys(&p, bits_set);
}

static const umbeli_scheme scheme_gocrc32_int64 = {
    .id = SCHEME_INT64,
    .hash = UMBEL_HASH_CRC32,
    .layout = "classic/gocrc32-int64",
    .format = UMBEL_FMT_GOCRC32,
    .positions = int64_positions,
    .estimate = estimate,
    .live_rate = live_rate,
};

static const umbeli_scheme scheme_gocrc32_int32 = {
    .id = SCHEME_INT32,
    .hash = UMBEL_HASH_CRC32,
    .layout = "classic/gocrc32-int32",
    .format = UMBEL_FMT_GOCRC32,
    .positions = int32_positions,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Create ---- */

/* NewBloomFilter's sizes.  A rate near 1 gives no probes, which match every key. */
static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    umbel_err e = umbeli_params_need_capacity_and_fpr(p, diag);
    if (e) return e;
    bool narrow = p->variant & UMBEL_VARIANT_INT32;
    double n = (double)p->capacity, bits = -(n * log(p->fpr) / ln2_squared);
    if (narrow && (p->capacity > INT32_MAX || bits >= 0x1p31)) {
        return umbeli_invalid(diag, "capacity: more than 2^31-1 bits, which an int32 cannot hold");
    }
    if (p->capacity > INT64_MAX || bits >= 0x1p62) {
        return umbeli_invalid(diag, "capacity: more than 2^62 bits");
    }
    double hashes = floor(bits) * ln2 / n;
    if (hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_invalid(diag, "fpr: needs more than 1024 probes per key");
    }
    d->shape = (umbeli_shape){
        .bits = (uint64_t)bits,
        .hashes = (uint32_t)hashes,
        .capacity = p->capacity,
        .fpr = p->fpr,
    };
    d->scheme = narrow ? &scheme_gocrc32_int32 : &scheme_gocrc32_int64;
    d->beyond = d->shape.hashes ? "one CRC-32 per key cannot keep this rate for this many keys"
                                : "no probes per key at this rate, so every key matches";
    return UMBEL_OK;
}

static double rate_of(const umbeli_draft *d) {
    enum { MANY_BITS = 1 << 30 }; /* the range of a sum shows */
    const umbeli_shape *s = &d->shape;
    umbeli_progression p = progression_of(s, d->scheme->id);
    if (s->bits < MANY_BITS) return umbeli_progression_rate(&p, s->capacity);
    return umbeli_narrow_rate(s->bits, s->hashes, s->capacity, p.hash_bits);
}

/* ---- Decode ---- */

/* Bits that no probe reaches must be 0, because encoding the filter would lose them. */
static bool padding_is_zero(const uint8_t *bytes, size_t len, uint64_t bits) {
    uint64_t used = bits / 8;
    if (bits % 8 && bytes[used] >> bits % 8) return false;
    for (uint64_t i = umbeli_ceil_div(bits, 8); i < len; i++) {
        if (bytes[i]) return false;
    }
    return true;
}

static umbel_err decode_as(const umbel_foreign *as, const uint8_t *bytes, size_t len,
                           umbeli_decoding how, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag) {
    umbeli_draft d;
    umbel_err e = draft_of(as, &d, diag);
    if (e) return e;
    umbeli_shape shape = d.shape;
    uint64_t want = umbeli_ceil_div(shape.bits, 64) * 8;
    if (len != want) {
        return umbeli_bad(diag, len < want ? len : want, "length: does not match capacity and fpr");
    }
    if (how != UMBELI_BORROW && !padding_is_zero(bytes, len, shape.bits)) {
        return umbeli_bad(diag, shape.bits / 8, "bits after the last one are set");
    }
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    umbeli_progression probes = progression_of(&shape, d.scheme->id);
    shape.fpr = fmax(shape.fpr, umbeli_progression_guess(&probes, shape.capacity));
    static const uint8_t nothing[8];
    return umbeli_classic_read(d.scheme, shape, len ? bytes : nothing, how, settings, out, diag);
}

/* ---- Size, encode, text ---- */

static bool is_ours(const umbel_filter *f) {
    return f->ops == &umbeli_classic_ops && f->shape.format == UMBEL_FMT_GOCRC32;
}

/* A filter without words has no bytes, but 0 means "cannot hold": such filters are not encoded. */
static uint64_t size(const umbel_filter *f) {
    return is_ours(f) ? umbeli_ceil_div(f->shape.bits, 64) * 8 : 0;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_filter_put_bits(f, w);
    umbeli_put_zeros(w, size(f) - f->data_len);
}

static int text(const umbel_filter *f, char *to, size_t cap) {
    return snprintf(to, cap, "bitsSize: %" PRIu64 ", hashFuncSize: %" PRIu32, f->shape.bits,
                    f->shape.hashes);
}

const umbeli_codec umbeli_codec_gocrc32 = {
    .id = UMBEL_FMT_GOCRC32,
    .name = "gocrc32",
    .system = "the CRC-32 filter in Go, run under Go 1.19 for amd64 and 386",
    .variants = {{"int32", UMBEL_VARIANT_INT32}},
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR,
    .needs = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR,
    .draft = draft_of,
    .rate = rate_of,
    .weakens = true,
    .decode_as = decode_as,
    .text = text,
    .size = size,
    .encode = encode,
};
