/* SPDX-License-Identifier: MIT
 *
 * rocksdb.c - a filter block of RocksDB, or a partition of one
 *
 *   offset  size  field
 *   0       n     bits, bit p in byte p/8, lowest first
 *   n       5     which filter it is:
 *     ff 00 k 00 00     FastLocalBloom: k probes, 1 to 30, in one of n/64 lines of 64 bytes
 *     fe s b b b        Ribbon: seed s, number of blocks b (little-endian, at least 2)
 *     k l l l l         before format version 5: k probes, 1 to 127, in one of l lines
 *                       (little-endian) of n/l bytes, a power of two
 *     00 00 00 00 00    every key matches
 *
 * Five bytes or fewer match no key.  Page: docs/formats/rocksdb.md.  Checked against RocksDB 7.8.3.
 */
#include "format/rocksdb/rocksdb_filters.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec_params.h"
#include "umbel_foreign.h"

enum { LINE = UMBELI_ROCKSDB_LINE, META = UMBELI_ROCKSDB_META };
enum { MARK_FAST = 0xff, MARK_RIBBON = 0xfe, MAX_LEGACY = 127, MAX_HASHES = 30 };
enum { MIN_MILLIBITS = 1000, MAX_MILLIBITS = 100000 };

static const uint64_t max_len = UINT64_C(0xffffffc0); /* of a FastLocalBloom filter's bits */

/* ---- Sizes ---- */

/* What RocksDB found best for that many thousandths of a bit per key. */
static uint32_t hashes_of(uint64_t millibits) {
    static const uint16_t upto[] = {2080,  3580,  5100,  6640,  8300,  10070,
                                    11720, 14001, 16050, 18300, 22001, 25501};
    for (uint32_t i = 0; i < sizeof upto / sizeof *upto; i++) {
        if (millibits <= upto[i]) return i + 1;
    }
    return millibits > 50000 ? 24 : (uint32_t)((millibits - 1) / 2000 - 1);
}

static uint64_t len_of(uint64_t keys, uint64_t millibits) {
    uint64_t bits, len = max_len;
    if (umbeli_size_mul(keys, millibits, &bits)) len = umbeli_ceil_div(bits, 8000);
    return len >= max_len ? max_len : umbeli_ceil_div(len, LINE) * LINE;
}

static double rate_with(uint64_t keys, uint64_t millibits) {
    return umbeli_rocksdb_rate(len_of(keys, millibits) / LINE, hashes_of(millibits), keys);
}

/* The fewest millibits per key that keep the rate; 0: none do. */
static uint64_t millibits_for(uint64_t keys, double fpr) {
    uint64_t low = MIN_MILLIBITS - 1, high = MAX_MILLIBITS;
    if (rate_with(keys, high) > fpr) return 0;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        *(rate_with(keys, middle) <= fpr ? &high : &low) = middle;
    }
    return high;
}

static umbel_err millibits_of(const umbel_foreign *p, uint64_t *millibits, umbel_diag *diag) {
    if (p->capacity == 0) return umbeli_invalid(diag, "capacity: required to size the filter");
    if (p->bits_per_key) {
        if (p->fpr != 0) return umbeli_invalid(diag, "fpr: excludes bits_per_key");
        *millibits = p->bits_per_key > MAX_MILLIBITS / 1000 ? MAX_MILLIBITS
                                                            : p->bits_per_key * UINT64_C(1000);
    } else if (p->fpr != 0) {
        *millibits = millibits_for(p->capacity, p->fpr);
        if (!*millibits) return umbeli_invalid(diag, "fpr: out of reach with 100 bits per key");
    } else if (p->bytes) {
        double all = (double)(p->bytes / LINE * LINE) * 8000 / (double)p->capacity;
        *millibits = all > MAX_MILLIBITS ? MAX_MILLIBITS : (uint64_t)all;
    } else {
        return umbeli_invalid(diag, "bits_per_key: give this, fpr or bytes");
    }
    if (*millibits < MIN_MILLIBITS || (p->bytes && len_of(p->capacity, *millibits) > p->bytes)) {
        return umbeli_invalid(diag, "bytes: too few for these keys");
    }
    return UMBEL_OK;
}

static umbel_err draft_of(const umbel_foreign *p, umbeli_draft *d, umbel_diag *diag) {
    umbeli_shape *shape = &d->shape;
    d->scheme = &umbeli_scheme_rocksdb;
    d->beyond = "RocksDB's filters end at 4 GiB";
    *shape = (umbeli_shape){.capacity = p->capacity, .fpr = p->fpr, .hashes = p->hashes};
    if (p->bytes && !p->capacity && p->fpr == 0 && !p->bits_per_key) {
        if (p->bytes % LINE || p->bytes > max_len) {
            return umbeli_invalid(diag, "bytes: must be lines of 64, below 4 GiB");
        }
        if (p->hashes == 0 || p->hashes > MAX_HASHES) {
            return umbeli_invalid(diag, "hashes: must be 1 to 30 when only bytes is given");
        }
        shape->bits = p->bytes * 8;
        return UMBEL_OK;
    }
    if (p->hashes) return umbeli_invalid(diag, "hashes: follows from bits_per_key in this format");
    uint64_t millibits = 0;
    umbel_err e = millibits_of(p, &millibits, diag);
    shape->bits = len_of(p->capacity, millibits) * 8;
    shape->hashes = hashes_of(millibits);
    return e;
}

static double rate_of(const umbeli_draft *d) {
    return umbeli_rocksdb_rate(d->shape.bits / 8 / LINE, d->shape.hashes, d->shape.capacity);
}

/* ---- Decode ---- */

typedef enum form { NOTHING, EVERYTHING, FAST, LEGACY, RIBBON } form;

typedef struct meta {
    form form;
    uint64_t len; /* of the bits */
    uint32_t hashes, lines;
    umbeli_ribbon_meta ribbon;
} meta;

static umbel_err read_fast(const uint8_t *last, meta *m, umbel_diag *diag) {
    uint32_t hashes = last[2] & 31, size = last[2] >> 5;
    if (last[1]) return umbeli_unknown(diag, m->len + 1, "a reserved kind of Bloom filter");
    if (size) return umbeli_unknown(diag, m->len + 2, "lines: a reserved size");
    if (hashes == 0 || hashes > MAX_HASHES) {
        return umbeli_unknown(diag, m->len + 2, "probes: 0 and 31 are reserved");
    }
    if (last[3] || last[4]) {
        return umbeli_unknown(diag, m->len + 3, "reserved bytes that are not 0");
    }
    if (m->len % LINE) return umbeli_bad(diag, m->len, "the bits are not lines of 64 bytes");
    m->form = FAST;
    m->hashes = hashes;
    return UMBEL_OK;
}

static umbel_err read_legacy(const uint8_t *last, meta *m, umbel_diag *diag) {
    uint64_t lines = umbeli_load_le32(last + 1), each = lines ? m->len / lines : 0;
    if (lines == 0 || m->len % lines || each & (each - 1)) {
        return umbeli_bad(diag, m->len + 1, "number of lines: their length is not a power of two");
    }
    m->form = LEGACY;
    m->hashes = last[0];
    m->lines = (uint32_t)lines;
    return UMBEL_OK;
}

/* On failure, m is what RocksDB makes of such bytes: a filter that matches every key. */
static umbel_err read_meta(const uint8_t *bytes, size_t len, meta *m, umbel_diag *diag) {
    *m = (meta){.form = NOTHING};
    if (len <= META) return UMBEL_OK;
    *m = (meta){.form = EVERYTHING, .len = len - META};
    const uint8_t *last = bytes + len - META;
    if (len > UINT32_MAX) {
        return umbeli_fail(diag, UMBEL_EVERSION, "longer than this format can be");
    }
    if (*last == 0 && umbeli_load_le32(last + 1) == 0) return UMBEL_OK;
    if (*last == 0) return umbeli_unknown(diag, m->len + 1, "reserved bytes that are not 0");
    if (*last == MARK_FAST) return read_fast(last, m, diag);
    if (*last <= MAX_LEGACY) return read_legacy(last, m, diag);
    if (*last != MARK_RIBBON) return umbeli_unknown(diag, m->len, "a reserved kind of filter");
    m->ribbon = (umbeli_ribbon_meta){last[1], umbeli_load_le32(last + 1) >> 8};
    if (m->ribbon.blocks < 2) {
        return umbeli_unknown(diag, m->len + 2, "blocks: 0 and 1 are reserved");
    }
    m->form = RIBBON;
    return UMBEL_OK;
}

/* `bits` NULL: the filter gets its own memory. */
static umbel_err make(const meta *m, const uint8_t *bits, const umbeli_settings *settings,
                      umbel_filter **out, umbel_diag *diag) {
    if (m->form == RIBBON) return umbeli_ribbon_new(m->ribbon, m->len, bits, settings, out, diag);
    umbeli_shape shape = {.bits = m->len * 8, .hashes = m->hashes};
    if (m->form == LEGACY) {
        return umbeli_rocksdb_legacy_new(shape, m->lines, bits, settings, out, diag);
    }
    return umbeli_classic_new(&umbeli_scheme_rocksdb, shape, bits, settings, out, diag);
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    static const uint8_t nothing[LINE];
    meta m;
    umbel_err e = read_meta(bytes, len, &m, diag);
    if (how == UMBELI_VERIFY || (e && how != UMBELI_BORROW)) return e;
    if (m.form == NOTHING) {
        bytes = nothing;
        m = (meta){.form = FAST, .len = LINE, .hashes = 1};
    }
    e = make(&m, how == UMBELI_BORROW ? bytes : NULL, settings, out, diag);
    if (!e && how == UMBELI_COPY) memcpy((*out)->data, bytes, (size_t)m.len);
    return e;
}

/* ---- Encode ---- */

static uint64_t size_of(const umbel_filter *f) {
    return f->shape.format == UMBEL_FMT_ROCKSDB ? f->data_len + META : 0;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    umbeli_ribbon_meta ribbon;
    uint32_t lines = umbeli_rocksdb_legacy_lines(f);
    umbeli_put(w, f->data, (size_t)f->data_len);
    if (umbeli_ribbon_meta_of(f, &ribbon)) {
        umbeli_put_u8(w, MARK_RIBBON);
        umbeli_put_u32le(w, ribbon.blocks << 8 | ribbon.seed);
    } else if (lines) {
        umbeli_put_u8(w, (uint8_t)f->shape.hashes);
        umbeli_put_u32le(w, lines);
    } else {
        umbeli_put_u8(w, f->shape.hashes ? MARK_FAST : 0);
        umbeli_put_u32le(w, f->shape.hashes << 8);
    }
}

const umbeli_codec umbeli_codec_rocksdb = {
    .id = UMBEL_FMT_ROCKSDB,
    .name = "rocksdb",
    .system = "RocksDB 7.8.3, filter blocks",
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES | UMBEL_FIELD_HASHES |
             UMBEL_FIELD_BITS_PER_KEY,
    .draft = draft_of,
    .rate = rate_of,
    .decode = decode,
    .size = size_of,
    .encode = encode,
};
