/* SPDX-License-Identifier: MIT
 *
 * The Thrift reader: values of every type, and input that lies
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "format/parquet/thrift.h"
#include "golden.h"

/* Skips one value, which ends before the last byte, ff; with `wrong`, expects that error
 * instead. */
static void skips(uint8_t type, const char *hex, const char *wrong) {
    size_t len;
    uint8_t *bytes = golden_hex(hex, &len);
    uint8_t *exact = malloc(len ? len : 1);
    memcpy(exact, bytes, len);
    umbeli_thrift t = umbeli_thrift_over(exact, len);
    umbeli_thrift_skip(&t, type);
    if (!wrong) {
        if (t.wrong) fail_msg("%s: %s", hex, t.wrong);
        assert_int_equal(umbeli_left(&t.in), 1);
    } else if (!t.wrong || !strstr(t.wrong, wrong)) {
        fail_msg("%s gave '%s'", hex, t.wrong ? t.wrong : "nothing");
    }
    free(exact);
    free(bytes);
}

static void values_of_every_type(void **state) {
    (void)state;
    skips(UMBELI_THRIFT_TRUE, "ff", NULL);
    skips(UMBELI_THRIFT_FALSE, "ff", NULL);
    skips(UMBELI_THRIFT_I8, "01ff", NULL);
    skips(UMBELI_THRIFT_I16, "8001ff", NULL);
    skips(UMBELI_THRIFT_I32, "02ff", NULL);
    skips(UMBELI_THRIFT_I64, "ffffffffffffffffff01ff", NULL);
    skips(UMBELI_THRIFT_DOUBLE, "0000000000000000ff", NULL);
    skips(UMBELI_THRIFT_BINARY, "03616263ff", NULL);
    skips(UMBELI_THRIFT_BINARY, "00ff", NULL);
    skips(UMBELI_THRIFT_LIST, "25028001ff", NULL);        /* two i32 */
    skips(UMBELI_THRIFT_LIST, "31010201ff", NULL);        /* three booleans, a byte each */
    skips(UMBELI_THRIFT_SET, "f3020102ff", NULL);         /* the long form of two i8 */
    skips(UMBELI_THRIFT_MAP, "00ff", NULL);               /* no types when empty */
    skips(UMBELI_THRIFT_MAP, "0285016102016204ff", NULL); /* two of text to i32 */
    skips(UMBELI_THRIFT_STRUCT, "00ff", NULL);
    skips(UMBELI_THRIFT_STRUCT, "1115021c0000ff", NULL);           /* true, i32, an empty struct */
    skips(UMBELI_THRIFT_STRUCT, "05feff030205ffff030200ff", NULL); /* fields 32767 and -32768 */
    skips(UMBELI_THRIFT_UUID, "000102030405060708090a0b0c0d0e0fff", NULL);
}

static void lies(void **state) {
    (void)state;
    skips(UMBELI_THRIFT_I8, "", "cut off");
    skips(UMBELI_THRIFT_I32, "80", "cut off");
    skips(UMBELI_THRIFT_I64, "ffffffffffffffffff02", "64 bits");
    skips(UMBELI_THRIFT_I64, "ffffffffffffffffffff01", "64 bits");
    skips(UMBELI_THRIFT_DOUBLE, "00000000000000", "cut off");
    skips(UMBELI_THRIFT_BINARY, "0461", "cut off");
    skips(UMBELI_THRIFT_BINARY, "ffffffffffffffffff01", "cut off");
    skips(UMBELI_THRIFT_LIST, "f5ffffffffffffffffff01", "more values");
    skips(UMBELI_THRIFT_LIST, "f5ffffff7f00", "more values");
    skips(UMBELI_THRIFT_LIST, "350202", "more values");
    skips(UMBELI_THRIFT_MAP, "03550202", "cut off");
    skips(UMBELI_THRIFT_MAP, "045502", "more values");
    skips(UMBELI_THRIFT_LIST, "200000", "no such type");
    skips(UMBELI_THRIFT_MAP, "ffffffff0f55", "more values");
    skips(UMBELI_THRIFT_STRUCT, "1e00", "no such type");
    skips(UMBELI_THRIFT_STRUCT, "0580800400", "16 bits");
    skips(UMBELI_THRIFT_STRUCT, "0581800400", "16 bits");
    skips(UMBELI_THRIFT_STRUCT, "05feff0302150200", "16 bits"); /* the one after 32767 */
    skips(UMBELI_THRIFT_STRUCT, "15", "cut off");
    skips(0, "00", "no such type");
    skips(14, "00", "no such type");
}

static void nesting_bombs(void **state) {
    (void)state;
    enum { LEVELS = 100000 };
    const uint8_t bombs[][3] = {
        {UMBELI_THRIFT_STRUCT, 0x1c, 0}, /* struct in struct */
        {UMBELI_THRIFT_LIST, 0x19, 0},   /* list in list */
        {UMBELI_THRIFT_SET, 0x1a, 0},
    };
    uint8_t *bytes = malloc(LEVELS);
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        memset(bytes, bombs[i][1], LEVELS);
        umbeli_thrift t = umbeli_thrift_over(bytes, LEVELS);
        umbeli_thrift_skip(&t, bombs[i][0]);
        assert_non_null(t.wrong);
        assert_non_null(strstr(t.wrong, "too deeply"));
        assert_true(t.in.pos <= UMBELI_THRIFT_DEPTH + 1);
    }
    for (size_t i = 0; i + 1 < LEVELS; i += 2) { /* map in map: one pair of maps */
        bytes[i] = 1;
        bytes[i + 1] = 0xbb;
    }
    umbeli_thrift t = umbeli_thrift_over(bytes, LEVELS);
    umbeli_thrift_skip(&t, UMBELI_THRIFT_MAP);
    assert_non_null(t.wrong);
    assert_non_null(strstr(t.wrong, "too deeply"));
    free(bytes);
}

static void nesting_up_to_the_limit(void **state) {
    (void)state;
    uint8_t bytes[2 * (UMBELI_THRIFT_DEPTH + 1)];
    for (size_t depth = 1; depth <= UMBELI_THRIFT_DEPTH + 1; depth++) {
        memset(bytes, 0x1c, depth - 1);      /* depth structs, each in the one before, */
        memset(bytes + depth - 1, 0, depth); /* and their end marks */
        umbeli_thrift t = umbeli_thrift_over(bytes, 2 * depth - 1);
        umbeli_thrift_skip(&t, UMBELI_THRIFT_STRUCT);
        assert_int_equal(t.wrong != NULL, depth > UMBELI_THRIFT_DEPTH);
    }
}

static void fields_and_integers(void **state) {
    (void)state;
    /* field 3 i64 = -2, field 300 (long form) i32 = 75, end */
    const uint8_t bytes[] = {0x36, 3, 0x05, 0xd8, 0x04, 0x96, 0x01, 0};
    umbeli_thrift t = umbeli_thrift_over(bytes, sizeof bytes);
    umbeli_thrift_field field = {0};
    assert_true(umbeli_thrift_next(&t, &field));
    assert_int_equal(field.id, 3);
    assert_int_equal(field.type, UMBELI_THRIFT_I64);
    assert_int_equal(umbeli_thrift_int(&t), -2);
    assert_true(umbeli_thrift_next(&t, &field));
    assert_int_equal(field.id, 300);
    assert_int_equal(umbeli_thrift_int(&t), 75);
    assert_false(umbeli_thrift_next(&t, &field));
    assert_null(t.wrong);
    assert_int_equal(umbeli_left(&t.in), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_type), cmocka_unit_test(lies),
        cmocka_unit_test(nesting_bombs),        cmocka_unit_test(nesting_up_to_the_limit),
        cmocka_unit_test(fields_and_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
