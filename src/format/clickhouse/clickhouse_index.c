/* SPDX-License-Identifier: MIT
 *
 * clickhouse_index.c - a granule of ClickHouse's bloom_filter index
 *
 *   offset  size  field
 *   0       1-10  total_rows, LEB128: maximum number of distinct values in an indexed column
 *   ...     n     bits of each column, n = ceil(bits_per_row * total_rows / 8)
 *
 * bits_per_row and the number of hashes come from the table's definition.
 */
#include "format/clickhouse/clickhouse_index.h"

#include <math.h>

#include "core/diag.h"
#include "core/size.h"
#include "format/codec_params.h"
#include "hash/foreign_hash.h"
#include "umbel_foreign.h"

enum { SCHEME_STRINGS = 13, SCHEME_NUMBERS = 14 };
enum { MAX_HASHES = 15 };

static const double default_fpr = 0.025;

/* One per probe; BloomFilterHash.h. */
static const uint64_t seeds[MAX_HASHES] = {
    13635471485423070496u, 10336109063487487899u, 17779957404565211594u, 8988612159822229247u,
    4954614162757618085u,  12980113590177089081u, 9263883436177860930u,  3656772712723269762u,
    10362091744962961274u, 7582936617938287249u,  15033938188484401405u, 18286745649494826751u,
    6852245486148412312u,  8886056245089344681u,  10151472371158292780u,
};

/* ---- Positions ---- */

static void positions_of(const umbeli_classic *c, uint64_t hash, uint64_t *pos) {
    for (uint32_t i = 0; i < c->base.shape.hashes; i++) {
        pos[i] = umbeli_mod(umbeli_city_pair(hash, seeds[i]), c->modulus);
    }
}

static void positions_string(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    positions_of(c, umbeli_city64(key, len), pos);
}

static void positions_number(const umbeli_classic *c, const void *key, size_t len, uint64_t *pos) {
    positions_of(c, umbeli_clickhouse_number(key, len), pos);
}

uint64_t umbeli_clickhouse_number(const void *value, size_t len) {
    uint8_t words[24] = {0}; /* the fourth word of a 256-bit number is not hashed */
    if (len > 0) memcpy(words, value, len < sizeof words ? len : sizeof words);
    return umbeli_fmix64(umbeli_load_le64(words) ^ umbeli_load_le64(words + 8) ^
                         umbeli_load_le64(words + 16));
}

/* String and FixedString columns: keys are hashed as they are. */
static const umbeli_scheme scheme_strings = {
    .id = SCHEME_STRINGS,
    .hash = UMBEL_HASH_CITY64,
    .layout = "clickhouse-index/city64",
    .format = UMBEL_FMT_CLICKHOUSE,
    .positions = positions_string,
};

/* Columns of numbers: keys are the value as it is stored, little-endian; 1 to 8 bytes, 16 or 32.
 * Float32 is hashed as a double. */
static const umbeli_scheme scheme_numbers = {
    .id = SCHEME_NUMBERS,
    .hash = UMBEL_HASH_FMIX64,
    .layout = "clickhouse-index/fmix64",
    .format = UMBEL_FMT_CLICKHOUSE,
    .positions = positions_number,
};

const umbeli_scheme *umbeli_clickhouse_index_scheme(const umbel_foreign *p) {
    bool numbers = (p->variant & UMBEL_VARIANT_CLICKHOUSE_NUMBERS) != 0;
    return numbers ? &scheme_numbers : &scheme_strings;
}

/* ---- Create ---- */

/* From the definition: a rate, or the two numbers that it implies. */
static umbel_err definition_of(const umbel_foreign *p, umbeli_clickhouse_best *best,
                               umbel_diag *diag) {
    const uint32_t variants = UMBEL_VARIANT_CLICKHOUSE_INDEX | UMBEL_VARIANT_CLICKHOUSE_NUMBERS |
                              UMBEL_VARIANT_CLICKHOUSE_PRE2024;
    const uint32_t takes =
        UMBEL_FIELD_CAPACITY | UMBEL_FIELD_FPR | UMBEL_FIELD_HASHES | UMBEL_FIELD_BITS_PER_KEY;
    umbel_err e = umbeli_params_check(p, takes, variants, diag);
    if (e) return e;
    if (!p->bits_per_key && !p->hashes) {
        bool pre2024 = (p->variant & UMBEL_VARIANT_CLICKHOUSE_PRE2024) != 0;
        *best = umbeli_clickhouse_best_of(p->fpr != 0 ? p->fpr : default_fpr, pre2024);
        return UMBEL_OK;
    }
    if (p->fpr != 0 || !p->bits_per_key || !p->hashes) {
        return umbeli_invalid(diag, "fpr, bits_per_key, hashes: give the first or the other two");
    }
    if (p->hashes > MAX_HASHES) {
        return umbeli_invalid(diag, "hashes: must be at most 15 for an index");
    }
    *best = (umbeli_clickhouse_best){p->bits_per_key, p->hashes};
    return UMBEL_OK;
}

static bool bytes_of(uint64_t rows, uint32_t bits_per_row, uint64_t *bytes) {
    uint64_t bits;
    if (!umbeli_size_mul(rows, bits_per_row, &bits) || bits > INT64_MAX - 7) return false;
    *bytes = (bits + 7) / 8;
    return true;
}

umbel_err umbeli_clickhouse_index_shape(const umbel_foreign *p, umbeli_shape *shape,
                                        umbel_diag *diag) {
    umbeli_clickhouse_best best = {0};
    uint64_t bytes;
    umbel_err e = definition_of(p, &best, diag);
    if (e) return e;
    if (p->capacity == 0) {
        return umbeli_invalid(
            diag, "capacity: required, because a granule is sized by its distinct values");
    }
    if (!bytes_of(p->capacity, best.bits_per_row, &bytes)) {
        return umbeli_invalid(diag, "capacity: too many");
    }
    *shape = (umbeli_shape){.hashes = best.hashes,
                            .bits = bytes * 8,
                            .capacity = p->capacity,
                            .fpr = p->bits_per_key ? 0
                                   : p->fpr != 0   ? p->fpr
                                                   : default_fpr};
    return UMBEL_OK;
}

/* ---- Decode ---- */

umbel_err umbeli_clickhouse_granule_head(umbeli_reader *r, uint32_t bits_per_row,
                                         umbeli_clickhouse_granule *granule, umbel_diag *diag) {
    uint64_t at = r->pos, rows = 0;
    uint8_t shortest[UMBELI_VARINT];
    if (!umbeli_take_varint(r, &rows)) {
        return r->failed ? umbeli_bad(diag, r->pos, "total_rows: cut off")
                         : umbeli_bad(diag, at, "total_rows: more than 64 bits");
    }
    if (r->pos - at > umbeli_varint(rows, shortest)) {
        return umbeli_bad(diag, at, "total_rows: not the shortest encoding");
    }
    if (rows == 0) return umbeli_bad(diag, at, "total_rows: 0");
    granule->rows = rows;
    if (!bytes_of(rows, bits_per_row, &granule->column_bytes)) {
        return umbeli_bad(diag, at, "total_rows: too many");
    }
    return UMBEL_OK;
}

umbel_err umbeli_clickhouse_index_bits(const umbel_foreign *like, const uint8_t *bytes, size_t len,
                                       umbeli_shape *shape, const uint8_t **bits,
                                       umbel_diag *diag) {
    umbeli_clickhouse_best best = {0};
    umbeli_clickhouse_granule granule;
    umbel_err e = definition_of(like, &best, diag);
    if (e) return e;
    umbeli_reader r = umbeli_reader_over(bytes, len);
    e = umbeli_clickhouse_granule_head(&r, best.bits_per_row, &granule, diag);
    if (e) return e;
    uint64_t have = umbeli_left(&r);
    if (have < granule.column_bytes) return umbeli_bad(diag, len, "the bits are cut off");
    if (have > granule.column_bytes) {
        return umbeli_bad(diag, r.pos + granule.column_bytes, "bytes after the bits of one column");
    }
    if (like->capacity && like->capacity != granule.rows) {
        return umbeli_fail_at(diag, UMBEL_EMISMATCH, 0,
                              "total_rows: differs from the requested capacity");
    }
    *shape = (umbeli_shape){.hashes = best.hashes,
                            .bits = granule.column_bytes * 8,
                            .capacity = granule.rows,
                            .fpr = like->fpr};
    *bits = umbeli_take(&r, have);
    return UMBEL_OK;
}

/* ---- Encode ---- */

uint64_t umbeli_clickhouse_index_size(const umbel_filter *f) {
    uint8_t head[UMBELI_VARINT];
    return umbeli_varint(f->shape.capacity, head) + f->data_len;
}

void umbeli_clickhouse_index_encode(const umbel_filter *f, umbeli_writer *w) {
    uint8_t head[UMBELI_VARINT];
    umbeli_put(w, head, umbeli_varint(f->shape.capacity, head));
    umbeli_put(w, f->data, (size_t)f->data_len);
}

enum { MAX_BITS = 20 };

/* rates[b][k]: millionths, with b bits per row and k hashes.  ClickHouse also has a row 20 but
 * never reads it. */
static const uint32_t rates[MAX_BITS][MAX_HASHES] = {
    [1] = {1000000, 1000000},
    [2] = {1000000, 393000, 400000},
    [3] = {1000000, 283000, 237000, 253000},
    [4] = {1000000, 221000, 155000, 147000, 160000},
    [5] = {1000000, 181000, 109000, 92000, 92000, 101000},
    [6] = {1000000, 154000, 80400, 60900, 56100, 57800, 63800},
    [7] = {1000000, 133000, 61800, 42300, 35900, 34700, 36400},
    [8] = {1000000, 118000, 48900, 30600, 24000, 21700, 21600, 22900},
    [9] = {1000000, 105000, 39700, 22800, 16600, 14100, 13300, 13500, 14500},
    [10] = {1000000, 95200, 32900, 17400, 11800, 9430, 8440, 8190, 8460},
    [11] = {1000000, 86900, 27600, 13600, 8640, 6500, 5520, 5130, 5090},
    [12] = {1000000, 80000, 23600, 10800, 6460, 4590, 3710, 3290, 3140},
    [13] = {1000000, 74000, 20300, 8750, 4920, 3320, 2550, 2170, 1990, 1940},
    [14] = {1000000, 68900, 17700, 7180, 3810, 2440, 1790, 1460, 1290, 1210, 1200},
    [15] = {1000000, 64500, 15600, 5960, 3000, 1830, 1280, 1000, 852, 775, 744},
    [16] = {1000000, 60600, 13800, 5000, 2390, 1390, 935, 702, 574, 505, 470, 459},
    [17] = {1000000, 57100, 12300, 4230, 1930, 1070, 692, 499, 394, 335, 302, 287, 284},
    [18] = {1000000, 54000, 11100, 3620, 1580, 839, 519, 360, 275, 226, 198, 183, 176},
    [19] = {1000000, 51300, 9980, 3120, 1300, 663, 394, 264, 194, 155, 132, 118, 111, 109},
};

/* The number of hashes with the lowest rate in each row. */
static const uint32_t min[MAX_BITS] = {0, 0, 1, 2, 3,  3,  4,  5,  6,  6,
                                       7, 8, 8, 9, 10, 10, 11, 12, 12, 13};

/* ClickHouse compares long double constants with a double, so where fpr is written exactly like a
 * constant, the exact decimal value decides.  fma rounds once and keeps the sign, so the result is
 * the same everywhere. */
static bool above(uint32_t rate, double fpr) {
    return fma(fpr, 1e6, -(double)rate) < 0;
}

umbeli_clickhouse_best umbeli_clickhouse_best_of(double fpr, bool pre2024) {
    if (!pre2024 && fpr >= 0.283) return (umbeli_clickhouse_best){2, 2};
    for (uint32_t bits = 1; bits < MAX_BITS; bits++) {
        if (above(rates[bits][min[bits]], fpr)) continue;
        for (uint32_t k = min[bits]; k > 0; k--) {
            if (above(rates[bits][k], fpr)) return (umbeli_clickhouse_best){bits, k + 1};
        }
        /* Every listed rate is low enough: ClickHouse continues with the next row, and for fpr in
         * [0.221, 0.237] through all of them. */
    }
    return (umbeli_clickhouse_best){MAX_BITS - 1, min[MAX_BITS - 1]};
}
