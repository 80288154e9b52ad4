/* SPDX-License-Identifier: MIT
 *
 * clickhouse_definition.c - what the table's definition says about an index and its column
 */
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/diag.h"
#include "format/clickhouse/clickhouse_index.h"
#include "tables/clickhouse/clickhouse_part.h"
#include "tables/value_text.h"
#include "umbel_foreign.h"

enum { MAX_ARGUMENTS = 4, NAME_ROOM = 32, TYPE_ROOM = 64 };

/* ---- The definition ---- */

typedef struct definition {
    char name[NAME_ROOM];
    char argument[MAX_ARGUMENTS][NAME_ROOM];
    unsigned count;
} definition;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}

/* A word up to one of these delimiters, without surrounding space; NULL if it is too long. */
static const char *word(const char *at, const char *ends, char out[NAME_ROOM]) {
    while (is_space(*at)) at++;
    size_t len = strcspn(at, ends), used = len;
    while (used && is_space(at[used - 1])) used--;
    if (used >= NAME_ROOM) return NULL;
    memcpy(out, at, used);
    out[used] = '\0';
    return at + len;
}

/* name(argument, ...) or name alone. */
static bool split(const char *text, definition *d) {
    *d = (definition){0};
    const char *at = word(text, "(", d->name);
    if (!at || !*d->name) return false;
    if (!*at) return true;
    do {
        if (d->count == MAX_ARGUMENTS) return false;
        at = word(at + 1, ",)", d->argument[d->count]);
        if (!at || !*at) return false;
        d->count++;
    } while (*at == ',');
    if (d->count == 1 && !*d->argument[0]) d->count = 0; /* () */
    for (at++; is_space(*at); at++) {
    }
    return !*at;
}

static bool whole(const char *text, uint64_t *value) {
    umbel_key digits = {text, strlen(text)};
    uint8_t bytes[8];
    size_t len;
    if (umbel_typed_key(UMBEL_TYPE_UINT64, digits.data, digits.len, bytes, 8, &len, NULL)) {
        return false;
    }
    *value = umbeli_load_le64(bytes);
    return true;
}

static umbel_err token_index(const definition *d, bool ngrams, umbeli_index *out,
                             umbel_diag *diag) {
    uint64_t value[MAX_ARGUMENTS] = {0};
    unsigned first = ngrams ? 1 : 0;
    bool ok = d->count == 3 + first;
    for (unsigned i = 0; ok && i < d->count; i++) ok = whole(d->argument[i], &value[i]);
    if (!ok) {
        return umbeli_invalid(diag, ngrams ? "index: ngrambf_v1(n, bytes, hashes, seed)"
                                           : "index: tokenbf_v1(bytes, hashes, seed)");
    }
    uint64_t n = value[0], bytes = value[first], hashes = value[first + 1];
    if (bytes < 1 || bytes > UINT64_C(1) << 30) {
        return umbeli_invalid(diag, "index: the size must be 1 to 2^30 bytes");
    }
    if (hashes < 1 || hashes > UINT32_MAX || (ngrams && (n < 1 || n > UINT32_MAX))) {
        return umbeli_invalid(diag, "index: hashes and n must be at least 1");
    }
    *out = (umbeli_index){.kind = UMBELI_INDEX_TOKENS,
                          .ngram = ngrams ? (uint32_t)n : 0,
                          .bytes = bytes,
                          .like = {.format = UMBEL_FMT_CLICKHOUSE,
                                   .hashes = (uint32_t)hashes,
                                   .seed = value[first + 2]}};
    return UMBEL_OK;
}

static umbel_err value_index(const definition *d, umbeli_index *out, umbel_diag *diag) {
    double fpr = 0.025;
    char *end = NULL;
    if (d->count) fpr = strtod(d->argument[0], &end);
    if (d->count > 1 || (end && (*end || end == d->argument[0])) || !(fpr > 0 && fpr < 1)) {
        return umbeli_invalid(diag, "index: bloom_filter(rate), the rate between 0 and 1");
    }
    *out = (umbeli_index){.kind = UMBELI_INDEX_VALUES,
                          .bits_per_row = umbeli_clickhouse_best_of(fpr, false).bits_per_row,
                          .like = {.format = UMBEL_FMT_CLICKHOUSE,
                                   .fpr = fpr,
                                   .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX}};
    return UMBEL_OK;
}

umbel_err umbeli_index_read(const char *text, umbeli_index *out, umbel_diag *diag) {
    definition d;
    if (!text) {
        return umbeli_invalid(diag,
                              "index: needed, as in the table's definition: bloom_filter(0.01), "
                              "tokenbf_v1(256, 2, 0) or ngrambf_v1(4, 512, 3, 7)");
    }
    if (split(text, &d)) {
        if (strcmp(d.name, "tokenbf_v1") == 0) return token_index(&d, false, out, diag);
        if (strcmp(d.name, "ngrambf_v1") == 0) return token_index(&d, true, out, diag);
        if (strcmp(d.name, "bloom_filter") == 0) return value_index(&d, out, diag);
    }
    return umbeli_invalid(diag, "index: bloom_filter(rate), tokenbf_v1(bytes, hashes, seed) or "
                                "ngrambf_v1(n, bytes, hashes, seed)");
}

/* ---- Types ---- */

/* The type inside Array, Nullable and LowCardinality. */
static bool inner_type(const char *type, char inner[TYPE_ROOM]) {
    static const char *const wrappers[] = {"Array(", "Nullable(", "LowCardinality("};
    size_t len = strlen(type);
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0];) {
        size_t n = strlen(wrappers[i]);
        if (len > n && strncmp(type, wrappers[i], n) == 0 && type[len - 1] == ')') {
            type += n;
            len -= n + 1;
            i = 0;
        } else {
            i++;
        }
    }
    if (len >= TYPE_ROOM) return false;
    memcpy(inner, type, len);
    inner[len] = '\0';
    return true;
}

/* N of name(N). */
static bool parameter(const char *type, const char *name, uint64_t *n) {
    char digits[TYPE_ROOM];
    size_t len = strlen(type), start = strlen(name);
    if (strncmp(type, name, start) != 0 || type[start] != '(' || type[len - 1] != ')') return false;
    memcpy(digits, type + start + 1, len - start - 2);
    digits[len - start - 2] = '\0';
    return whole(digits, n);
}

bool umbeli_clickhouse_is_text(const char *type) {
    char inner[TYPE_ROOM];
    return inner_type(type, inner) &&
           (strcmp(inner, "String") == 0 || strcmp(inner, "string") == 0 ||
            strncmp(inner, "FixedString(", 12) == 0);
}

static const struct {
    const char *name;
    umbel_type type;
} numbers[] = {
    {"UInt8", UMBEL_TYPE_UINT8},    {"UInt16", UMBEL_TYPE_UINT16}, {"UInt32", UMBEL_TYPE_UINT32},
    {"UInt64", UMBEL_TYPE_UINT64},  {"Int8", UMBEL_TYPE_INT8},     {"Int16", UMBEL_TYPE_INT16},
    {"Int32", UMBEL_TYPE_INT32},    {"Int64", UMBEL_TYPE_INT64},   {"Float32", UMBEL_TYPE_FLOAT},
    {"Float64", UMBEL_TYPE_DOUBLE}, {"String", UMBEL_TYPE_STRING}, {"Bool", UMBEL_TYPE_UINT8},
    {"Enum8", UMBEL_TYPE_INT8},     {"Enum16", UMBEL_TYPE_INT16},
};

static bool number_named(const char *name, umbel_type *type) {
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *type = numbers[i].type;
            return true;
        }
    }
    return umbel_type_named(name, type);
}

typedef struct target {
    uint8_t *key;
    size_t cap, *len;
    umbel_diag *diag;
} target;

static umbel_err put_number(const target *to, uint64_t value, size_t width) {
    uint8_t bytes[8];
    umbeli_store_le64(bytes, value);
    if (width > to->cap) return umbeli_fail(to->diag, UMBEL_ESPACE, "key");
    memcpy(to->key, bytes, width);
    *to->len = width;
    return UMBEL_OK;
}

/* The two halves as numbers, the upper one first. */
static umbel_err put_uuid(const target *to, const uint8_t uuid[16]) {
    if (to->cap < 16) return umbeli_fail(to->diag, UMBEL_ESPACE, "key");
    for (unsigned i = 0; i < 16; i++) to->key[i] = uuid[15 - i];
    *to->len = 16;
    return UMBEL_OK;
}

static umbel_err put_padded(const target *to, umbel_key text, uint64_t width) {
    if (text.len > width) {
        return umbeli_invalid(to->diag, "type: the text is longer than FixedString allows");
    }
    if (width > to->cap) return umbeli_fail(to->diag, UMBEL_ESPACE, "key");
    if (text.len) memcpy(to->key, text.data, text.len);
    memset(to->key + text.len, 0, (size_t)width - text.len);
    *to->len = (size_t)width;
    return UMBEL_OK;
}

umbel_err umbeli_clickhouse_key(const char *type, umbel_key text, uint8_t *key, size_t cap,
                                size_t *key_len, umbel_diag *diag) {
    char inner[TYPE_ROOM];
    target to = {key, cap, key_len, diag};
    umbel_type number;
    int64_t value = 0;
    uint64_t n = 3; /* of DateTime64 */
    uint8_t uuid[16];
    if (!inner_type(type, inner)) return umbeli_invalid(diag, "type: too long");
    if (number_named(inner, &number)) {
        return umbel_typed_key(number, text.data, text.len, key, cap, key_len, diag);
    }
    if (parameter(inner, "FixedString", &n)) return put_padded(&to, text, n);
    bool known = true;
    if (!strcmp(inner, "Date") || !strcmp(inner, "date")) {
        if (umbeli_read_date(text, &value) && value >= 0 && value <= UINT16_MAX) {
            return put_number(&to, (uint64_t)value, 2);
        }
    } else if (!strcmp(inner, "DateTime")) {
        if (umbeli_read_time(text, 0, &value) && value >= 0 && value <= UINT32_MAX) {
            return put_number(&to, (uint64_t)value, 4);
        }
    } else if (!strcmp(inner, "DateTime64") || parameter(inner, "DateTime64", &n)) {
        if (n <= 9 && umbeli_read_time(text, (unsigned)n, &value)) {
            return put_number(&to, (uint64_t)value, 8);
        }
    } else if (!strcmp(inner, "UUID") || !strcmp(inner, "uuid")) {
        if (umbeli_read_uuid(text, uuid)) return put_uuid(&to, uuid);
    } else {
        known = false;
    }
    return umbeli_invalid(diag, known ? "the text is not a value of this type, or out of its range"
                                      : "type: unknown");
}
