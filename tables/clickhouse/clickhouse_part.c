/* SPDX-License-Identifier: MIT
 *
 * clickhouse_part.c - the filters of a ClickHouse skipping index
 *
 *   skp_idx_x.idx    compressed blocks; decompressed, one granule after the other:
 *                      tokenbf_v1, ngrambf_v1: for each column the bytes of the filter
 *                      bloom_filter: number of distinct values as LEB128, then the bits of
 *                      each column
 *   skp_idx_x.cmrk2  marks, compressed the same way: per granule u64 offset of its block in the
 *                    .idx, u64 offset in the decompressed block, u64 1
 *
 * Page: docs/tables.md.  Checked against ClickHouse 26.7.
 */
#include "tables/clickhouse/clickhouse_part.h"

#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/diag.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

enum { MAX_COLUMNS = 1000 };

static bool recognise(const uint8_t *bytes, size_t len) {
    return umbeli_chain_starts(bytes, len);
}

/* ---- Open ---- */

static umbel_err read_marks(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    umbeli_part *own = t->own;
    const uint8_t *bytes = hints->marks;
    if (!bytes || !hints->marks_len) return UMBEL_OK;
    if (umbeli_chain_starts(bytes, hints->marks_len)) {
        umbel_err e = umbeli_chain_read(t, bytes, hints->marks_len, &own->marks, diag);
        if (e) return e;
    } else if (hints->marks_len % UMBELI_MARK == 0) { /* .mrk2: not compressed */
        if (hints->marks_len > t->settings.max_bytes - t->held) {
            return umbeli_fail(diag, UMBEL_ELIMIT, "the marks");
        }
        own->marks.bytes = umbeli_new(&t->settings, hints->marks_len);
        if (!own->marks.bytes) return umbeli_fail(diag, UMBEL_ENOMEM, "the marks");
        memcpy(own->marks.bytes, bytes, hints->marks_len);
        own->marks.len = hints->marks_len;
        t->held += own->marks.len;
    }
    bool whole = own->marks.len && own->marks.len % UMBELI_MARK == 0;
    for (size_t i = 0; i < own->marks.npieces; i++) whole = whole && !own->marks.pieces[i].lost;
    if (whole) return UMBEL_OK;
    umbeli_chain_end(t, &own->marks);
    return umbeli_table_note(t, UMBEL_ECORRUPT, 0, "the file of marks is damaged and was ignored");
}

static umbel_err name_columns(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    umbeli_part *own = t->own;
    own->columns = hints->columns ? hints->columns : 1;
    if (own->columns > MAX_COLUMNS) return umbeli_invalid(diag, "columns: above 1000");
    own->names = umbeli_new(&t->settings, own->columns * sizeof *own->names);
    const char *type = hints->type ? hints->type : "string";
    size_t len = strlen(type) + 1;
    own->type_copy = umbeli_new(&t->settings, len);
    if (!own->names || !own->type_copy) return umbeli_fail(diag, UMBEL_ENOMEM, "columns");
    memcpy(own->type_copy, type, len);
    own->type = own->type_copy;
    for (uint32_t i = 0; i < own->columns; i++) {
        snprintf(own->names[i], UMBELI_COLUMN_ROOM, "%u", (unsigned)((i + 1) % (MAX_COLUMNS + 1)));
    }
    return UMBEL_OK;
}

static umbel_err open_part(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    umbeli_part *own = t->own = umbeli_new(&t->settings, sizeof *own);
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
    e = umbeli_part_walk(t, &why);
    return e ? umbeli_fail_at(diag, e, why.offset, "out of memory for the granules") : UMBEL_OK;
}

static void close_part(umbel_table *t) {
    umbeli_part *own = t->own;
    if (!own) return;
    umbeli_chain_end(t, &own->stream);
    umbeli_chain_end(t, &own->marks);
    umbeli_delete(&t->settings, own->names);
    umbeli_delete(&t->settings, own->type_copy);
    umbeli_delete(&t->settings, own);
}

/* ---- Filters and keys ---- */

/* The bits of one of several columns, preceded by the head that the codec expects. */
static umbel_err column_filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                               umbel_diag *diag) {
    const umbeli_part *own = t->own;
    umbel_opts opts = umbeli_table_opts(t);
    uint8_t *whole = umbeli_new(&t->settings, UMBELI_VARINT + (size_t)p->seen.len);
    if (!whole) return umbeli_fail(diag, UMBEL_ENOMEM, "a filter");
    size_t head = umbeli_varint(p->seen.keys, whole);
    memcpy(whole + head, p->bytes, (size_t)p->seen.len);
    umbel_err e = umbel_decode(whole, head + (size_t)p->seen.len, UMBEL_LOAD, &own->index.like,
                               &opts, out, diag);
    umbeli_delete(&t->settings, whole);
    return e;
}

static umbel_err filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                        umbel_diag *diag) {
    const umbeli_part *own = t->own;
    if (own->index.kind == UMBELI_INDEX_VALUES && own->columns > 1) {
        return column_filter(t, p, out, diag);
    }
    return umbeli_table_view(t, p, &own->index.like, out, diag);
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
    const umbeli_part *own = t->own;
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
    const umbeli_part *own = t->own;
    *number = 0;
    if (!column && own->columns == 1) return UMBEL_OK;
    for (uint32_t i = 0; column && i < own->columns; i++) {
        if (strcmp(own->names[i], column) == 0) {
            *number = i;
            return UMBEL_OK;
        }
    }
    return umbeli_invalid(diag, "column: must be the number of one of the index's columns, from 1");
}

static umbel_err check(const umbel_table *t, const char *column, const void *key, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    const umbeli_part *own = t->own;
    uint32_t number = 0;
    umbel_err e = column_number(t, column, &number, diag);
    if (e) return e;
    /* What was read before a lost block may not be everything. */
    if (!own->marks.len && t->nfaults) answer->may_contain = true;
    return own->index.kind == UMBELI_INDEX_TOKENS
               ? ask_tokens(t, number, key, len, may, diag)
               : umbeli_table_ask(t, number, key, len, may, diag);
}

static umbel_err key_of(const umbel_table *t, const char *column, const char *type, umbel_key text,
                        uint8_t *key, size_t cap, size_t *key_len, umbel_diag *diag) {
    const umbeli_part *own = t->own;
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
