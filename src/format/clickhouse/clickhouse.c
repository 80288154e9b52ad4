/* SPDX-License-Identifier: MIT
 *
 * clickhouse.c - ClickHouse's BloomFilter(size, hashes, seed)
 *
 *   offset  size  field
 *   0       n     the bits, bit p in byte p / 8 from the lowest; no header
 *
 * n is the size from the definition, in bytes.  With UMBEL_VARIANT_CLICKHOUSE_INDEX the bytes are a
 * granule of a bloom_filter index instead: clickhouse_index.c.
 * Spec: docs/formats/clickhouse.md.  Checked against ClickHouse 26.7.2.
 */
#include "core/diag.h"
#include "format/clickhouse/clickhouse_index.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { SCHEME = 5 };

static const uint64_t max_bytes = 1u << 30; /* ClickHouse refuses more */

/* ---- Positions ---- */

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    const uint64_t seed_gen_a = 845897321, seed_gen_b = 217728422; /* BloomFilter.cpp */
    uint64_t seed = c->base.shape.seed, hash = umbeli_city64(key, len);
    uint64_t first = umbeli_city64_reseed(hash, seed);
    uint64_t second = umbeli_city64_reseed(hash, seed_gen_a * seed + seed_gen_b);
    for (uint64_t i = 0; i < c->base.shape.hashes; i++) {
        pos[i] = umbeli_mod(first + i * second + i * i, c->modulus);
    }
}

static umbeli_progression progression_of(const umbeli_shape *s) {
    return (umbeli_progression){.bits = s->bits,
                                .hashes = s->hashes,
                                .jump = umbeli_power_modulo(64, s->bits),
                                .quadratic = true};
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    umbeli_progression p = progression_of(&c->base.shape);
    return umbeli_progression_live(&p, c->base.data, bits_set, keys);
}

static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    umbeli_progression p = progression_of(&c->base.shape);
    return umbeli_progression_keys(&p, bits_set);
}

static const umbeli_scheme scheme_clickhouse = {
    .id = SCHEME,
    .hash = UMBEL_HASH_CITY64,
    .layout = "clickhouse/city64",
    .format = UMBEL_FMT_CLICKHOUSE,
    .positions = positions,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Create ---- */

static bool is_index(const umbel_foreign *p) {
    return (p->variant & UMBEL_VARIANT_CLICKHOUSE_INDEX) != 0;
}

static const umbeli_scheme *scheme_of(const umbel_foreign *p) {
    return is_index(p) ? umbeli_clickhouse_index_scheme(p) : &scheme_clickhouse;
}

static umbel_err class_shape(const umbel_foreign *p, uint64_t bytes, umbeli_shape *shape,
                             umbel_diag *diag) {
    const uint32_t takes =
        UMBEL_FIELD_CAPACITY | UMBEL_FIELD_BYTES | UMBEL_FIELD_HASHES | UMBEL_FIELD_SEED;
    umbel_err e = umbeli_params_check(p, takes, 0, diag);
    if (e) return e;
    if (bytes == 0) return umbeli_invalid(diag, "bytes: required by ClickHouse");
    if (bytes > max_bytes) return umbeli_invalid(diag, "bytes: more than 2^30");
    if (p->hashes == 0) return umbeli_invalid(diag, "hashes: required by ClickHouse");
    if (p->hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_invalid(diag, "hashes: more than 1024");
    }
    *shape = (umbeli_shape){
        .hashes = p->hashes, .seed = p->seed, .bits = bytes * 8, .capacity = p->capacity};
    umbeli_progression probes = progression_of(shape);
    if (p->capacity) shape->fpr = umbeli_progression_guess(&probes, p->capacity);
    return UMBEL_OK;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    d->scheme = scheme_of(p);
    d->beyond = "ClickHouse's table is too optimistic for this rate";
    if (is_index(p)) return umbeli_clickhouse_index_shape(p, &d->shape, diag);
    umbel_err e = class_shape(p, p->bytes, &d->shape, diag);
    if (e || !p->capacity) return e;
    umbeli_progression probes = progression_of(&d->shape);
    d->shape.fpr = umbeli_progression_rate(&probes, p->capacity);
    return UMBEL_OK;
}

static double rate_of(const umbeli_draft *d) {
    const umbeli_shape *s = &d->shape;
    return d->scheme == &scheme_clickhouse
               ? s->fpr
               : umbeli_independent_rate(s->bits, s->hashes, s->capacity);
}

/* ---- Decode ---- */

/* There is nothing but bits, so any size is valid unless `as` gives one. */
static umbel_err class_length(const umbel_foreign *as, size_t len, umbel_diag *diag) {
    if (len == 0 || (as->bytes && len < as->bytes)) {
        return umbeli_bad(diag, len, "the bits are cut off");
    }
    if (len > max_bytes || (as->bytes && len > as->bytes)) {
        uint64_t end = as->bytes ? as->bytes : max_bytes;
        return umbeli_bad(diag, end, "bytes after the bits");
    }
    return UMBEL_OK;
}

static umbel_err decode_as(const umbel_foreign *as, const uint8_t *bytes, size_t len,
                           umbeli_decoding how, const umbeli_settings *settings, umbel_filter **out,
                           umbel_diag *diag) {
    umbeli_shape shape;
    const uint8_t *bits = bytes;
    umbel_err e;
    if (is_index(as)) {
        e = umbeli_clickhouse_index_bits(as, bytes, len, &shape, &bits, diag);
    } else {
        e = class_shape(as, len > 0 && len <= max_bytes ? len : max_bytes, &shape, diag);
        if (!e) e = class_length(as, len, diag);
    }
    return e ? e : umbeli_classic_read(scheme_of(as), shape, bits, how, settings, out, diag);
}

/* ---- Encode ---- */

static uint64_t size_of(const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_CLICKHOUSE) return 0;
    return f->shape.scheme == SCHEME ? f->data_len : umbeli_clickhouse_index_size(f);
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    if (f->shape.scheme == SCHEME) {
        umbeli_put(w, f->data, (size_t)f->data_len);
    } else {
        umbeli_clickhouse_index_encode(f, w);
    }
}

const umbeli_codec umbeli_codec_clickhouse = {
    .id = UMBEL_FMT_CLICKHOUSE,
    .name = "clickhouse",
    .system = "ClickHouse 26.7.2, BloomFilter and bloom_filter index",
    .variants = {{"index", UMBEL_VARIANT_CLICKHOUSE_INDEX},
                 {"numbers", UMBEL_VARIANT_CLICKHOUSE_NUMBERS},
                 {"pre2024", UMBEL_VARIANT_CLICKHOUSE_PRE2024}},
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES | UMBEL_FIELD_SEED |
             UMBEL_FIELD_HASHES | UMBEL_FIELD_BITS_PER_KEY,
    .needs = UMBEL_FIELD_FPR | UMBEL_FIELD_SEED | UMBEL_FIELD_HASHES | UMBEL_FIELD_BITS_PER_KEY,
    .draft = draft_of,
    .rate = rate_of,
    .decode_as = decode_as,
    .size = size_of,
    .encode = encode,
};
