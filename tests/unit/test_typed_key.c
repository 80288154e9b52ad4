/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "golden.h"
#include "umbel_foreign.h"

/* hex NULL: refused. */
static void expect(umbel_type type, const char *text, const char *hex) {
    uint8_t key[64];
    size_t len = 99, want_len;
    umbel_diag diag = {0};
    errno = 7;
    umbel_err e = umbel_typed_key(type, text, strlen(text), key, sizeof key, &len, &diag);
    assert_int_equal(errno, 7);
    if (!hex) {
        if (e != UMBEL_EINVAL) fail_msg("%s '%s' was taken", umbel_type_name(type), text);
        assert_int_equal(len, 99);
        return;
    }
    if (e) fail_msg("%s '%s': %s", umbel_type_name(type), text, sentence(&diag));
    uint8_t *want = golden_hex(hex, &want_len);
    assert_int_equal(len, want_len);
    assert_memory_equal(key, want, want_len);
    free(want);
}

static void integers(void **state) {
    (void)state;
    expect(UMBEL_TYPE_INT8, "-128", "80");
    expect(UMBEL_TYPE_INT8, "-129", NULL);
    expect(UMBEL_TYPE_INT8, "127", "7f");
    expect(UMBEL_TYPE_INT8, "128", NULL);
    expect(UMBEL_TYPE_UINT8, "255", "ff");
    expect(UMBEL_TYPE_UINT8, "256", NULL);
    expect(UMBEL_TYPE_INT16, "-2", "feff");
    expect(UMBEL_TYPE_UINT16, "258", "0201");
    expect(UMBEL_TYPE_INT32, "-5", "fbffffff");
    expect(UMBEL_TYPE_INT32, "2147483648", NULL);
    expect(UMBEL_TYPE_UINT32, "4294967295", "ffffffff");
    expect(UMBEL_TYPE_UINT32BE, "258", "00000102");
    expect(UMBEL_TYPE_INT64, "-9223372036854775808", "0000000000000080");
    expect(UMBEL_TYPE_INT64, "-9223372036854775809", NULL);
    expect(UMBEL_TYPE_INT64, "9223372036854775808", NULL);
    expect(UMBEL_TYPE_UINT64, "18446744073709551615", "ffffffffffffffff");
    expect(UMBEL_TYPE_UINT64, "18446744073709551616", NULL);
    expect(UMBEL_TYPE_UINT64, "99999999999999999999", NULL);
    expect(UMBEL_TYPE_UINT64, "-1", NULL);
    expect(UMBEL_TYPE_UINT64, "+1", "0100000000000000");
    expect(UMBEL_TYPE_INT64, "", NULL);
    expect(UMBEL_TYPE_INT64, "-", NULL);
    expect(UMBEL_TYPE_INT64, " 1", NULL);
    expect(UMBEL_TYPE_INT64, "1x", NULL);
}

static void floats(void **state) {
    (void)state;
    expect(UMBEL_TYPE_DOUBLE, "0.25", "000000000000d03f");
    expect(UMBEL_TYPE_DOUBLE, "-0.0", "0000000000000080");
    expect(UMBEL_TYPE_FLOAT, "0.25", "0000803e");
    expect(UMBEL_TYPE_DOUBLE, "1e400", "000000000000f07f"); /* errno is unchanged */
    expect(UMBEL_TYPE_DOUBLE, "", NULL);
    expect(UMBEL_TYPE_DOUBLE, " 1", NULL);
    expect(UMBEL_TYPE_DOUBLE, "1 ", NULL);
}

static void strings(void **state) {
    (void)state;
    expect(UMBEL_TYPE_STRING, "", "");
    expect(UMBEL_TYPE_STRING, "a\xff", "61ff");
    expect(UMBEL_TYPE_UTF16, "", "");
    expect(UMBEL_TYPE_UTF16, "a\xc3\xa9\xe5\xb8\x83", "6100e900035e");
    expect(UMBEL_TYPE_UTF16, "\xf0\x9f\x98\x80", "3dd800de");
    expect(UMBEL_TYPE_UTF16, "\xff", NULL);
    expect(UMBEL_TYPE_UTF16, "\xc3", NULL);
    expect(UMBEL_TYPE_UTF16, "\xc0\x80", NULL);     /* overlong encoding */
    expect(UMBEL_TYPE_UTF16, "\xe0\x80\x80", NULL); /* likewise */
    expect(UMBEL_TYPE_UTF16, "\xf4\x90\x80\x80", NULL);
}

/* The first and the last code point of each length and range, and those just outside. */
static void ends_of_ranges(void **state) {
    (void)state;
    expect(UMBEL_TYPE_UTF16, "\x7f", "7f00");
    expect(UMBEL_TYPE_UTF16, "\x80", NULL);
    expect(UMBEL_TYPE_UTF16, "\xc1\xbf", NULL);
    expect(UMBEL_TYPE_UTF16, "\xc2\x80", "8000");
    expect(UMBEL_TYPE_UTF16, "\xc2\x7f", NULL);
    expect(UMBEL_TYPE_UTF16, "\xc2\xc0", NULL);
    expect(UMBEL_TYPE_UTF16, "\xdf\xbf", "ff07");
    expect(UMBEL_TYPE_UTF16, "\xe0\x9f\xbf", NULL);
    expect(UMBEL_TYPE_UTF16, "\xe0\xa0\x80", "0008");
    expect(UMBEL_TYPE_UTF16, "\xed\x9f\xbf", "ffd7");
    expect(UMBEL_TYPE_UTF16, "\xed\xa0\x80", NULL); /* U+D800, the first surrogate */
    expect(UMBEL_TYPE_UTF16, "\xed\xaf\xbf", NULL);
    expect(UMBEL_TYPE_UTF16, "\xed\xb0\x80", NULL); /* U+DC00, the first low one */
    expect(UMBEL_TYPE_UTF16, "\xed\xbf\xbf", NULL);
    expect(UMBEL_TYPE_UTF16, "\xee\x80\x80", "00e0");
    expect(UMBEL_TYPE_UTF16, "\xef\xbf\xbf", "ffff");
    expect(UMBEL_TYPE_UTF16, "\xf0\x8f\xbf\xbf", NULL);
    expect(UMBEL_TYPE_UTF16, "\xf0\x90\x80\x80", "00d800dc");
    expect(UMBEL_TYPE_UTF16, "\xf4\x8f\xbf\xbf", "ffdbffdf");
    expect(UMBEL_TYPE_UTF16, "\xf5\x80\x80\x80", NULL);
}

/* What PostgreSQL 15 reads as uuid and bytea. */
static void written_bytes(void **state) {
    (void)state;
    const char *uuid = "00112233445566778899aabbccddeeff";
    expect(UMBEL_TYPE_UUID, "00112233-4455-6677-8899-aabbccddeeff", uuid);
    expect(UMBEL_TYPE_UUID, "00112233445566778899AABBCCDDEEFF", uuid);
    expect(UMBEL_TYPE_UUID, "{0011-2233-4455-6677-8899-aabb-ccdd-eeff}", uuid);
    expect(UMBEL_TYPE_UUID, "001122334455-66778899aabbccddeeff", uuid);
    expect(UMBEL_TYPE_UUID, "00-112233445566778899aabbccddeeff", NULL);
    expect(UMBEL_TYPE_UUID, "00112233--445566778899aabbccddeeff", NULL);
    expect(UMBEL_TYPE_UUID, "00112233445566778899aabbccddeeff-", NULL);
    expect(UMBEL_TYPE_UUID, "{00112233445566778899aabbccddeeff", NULL);
    expect(UMBEL_TYPE_UUID, "00112233445566778899aabbccddeeff}", NULL);
    expect(UMBEL_TYPE_UUID, "00112233445566778899aabbccddeef", NULL);
    expect(UMBEL_TYPE_BYTEA, "\\x", "");
    expect(UMBEL_TYPE_BYTEA, "\\xDEad 00", "dead00");
    expect(UMBEL_TYPE_BYTEA, "\\xd ead", NULL);
    expect(UMBEL_TYPE_BYTEA, "\\Xde", NULL);
    expect(UMBEL_TYPE_BYTEA, "de\\\\\\377a", "64655cff61");
    expect(UMBEL_TYPE_BYTEA, "a\\", NULL);
    expect(UMBEL_TYPE_BYTEA, "a\\37", NULL);
    expect(UMBEL_TYPE_BYTEA, "a\\400", NULL);
}

static void small_buffers(void **state) {
    (void)state;
    uint8_t key[4];
    size_t len = 0;
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_INT64, "1", 1, key, 4, &len, NULL), UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_STRING, "12345", 5, key, 4, &len, NULL),
                     UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_UTF16, "abc", 3, key, 4, &len, NULL), UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_UTF16, "ab", 2, key, 4, &len, NULL), UMBEL_OK);
    assert_int_equal(len, 4);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_UTF16, "\xf0\x9f\x98\x80", 4, key, 4, &len, NULL),
                     UMBEL_OK);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_UTF16, "\xf0\x9f\x98\x80", 4, key, 3, &len, NULL),
                     UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_STRING, "1234", 4, key, 4, &len, NULL), UMBEL_OK);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_INT32, "1", 1, key, 4, &len, NULL), UMBEL_OK);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_INT32, "1", 1, key, 3, &len, NULL), UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_INET, "::", 2, key, 4, &len, NULL), UMBEL_ESPACE);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_INET, "1.2.3.4", 7, key, 4, &len, NULL), UMBEL_OK);
    assert_int_equal(umbel_typed_key(UMBEL_TYPE_NUMERIC, "1", 1, key, 4, &len, NULL), UMBEL_ESPACE);
}

static void names(void **state) {
    (void)state;
    umbel_type type;
    for (int i = 0; i <= UMBEL_TYPE_NUMERIC; i++) {
        assert_true(umbel_type_named(umbel_type_name((umbel_type)i), &type));
        assert_int_equal(type, i);
    }
    assert_false(umbel_type_named("int", &type));
    assert_null(umbel_type_name((umbel_type)20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),      cmocka_unit_test(floats),
        cmocka_unit_test(strings),       cmocka_unit_test(ends_of_ranges),
        cmocka_unit_test(written_bytes), cmocka_unit_test(small_buffers),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
