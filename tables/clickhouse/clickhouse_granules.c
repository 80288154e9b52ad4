/* SPDX-License-Identifier: MIT
 *
 * clickhouse_granules.c - the granules of an index in its decompressed stream, found by their marks
 * or read one after the other
 */
#include "core/bits.h"
#include "core/diag.h"
#include "format/clickhouse/clickhouse_index.h"
#include "tables/clickhouse/clickhouse_part.h"

/* Where in the stream a mark points, and how far the stream is intact from there; false if its
 * block is missing. */
static bool marked(const umbeli_part *own, size_t mark, size_t *at, size_t *end_at) {
    const uint8_t *m = own->marks.bytes + mark * UMBELI_MARK;
    uint64_t offset = umbeli_load_le64(m), inside = umbeli_load_le64(m + 8);
    size_t low = 0, high = own->stream.npieces;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (own->stream.pieces[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == own->stream.npieces || own->stream.pieces[low].offset != offset) return false;
    const umbeli_piece *p = &own->stream.pieces[low];
    size_t end = low + 1 < own->stream.npieces ? p[1].start : own->stream.len;
    if (p->lost || inside > end - p->start) return false;
    *at = p->start + (size_t)inside;
    *end_at = p->unbroken;
    return true;
}

/* Reads the granule at *at and moves *at past it. */
static umbel_err add_granule(umbel_table *t, uint64_t number, size_t *at, size_t end,
                             umbel_diag *why) {
    const umbeli_part *own = t->own;
    umbeli_reader r = umbeli_reader_over(own->stream.bytes, end);
    r.pos = *at;
    umbeli_clickhouse_granule g = {.column_bytes = own->index.bytes};
    if (own->index.kind == UMBELI_INDEX_VALUES) {
        umbel_err e = umbeli_clickhouse_granule_head(&r, own->index.bits_per_row, &g, why);
        if (e) return e;
    }
    if (g.column_bytes > umbeli_left(&r) / own->columns) {
        return umbeli_bad(why, *at,
                          "a granule is cut off, by damage or another "
                          "index definition");
    }
    for (uint32_t i = 0; i < own->columns; i++) {
        /* A granule of one column is a filter as the codec reads it, including its head. */
        size_t from = own->columns == 1 ? *at : r.pos;
        const uint8_t *bits = umbeli_take(&r, g.column_bytes);
        umbeli_place p = {.seen = {.state = UMBEL_TABLE_FILTER,
                                   .column = own->names[i],
                                   .type = own->type,
                                   .offset = from,
                                   .len = r.pos - from,
                                   .first = number,
                                   .end = number + 1,
                                   .keys = g.rows},
                          .bytes = own->columns == 1 ? own->stream.bytes + from : bits,
                          .column = i};
        umbel_err e = umbeli_table_add(t, &p);
        if (e) return umbeli_fail_at(why, e, from, "out of memory for the granules");
    }
    *at = r.pos;
    return UMBEL_OK;
}

static umbel_err add_lost(umbel_table *t, uint64_t number) {
    const umbeli_part *own = t->own;
    umbel_err e = UMBEL_OK;
    for (uint32_t i = 0; i < own->columns && !e; i++) {
        umbeli_place p = {.seen = {.state = UMBEL_TABLE_UNREADABLE,
                                   .column = own->names[i],
                                   .type = own->type,
                                   .first = number,
                                   .end = number + 1},
                          .column = i};
        e = umbeli_table_add(t, &p);
    }
    return e;
}

static bool is_fatal(umbel_err e) {
    return e == UMBEL_ENOMEM || e == UMBEL_ELIMIT;
}

/* Reads one granule after the other and stops at the first damage. */
static umbel_err walk(umbel_table *t, umbel_diag *why) {
    const umbeli_part *own = t->own;
    size_t end = own->stream.npieces ? own->stream.pieces[0].unbroken : 0, at = 0;
    umbel_err e = UMBEL_OK;
    for (uint64_t i = 0; at < end && !e; i++) e = add_granule(t, i, &at, end, why);
    if (e && !is_fatal(e)) e = umbeli_table_note(t, e, why->offset, why->what);
    return e;
}

/* Reads each granule where its mark points; a lost block loses only what is in it. */
static umbel_err walk_marks(umbel_table *t, umbel_diag *why) {
    const umbeli_part *own = t->own;
    size_t nmarks = own->marks.len / UMBELI_MARK, next = 0;
    bool sure = true; /* `next` is where the next granule must start */
    umbel_err e = UMBEL_OK;
    for (size_t i = 0; i < nmarks && !e; i++) {
        size_t at, end;
        if (!marked(own, i, &at, &end)) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, i * UMBELI_MARK,
                                  "a mark points to no readable block");
            if (!e) e = add_lost(t, i);
            sure = false;
            continue;
        }
        if (i + 1 == nmarks && at == own->stream.len) break; /* a final mark at the very end */
        if (at < next) { /* else very many granules could share their bytes */
            e = umbeli_table_note(t, UMBEL_ECORRUPT, i * UMBELI_MARK,
                                  "a mark points into an earlier granule");
            if (!e) e = add_lost(t, i);
            sure = false;
            continue;
        }
        if (sure && at != next) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, i * UMBELI_MARK,
                                  "a mark is not where the granule before it ends");
        }
        if (!e) e = add_granule(t, i, &at, end, why);
        sure = !e;
        if (sure) next = at;
        if (!e || is_fatal(e)) continue;
        e = umbeli_table_note(t, e, why->offset, why->what);
        if (!e) e = add_lost(t, i);
    }
    if (!e && sure && next != own->stream.len) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, next, "bytes after the last marked granule");
    }
    return e;
}

umbel_err umbeli_part_walk(umbel_table *t, umbel_diag *why) {
    const umbeli_part *own = t->own;
    return own->marks.len ? walk_marks(t, why) : walk(t, why);
}
