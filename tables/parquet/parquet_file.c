/* SPDX-License-Identifier: MIT
 *
 * parquet_file.c - the filters of a Parquet file
 *
 *   "PAR1" [pages, filters ...] [FileMetaData, Thrift compact] [u32 its length] "PAR1"
 *
 * Page: docs/tables.md.  Checked against DuckDB 1.5.6.
 */
#include "tables/parquet/parquet_file.h"

#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/parquet/parquet.h"
#include "tables/value_text.h"
#include "umbel_foreign.h"

enum { MAGIC = 4, TAIL = 8 };

static bool recognise(const uint8_t *bytes, size_t len) {
    return len >= MAGIC + TAIL && memcmp(bytes, "PAR", 3) == 0 &&
           (memcmp(bytes + len - MAGIC, "PAR1", MAGIC) == 0 ||
            memcmp(bytes + len - MAGIC, "PARE", MAGIC) == 0);
}

/* ---- Places ---- */

/* How the column's values are read by default. */
static const char *type_name(const umbeli_column *c) {
    static const char *const meanings[] = {
        [UMBELI_MEANS_DATE] = "date",
        [UMBELI_MEANS_TIMESTAMP] = "timestamp",
        [UMBELI_MEANS_DECIMAL] = "decimal",
        [UMBELI_MEANS_UUID] = "uuid",
    };
    bool is_unsigned = c->meaning == UMBELI_MEANS_UNSIGNED;
    if (c->meaning > UMBELI_MEANS_UNSIGNED) return meanings[c->meaning];
    switch (c->physical) {
    case UMBELI_PARQUET_INT32: return is_unsigned ? "uint32" : "int32";
    case UMBELI_PARQUET_INT64: return is_unsigned ? "uint64" : "int64";
    case UMBELI_PARQUET_FLOAT: return "float";
    case UMBELI_PARQUET_DOUBLE: return "double";
    default: return "string";
    }
}

/* Finds the end of the filter and checks its header; returns what is wrong, or NULL. */
static const char *find_filter(const umbel_table *t, const umbeli_chunk *chunk, umbeli_place *p) {
    uint64_t end = t->len - TAIL;
    size_t head = 0;
    uint32_t bits = 0;
    umbel_diag why = {0};
    if (chunk->offset < MAGIC || (uint64_t)chunk->offset >= end) {
        return "bloom_filter_offset: beyond the file";
    }
    uint64_t room = end - (uint64_t)chunk->offset;
    const uint8_t *bytes = t->bytes + chunk->offset;
    if (chunk->len >= 0) {
        if ((uint64_t)chunk->len > room) return "bloom_filter_length: beyond the file";
        room = (uint64_t)chunk->len;
    }
    if (umbeli_parquet_header(bytes, (size_t)room, &head, &bits, &why)) return why.what;
    if (bits > room - head) return "the bits of a filter reach beyond its end";
    if (chunk->len >= 0 && bits < room - head) return "bloom_filter_length: not the filter's own";
    /* Otherwise very many chunks could share one large filter, to be read for each of them. */
    umbeli_columns *own = t->own;
    own->filters += head + bits;
    if (own->filters > t->len) return "the filters overlap: together they are longer than the file";
    p->bytes = bytes;
    p->seen.len = head + bits;
    return NULL;
}

static umbel_err add_chunk(umbel_table *t, const umbeli_chunk *chunk) {
    const umbeli_columns *own = t->own;
    const umbeli_column *c = &own->columns[chunk->column];
    const char *wrong = NULL;
    umbeli_place p = {.seen = {.state = UMBEL_TABLE_NONE,
                               .column = c->path ? c->path : "",
                               .type = type_name(c),
                               .first = chunk->row_group,
                               .end = chunk->row_group + 1,
                               .keys = chunk->values},
                      .column = chunk->column};
    umbel_err kind = UMBEL_ECORRUPT;
    if (chunk->offset >= 0) p.seen.offset = (uint64_t)chunk->offset;
    if (chunk->encrypted) {
        p.seen.state = UMBEL_TABLE_UNREADABLE;
        kind = UMBEL_EVERSION;
        wrong = "the filter of an encrypted column cannot be read";
    } else if (chunk->offset >= 0) {
        wrong = find_filter(t, chunk, &p);
        p.seen.state = wrong ? UMBEL_TABLE_UNREADABLE : UMBEL_TABLE_FILTER;
    }
    umbel_err e = umbeli_table_add(t, &p);
    if (!e && wrong) e = umbeli_table_note(t, kind, chunk->at, wrong);
    return e;
}

static umbel_err open_columns(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag) {
    (void)hints;
    if (t->len < MAGIC + TAIL || !recognise(t->bytes, t->len)) {
        return umbeli_bad(diag, t->len < MAGIC ? 0 : t->len - MAGIC, "no Parquet magic number");
    }
    if (t->bytes[t->len - 1] == 'E') {
        return umbeli_unknown(diag, t->len - MAGIC,
                              "the footer is encrypted, so nothing can be read");
    }
    uint64_t len = umbeli_load_le32(t->bytes + t->len - TAIL);
    if (len > t->len - MAGIC - TAIL) {
        return umbeli_bad(diag, t->len - TAIL, "footer length: beyond the file");
    }
    t->own = umbeli_new(&t->settings, sizeof(umbeli_columns));
    if (!t->own) return umbeli_fail(diag, UMBEL_ENOMEM, "the columns");
    umbel_err e = umbeli_columns_footer(t, t->len - TAIL - len, len, add_chunk);
    return e ? umbeli_fail(diag, e, "the columns of the file") : UMBEL_OK;
}

static void close_columns(umbel_table *t) {
    umbeli_columns *own = t->own;
    if (!own) return;
    for (size_t i = 0; i < own->count; i++) umbeli_delete(&t->settings, own->columns[i].path);
    umbeli_delete(&t->settings, own->columns);
    umbeli_delete(&t->settings, own);
}

static umbel_err filter(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                        umbel_diag *diag) {
    return umbeli_table_view(t, p, &(umbel_foreign){.format = UMBEL_FMT_PARQUET}, out, diag);
}

/* ---- Keys ---- */

static umbel_err column_number(const umbel_table *t, const char *column, uint32_t *number,
                               umbel_diag *diag) {
    const umbeli_columns *own = t->own;
    for (uint32_t i = 0; i < own->count; i++) {
        const char *path = own->columns[i].path;
        if (column ? path && strcmp(path, column) == 0 : own->count == 1) {
            *number = i;
            return UMBEL_OK;
        }
    }
    return umbeli_invalid(diag, column ? "column: the file has no such column"
                                       : "column: the file has several; say which");
}

static umbel_err check(const umbel_table *t, const char *column, const void *key, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag) {
    uint32_t number = 0;
    (void)answer;
    umbel_err e = column_number(t, column, &number, diag);
    return e ? e : umbeli_table_ask(t, number, key, len, may, diag);
}

static umbel_err put_integer(int64_t value, const umbeli_column *c, uint8_t *key, size_t cap,
                             size_t *key_len, umbel_diag *diag) {
    bool wide = c->physical == UMBELI_PARQUET_INT64;
    if (!wide && c->physical != UMBELI_PARQUET_INT32) {
        return umbeli_fail(diag, UMBEL_ENOTSUP,
                           "type: values of this column can only be read as integers");
    }
    if (!wide && (value < INT32_MIN || value > INT32_MAX)) {
        return umbeli_invalid(diag, "the value does not fit the column's 32 bits");
    }
    uint8_t bytes[8];
    umbeli_store_le64(bytes, (uint64_t)value);
    *key_len = wide ? 8 : 4;
    if (cap < *key_len) return umbeli_fail(diag, UMBEL_ESPACE, "key");
    memcpy(key, bytes, *key_len);
    return UMBEL_OK;
}

/* Types that the library does not have; *known is false for any other. */
static umbel_err special_key(const umbeli_column *c, const char *type, umbel_key text, uint8_t *key,
                             size_t cap, size_t *key_len, bool *known, umbel_diag *diag) {
    int64_t value;
    bool read = false;
    *known = true;
    if (strcmp(type, "date") == 0) {
        read = umbeli_read_date(text, &value);
    } else if (strcmp(type, "timestamp") == 0) {
        read = umbeli_read_time(text, c->digits ? c->digits : 6, &value);
    } else if (strcmp(type, "decimal") == 0) {
        read = umbeli_read_decimal(text, c->digits, &value);
    } else if (strcmp(type, "uuid") == 0) {
        if (cap < 16) return umbeli_fail(diag, UMBEL_ESPACE, "key");
        *key_len = 16;
        if (umbeli_read_uuid(text, key)) return UMBEL_OK;
    } else {
        *known = false;
        return UMBEL_OK;
    }
    if (!read) return umbeli_invalid(diag, "the text is not a value of the column's type");
    return put_integer(value, c, key, cap, key_len, diag);
}

static umbel_err key_of(const umbel_table *t, const char *column, const char *type, umbel_key text,
                        uint8_t *key, size_t cap, size_t *key_len, umbel_diag *diag) {
    const umbeli_columns *own = t->own;
    uint32_t number = 0;
    bool known;
    umbel_type as;
    umbel_err e = column_number(t, column, &number, diag);
    if (e) return e;
    const umbeli_column *c = &own->columns[number];
    if (!type) type = type_name(c);
    e = special_key(c, type, text, key, cap, key_len, &known, diag);
    if (e || known) return e;
    if (!umbel_type_named(type, &as)) return umbeli_invalid(diag, "type: unknown");
    return umbel_typed_key(as, text.data, text.len, key, cap, key_len, diag);
}

const umbeli_table_ops umbeli_columns_ops = {
    .system = UMBEL_TABLE_PARQUET,
    .name = "parquet",
    .recognise = recognise,
    .open = open_columns,
    .close = close_columns,
    .filter = filter,
    .check = check,
    .key = key_of,
};
