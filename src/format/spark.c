/* SPDX-License-Identifier: MIT
 *
 * spark.c - what Spark's BloomFilter.writeTo writes
 *
 *   offset  size  field, big-endian and signed
 *   0       4     version: 1 or 2
 *   4       4     hashes
 *   8       4     version 2 only: seed
 *   then    4     number of words
 *   then    8     each word; bit p of the filter is bit p % 64 of word p / 64
 *
 * Spec: docs/formats/spark.md.  Checked against Spark's own classes, version 4.1.
 */
#include <math.h>

#include "core/diag.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { V1 = 1, V2 = 2, V1_HEADER = 12, V2_HEADER = 16 };
enum { SCHEME_V1 = 15, SCHEME_V2 = 16 };

static const double ln2 = 0.6931471805599453;  /* Math.log(2) */
static const double default_fpr = 0.03;        /* of create() without an fpp */
static const uint64_t max_words = 2147483647u; /* an array's length is an int */

/* ---- Positions ---- */

static void positions_v1(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint32_t start = umbeli_spark_hash(key, len, 0), step = umbeli_spark_hash(key, len, start);
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        start += step;
        pos[i] = umbeli_mod(start >> 31 ? ~start : start, c->modulus);
    }
}

static void positions_v2(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint32_t first = umbeli_spark_hash(key, len, (uint32_t)c->base.shape.seed);
    int64_t step = (int32_t)umbeli_spark_hash(key, len, first);
    int64_t sum = (int64_t)(int32_t)first * INT32_MAX;
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        sum += step;
        pos[i] = umbeli_mod((uint64_t)(sum < 0 ? ~sum : sum), c->modulus);
    }
}

/* ---- Rates ---- */

/* Version 1 wraps at 2^32 and complements the upper half; version 2 never wraps. */
static umbeli_progression progression_of(const umbeli_shape *s, uint32_t scheme) {
    bool v1 = scheme == SCHEME_V1;
    return (umbeli_progression){.bits = s->bits,
                                .hashes = s->hashes,
                                .jump = v1 ? umbeli_power_modulo(32, s->bits) : 0,
                                .mirrored = v1};
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    umbeli_progression p = progression_of(&c->base.shape, c->base.shape.scheme);
    return umbeli_progression_live(&p, c->base.data, bits_set, keys);
}

static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    const umbeli_shape *s = &c->base.shape;
    unsigned range = s->scheme == SCHEME_V1 ? 31 : 0;
    return umbeli_probes_per_bit(s->bits, bits_set, range) * (double)s->bits / s->hashes;
}

static const umbeli_scheme scheme_v1 = {
    .id = SCHEME_V1,
    .hash = UMBEL_HASH_MURMUR3_32,
    .layout = "spark-v1/murmur3_32",
    .format = UMBEL_FMT_SPARK,
    .positions = positions_v1,
    .estimate = estimate,
    .live_rate = live_rate,
};

static const umbeli_scheme scheme_v2 = {
    .id = SCHEME_V2,
    .hash = UMBEL_HASH_MURMUR3_32,
    .layout = "spark-v2/murmur3_32",
    .format = UMBEL_FMT_SPARK,
    .positions = positions_v2,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Create ---- */

/* The bits that Spark computes, before it rounds up to words: from the rate, or as given. */
static umbel_err wanted_bits(const umbel_foreign *p, double *bits, umbel_diag *diag) {
    if (p->bytes) {
        if (p->fpr != 0) return umbeli_invalid(diag, "fpr: excludes bytes");
        *bits = (double)p->bytes * 8;
    } else {
        if (p->hashes) return umbeli_invalid(diag, "hashes: needs bytes");
        double fpr = p->fpr != 0 ? p->fpr : default_fpr;
        *bits = floor(-(double)p->capacity * log(fpr) / (ln2 * ln2));
    }
    if (*bits < 1 || *bits > (double)max_words * 64) {
        return umbeli_invalid(diag, "Spark refuses this size (0 bits, or over 2^31-1 words)");
    }
    return UMBEL_OK;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    bool v1 = (p->variant & UMBEL_VARIANT_SPARK_V1) != 0;
    double bits = 0;
    if (p->capacity == 0 && !(p->bytes && p->hashes)) {
        return umbeli_invalid(diag, "capacity: required by Spark");
    }
    if (p->seed && v1) return umbeli_invalid(diag, "seed: version 1 has none");
    if (p->seed > UINT32_MAX && p->seed < UINT64_MAX - INT32_MAX) {
        return umbeli_invalid(diag, "seed: an int of 32 bits in this format");
    }
    umbel_err e = wanted_bits(p, &bits, diag);
    if (e) return e;
    double hashes = p->hashes ? p->hashes : floor(bits / (double)p->capacity * ln2 + 0.5);
    if (hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_invalid(diag, "hashes: more than 1024 probes per key");
    }
    d->shape = (umbeli_shape){.hashes = hashes < 1 ? 1 : (uint32_t)hashes,
                              .bits = (uint64_t)ceil(bits / 64) * 64,
                              .seed = (uint32_t)p->seed,
                              .capacity = p->capacity,
                              .fpr = p->bytes      ? 0
                                     : p->fpr != 0 ? p->fpr
                                                   : default_fpr};
    d->scheme = v1 ? &scheme_v1 : &scheme_v2;
    d->beyond = v1 && d->shape.bits >> 24
                    ? "version 1 places probes with 31 bits, too few for this many bits"
                    : "Spark's probes of a key follow each other, too closely in so few bits";
    return UMBEL_OK;
}

static double rate_of(const umbeli_draft *d) {
    umbeli_progression probes = progression_of(&d->shape, d->scheme->id);
    return umbeli_progression_rate(&probes, d->shape.capacity);
}

/* ---- Decode ---- */

typedef struct head {
    umbeli_shape shape;
    uint32_t version;
    size_t len;
} head;

static umbel_err read_head(const uint8_t *bytes, size_t len, head *h, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    *h = (head){.version = umbeli_take_u32be(&r)};
    h->shape.hashes = umbeli_take_u32be(&r);
    if (h->version == V2) h->shape.seed = umbeli_take_u32be(&r);
    uint64_t words = umbeli_take_u32be(&r);
    h->len = r.pos;
    if (r.failed) return umbeli_bad(diag, r.pos, "the header is cut off");
    if (h->version != V1 && h->version != V2) {
        return umbeli_unknown(diag, 0, "version: must be 1 or 2");
    }
    if (h->shape.hashes == 0 || h->shape.hashes > INT32_MAX) {
        return umbeli_bad(diag, 4, "hashes: not positive");
    }
    if (h->shape.hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_unknown(diag, 4, "hashes: more than 1024 probes per key");
    }
    if (words == 0 || words > max_words) {
        return umbeli_bad(diag, h->len - 4, "number of words: not positive");
    }
    h->shape.bits = words * 64;
    return UMBEL_OK;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    if (how == UMBELI_BORROW) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "Spark's words are big-endian; decode it instead");
    }
    head h;
    umbel_err e = read_head(bytes, len, &h, diag);
    if (e) return e;
    return umbeli_words_read(h.version == V1 ? &scheme_v1 : &scheme_v2, h.shape, bytes + h.len,
                             len - h.len, h.len, how, settings, out, diag);
}

/* There is no magic number, but version, hashes and length must agree: fourteen bytes, nearly all
 * of them fixed, none of which another format here begins with. */
static bool recognise(const uint8_t *bytes, size_t len) {
    head h;
    return !read_head(bytes, len, &h, NULL) && len - h.len == h.shape.bits / 8;
}

/* ---- Encode ---- */

static uint64_t size_of(const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_SPARK) return 0;
    return (f->shape.scheme == SCHEME_V1 ? V1_HEADER : V2_HEADER) + f->data_len;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    bool v1 = f->shape.scheme == SCHEME_V1;
    umbeli_put_u32be(w, v1 ? V1 : V2);
    umbeli_put_u32be(w, f->shape.hashes);
    if (!v1) umbeli_put_u32be(w, (uint32_t)f->shape.seed);
    umbeli_put_u32be(w, (uint32_t)(f->data_len / 8));
    umbeli_put_swapped(w, f->data, f->data_len);
}

const umbeli_codec umbeli_codec_spark = {
    .id = UMBEL_FMT_SPARK,
    .name = "spark",
    .system = "Spark 4.1, BloomFilter.writeTo",
    .variants = {{"v1", UMBEL_VARIANT_SPARK_V1}, {"v2", 0}},
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES | UMBEL_FIELD_SEED |
             UMBEL_FIELD_HASHES,
    .has_signed_seed = true,
    .recognise = recognise,
    .draft = draft_of,
    .rate = rate_of,
    .decode = decode,
    .bits_at = umbeli_bits_at_end,
    .size = size_of,
    .encode = encode,
};
