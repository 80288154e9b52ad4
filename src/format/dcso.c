/* SPDX-License-Identifier: MIT
 *
 * dcso.c - the files of DCSO's bloom, which CIRCL also uses
 *
 *   offset  size             field, little-endian
 *   0       8                flags: 1
 *   8       8                n, keys planned for
 *   16      8                p, rate at n keys, IEEE double
 *   24      8                k, probes per key
 *   32      8                m, bits
 *   40      8                N, adds that changed the filter
 *   48      8 ceil(m / 64)   words of 64 bits
 *   then                     data of any kind, to the end
 *
 * Page: docs/formats/dcso.md.
 */
#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/progression.h"
#include "hash/foreign_hash.h"
#include "plan/plan.h"
#include "umbel_foreign.h"

enum { HEADER = 48, SCHEME_DCSO = 11 };

static const double ln2 = 0.69314718055994530942;

/* ---- Positions ---- */

/* The largest prime below 2^64 and a generator.  Products wrap before the remainder is taken. */
static const uint64_t prime = UINT64_C(18446744073709551557);
static const uint64_t generator = UINT64_C(18446744073709550147);

static uint64_t below_prime(uint64_t x) {
    return x >= prime ? x - prime : x;
}

static void positions_of(uint64_t h, umbeli_modulus modulus, uint32_t hashes, uint64_t *pos) {
    h = below_prime(h);
    for (uint32_t i = 0; i < hashes; i++) {
        h = below_prime(h * generator);
        pos[i] = umbeli_mod(h, modulus);
    }
}

static void positions(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    positions_of(umbeli_fnv1_64(key, len), c->modulus, c->base.shape.hashes, pos);
}

/* ---- Rates ---- */

/* Products wrap at 2^64, so the lowest bits of a probe follow from those of the hash alone: where
 * the bits are an even number, all probes of a key are even, or all are odd, and so on for higher
 * powers of two.  Each such class of bits has its own fill.  FNV-1 does the same to keys: its
 * lowest bits follow from the lowest bits of their bytes, so keys of one form may all be of one
 * class. */
enum { CLASSES = 64, CLASSES_SAMPLED = 16, WORDS_ALL = 1 << 18 };

typedef struct classes {
    uint64_t count; /* a power of two */
    double fill[CLASSES];
} classes;

static uint64_t classes_of(uint64_t m, uint64_t most) {
    uint64_t count = m & (0 - m);
    return count < most ? count : most;
}

/* Large filters are sampled. */
static classes fills_of(const uint8_t *bits, uint64_t m) {
    uint64_t words = umbeli_ceil_div(m, 64), step = umbeli_ceil_div(words, WORDS_ALL);
    classes all = {.count = classes_of(m, step > 1 ? CLASSES_SAMPLED : CLASSES)};
    uint64_t set[CLASSES] = {0}, each = 0, first = 0; /* first: every bit of class 0 */
    for (uint64_t i = 0; i < 64; i += all.count) first |= UINT64_C(1) << i;
    for (uint64_t i = 0; i < words; i += step) {
        uint64_t left = m - 64 * i;
        uint8_t last[8] = {0};
        if (left < 64) memcpy(last, bits + 8 * i, (size_t)umbeli_ceil_div(left, 8));
        uint64_t word = umbeli_load_le64(left < 64 ? last : bits + 8 * i);
        if (left < 64) word &= (UINT64_C(1) << left) - 1;
        for (uint64_t c = 0; c < all.count; c++) {
            set[c] += (uint64_t)__builtin_popcountll(word & first << c);
        }
        each += (left < 64 ? left : 64) / all.count;
    }
    for (uint64_t c = 0; c < all.count; c++) all.fill[c] = (double)set[c] / (double)each;
    return all;
}

/* The rate for random keys or, with `alike`, for keys of the classes that the filter has. */
static double class_rate(const classes *all, uint32_t hashes, bool alike) {
    double sum = 0, weights = 0;
    for (uint64_t from = 0; from < all->count; from++) {
        double found = 1, load = 0;
        uint64_t low = from;
        for (uint32_t i = 0; i < hashes; i++) {
            low = low * generator % all->count;
            found *= all->fill[low];
            load -= log1p(-fmin(all->fill[low], 0.999999));
        }
        double weight = alike ? load : 1;
        sum += weight * found;
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

static double live_rate(const umbeli_classic *c, uint64_t bits_set, double keys) {
    const umbeli_shape *s = &c->base.shape;
    (void)keys;
    if (s->bits == 0 || s->bits % 2) return umbeli_classic_live_rate(s->bits, s->hashes, bits_set);
    classes all = fills_of(c->base.data, s->bits);
    return class_rate(&all, s->hashes, false);
}

static double rate_alike(const umbeli_classic *c) {
    const umbeli_shape *s = &c->base.shape;
    if (s->bits == 0 || s->bits % 2) return 0;
    classes all = fills_of(c->base.data, s->bits);
    return class_rate(&all, s->hashes, true);
}

static void place(const void *how, uint64_t *random, uint64_t *pos) {
    const umbeli_shape *s = how;
    positions_of(umbeli_draw(random), umbeli_modulus_of(s->bits), s->hashes, pos);
}

static double simulated_live(const void *how, const uint8_t *bits, uint64_t set, uint64_t *random) {
    const umbeli_shape *s = how;
    (void)set, (void)random;
    classes all = fills_of(bits, s->bits);
    return class_rate(&all, s->hashes, false);
}

static double rate_of(const umbeli_draft *d) {
    const umbeli_shape *s = &d->shape;
    if (!s->bits) return 1; /* no bits, no probes: every key matches */
    if (s->bits > UMBELI_SIMULATED_BITS) {
        return umbeli_classic_rate(s->bits, s->hashes, s->capacity);
    }
    umbeli_simulated simulated = {
        .how = s, .place = place, .live = simulated_live, .bits = s->bits, .hashes = s->hashes};
    return umbeli_simulated_rate(&simulated, s->capacity);
}

static const umbeli_scheme scheme_dcso = {
    .id = SCHEME_DCSO,
    .hash = UMBEL_HASH_FNV1_64,
    .layout = "classic/dcso",
    .format = UMBEL_FMT_DCSO,
    .positions = positions,
    .live_rate = live_rate,
    .rate_alike = rate_alike,
};

/* ---- Create ---- */

/* DCSO takes the ceiling of a negative number, so m is rounded down. */
static double bits_of(double n, double p) {
    return fabs(ceil(n * log(p) / (ln2 * ln2)));
}

static double hashes_of(double n, double bits) {
    return ceil(ln2 * bits / n);
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    umbel_err e = umbeli_params_need_capacity_and_fpr(p, diag);
    if (e) return e;
    double n = (double)p->capacity, bits = bits_of(n, p->fpr), hashes = hashes_of(n, bits);
    if (bits >= 0x1p62) return umbeli_invalid(diag, "capacity: more than 2^62 bits");
    if (hashes > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_invalid(diag, "fpr: needs more than 1024 probes per key");
    }
    d->shape = (umbeli_shape){
        .bits = (uint64_t)bits,
        .hashes = (uint32_t)hashes,
        .capacity = p->capacity,
        .fpr = p->fpr,
    };
    d->scheme = &scheme_dcso;
    d->beyond = "rounding down to whole bits misses the rate for so few bits";
    uint64_t apart = classes_of(d->shape.bits, CLASSES);
    if (apart > 1) {
        d->rate_alike =
            umbeli_classic_rate(d->shape.bits / apart, d->shape.hashes, d->shape.capacity);
    }
    return UMBEL_OK;
}

/* ---- Decode ---- */

typedef struct head {
    umbeli_shape shape;
    uint64_t added; /* N */
    uint64_t words; /* bytes that hold the bits */
} head;

/* `left` is how many bytes follow. */
static umbel_err read_head(const uint8_t bytes[HEADER], uint64_t left, head *h, umbel_diag *diag) {
    umbeli_reader r = umbeli_reader_over(bytes, HEADER);
    uint64_t flags = umbeli_take_u64le(&r);
    h->shape = (umbeli_shape){.capacity = umbeli_take_u64le(&r), .fpr = umbeli_take_f64le(&r)};
    uint64_t k = umbeli_take_u64le(&r);
    h->shape.bits = umbeli_take_u64le(&r);
    h->added = umbeli_take_u64le(&r);
    h->words = (h->shape.bits / 64 + (h->shape.bits % 64 != 0)) * 8;
    h->shape.hashes = (uint32_t)k;
    if (flags != 1) return umbeli_unknown(diag, 0, "flags: only 1 is known");
    if (!(h->shape.fpr > 0 && h->shape.fpr < 1)) {
        return umbeli_bad(diag, 16, "p: not between 0 and 1");
    }
    if (k > UMBELI_CLASSIC_MAX_HASHES) {
        return umbeli_unknown(diag, 24, "k: more than 1024 probes per key");
    }
    if (h->shape.bits > INT64_MAX || h->words > left) {
        umbeli_diag_fill(diag, (umbel_diag){.offset = 32,
                                            .what = "m: more bits than the file has",
                                            .need = HEADER + h->words});
        return UMBEL_ECORRUPT;
    }
    if ((k == 0) != (h->shape.bits == 0)) return umbeli_bad(diag, 24, "k and m: one of them is 0");
    return UMBEL_OK;
}

/* Bits from m on, all in the last word, are never set by a writer. */
static bool padding_is_zero(const head *h, const uint8_t *last_word) {
    unsigned used = (unsigned)(h->shape.bits % 64);
    return used == 0 || umbeli_load_le64(last_word) >> used == 0;
}

static umbel_err decode_plain(const uint8_t *bytes, size_t len, umbeli_decoding how,
                              const umbeli_settings *settings, umbel_filter **out,
                              umbel_diag *diag) {
    head h;
    umbel_err e = read_head(bytes, len - HEADER, &h, diag);
    if (e) return e;
    const uint8_t *words = bytes + HEADER, *data = words + h.words;
    uint64_t data_len = (uint64_t)(bytes + len - data);
    /* Views have a copy of it too. */
    if (how != UMBELI_VERIFY && settings->max_bytes && data_len > settings->max_bytes) {
        uint64_t bits = how == UMBELI_COPY ? umbeli_ceil_div(h.shape.bits, 8) : 0;
        return umbeli_fail_limit(diag, bits > data_len ? bits : data_len);
    }
    if (how != UMBELI_BORROW && h.words && !padding_is_zero(&h, data - 8)) {
        return umbeli_bad(diag, HEADER + h.words - 8, "bits after the last one are set");
    }
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    umbel_filter *f = NULL;
    e = umbeli_classic_read(&scheme_dcso, h.shape, words, how, settings, &f, diag);
    if (e) return e;
    umbeli_count_added(f, h.added);
    e = umbeli_extra_set(f, data, (size_t)data_len, diag);
    return umbeli_filter_finish(f, e, out);
}

static bool is_gzipped(const uint8_t *bytes, size_t len) {
    return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    if (is_gzipped(bytes, len)) {
        return umbeli_fail(diag, UMBEL_EVERSION, "gzip-compressed, so decompress it first");
    }
    if (len < HEADER) return umbeli_bad(diag, len, "the header is cut off");
    return decode_plain(bytes, len, how, settings, out, diag);
}

/* There is no magic number, but five fields must agree with each other.  The bits need not be
 * there: a file that was cut off is recognised, and so is one if only its start was read. */
static bool recognise(const uint8_t *bytes, size_t len) {
    if (is_gzipped(bytes, len)) return true; /* no other format here is gzipped */
    head h;
    if (len < HEADER || read_head(bytes, UINT64_MAX, &h, NULL)) return false;
    double n = (double)h.shape.capacity, bits = bits_of(n, h.shape.fpr);
    return n > 0 && bits == (double)h.shape.bits && hashes_of(n, bits) == h.shape.hashes;
}

/* ---- Size, encode ---- */

static uint64_t bits_at(const umbel_filter *f, const uint8_t *bytes, uint64_t len) {
    (void)f, (void)bytes, (void)len;
    return HEADER;
}

static uint64_t words_of(const umbel_filter *f) {
    return umbeli_ceil_div(f->shape.bits, 64) * 8;
}

static uint64_t size(const umbel_filter *f) {
    bool ours = f->ops == &umbeli_classic_ops && f->shape.format == UMBEL_FMT_DCSO;
    return ours ? HEADER + words_of(f) + f->extra_len : 0;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_put_u64le(w, 1);
    umbeli_put_u64le(w, f->shape.capacity);
    umbeli_put_f64le(w, f->shape.fpr);
    umbeli_put_u64le(w, f->shape.hashes);
    umbeli_put_u64le(w, f->shape.bits);
    umbeli_put_u64le(w, umbeli_keys_added(f));
    umbeli_filter_put_bits(f, w);
    umbeli_put_zeros(w, words_of(f) - f->data_len);
    umbeli_put(w, f->extra, f->extra_len);
}

const umbeli_codec umbeli_codec_dcso = {
    .id = UMBEL_FMT_DCSO,
    .name = "dcso",
    .system = "DCSO bloom 0.2.4",
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR,
    .counts = true,
    .recognise = recognise,
    .draft = draft_of,
    .rate = rate_of,
    .decode = decode,
    .bits_at = bits_at,
    .size = size,
    .encode = encode,
};
