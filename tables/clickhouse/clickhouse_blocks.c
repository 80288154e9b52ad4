/* SPDX-License-Identifier: MIT
 *
 * clickhouse_blocks.c - ClickHouse's compressed blocks
 *
 *   offset  size  field
 *   0       16    CityHash128 of everything that follows in this block
 *   16      1     method: 02 none, 82 LZ4, 90 ZSTD
 *   17      4     size of the block without the checksum
 *   21      4     size decompressed
 *   25      ...   data
 */
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "hash/foreign_hash.h"
#include "tables/clickhouse/clickhouse_part.h"
#include "tables/unpack.h"

enum { CHECKSUM = 16, HEADER = 9, METHOD_NONE = 0x02, METHOD_LZ4 = 0x82, METHOD_ZSTD = 0x90 };

typedef struct packed {
    const uint8_t *bytes; /* from the checksum on */
    uint64_t offset;
    uint8_t method;
    uint32_t size, claim; /* size with the header */
} packed;

/* False if there is no complete block here. */
static bool look(const uint8_t *bytes, size_t len, size_t at, packed *p) {
    if (len - at < CHECKSUM + HEADER) return false;
    const uint8_t *b = bytes + at;
    *p = (packed){b, at, b[CHECKSUM], umbeli_load_le32(b + 17), umbeli_load_le32(b + 21)};
    return p->size >= HEADER && p->size <= len - at - CHECKSUM;
}

static bool sum_right(const packed *p) {
    umbeli_hash128 sum = umbeli_city128(p->bytes + CHECKSUM, p->size);
    return sum.low == umbeli_load_le64(p->bytes) && sum.high == umbeli_load_le64(p->bytes + 8);
}

bool umbeli_chain_starts(const uint8_t *bytes, size_t len) {
    packed p;
    return look(bytes, len, 0, &p) && sum_right(&p);
}

static umbel_err append(umbel_table *t, umbeli_chain *c, const uint8_t *bytes, size_t len,
                        uint64_t offset, umbel_diag *diag) {
    if (len > t->settings.max_bytes - t->held) {
        return umbeli_fail_at(diag, UMBEL_ELIMIT, offset,
                              "decompressed, the file would exceed the memory limit");
    }
    if (len > c->cap - c->len) {
        size_t cap = c->cap * 2 > c->len + len ? c->cap * 2 : c->len + len;
        uint8_t *larger = umbeli_new(&t->settings, cap ? cap : 1);
        if (!larger) return umbeli_fail_at(diag, UMBEL_ENOMEM, offset, "the decompressed index");
        if (c->len) memcpy(larger, c->bytes, c->len);
        umbeli_delete(&t->settings, c->bytes);
        c->bytes = larger;
        c->cap = cap;
    }
    if (len) memcpy(c->bytes + c->len, bytes, len);
    c->len += len;
    t->held += len;
    return UMBEL_OK;
}

static umbel_err read_block(umbel_table *t, const packed *p, umbeli_chain *c, umbel_diag *diag) {
    const uint8_t *data = p->bytes + CHECKSUM + HEADER;
    size_t len = p->size - HEADER;
    umbeli_unpacked u = {0};
    umbel_err e = UMBEL_OK;
    if (!sum_right(p)) return umbeli_bad(diag, p->offset, "the checksum of a block is wrong");
    switch (p->method) {
    case METHOD_NONE:
        if (p->claim == len) return append(t, c, data, len, p->offset, diag);
        return umbeli_bad(diag, p->offset + 21, "the size of an uncompressed block is wrong");
    case METHOD_LZ4:
        e = umbeli_unpack(t, UMBELI_PACKED_LZ4, data, len, p->claim, p->offset, &u, diag);
        break;
    case METHOD_ZSTD:
        e = umbeli_unpack(t, UMBELI_PACKED_ZSTD, data, len, p->claim, p->offset, &u, diag);
        break;
    default:
        return umbeli_unknown(diag, p->offset + CHECKSUM,
                              "a block with an unknown compression or encryption");
    }
    if (e) return e;
    t->held -= u.len;
    e = append(t, c, u.bytes, u.len, p->offset, diag);
    umbeli_delete(&t->settings, u.bytes);
    return e;
}

static void mark_gaps(umbeli_chain *c) {
    size_t unbroken = c->len;
    for (size_t i = c->npieces; i-- > 0;) {
        umbeli_piece *p = &c->pieces[i];
        p->unbroken = p->lost ? p->start : unbroken;
        unbroken = p->unbroken;
    }
}

static umbel_err read_blocks(umbel_table *t, const uint8_t *bytes, size_t len, umbeli_chain *out,
                             umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    *out = (umbeli_chain){0};
    for (size_t at = 0; at < len && !e;) {
        packed p;
        umbel_diag why = {0};
        void *pieces = out->pieces;
        e = umbeli_table_grow(t, &pieces, sizeof *out->pieces, out->npieces, &out->pieces_cap);
        out->pieces = pieces;
        if (e) return umbeli_fail_at(diag, e, at, "the list of blocks");
        umbeli_piece *piece = &out->pieces[out->npieces++];
        *piece = (umbeli_piece){.offset = at, .start = out->len};
        if (!look(bytes, len, at, &p)) {
            piece->lost = true;
            return umbeli_table_note(t, UMBEL_ECORRUPT, at,
                                     "a compressed block extends beyond the file");
        }
        e = read_block(t, &p, out, &why);
        if (e == UMBEL_ENOMEM || e == UMBEL_ELIMIT) {
            if (diag) *diag = why;
            return e;
        }
        if (e) {
            piece->lost = true;
            e = umbeli_table_note_diag(t, e, &why);
        }
        at += CHECKSUM + p.size;
    }
    return e;
}

umbel_err umbeli_chain_read(umbel_table *t, const uint8_t *bytes, size_t len, umbeli_chain *out,
                            umbel_diag *diag) {
    umbel_err e = read_blocks(t, bytes, len, out, diag);
    if (!e) mark_gaps(out);
    return e;
}

void umbeli_chain_end(umbel_table *t, umbeli_chain *c) {
    t->held -= c->len + umbeli_list_bytes(c->pieces_cap, sizeof *c->pieces);
    umbeli_delete(&t->settings, c->bytes);
    umbeli_delete(&t->settings, c->pieces);
    *c = (umbeli_chain){0};
}
