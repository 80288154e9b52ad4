/* SPDX-License-Identifier: MIT
 *
 * parquet_footer.c - Parquet's FileMetaData
 *
 *   FileMetaData    2 schema, a list of SchemaElement, depth first; 4 row_groups
 *   SchemaElement   1 type, 2 type_length, 5 num_children, 6 converted_type, 7 scale,
 *                   10 logicalType
 *   RowGroup        1 columns, a list of ColumnChunk, one for each leaf
 *   ColumnChunk     3 meta_data, 8 crypto_metadata, 9 encrypted_column_metadata
 *   ColumnMetaData  3 path_in_schema, 5 num_values, 14 bloom_filter_offset, 15 bloom_filter_length
 */
#include <string.h>

#include "format/parquet/thrift.h"
#include "tables/parquet/parquet_file.h"

enum { LOGICAL_DECIMAL = 5, LOGICAL_DATE = 6, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };
enum { LOGICAL_UUID = 14 };
enum { CONVERTED_DECIMAL = 5, CONVERTED_DATE = 6, CONVERTED_TIMESTAMP_MILLIS = 9 };
enum { CONVERTED_TIMESTAMP_MICROS = 10, CONVERTED_UINT_8 = 11, CONVERTED_UINT_64 = 14 };

typedef struct footer {
    umbel_table *t;
    umbeli_columns *own;
    umbeli_thrift in;
    uint64_t start; /* in the file */
    umbel_err (*each)(umbel_table *t, const umbeli_chunk *chunk);
    umbel_err err;
} footer;

static bool going(const footer *f) {
    return !f->err && !f->in.wrong;
}

/* The value of an integer field; anything else is skipped. */
static bool integer(footer *f, umbeli_thrift_field field, int64_t *value) {
    if (field.type < UMBELI_THRIFT_I16 || field.type > UMBELI_THRIFT_I64) {
        umbeli_thrift_skip(&f->in, field.type);
        return false;
    }
    *value = umbeli_thrift_int(&f->in);
    return !f->in.wrong;
}

/* The head of a list of structs; other values are skipped. */
static uint64_t structs(footer *f, umbeli_thrift_field field) {
    uint8_t type = 0;
    uint64_t count = 0;
    if (field.type != UMBELI_THRIFT_LIST) {
        umbeli_thrift_skip(&f->in, field.type);
        return 0;
    }
    umbeli_thrift_list(&f->in, &type, &count);
    if (count && type != UMBELI_THRIFT_STRUCT) {
        f->in.wrong = "Parquet: a list of something other than structs";
    }
    return f->in.wrong ? 0 : count;
}

/* ---- Schema ---- */

/* TimeUnit: 1 milliseconds, 2 microseconds, 3 nanoseconds. */
static void read_unit(footer *f, umbeli_column *c) {
    umbeli_thrift_field field = {0};
    while (umbeli_thrift_next(&f->in, &field)) {
        if (field.id >= 1 && field.id <= 3) c->digits = (uint32_t)field.id * 3;
        umbeli_thrift_skip(&f->in, field.type);
    }
}

static umbeli_meaning meaning_of(int32_t logical) {
    switch (logical) {
    case LOGICAL_DECIMAL: return UMBELI_MEANS_DECIMAL;
    case LOGICAL_DATE: return UMBELI_MEANS_DATE;
    case LOGICAL_TIMESTAMP: return UMBELI_MEANS_TIMESTAMP;
    case LOGICAL_UUID: return UMBELI_MEANS_UUID;
    default: return UMBELI_MEANS_PLAIN;
    }
}

static void read_logical(footer *f, umbeli_column *c) {
    umbeli_thrift_field which = {0};
    int64_t value;
    while (umbeli_thrift_next(&f->in, &which)) {
        umbeli_thrift_field field = {0};
        if (which.type != UMBELI_THRIFT_STRUCT) {
            umbeli_thrift_skip(&f->in, which.type);
            continue;
        }
        umbeli_meaning meaning = meaning_of(which.id);
        if (meaning) c->meaning = meaning;
        while (umbeli_thrift_next(&f->in, &field)) {
            bool unit = which.id == LOGICAL_TIMESTAMP && field.id == 2 &&
                        field.type == UMBELI_THRIFT_STRUCT;
            if (unit) {
                read_unit(f, c);
            } else if (which.id == LOGICAL_DECIMAL && field.id == 1) {
                if (integer(f, field, &value) && value >= 0) c->digits = (uint32_t)value;
            } else {
                if (which.id == LOGICAL_INTEGER && field.id == 2 &&
                    field.type == UMBELI_THRIFT_FALSE) {
                    c->meaning = UMBELI_MEANS_UNSIGNED;
                }
                umbeli_thrift_skip(&f->in, field.type);
            }
        }
    }
}

/* Old files have only the converted type. */
static void convert(int64_t converted, umbeli_column *c) {
    if (c->meaning) return;
    if (converted == CONVERTED_DECIMAL) c->meaning = UMBELI_MEANS_DECIMAL;
    if (converted == CONVERTED_DATE) c->meaning = UMBELI_MEANS_DATE;
    if (converted >= CONVERTED_UINT_8 && converted <= CONVERTED_UINT_64) {
        c->meaning = UMBELI_MEANS_UNSIGNED;
    }
    if (converted == CONVERTED_TIMESTAMP_MILLIS || converted == CONVERTED_TIMESTAMP_MICROS) {
        c->meaning = UMBELI_MEANS_TIMESTAMP;
        c->digits = converted == CONVERTED_TIMESTAMP_MILLIS ? 3 : 6;
    }
}

static void read_element(footer *f) {
    umbeli_thrift_field field = {0};
    umbeli_column c = {.physical = -1};
    int64_t value, children = 0, converted = -1;
    while (going(f) && umbeli_thrift_next(&f->in, &field)) {
        if (field.id == 10 && field.type == UMBELI_THRIFT_STRUCT) {
            read_logical(f, &c);
        } else if (integer(f, field, &value)) {
            if (field.id == 1) c.physical = (int32_t)value;
            if (field.id == 2) c.fixed_len = (int32_t)value;
            if (field.id == 5) children = value;
            if (field.id == 6) converted = value;
            if (field.id == 7 && value >= 0) c.digits = (uint32_t)value;
        }
    }
    convert(converted, &c);
    if (!going(f) || children > 0) return;
    umbeli_columns *own = f->own;
    void *columns = own->columns;
    f->err = umbeli_table_grow(f->t, &columns, sizeof c, own->count, &own->cap);
    own->columns = columns;
    if (!f->err) own->columns[own->count++] = c;
}

/* ---- Column chunks ---- */

/* Names with dots between them, for the first chunk of a column. */
static void read_path(footer *f, umbeli_column *c) {
    umbeli_thrift again = f->in;
    uint8_t type;
    uint64_t count, len, total = 0;
    umbeli_thrift_list(&f->in, &type, &count);
    if (count && type != UMBELI_THRIFT_BINARY) {
        f->in.wrong = "Parquet: a path of something other than names";
    }
    for (uint64_t i = 0; i < count && !f->in.wrong; i++) {
        umbeli_thrift_binary(&f->in, &len);
        total += len + 1;
    }
    if (f->in.wrong || !c || c->path || !count) return;
    if (total > f->t->settings.max_bytes - f->t->held) {
        f->err = UMBEL_ELIMIT;
        return;
    }
    char *to = c->path = umbeli_new(&f->t->settings, (size_t)total);
    if (!to) {
        f->err = UMBEL_ENOMEM;
        return;
    }
    f->t->held += total;
    umbeli_thrift_list(&again, &type, &count);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *name = umbeli_thrift_binary(&again, &len);
        if (i) *to++ = '.';
        if (len) memcpy(to, name, (size_t)len);
        to += len;
    }
}

static void read_metadata(footer *f, umbeli_chunk *chunk) {
    umbeli_thrift_field field = {0};
    int64_t value;
    umbeli_column *c = chunk->column < f->own->count ? &f->own->columns[chunk->column] : NULL;
    while (going(f) && umbeli_thrift_next(&f->in, &field)) {
        uint64_t at = f->start + f->in.in.pos;
        if (field.id == 3 && field.type == UMBELI_THRIFT_LIST) {
            read_path(f, c);
        } else if (integer(f, field, &value)) {
            if (field.id == 5 && value > 0) chunk->values = (uint64_t)value;
            if (field.id == 14) {
                chunk->offset =
                    value < 0 ? INT64_MAX : value; /* refused later as past the end of the file */
                chunk->at = at;
            }
            if (field.id == 15) chunk->len = value < 0 ? INT64_MAX : value;
        }
    }
}

static void read_chunk(footer *f, uint64_t row_group, uint64_t number) {
    umbeli_thrift_field field = {0};
    umbeli_chunk chunk = {.row_group = row_group,
                          .column = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number,
                          .offset = -1,
                          .len = -1,
                          .at = f->start + f->in.in.pos};
    while (going(f) && umbeli_thrift_next(&f->in, &field)) {
        if (field.id == 3 && field.type == UMBELI_THRIFT_STRUCT) {
            read_metadata(f, &chunk);
        } else {
            if (field.id == 8 || field.id == 9) chunk.encrypted = true;
            umbeli_thrift_skip(&f->in, field.type);
        }
    }
    if (!going(f)) return;
    if (chunk.column >= f->own->count) {
        f->in.wrong = "Parquet: more column chunks than the schema has columns";
    } else {
        f->err = f->each(f->t, &chunk);
    }
}

static void read_row_group(footer *f, uint64_t row_group) {
    umbeli_thrift_field field = {0};
    while (going(f) && umbeli_thrift_next(&f->in, &field)) {
        if (field.id != 1) {
            umbeli_thrift_skip(&f->in, field.type);
            continue;
        }
        uint64_t count = structs(f, field);
        for (uint64_t i = 0; i < count && going(f); i++) read_chunk(f, row_group, i);
    }
}

umbel_err umbeli_columns_footer(umbel_table *t, uint64_t start, uint64_t len,
                                umbel_err (*each)(umbel_table *t, const umbeli_chunk *chunk)) {
    footer f = {.t = t,
                .own = t->own,
                .in = umbeli_thrift_over(t->bytes + start, (size_t)len),
                .start = start,
                .each = each};
    umbeli_thrift_field field = {0};
    while (going(&f) && umbeli_thrift_next(&f.in, &field)) {
        if (field.id != 2 && field.id != 4) {
            umbeli_thrift_skip(&f.in, field.type);
            continue;
        }
        uint64_t count = structs(&f, field);
        for (uint64_t i = 0; i < count && going(&f); i++) {
            if (field.id == 2) {
                read_element(&f);
            } else {
                read_row_group(&f, i);
            }
        }
    }
    if (f.err || !f.in.wrong) return f.err;
    return umbeli_table_note(t, UMBEL_ECORRUPT, start + f.in.in.pos, f.in.wrong);
}
