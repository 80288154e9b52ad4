/* SPDX-License-Identifier: MIT
 *
 * guava.c - what Guava's BloomFilter.writeTo writes
 *
 *   offset  size  field
 *   0       1     strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
 *   1       1     hashes, 1 to 255
 *   2       4     number of words, big-endian, signed
 *   6       8     each word, big-endian; bit p of the filter is bit p % 64 of word p / 64
 *
 * Spec: docs/formats/guava.md.  Checked against Guava 31.1.
 */
#include "format/guava.h"

#include <math.h>

#include "core/diag.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { MITZ_32 = 0, MITZ_64 = 1, HEADER = 6, MAX_HASHES = 255 };
enum { SCHEME_32 = 8, SCHEME_64 = 9 };

static const double ln2 = 0.6931471805599453;  /* Math.log(2) */
static const double default_fpr = 0.03;        /* of create() without an fpp */
static const uint64_t max_words = 2147483647u; /* an array's length is an int */

/* ---- Positions ---- */

static void positions32(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    umbeli_hash128 h = umbeli_murmur3_128(key, len, 0);
    uint32_t low = (uint32_t)h.low, high = (uint32_t)(h.low >> 32), sum = low;
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        sum += high;
        /* Java flips negative sums into the positive half. */
        pos[i] = umbeli_mod(sum >> 31 ? ~sum : sum, c->modulus);
    }
}

static void positions64(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    umbeli_hash128 h = umbeli_murmur3_128(key, len, 0);
    uint64_t sum = h.low;
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        pos[i] = umbeli_mod(sum & INT64_MAX, c->modulus);
        sum += h.high;
    }
}

/* approximateElementCount before rounding; it does not know that MITZ_32's range is small. */
static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    const umbeli_shape *s = &c->base.shape;
    unsigned range = s->scheme == SCHEME_32 ? 31 : 0;
    return umbeli_probes_per_bit(s->bits, bits_set, range) * (double)s->bits / s->hashes;
}

/* Sums wrap at 2^63, or at 2^32, and their upper half is complemented there. */
static umbeli_progression progression_of(const umbeli_shape *s, uint32_t scheme) {
    bool mitz32 = scheme == SCHEME_32;
    return (umbeli_progression){.bits = s->bits,
                                .hashes = s->hashes,
                                .jump = umbeli_power_modulo(mitz32 ? 32 : 63, s->bits),
                                .mirrored = mitz32};
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    umbeli_progression p = progression_of(&c->base.shape, c->base.shape.scheme);
    return umbeli_progression_live(&p, c->base.data, bits_set, keys);
}

static const umbeli_scheme scheme_32 = {
    .id = SCHEME_32,
    .hash = UMBEL_HASH_MURMUR3_128,
    .layout = "guava-mitz32/murmur3_128",
    .format = UMBEL_FMT_GUAVA,
    .positions = positions32,
    .estimate = estimate,
    .live_rate = live_rate,
};

static const umbeli_scheme scheme_64 = {
    .id = SCHEME_64,
    .hash = UMBEL_HASH_MURMUR3_128,
    .layout = "guava-mitz64/murmur3_128",
    .format = UMBEL_FMT_GUAVA,
    .positions = positions64,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Create ---- */

/* Math.round for nonnegative numbers. */
static double round_half_up(double x) {
    double whole = floor(x);
    return x - whole >= 0.5 ? whole + 1 : whole;
}

umbeli_guava_size umbeli_guava_size_of(uint64_t keys, double fpr, bool newer) {
    umbeli_guava_size size = {0};
    double n = (double)keys;
    double wanted = -n * log(fpr) / (ln2 * ln2);
    double hashes = -log(fpr) / ln2;
    if (wanted < 0x1p63) {
        size.wanted = (uint64_t)wanted;
        uint64_t words = size.wanted / 64 + (size.wanted % 64 != 0);
        size.bits = words <= max_words ? words * 64 : 0;
        if (!newer) hashes = (double)size.wanted / n * ln2;
    }
    size.hashes = (uint32_t)round_half_up(hashes); /* at most 1075: fpr is a double above 0 */
    if (size.hashes == 0) size.hashes = 1;
    return size;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    if (p->capacity == 0) return umbeli_invalid(diag, "capacity: required by Guava");
    double fpr = p->fpr != 0 ? p->fpr : default_fpr;
    umbeli_guava_size size =
        umbeli_guava_size_of(p->capacity, fpr, (p->variant & UMBEL_VARIANT_GUAVA_2024) != 0);
    if (size.bits == 0) {
        return umbeli_invalid(
            diag, "capacity, fpr: Guava refuses this size (0 bits, or over 2^31-1 words)");
    }
    if (size.hashes > MAX_HASHES) {
        return umbeli_invalid(diag, "fpr: Guava refuses more than 255 hashes");
    }
    bool mitz32 = (p->variant & UMBEL_VARIANT_MITZ32) != 0;
    d->shape = (umbeli_shape){
        .hashes = size.hashes, .bits = size.bits, .capacity = p->capacity, .fpr = fpr};
    d->scheme = mitz32 ? &scheme_32 : &scheme_64;
    d->beyond = size.bits >> 31 && mitz32
                    ? "MURMUR128_MITZ_32 reaches no bit beyond 2^31"
                    : "Guava's probes of a key follow each other, too closely in so few bits";
    return UMBEL_OK;
}

static double rate_of(const umbeli_draft *d) {
    umbeli_progression probes = progression_of(&d->shape, d->scheme->id);
    return umbeli_progression_rate(&probes, d->shape.capacity);
}

/* ---- Decode ---- */

static umbel_err read_header(umbeli_reader *r, uint8_t *strategy, umbeli_shape *shape,
                             umbel_diag *diag) {
    *strategy = umbeli_take_u8(r);
    uint8_t hashes = umbeli_take_u8(r);
    uint32_t words = umbeli_take_u32be(r);
    if (r->failed) return umbeli_bad(diag, r->pos, "the header is cut off");
    if (*strategy > MITZ_64) return umbeli_unknown(diag, 0, "strategy: must be 0 or 1");
    if (hashes == 0) return umbeli_bad(diag, 1, "hashes: 0");
    if (words == 0) return umbeli_bad(diag, 2, "number of words: 0");
    if (words > max_words) return umbeli_bad(diag, 2, "number of words: negative");
    *shape = (umbeli_shape){.hashes = hashes, .bits = (uint64_t)words * 64};
    return UMBEL_OK;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    if (how == UMBELI_BORROW) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "Guava's words are big-endian; decode it instead");
    }
    umbeli_reader r = umbeli_reader_over(bytes, len);
    umbeli_shape shape;
    uint8_t strategy;
    umbel_err e = read_header(&r, &strategy, &shape, diag);
    if (e) return e;
    return umbeli_words_read(strategy == MITZ_32 ? &scheme_32 : &scheme_64, shape, bytes + HEADER,
                             len - HEADER, HEADER, how, settings, out, diag);
}

/* ---- Encode ---- */

static uint64_t bits_at(const umbel_filter *f, const uint8_t *bytes, uint64_t len) {
    (void)f, (void)bytes, (void)len;
    return HEADER;
}

static uint64_t size_of(const umbel_filter *f) {
    const umbeli_shape *s = &f->shape;
    bool ours = s->format == UMBEL_FMT_GUAVA && (s->scheme == SCHEME_32 || s->scheme == SCHEME_64);
    return ours ? HEADER + f->data_len : 0;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_put_u8(w, f->shape.scheme == SCHEME_32 ? MITZ_32 : MITZ_64);
    umbeli_put_u8(w, (uint8_t)f->shape.hashes);
    umbeli_put_u32be(w, (uint32_t)(f->data_len / 8));
    umbeli_put_swapped(w, f->data, f->data_len);
}

const umbeli_codec umbeli_codec_guava = {
    .id = UMBEL_FMT_GUAVA,
    .name = "guava",
    .system = "Guava 31.1, BloomFilter.writeTo",
    .variants = {{"mitz32", UMBEL_VARIANT_MITZ32}, {"guava2024", UMBEL_VARIANT_GUAVA_2024}},
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR,
    .draft = draft_of,
    .rate = rate_of,
    .decode = decode,
    .bits_at = bits_at,
    .size = size_of,
    .encode = encode,
};
