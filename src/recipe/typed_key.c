/* SPDX-License-Identifier: MIT
 *
 * typed_key.c - from a value as text to the bytes that other systems hash for it
 */
#include <errno.h>
#include <stdlib.h>

#include "core/bits.h"
#include "core/diag.h"
#include "core/text.h"
#include "recipe/recipe.h"
#include "recipe/sql_values.h"
#include "umbel_foreign.h"

typedef struct integer_type {
    unsigned bytes; /* 0: not an integer */
    bool is_signed;
} integer_type;

static umbeli_value uuid_value;

static const struct {
    const char *name, *expects;
    integer_type integer;
    umbeli_value *value; /* of fixed length, neither an integer nor a float */
} types[] = {
    [UMBEL_TYPE_STRING] = {"string", NULL, {0, false}, NULL},
    [UMBEL_TYPE_UTF16] = {"utf16", "UTF-8", {0, false}, NULL},
    [UMBEL_TYPE_INT8] = {"int8", "a valid int8", {1, true}, NULL},
    [UMBEL_TYPE_INT16] = {"int16", "a valid int16", {2, true}, NULL},
    [UMBEL_TYPE_INT32] = {"int32", "a valid int32", {4, true}, NULL},
    [UMBEL_TYPE_INT64] = {"int64", "a valid int64", {8, true}, NULL},
    [UMBEL_TYPE_UINT8] = {"uint8", "a valid uint8", {1, false}, NULL},
    [UMBEL_TYPE_UINT16] = {"uint16", "a valid uint16", {2, false}, NULL},
    [UMBEL_TYPE_UINT32] = {"uint32", "a valid uint32", {4, false}, NULL},
    [UMBEL_TYPE_UINT64] = {"uint64", "a valid uint64", {8, false}, NULL},
    [UMBEL_TYPE_FLOAT] = {"float", "a valid float", {0, false}, NULL},
    [UMBEL_TYPE_DOUBLE] = {"double", "a valid double", {0, false}, NULL},
    [UMBEL_TYPE_UINT32BE] = {"uint32be", "a valid uint32be", {4, false}, NULL},
    [UMBEL_TYPE_UUID] = {"uuid", "a valid uuid", {0, false}, uuid_value},
    [UMBEL_TYPE_BYTEA] = {"bytea", "a valid bytea", {0, false}, NULL},
    [UMBEL_TYPE_DATE] = {"date", "a date as in 2026-01-31", {0, false}, umbeli_date_value},
    [UMBEL_TYPE_TIMESTAMP] = {"timestamp",
                              "a timestamp without time zone as in 2026-01-31 12:30:05",
                              {0, false},
                              umbeli_timestamp_value},
    [UMBEL_TYPE_TIMESTAMPTZ] = {"timestamptz",
                                "a timestamp with time zone as in 2026-01-31 12:30:05+00",
                                {0, false},
                                umbeli_timestamptz_value},
    [UMBEL_TYPE_INET] = {"inet", "an IP address or network", {0, false}, umbeli_inet_value},
    [UMBEL_TYPE_NUMERIC] = {"numeric", "a decimal number", {0, false}, NULL},
};

enum { TYPES = sizeof types / sizeof types[0] };

const char *umbel_type_name(umbel_type type) {
    return (unsigned)type < TYPES ? types[type].name : NULL;
}

const char *umbeli_type_expects(umbel_type type) {
    return types[type].expects;
}

bool umbel_type_named(const char *name, umbel_type *type) {
    for (unsigned i = 0; i < TYPES; i++) {
        if (strcmp(name, types[i].name) == 0) {
            *type = (umbel_type)i;
            return true;
        }
    }
    return false;
}

/* Parses decimal digits; false for none, for other characters, and on overflow. */
static bool read_digits(const char *s, size_t len, uint64_t *magnitude) {
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) {
        if (!umbeli_is_digit(s[i])) return false;
        unsigned digit = (unsigned)(s[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *magnitude = sum;
    return len > 0;
}

/* Two's complement in *value, within the type's range. */
static bool read_integer(const char *s, size_t len, integer_type type, uint64_t *value) {
    bool negative = len > 0 && s[0] == '-';
    size_t sign = len > 0 && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    uint64_t magnitude, max = UINT64_MAX >> (64 - 8 * type.bytes);
    if (!read_digits(s + sign, len - sign, &magnitude)) return false;
    if (type.is_signed) max = (max >> 1) + (negative ? 1 : 0);
    if (magnitude > max || (negative && !type.is_signed && magnitude != 0)) return false;
    *value = negative ? 0 - magnitude : magnitude;
    return true;
}

static bool read_double(const char *s, size_t len, double *value) {
    char text[128], *end;
    if (len == 0 || len >= sizeof text) return false;
    if (umbeli_is_space(s[0])) return false; /* strtod would skip it */
    memcpy(text, s, len);
    text[len] = 0;
    int saved = errno; /* set by strtod; the library never changes it */
    *value = strtod(text, &end);
    errno = saved;
    return end == text + len;
}

/* One code point of valid UTF-8 at s; its length, or 0. */
static size_t read_utf8(const uint8_t *s, size_t len, uint32_t *point) {
    size_t need = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4 || need > len) return 0;
    uint32_t p = need == 1 ? s[0] : s[0] & (0xffu >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        p = p << 6 | (s[i] & 0x3fu);
    }
    if (p < min[need] || p > 0x10ffff || (p >= 0xd800 && p < 0xe000)) return 0;
    *point = p;
    return need;
}

static umbel_err put_utf16(const uint8_t *s, size_t len, uint8_t *key, size_t cap, size_t *key_len,
                           umbel_diag *diag) {
    size_t used = 0;
    for (size_t at = 0; at < len;) {
        uint32_t p;
        size_t step = read_utf8(s + at, len - at, &p);
        if (!step) return umbeli_fail_at(diag, UMBEL_EINVAL, at, "text: not UTF-8");
        size_t units = p >= 0x10000 ? 2 : 1;
        if (cap - used < 2 * units) return umbeli_fail(diag, UMBEL_ESPACE, "cap: too small");
        if (units == 2) {
            umbeli_store_le16(key + used, (uint16_t)(0xd800 + ((p - 0x10000) >> 10)));
            umbeli_store_le16(key + used + 2, (uint16_t)(0xdc00 + ((p - 0x10000) & 0x3ff)));
        } else {
            umbeli_store_le16(key + used, (uint16_t)p);
        }
        used += 2 * units;
        at += step;
    }
    *key_len = used;
    return UMBEL_OK;
}

/* The byte that two digits at s denote. */
static bool read_hex(const char *s, const char *end, uint8_t *byte) {
    if (end - s < 2) return false;
    int high = umbeli_hex_digit(s[0]), low = umbeli_hex_digit(s[1]);
    if (high < 0 || low < 0) return false;
    *byte = (uint8_t)(high * 16 + low);
    return true;
}

/* As PostgreSQL reads it: hyphens after any group of four digits, and braces, are optional. */
static size_t uuid_value(const char *s, size_t len, uint8_t bytes[UMBELI_VALUE_BYTES]) {
    const char *end = s + len;
    bool braces = len > 0 && *s == '{';
    s += braces;
    for (size_t i = 0; i < 16; i++) {
        if (i > 0 && i % 2 == 0 && s < end && *s == '-') s++;
        if (!read_hex(s, end, &bytes[i])) return 0;
        s += 2;
    }
    if (braces && (s == end || *s++ != '}')) return 0;
    return s == end ? 16 : 0;
}

/* The bytes of a value of fixed length in the order in which they are hashed; returns how many,
 * 0: not such a value. */
static size_t value_bytes(umbel_type type, const char *text, size_t len,
                          uint8_t bytes[UMBELI_VALUE_BYTES]) {
    if (types[type].value) return types[type].value(text, len, bytes);
    integer_type integer = types[type].integer;
    uint64_t value;
    if (integer.bytes) {
        if (!read_integer(text, len, integer, &value)) return 0;
        if (type == UMBEL_TYPE_UINT32BE) value = __builtin_bswap32((uint32_t)value);
        umbeli_store_le64(bytes, value);
        return integer.bytes;
    }
    double number;
    if (!read_double(text, len, &number)) return 0;
    if (type == UMBEL_TYPE_FLOAT) {
        float narrow = (float)number;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        umbeli_store_le32(bytes, bits);
        return sizeof bits;
    }
    memcpy(&value, &number, sizeof value);
    umbeli_store_le64(bytes, value);
    return sizeof value;
}

/* PostgreSQL's hexadecimal format, in which white space may stand between two bytes. */
static bool read_bytea_hex(const char *s, size_t len, uint8_t *key, size_t *key_len) {
    size_t used = 0;
    for (size_t i = 0; i < len;) {
        if (umbeli_is_space(s[i])) {
            i++;
        } else {
            if (!read_hex(s + i, s + len, &key[used++])) return false;
            i += 2;
        }
    }
    *key_len = used;
    return true;
}

/* PostgreSQL's older format: bytes as they are, \\ for a backslash, \ooo for any byte. */
static bool read_bytea_escape(const char *s, size_t len, uint8_t *key, size_t *key_len) {
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = (uint8_t)s[i];
        if (byte == '\\' && len - i >= 2 && s[i + 1] == '\\') {
            i++;
        } else if (byte == '\\') {
            if (len - i < 4 || s[i + 1] > '3') return false;
            byte = 0;
            for (unsigned digit = 0; digit < 3; digit++) {
                char c = s[++i];
                if (c < '0' || c > '7') return false;
                byte = byte * 8 + (unsigned)(c - '0');
            }
        }
        key[used++] = (uint8_t)byte;
    }
    *key_len = used;
    return true;
}

static umbel_err put_bytea(const char *s, size_t len, uint8_t *key, size_t cap, size_t *key_len,
                           umbel_diag *diag) {
    bool hex = len >= 2 && s[0] == '\\' && s[1] == 'x';
    if (cap < len) return umbeli_fail(diag, UMBEL_ESPACE, "cap: too small");
    bool valid = hex ? read_bytea_hex(s + 2, len - 2, key, key_len)
                     : read_bytea_escape(s, len, key, key_len);
    return valid ? UMBEL_OK : umbeli_invalid(diag, "text: not a value of this type");
}

static umbel_err put_numeric(const char *s, size_t len, uint8_t *key, size_t cap, size_t *key_len,
                             umbel_diag *diag) {
    if (cap < 2 * len + 16) return umbeli_fail(diag, UMBEL_ESPACE, "cap: too small");
    size_t used = umbeli_numeric_value(s, len, key);
    if (used == 0) return umbeli_invalid(diag, "text: not a value of this type");
    *key_len = used;
    return UMBEL_OK;
}

umbel_err umbel_typed_key(umbel_type type, const void *text, size_t len, void *key, size_t cap,
                          size_t *key_len, umbel_diag *diag) {
    if ((unsigned)type >= TYPES) return umbeli_invalid(diag, "type: no such type");
    if (type == UMBEL_TYPE_UTF16) return put_utf16(text, len, key, cap, key_len, diag);
    if (type == UMBEL_TYPE_BYTEA) return put_bytea(text, len, key, cap, key_len, diag);
    if (type == UMBEL_TYPE_NUMERIC) return put_numeric(text, len, key, cap, key_len, diag);
    uint8_t bytes[UMBELI_VALUE_BYTES];
    const void *from = text;
    if (type != UMBEL_TYPE_STRING) {
        len = value_bytes(type, text, len, bytes);
        if (len == 0) return umbeli_invalid(diag, "text: not a value of this type");
        from = bytes;
    }
    if (len > cap) return umbeli_fail(diag, UMBEL_ESPACE, "cap: too small");
    if (len > 0) memcpy(key, from, len);
    *key_len = len;
    return UMBEL_OK;
}
