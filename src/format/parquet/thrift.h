/* SPDX-License-Identifier: MIT
 *
 * thrift.h - reads the part of Thrift's compact protocol that Parquet uses
 *
 * Errors are sticky, as in the reader below: after the first one every call returns nothing,
 * `wrong` says why and in.pos where.  Time and memory are bounded by the length of the input.
 */
#ifndef UMBELI_THRIFT_H
#define UMBELI_THRIFT_H

#include "core/bytes.h"

enum {
    UMBELI_THRIFT_TRUE = 1,
    UMBELI_THRIFT_FALSE = 2,
    UMBELI_THRIFT_I8 = 3,
    UMBELI_THRIFT_I16 = 4,
    UMBELI_THRIFT_I32 = 5,
    UMBELI_THRIFT_I64 = 6,
    UMBELI_THRIFT_DOUBLE = 7,
    UMBELI_THRIFT_BINARY = 8,
    UMBELI_THRIFT_LIST = 9,
    UMBELI_THRIFT_SET = 10,
    UMBELI_THRIFT_MAP = 11,
    UMBELI_THRIFT_STRUCT = 12,
    UMBELI_THRIFT_UUID = 13,
    UMBELI_THRIFT_DEPTH = 32 /* maximum nesting of values */
};

typedef struct umbeli_thrift {
    umbeli_reader in;
    const char *wrong; /* NULL: no error so far */
} umbeli_thrift;

umbeli_thrift umbeli_thrift_over(const void *bytes, size_t len);

/* A field of a struct: start with zeros, then each call gives the next one; false after the last.
 * Its value must be read or skipped before the next call. */
typedef struct umbeli_thrift_field {
    int32_t id;
    uint8_t type;
} umbeli_thrift_field;

bool umbeli_thrift_next(umbeli_thrift *t, umbeli_thrift_field *field);

/* Values of I16, I32 and I64. */
int64_t umbeli_thrift_int(umbeli_thrift *t);

/* The bytes of a BINARY. */
const uint8_t *umbeli_thrift_binary(umbeli_thrift *t, uint64_t *len);

/* The head of a LIST or SET; *count values of *type follow, at most as many as bytes are left. */
void umbeli_thrift_list(umbeli_thrift *t, uint8_t *type, uint64_t *count);

/* Skips the value of a field. */
void umbeli_thrift_skip(umbeli_thrift *t, uint8_t type);

#endif
