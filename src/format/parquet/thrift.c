/* SPDX-License-Identifier: MIT */
#include "format/parquet/thrift.h"

static const char cut_off[] = "Thrift: cut off";

umbeli_thrift umbeli_thrift_over(const void *bytes, size_t len) {
    return (umbeli_thrift){.in = umbeli_reader_over(bytes, len)};
}

static void fail(umbeli_thrift *t, const char *wrong) {
    if (!t->wrong) t->wrong = wrong;
}

static const uint8_t *take(umbeli_thrift *t, uint64_t n) {
    const uint8_t *bytes = t->wrong ? NULL : umbeli_take(&t->in, n);
    if (!bytes) fail(t, cut_off);
    return bytes;
}

static uint8_t take_byte(umbeli_thrift *t) {
    const uint8_t *byte = take(t, 1);
    return byte ? *byte : 0;
}

static uint64_t take_varint(umbeli_thrift *t) {
    uint64_t value;
    if (t->wrong) return 0;
    if (umbeli_take_varint(&t->in, &value)) return value;
    fail(t, t->in.failed ? cut_off : "Thrift: an integer of more than 64 bits");
    return 0;
}

int64_t umbeli_thrift_int(umbeli_thrift *t) {
    uint64_t zigzag = take_varint(t);
    return (int64_t)((zigzag >> 1) ^ (0 - (zigzag & 1)));
}

bool umbeli_thrift_next(umbeli_thrift *t, umbeli_thrift_field *field) {
    uint8_t head = take_byte(t);
    if (t->wrong || head == 0) return false;
    /* The upper half is the distance from the previous field; 0: the number follows. */
    int64_t id = head >> 4 ? field->id + (head >> 4) : umbeli_thrift_int(t);
    if (id < INT16_MIN || id > INT16_MAX) fail(t, "Thrift: a field number of more than 16 bits");
    if (t->wrong) return false;
    field->id = (int32_t)id;
    field->type = head & 15;
    return true;
}

const uint8_t *umbeli_thrift_binary(umbeli_thrift *t, uint64_t *len) {
    *len = take_varint(t);
    const uint8_t *bytes = take(t, *len);
    if (!bytes) *len = 0;
    return bytes;
}

/* Every value takes at least one byte, so a count above the bytes left is wrong. */
static uint64_t checked_count(umbeli_thrift *t, uint64_t count) {
    if (t->wrong) return 0;
    if (count > umbeli_left(&t->in)) {
        fail(t, "Thrift: more values than bytes");
        return 0;
    }
    return count;
}

void umbeli_thrift_list(umbeli_thrift *t, uint8_t *type, uint64_t *count) {
    uint8_t head = take_byte(t);
    uint64_t n = head >> 4;
    if (n == 15) n = take_varint(t);
    *type = head & 15;
    *count = checked_count(t, n);
}

static void skip(umbeli_thrift *t, uint8_t type, unsigned depth);

/* Values inside lists and maps, where a boolean takes a separate byte. */
static void skip_values(umbeli_thrift *t, uint8_t type, uint64_t count, unsigned depth) {
    bool truth = type == UMBELI_THRIFT_TRUE || type == UMBELI_THRIFT_FALSE;
    for (uint64_t i = 0; i < count && !t->wrong; i++) {
        skip(t, truth ? UMBELI_THRIFT_I8 : type, depth);
    }
}

static void skip_map(umbeli_thrift *t, unsigned depth) {
    uint64_t count = checked_count(t, take_varint(t));
    if (count == 0) return; /* an empty map has no types */
    uint8_t types = take_byte(t);
    for (uint64_t i = 0; i < count && !t->wrong; i++) {
        skip_values(t, types >> 4, 1, depth);
        skip_values(t, types & 15, 1, depth);
    }
}

static void skip(umbeli_thrift *t, uint8_t type, unsigned depth) {
    umbeli_thrift_field field = {0};
    uint64_t count;
    uint8_t inner;
    if (depth == UMBELI_THRIFT_DEPTH) {
        fail(t, "Thrift: nested too deeply");
        return;
    }
    switch (type) {
    case UMBELI_THRIFT_TRUE:
    case UMBELI_THRIFT_FALSE: break;
    case UMBELI_THRIFT_I8: take(t, 1); break;
    case UMBELI_THRIFT_I16:
    case UMBELI_THRIFT_I32:
    case UMBELI_THRIFT_I64: take_varint(t); break;
    case UMBELI_THRIFT_DOUBLE: take(t, 8); break;
    case UMBELI_THRIFT_BINARY: umbeli_thrift_binary(t, &count); break;
    case UMBELI_THRIFT_LIST:
    case UMBELI_THRIFT_SET:
        umbeli_thrift_list(t, &inner, &count);
        skip_values(t, inner, count, depth + 1);
        break;
    case UMBELI_THRIFT_MAP: skip_map(t, depth + 1); break;
    case UMBELI_THRIFT_STRUCT:
        while (umbeli_thrift_next(t, &field)) skip(t, field.type, depth + 1);
        break;
    case UMBELI_THRIFT_UUID: take(t, 16); break;
    default: fail(t, "Thrift: no such type"); break;
    }
}

void umbeli_thrift_skip(umbeli_thrift *t, uint8_t type) {
    skip(t, type, 0);
}
