/* SPDX-License-Identifier: MIT
 *
 * parquet.c - Parquet's split-block Bloom filter as stored in a file
 *
 *   offset  size  field
 *   0       H     BloomFilterHeader in Thrift's compact protocol; as it is written here:
 *                   15 <zigzag varint numBytes>   1: numBytes, 32 z
 *                   1c 1c 00 00                   2: algorithm, BLOCK
 *                   1c 1c 00 00                   3: hash, XXHASH
 *                   1c 1c 00 00                   4: compression, UNCOMPRESSED
 *                   00
 *   H       32 z  z blocks of eight little-endian 32-bit words
 *
 * Spec: docs/formats/parquet.md.  Checked against DuckDB 1.5.6.
 */
#include "format/parquet/parquet.h"

#include <math.h>
#include <string.h>

#include "core/diag.h"
#include "format/codec.h"
#include "format/codec_params.h"
#include "format/parquet/thrift.h"
#include "hash/foreign_hash.h"
#include "kind/blocked/blocked.h"
#include "plan/plan.h"
#include "umbel_foreign.h"

enum { SCHEME = 12, FIELD_NUM_BYTES = 1, FIELD_ALGORITHM, FIELD_HASH, FIELD_COMPRESSION, FIELDS };

/* Writers need some 20 bytes.  A file may have very many headers, all of them read when it is
 * opened: their length must not depend on what the file says. */
enum { HEADER_MAX = 256, START = 1 + UMBELI_VARINT };

static const uint64_t max_bytes = 2147483648u - UMBELI_BLOCK_BYTES; /* numBytes is an i32 */
static const double default_fpr = 0.01;                             /* DuckDB's and parquet-mr's */
static const uint8_t choices[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};

static const umbeli_blocked_scheme scheme = {
    .id = SCHEME,
    .layout = "blocked/xxh64",
    .format = UMBEL_FMT_PARQUET,
    .hash = UMBEL_HASH_XXH64,
    .hasher = &umbeli_hasher_xxh64,
};

/* ---- Create ---- */

/* The size that DuckDB gives a filter for this many keys, a power of two from 32; 0: more than a
 * header can hold. */
static uint64_t bytes_for(uint64_t keys, double fpr) {
    double wanted = -(double)keys / log1p(-pow(fpr, 1.0 / 8));
    if (!(wanted < 0x1p30 + 1)) return 0; /* the next power of two is 2^31 */
    uint64_t bytes = UMBELI_BLOCK_BYTES;
    while (bytes < (uint64_t)wanted) bytes *= 2;
    return bytes;
}

static umbel_err shape_of(const umbel_foreign *params, umbeli_shape *shape, umbel_diag *diag) {
    umbel_foreign p = *params;
    if (!p.capacity && !p.bytes) {
        return umbeli_invalid(diag, "capacity, bytes: one of the two is required");
    }
    if (p.bytes > max_bytes || p.bytes % UMBELI_BLOCK_BYTES) {
        return umbeli_invalid(diag, "bytes: must be a multiple of 32 below 2^31");
    }
    uint64_t bytes = p.bytes;
    if (p.capacity && (p.fpr != 0 || !p.bytes)) {
        if (p.fpr == 0) p.fpr = default_fpr;
        bytes = bytes_for(p.capacity, p.fpr);
        if (!bytes) return umbeli_invalid(diag, "capacity, fpr: 2^31 bytes or more");
        if (p.bytes && bytes > p.bytes) {
            return umbeli_invalid(diag, "bytes: too few for these keys and this fpr");
        }
    } else if (!p.capacity && p.fpr != 0) {
        umbel_plan max = {.kind = UMBEL_KIND_BLOCKED, .fpr = p.fpr, .bytes = bytes};
        if (umbeli_plan_solve(&max)) return umbeli_invalid(diag, max.why);
        p.capacity = max.capacity;
    }
    /* The writers' formula is that of a classic filter, so the promise may have to be weaker. */
    double rate = p.capacity ? umbeli_blocked_rate(bytes / UMBELI_BLOCK_BYTES, p.capacity) : 0;
    *shape = (umbeli_shape){.hashes = UMBELI_BLOCK_LANES,
                            .bits = bytes * 8,
                            .capacity = p.capacity,
                            .fpr = rate > p.fpr ? rate : p.fpr};
    return UMBEL_OK;
}

static umbel_err create(const umbel_foreign *p, const umbeli_settings *settings, umbel_filter **out,
                        umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = shape_of(p, &shape, diag);
    if (e) return e;
    return umbeli_blocked_new(&scheme, shape, NULL, settings, out, diag);
}

static umbel_err plan(const umbel_foreign *p, umbel_plan *out, umbel_diag *diag) {
    umbeli_shape shape;
    umbel_err e = shape_of(p, &shape, diag);
    if (e) return e;
    double rate = umbeli_blocked_rate(shape.bits / 8 / UMBELI_BLOCK_BYTES, shape.capacity);
    if (p->fpr != 0) shape.fpr = p->fpr;
    umbeli_params_plan(&shape, rate, "the writers' formula is that of a classic filter", out);
    out->kind = UMBEL_KIND_BLOCKED;
    return UMBEL_OK;
}

/* ---- Decode ---- */

/* A union whose only known member is number 1, an empty struct. */
static umbel_err read_choice(umbeli_thrift *t, umbeli_thrift_field field, const char *other,
                             umbel_diag *diag) {
    uint64_t at = t->in.pos;
    umbeli_thrift_field member = {0};
    bool chosen = false;
    if (field.type != UMBELI_THRIFT_STRUCT) {
        return umbeli_bad(diag, at, "a union member is not a struct");
    }
    while (umbeli_thrift_next(t, &member)) {
        if (member.id != 1 || member.type != UMBELI_THRIFT_STRUCT) {
            return umbeli_unknown(diag, at, other);
        }
        chosen = true;
        umbeli_thrift_skip(t, member.type);
    }
    if (t->wrong) return umbeli_bad(diag, t->in.pos, t->wrong);
    return chosen ? UMBEL_OK : umbeli_bad(diag, at, "an empty union");
}

static umbel_err read_num_bytes(umbeli_thrift *t, umbeli_thrift_field field, uint32_t *num_bytes,
                                umbel_diag *diag) {
    uint64_t at = t->in.pos;
    int64_t value = field.type == UMBELI_THRIFT_I32 ? umbeli_thrift_int(t) : -1;
    if (t->wrong) return umbeli_bad(diag, t->in.pos, t->wrong);
    if (value <= 0 || value > (int64_t)max_bytes || value % UMBELI_BLOCK_BYTES) {
        return umbeli_bad(diag, at, "numBytes: must be a multiple of 32 below 2^31");
    }
    *num_bytes = (uint32_t)value;
    return UMBEL_OK;
}

umbel_err umbeli_parquet_header(const uint8_t *bytes, size_t len, size_t *header_len,
                                uint32_t *num_bytes, umbel_diag *diag) {
    static const char *const others[FIELDS] = {
        [FIELD_ALGORITHM] = "algorithm: not BLOCK",
        [FIELD_HASH] = "hash: not XXHASH",
        [FIELD_COMPRESSION] = "compression: not UNCOMPRESSED",
    };
    umbeli_thrift t = umbeli_thrift_over(bytes, len < HEADER_MAX ? len : HEADER_MAX);
    umbeli_thrift_field field = {0};
    bool seen[FIELDS] = {false};
    while (umbeli_thrift_next(&t, &field)) {
        umbel_err e = UMBEL_OK;
        bool known = field.id >= FIELD_NUM_BYTES && field.id < FIELDS;
        if (known && seen[field.id]) return umbeli_bad(diag, t.in.pos, "a field occurs twice");
        if (!known) {
            umbeli_thrift_skip(&t, field.type);
        } else if (field.id == FIELD_NUM_BYTES) {
            e = read_num_bytes(&t, field, num_bytes, diag);
        } else {
            e = read_choice(&t, field, others[field.id], diag);
        }
        if (e) return e;
        if (known) seen[field.id] = true;
    }
    if (t.wrong && t.in.pos == HEADER_MAX && len > HEADER_MAX) {
        return umbeli_bad(diag, HEADER_MAX, "the header is too long");
    }
    if (t.wrong) return umbeli_bad(diag, t.in.pos, t.wrong);
    for (int i = FIELD_NUM_BYTES; i < FIELDS; i++) {
        if (!seen[i]) return umbeli_bad(diag, t.in.pos, "a field is missing");
    }
    *header_len = t.in.pos;
    return UMBEL_OK;
}

static umbel_err decode(const uint8_t *bytes, size_t len, umbeli_decoding how,
                        const umbeli_settings *settings, umbel_filter **out, umbel_diag *diag) {
    size_t head = 0;
    uint32_t num_bytes = 0;
    umbel_err e = umbeli_parquet_header(bytes, len, &head, &num_bytes, diag);
    if (e) return e;
    if (len - head < num_bytes) return umbeli_bad(diag, len, "the bits are cut off");
    if (len - head > num_bytes) return umbeli_bad(diag, head + num_bytes, "bytes after the bits");
    if (how == UMBELI_VERIFY) return UMBEL_OK;
    umbeli_shape shape = {.bits = (uint64_t)num_bytes * 8};
    const uint8_t *borrow = how == UMBELI_BORROW ? bytes + head : NULL;
    umbel_filter *f = NULL;
    e = umbeli_blocked_new(&scheme, shape, borrow, settings, &f, diag);
    if (e) return e;
    if (!borrow) memcpy(f->data, bytes + head, num_bytes);
    *out = f;
    return UMBEL_OK;
}

/* ---- Encode ---- */

/* Writes the header up to the unions and returns its length. */
static size_t put_start(uint64_t num_bytes, uint8_t start[START]) {
    start[0] = 0x15;
    return 1 + umbeli_varint(2 * num_bytes, start + 1);
}

static bool recognise(const uint8_t *bytes, size_t len) {
    uint8_t start[START];
    size_t head = 0;
    uint32_t num_bytes = 0;
    if (umbeli_parquet_header(bytes, len, &head, &num_bytes, NULL)) return false;
    size_t used = put_start(num_bytes, start);
    return len == head + num_bytes && head == used + sizeof choices &&
           memcmp(bytes + used, choices, sizeof choices) == 0;
}

static uint64_t size_of(const umbel_filter *f) {
    uint8_t start[START];
    if (f->shape.format != UMBEL_FMT_PARQUET || f->data_len > max_bytes) return 0;
    return put_start(f->data_len, start) + sizeof choices + f->data_len;
}

static void encode(const umbel_filter *f, umbeli_writer *w) {
    uint8_t start[START];
    umbeli_put(w, start, put_start(f->data_len, start));
    umbeli_put(w, choices, sizeof choices);
    uint8_t room[UMBELI_PEEK];
    const uint8_t *bytes;
    uint64_t len = 0;
    for (uint64_t at = 0; (bytes = umbeli_filter_peek(f, at, room, &len)) != NULL; at += len) {
        umbeli_put(w, bytes, (size_t)len);
    }
}

const umbeli_codec umbeli_codec_parquet = {
    .id = UMBEL_FMT_PARQUET,
    .name = "parquet",
    .system = "Apache Parquet, as DuckDB 1.5.6 writes it",
    .takes = UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_BYTES,
    .recognise = recognise,
    .create = create,
    .plan = plan,
    .decode = decode,
    .bits_at = umbeli_bits_at_end,
    .size = size_of,
    .encode = encode,
};
