/* SPDX-License-Identifier: MIT
 *
 * part.c - the filters of a ClickHouse skipping index
 *
 *   skp_idx_x.idx    compressed blocks; decompressed, granule behind granule:
 *                      tokenbf_v1, ngrambf_v1: for each column the bytes of the filter
 *                      bloom_filter: LEB128 of distinct values, then the bits of each column
 *   skp_idx_x.cmrk2  marks, compressed likewise: for each granule u64 offset of its block in the
 *                    .idx, u64 offset in the decompressed block, u64 1
 *
 * Page: docs/tables.md.  Checked against ClickHouse 26.7.
 */
#include "table/part.h"

#include <stdio.h>
#include <string.h>

#include "codec/clickhouse_index.h"
#include "core/bits.h"
#include "core/diag.h"

enum { MARK = 24, MOST_COLUMNS = 1000, COLUMN_ROOM = 8, MOST_HEAD = 10 };

typedef struct part {
    umbeli_index index;
    umbeli_chain stream, marks;
    uint32_t columns;
    const char *type; /* of the values */
    char *type_copy;
    char (*names)[COLUMN_ROOM];
} part;

static bool recognise(const uint8_t *bytes, size_t len) {
    return umbeli_chain_starts(bytes, len);
}

/* ---- Granules ---- */

/* Where in the stream a mark points, and how far it is whole from there; false when its block is not
 * there. */
static bool marked(const part *own, size_t mark, size_t *at, size_t *end_at) {
    const uint8_t *m = own->marks.bytes + mark * MARK;
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

/* The granule at *at, which is moved behind it. */
static umbel_err add_granule(umbel_table *t, uint64_t number, size_t *at, size_t end,
                             umbel_diag *why) {
    const part *own = t->own;
    umbeli_reader r = umbeli_reader_over(own->stream.bytes, end);
    r.pos = *at;
    umbeli_clickhouse_granule g = {.column_bytes = own->index.bytes};
    if (own->index.kind == UMBELI_INDEX_VALUES) {
        umbel_err e = umbeli_clickhouse_granule_head(&r, own->index.bits_per_row, &g, why);
        if (e) return e;
    }
    if (g.column_bytes > umbeli_left(&r) / own->columns) {
        return umbeli_fail_at(why, UMBEL_ECORRUPT, *at,
                              "a granule is cut off: damage, or another "
                              "index definition");
    }
    for (uint32_t i = 0; i < own->columns; i++) {
        /* A granule of one column is a filter as the codec reads it, head included. */
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
        if (e) return umbeli_fail_at(why, e, from, "more granules than memory");
    }
    *at = r.pos;
    return UMBEL_OK;
}

static umbel_err add_lost(umbel_table *t, uint64_t number) {
    const part *own = t->own;
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

/* Granule behind granule; damage ends it. */
static umbel_err walk(umbel_table *t, umbel_diag *why) {
    const part *own = t->own;
    size_t end = own->stream.npieces ? own->stream.pieces[0].unbroken : 0, at = 0;
    umbel_err e = UMBEL_OK;
    for (uint64_t i = 0; at < end && !e; i++) e = add_granule(t, i, &at, end, why);
    if (e && !is_fatal(e)) e = umbeli_table_note(t, e, why->offset, why->what);
    return e;
}

/* Each granule where its mark says; lost blocks cost only what is in them. */
static umbel_err walk_marks(umbel_table *t, umbel_diag *why) {
    const part *own = t->own;
    size_t nmarks = own->marks.len / MARK, next = 0;
    bool sure = true; /* `next` is where the next granule must begin */
    umbel_err e = UMBEL_OK;
    for (size_t i = 0; i < nmarks && !e; i++) {
        size_t at, end;
        if (!marked(own, i, &at, &end)) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, i * MARK,
                                  "a mark points to no readable block");
            if (!e) e = add_lost(t, i);
            sure = false;
            continue;
        }
        if (i + 1 == nmarks && at == own->stream.len) break; /* a last mark at the very end */
        if (sure && at != next) {
            e = umbeli_table_note(t, UMBEL_ECORRUPT, i * MARK,
                                  "a mark is not where the granule before it ends");
        }
        if (!e) e = add_granule(t, i, &at, end, why);
        sure = !e;
        next = at;
        if (!e || is_fatal(e)) continue;
        e = umbeli_table_note(t, e, why->offset, why->what);
        if (!e) e = add_lost(t, i);
    }
    if (!e && sure && next != own->stream.len) {
        e = umbeli_table_note(t, UMBEL_ECORRUPT, next, "bytes behind the last marked granule");
    }
    return e;
}

/* ---- Open ---- */

static umbel_err read_marks(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    part *own = t->own;
    const uint8_t *bytes = hints->marks;
    if (!bytes || !hints->marks_len) return UMBEL_OK;
    if (umbeli_chain_starts(bytes, hints->marks_len)) {
        umbel_err e = umbeli_chain_read(t, bytes, hints->marks_len, &own->marks, diag);
        if (e) return e;
    } else if (hints->marks_len % MARK == 0) { /* .mrk2: not compressed */
        own->marks.bytes = umbeli_new(&t->memory, hints->marks_len);
        if (!own->marks.bytes) return umbeli_fail(diag, UMBEL_ENOMEM, "the marks");
        memcpy(own->marks.bytes, bytes, hints->marks_len);
        own->marks.len = hints->marks_len;
        t->held += own->marks.len;
    }
    bool whole = own->marks.len && own->marks.len % MARK == 0;
    for (size_t i = 0; i < own->marks.npieces; i++) whole = whole && !own->marks.pieces[i].lost;
    if (whole) return UMBEL_OK;
    umbeli_chain_end(t, &own->marks);
    return umbeli_table_note(t, UMBEL_ECORRUPT, 0, "the file of marks is damaged; read without");
}

static umbel_err name_columns(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    part *own = t->own;
    own->columns = hints->columns ? hints->columns : 1;
    if (own->columns > MOST_COLUMNS) return umbeli_fail(diag, UMBEL_EINVAL, "columns: above 1000");
    own->names = umbeli_new(&t->memory, own->columns * sizeof *own->names);
    const char *type = hints->type ? hints->type : "string";
    size_t len = strlen(type) + 1;
    own->type_copy = umbeli_new(&t->memory, len);
    if (!own->names || !own->type_copy) return umbeli_fail(diag, UMBEL_ENOMEM, "columns");
    memcpy(own->type_copy, type, len);
    own->type = own->type_copy;
    for (uint32_t i = 0; i < own->columns; i++) {
        snprintf(own->names[i], COLUMN_ROOM, "%u", (unsigned)((i + 1) % (MOST_COLUMNS + 1)));
    }
    return UMBEL_OK;
}

static umbel_err open_part(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    part *own = t->own = umbeli_new(&t->memory, sizeof *own);
    if (!own) return umbeli_fail(diag, UMBEL_ENOMEM, "the index");
    umbel_err e = umbeli_index_read(hints->index, &own->index, diag);
    if (!e) e = name_columns(t, hints, diag);
    if (e) return e;
    if (own->index.kind == UMBELI_INDEX_VALUES && !umbeli_clickhouse_is_text(own->type)) {
        own->index.like.variant |= UMBEL_VARIANT_CLICKHOUSE_NUMBERS;
    }
    e = umbeli_chain_read(t, t->bytes, t->len, &own->stream, diag);
    if (!e) e = read_marks(t, hints, diag);
    if (e) return e;
    umbel_diag why = {0};
    e = own->marks.len ? walk_marks(t, &why) : walk(t, &why);
    return e ? umbeli_fail_at(diag, e, why.offset, "more granules than memory") : UMBEL_OK;
}

static void close_part(umbel_table *t) {
    part *own = t->own;
    if (!own) return;
    umbeli_chain_end(t, &own->stream);
    umbeli_chain_end(t, &own->marks);
    umbeli_delete(&t->memory, own->names);
    umbeli_delete(&t->memory, own->type_copy);
    umbeli_delete(&t->memory, own);
}

/* ---- Filters and keys ---- */

/* The bits of one column of several, with the head before them that the codec expects. */
static umbel_err column_filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                               umbel_diag *diag) {
    const part *own = t->own;
    umbel_opts opts = umbeli_table_opts(t);
    uint64_t rows = p->seen.keys;
    size_t head = 0;
    uint8_t *whole = umbeli_new(&t->memory, MOST_HEAD + (size_t)p->seen.len);
    if (!whole) return umbeli_fail(diag, UMBEL_ENOMEM, "a filter");
    for (; rows >= 0x80; rows >>= 7) whole[head++] = (uint8_t)((rows & 0x7f) | 0x80);
    whole[head++] = (uint8_t)rows;
    memcpy(whole + head, p->bytes, (size_t)p->seen.len);
    umbel_err e =
        umbel_decode_as(&own->index.like, whole, head + (size_t)p->seen.len, &opts, out, diag);
    umbeli_delete(&t->memory, whole);
    return e;
}

static umbel_err filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                        umbel_diag *diag) {
    const part *own = t->own;
    umbel_opts opts = umbeli_table_opts(t);
    if (own->index.kind == UMBELI_INDEX_VALUES && own->columns > 1) {
        return column_filter(t, p, out, diag);
    }
    return umbel_view_as(&own->index.like, p->bytes, (size_t)p->seen.len, &opts, out, diag);
}

static bool all_tokens(const umbel_filter *f, const void *key, size_t len, uint32_t ngram) {
    umbel_key token;
    for (size_t pos = 0; umbel_clickhouse_token(key, len, ngram, &pos, &token);) {
        if (!umbel_contains(f, token.data, token.len)) return false;
    }
    return true;
}

static umbel_err ask_tokens(const umbel_table *t, uint32_t column, const void *key, size_t len,
                            uint8_t *may, umbel_diag *diag) {
    const part *own = t->own;
    for (size_t i = 0; i < t->count; i++) {
        const umbeli_place *p = &t->places[i];
        if (p->column != column) continue;
        may[i] = 1;
        if (p->seen.state != UMBEL_TABLE_FILTER) continue;
        umbel_filter *f = NULL;
        umbel_err e = filter(t, p, &f, diag);
        if (e) return e;
        may[i] = all_tokens(f, key, len, own->index.ngram);
        umbel_free(f);
    }
    return UMBEL_OK;
}

static umbel_err column_number(const umbel_table *t, const char *column, uint32_t *number,
                               umbel_diag *diag) {
    const part *own = t->own;
    *number = 0;
    if (!column && own->columns == 1) return UMBEL_OK;
    for (uint32_t i = 0; column && i < own->columns; i++) {
        if (strcmp(own->names[i], column) == 0) {
            *number = i;
            return UMBEL_OK;
        }
    }
    return umbeli_fail(diag, UMBEL_EINVAL, "column: a number from 1, of the index's columns");
}

static umbel_err check(const umbel_table *t, const char *column, const void *key, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    const part *own = t->own;
    uint32_t number = 0;
    umbel_err e = column_number(t, column, &number, diag);
    if (e) return e;
    /* What was read before a lost block is not all there is. */
    if (!own->marks.len && t->nfaults) answer->may_contain = true;
    return own->index.kind == UMBELI_INDEX_TOKENS
               ? ask_tokens(t, number, key, len, may, diag)
               : umbeli_table_ask(t, number, key, len, may, diag);
}

static umbel_err key_of(const umbel_table *t, const char *column, const char *type, umbel_key text,
                        uint8_t *key, size_t cap, size_t *key_len, umbel_diag *diag) {
    const part *own = t->own;
    uint32_t number = 0;
    umbel_err e = column ? column_number(t, column, &number, diag) : UMBEL_OK;
    if (e) return e;
    if (own->index.kind == UMBELI_INDEX_TOKENS) type = "string";
    return umbeli_clickhouse_key(type ? type : own->type, text, key, cap, key_len, diag);
}

const umbeli_table_ops umbeli_part_ops = {
    .system = UMBEL_TABLE_CLICKHOUSE,
    .name = "clickhouse",
    .recognise = recognise,
    .open = open_part,
    .close = close_part,
    .filter = filter,
    .check = check,
    .key = key_of,
};
