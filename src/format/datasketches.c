/* SPDX-License-Identifier: MIT
 *
 * datasketches.c - what the Bloom filters of Apache DataSketches write
 *
 *   offset  size  field, little-endian
 *   0       1     preamble in words: 4; 3 if the filter is empty
 *   1       1     serial version: 1
 *   2       1     family: 21
 *   3       1     flags: 4 if the filter is empty, else 0
 *   4       2     hashes
 *   6       2     0
 *   8       8     seed
 *   16      4     number of words
 *   20      4     0
 *   24      8     bits set; -1: unknown
 *   32      8     each word
 *
 * An empty filter ends before the bits set.  Page: docs/formats/datasketches.md.
 */
#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { SERIAL = 1, FAMILY = 21, FLAG_EMPTY = 4, PREAMBLE_EMPTY = 3, PREAMBLE = 4 };
enum { HEADER_EMPTY = 24, HEADER = 32, SCHEME = 18 };

static const double ln2 = 0.69314718055994530942;
static const uint64_t max_words = INT32_MAX - 4; /* Java's; C++ makes no more than 2 GiB */

/* C++ multiplies the number of words by 64 in 32 bits when it reads a filter. */
static const uint64_t words_wrap = UINT64_C(1) << 26;

/* The bits of an empty filter are not in the file, so no length justifies them. */
static const uint64_t max_empty = UINT64_C(64) << 20;

/* ---- Positions ---- */

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    uint64_t sum = umbeli_xxh64(key, len, c->base.shape.seed), step = umbeli_xxh64(key, len, sum);
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        sum += step;
        pos[i] = umbeli_mod(sum >> 1, c->modulus);
    }
}

/* ---- Rates ---- */

static umbeli_progression progression_of(const umbeli_shape *s) {
    return (umbeli_progression){.bits = s->bits,
                                .hashes = s->hashes,
                                .jump = umbeli_power_modulo(63, s->bits),
                                .halved = true};
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    umbeli_progression p = progression_of(&c->base.shape);
    return umbeli_progression_live(&p, c->base.data, bits_set, keys);
}

static double estimate(const umbeli_classic *c, uint64_t bits_set) {
    umbeli_progression p = progression_of(&c->base.shape);
    return umbeli_progression_keys(&p, bits_set);
}

static const umbeli_scheme scheme_datasketches = {
    .id = SCHEME,
    .hash = UMBEL_HASH_XXH64,
    .layout = "datasketches/xxh64",
    .format = UMBEL_FMT_DATASKETCHES,
    .positions = positions,
    .min_key_len = 1,
    .estimate = estimate,
    .live_rate = live_rate,
};

/* ---- Create ---- */

/* createByAccuracy, with the hashes of C++ and Go; or createBySize. */
static umbel_err size_of_params(const umbel_foreign *p, double *bits, double *hashes,
                                umbel_diag *diag) {
    if (p->bytes) {
        if (p->fpr != 0) return umbeli_invalid(diag, "fpr: excludes bytes");
        if (!p->hashes && !p->capacity) {
            return umbeli_invalid(diag, "hashes: required with bytes alone");
        }
        *bits = (double)p->bytes * 8;
        *hashes = p->hashes ? p->hashes : ceil(*bits / (double)p->capacity * ln2);
        return UMBEL_OK;
    }
    if (p->hashes) return umbeli_invalid(diag, "hashes: needs bytes");
    umbel_err e = umbeli_params_need_capacity_and_fpr(p, diag);
    if (e) return e;
    *bits = ceil(-(double)p->capacity * log(p->fpr) / (ln2 * ln2));
    *hashes = ceil(-log(p->fpr) / ln2);
    return UMBEL_OK;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    double bits = 0, hashes = 0;
    umbel_err e = size_of_params(p, &bits, &hashes, diag);
    if (e) return e;
    if (bits > (double)max_words * 64) {
        return umbeli_invalid(diag, "DataSketches refuses this size (over 2^31-5 words)");
    }
    if (hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_invalid(diag, "hashes: more than 1024 probes per key");
    }
    d->shape = (umbeli_shape){.hashes = hashes < 1 ? 1 : (uint32_t)hashes,
                              .bits = (uint64_t)ceil(bits / 64) * 64,
                              .seed = p->seed,
                              .capacity = p->capacity,
                              .fpr = p->fpr};
    d->scheme = &scheme_datasketches;
    d->beyond = "DataSketches' probes of a key follow each other, too closely in so few bits";
    if (d->shape.bits / 64 >= words_wrap) {
        d->caution = "DataSketches for C++ misreads filters of 512 MiB and more; Java reads them";
    }
    return UMBEL_OK;
}

static double rate_of(const umbeli_draft *d) {
    umbeli_progression probes = progression_of(&d->shape);
    return umbeli_progression_rate(&probes, d->shape.capacity);
}

/* ---- Decode ---- */

typedef struct head {
    umbeli_shape shape;
    bool empty;
} head;

static umbel_err read_kind(umbeli_reader *r, head *h, umbel_diag *diag) {
    uint8_t preamble = umbeli_take_u8(r), serial = umbeli_take_u8(r);
    uint8_t family = umbeli_take_u8(r), flags = umbeli_take_u8(r);
    h->empty = flags == FLAG_EMPTY;
    if (r->failed) return umbeli_bad(diag, r->pos, "the header is cut off");
    if (family != FAMILY) return umbeli_unknown(diag, 2, "family: 21 is that of Bloom filters");
    if (serial != SERIAL) return umbeli_unknown(diag, 1, "serial version: must be 1");
    if (flags != 0 && !h->empty) return umbeli_unknown(diag, 3, "flags: must be 0 or 4 (empty)");
    if (preamble != (h->empty ? PREAMBLE_EMPTY : PREAMBLE)) {
        return umbeli_bad(diag, 0, "preamble: must be 4 words, or 3 of an empty filter");
    }
    return UMBEL_OK;
}

static umbel_err read_head(umbeli_reader *r, head *h, umbel_diag *diag) {
    *h = (head){0};
    umbel_err e = read_kind(r, h, diag);
    if (e) return e;
    h->shape.hashes = umbeli_take_u16le(r);
    uint16_t unused = umbeli_take_u16le(r);
    h->shape.seed = umbeli_take_u64le(r);
    uint64_t words = umbeli_take_u32le(r);
    uint32_t unused_too = umbeli_take_u32le(r);
    h->shape.bits = words * 64;
    uint64_t set = h->empty ? 0 : umbeli_take_u64le(r);
    if (r->failed) return umbeli_bad(diag, r->pos, "the header is cut off");
    if (unused) return umbeli_unknown(diag, 6, "unused bytes are not 0");
    if (unused_too) return umbeli_unknown(diag, 20, "unused bytes are not 0");
    if (h->shape.hashes == 0) return umbeli_bad(diag, 4, "hashes: not positive");
    if (h->shape.hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_unknown(diag, 4, "hashes: more than 1024 probes per key");
    }
    if (words == 0 || words > max_words) {
        return umbeli_bad(diag, 16, "number of words: must be 1 to 2^31-5");
    }
    if (set > h->shape.bits && set != UINT64_MAX) {
        return umbeli_bad(diag, 24, "bits set: more than there are");
    }
    return UMBEL_OK;
}

static umbel_err decode_empty(const umbeli_shape *shape, uint64_t left, umbeli_decoding how,
                              const umbeli_settings *settings, umbel_filter **out,
                              umbel_diag *diag) {
    if (left) return umbeli_bad(diag, HEADER_EMPTY, "bytes after the header of an empty filter");
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    if (how == UMBELI_BORROW) {
        return umbeli_fail(diag, UMBEL_ENOTSUP, "an empty filter has no bits; decode it instead");
    }
    if (!settings->max_bytes && shape->bits / 8 > max_empty) {
        return umbeli_fail_limit(diag, shape->bits / 8);
    }
    return umbeli_classic_new(&scheme_datasketches, *shape, NULL, settings, out, diag);
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    head h;
    umbel_err e = read_head(&r, &h, diag);
    if (e) return e;
    uint64_t left = len - r.pos, need = h.shape.bits / 8;
    if (h.empty) return decode_empty(&h.shape, left, how, settings, out, diag);
    if (left < need) {
        umbeli_diag_fill(
            diag,
            (umbel_diag){.offset = len, .what = "the words are cut off", .need = HEADER + need});
        return UMBEL_ECORRUPT;
    }
    if (left > need) return umbeli_bad(diag, HEADER + need, "bytes after the words");
    return umbeli_classic_read(&scheme_datasketches, h.shape, bytes + HEADER, how, settings, out,
                               diag);
}

/* The first four bytes are fixed, and so are six others. */
static bool recognise(const uint8_t *bytes, size_t len) {
    umbeli_reader r = umbeli_reader_over(bytes, len);
    head h;
    return !read_head(&r, &h, NULL);
}

/* ---- Size, encode ---- */

static bool is_empty(const umbel_filter *f) {
    return umbeli_bits_none(f->data, f->data_len);
}

static uint64_t bits_at(const umbel_filter *f, const uint8_t *bytes, uint64_t len) {
    (void)f, (void)bytes;
    return len < HEADER ? len : HEADER;
}

static uint64_t size_of(const umbel_filter *f) {
    if (f->shape.format != UMBEL_FMT_DATASKETCHES) return 0;
    return is_empty(f) ? HEADER_EMPTY : HEADER + f->data_len;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    bool empty = is_empty(f);
    const uint8_t kind[] = {empty ? PREAMBLE_EMPTY : PREAMBLE, SERIAL, FAMILY,
                            empty ? FLAG_EMPTY : 0};
    umbeli_put(w, kind, sizeof kind);
    umbeli_put_u32le(w, f->shape.hashes); /* 16 bits, then 16 that are unused */
    umbeli_put_u64le(w, f->shape.seed);
    umbeli_put_u64le(w, f->data_len / 8); /* 32 bits, then 32 that are unused */
    if (empty) return;
    umbeli_put_u64le(w, umbeli_bits_count(f->data, f->data_len));
    umbeli_filter_put_bits(f, w);
}

const umbeli_codec umbeli_codec_datasketches = {
    .id = UMBEL_FMT_DATASKETCHES,
    .name = "datasketches",
    .system = "Apache DataSketches' BloomFilter: C++ and Java of August 2026, Go of June 2026",
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES | UMBEL_FIELD_SEED |
             UMBEL_FIELD_HASHES,
    .has_signed_seed = true,
    .recognise = recognise,
    .draft = draft_of,
    .rate = rate_of,
    .decode = decode,
    .bits_at = bits_at,
    .size = size_of,
    .encode = encode,
};
