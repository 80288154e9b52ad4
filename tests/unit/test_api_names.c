/* SPDX-License-Identifier: MIT
 *
 * test_api_names.c - names and numbers that programs and files hold, error texts, versions
 */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "format/codec.h"
#include "kind/kind.h"
#include "umbel_foreign.h"
#include "umbel_table.h"

static void test_strerror(void **state) {
    (void)state;
    const char *unknown = umbel_strerror((umbel_err)9999);
    assert_non_null(unknown);
    assert_string_equal(umbel_strerror((umbel_err)-1), unknown);
    for (int e = UMBEL_OK; e <= UMBEL_EUNKNOWN; e++) {
        const char *text = umbel_strerror((umbel_err)e);
        assert_non_null(text);
        assert_string_not_equal(text, unknown);
        for (int other = UMBEL_OK; other < e; other++) {
            assert_string_not_equal(text, umbel_strerror((umbel_err)other));
        }
    }
}

static void test_kinds(void **state) {
    (void)state;
    umbel_kind kind = UMBEL_KIND_CLASSIC;
    assert_true(umbel_kind_named("auto", &kind));
    assert_int_equal(kind, UMBEL_KIND_AUTO);
    assert_string_equal(umbel_kind_name(UMBEL_KIND_AUTO), "auto");
    umbel_kind last = UMBEL_KIND_AUTO;
    for (const umbeli_kind *const *k = umbeli_kinds; *k; k++) {
        assert_true((*k)->id > last); /* in order, each once */
        last = (*k)->id;
        assert_string_equal(umbel_kind_name((*k)->id), (*k)->name);
        assert_true(umbel_kind_named((*k)->name, &kind));
        assert_int_equal(kind, (*k)->id);
    }
    assert_int_equal(UMBEL_KIND_BLOCKED, 1); /* these numbers are in files */
    assert_int_equal(UMBEL_KIND_CLASSIC, 2);
    kind = UMBEL_KIND_BLOCKED;
    assert_false(umbel_kind_named("", &kind));
    assert_false(umbel_kind_named("Blocked", &kind));
    assert_int_equal(kind, UMBEL_KIND_BLOCKED);
    assert_null(umbel_kind_name((umbel_kind)9999));
}

static void test_formats(void **state) {
    (void)state;
    umbel_format last = UMBEL_FMT_ANY, format;
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        assert_true((*codec)->id > last);
        last = (*codec)->id;
        assert_string_equal(umbel_format_name((*codec)->id), (*codec)->name);
        assert_true(umbel_format_named((*codec)->name, &format));
        assert_int_equal(format, (*codec)->id);
    }
    format = UMBEL_FMT_NATIVE;
    assert_false(umbel_format_named("no such format", &format));
    assert_int_equal(format, UMBEL_FMT_NATIVE);
    assert_null(umbel_format_name((umbel_format)9999));
    assert_string_equal(umbel_format_name(UMBEL_FMT_NATIVE), "native");
}

static void test_version(void **state) {
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", UMBEL_VERSION_MAJOR, UMBEL_VERSION_MINOR,
             UMBEL_VERSION_PATCH);
    assert_string_equal(version, UMBEL_VERSION);
    assert_string_equal(umbel_version(), UMBEL_VERSION);
}

typedef struct number {
    int64_t is, was;
    const char *name;
} number;

#define NUMBER(name, was) \
    { name, was, #name }

static void assert_numbers(const number *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (numbers[i].is != numbers[i].was) {
            fail_msg("%s is %d", numbers[i].name, (int)numbers[i].is);
        }
    }
}

#define assert_all(numbers) assert_numbers(numbers, sizeof(numbers) / sizeof(numbers)[0])

static void errors(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_OK, 0),        NUMBER(UMBEL_EINVAL, 1),   NUMBER(UMBEL_ENOMEM, 2),
        NUMBER(UMBEL_ELIMIT, 3),    NUMBER(UMBEL_ECORRUPT, 4), NUMBER(UMBEL_EVERSION, 5),
        NUMBER(UMBEL_ESPACE, 6),    NUMBER(UMBEL_EFULL, 7),    NUMBER(UMBEL_EFROZEN, 8),
        NUMBER(UMBEL_EMISMATCH, 9), NUMBER(UMBEL_ENOTSUP, 10), NUMBER(UMBEL_EABSENT, 11),
        NUMBER(UMBEL_EIO, 12),      NUMBER(UMBEL_ESECRET, 13),
    };
    assert_all(all);
}

static void kinds(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_KIND_AUTO, 0),     NUMBER(UMBEL_KIND_BLOCKED, 1),
        NUMBER(UMBEL_KIND_CLASSIC, 2),  NUMBER(UMBEL_KIND_STATIC, 3),
        NUMBER(UMBEL_KIND_COUNTING, 4), NUMBER(UMBEL_KIND_SCALABLE, 5),
        NUMBER(UMBEL_KIND_WINDOW, 6),   NUMBER(UMBEL_KIND_TIGHT, 7),
        NUMBER(UMBEL_KIND_LINE, 8),
    };
    assert_all(all);
}

static void formats(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_FMT_ANY, 0),     NUMBER(UMBEL_FMT_NATIVE, 1),
        NUMBER(UMBEL_FMT_LEVELDB, 2), NUMBER(UMBEL_FMT_COREKV, 3),
        NUMBER(UMBEL_FMT_BADGER, 4),  NUMBER(UMBEL_FMT_CLICKHOUSE, 5),
        NUMBER(UMBEL_FMT_GOCRC32, 6), NUMBER(UMBEL_FMT_GUAVA, 7),
        NUMBER(UMBEL_FMT_PARQUET, 8), NUMBER(UMBEL_FMT_REDISBLOOM, 9),
        NUMBER(UMBEL_FMT_DCSO, 10),   NUMBER(UMBEL_FMT_ROCKSDB, 11),
        NUMBER(UMBEL_FMT_SPARK, 12),
    };
    assert_all(all);
}

static void variants(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_VARIANT_INT32, 1),
        NUMBER(UMBEL_VARIANT_MITZ32, 2),
        NUMBER(UMBEL_VARIANT_GUAVA_2024, 4),
        NUMBER(UMBEL_VARIANT_CLICKHOUSE_INDEX, 8),
        NUMBER(UMBEL_VARIANT_CLICKHOUSE_NUMBERS, 16),
        NUMBER(UMBEL_VARIANT_CLICKHOUSE_PRE2024, 32),
        NUMBER(UMBEL_VARIANT_SPARK_V1, 64),
    };
    assert_all(all);
}

static void types(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_TYPE_STRING, 0),     NUMBER(UMBEL_TYPE_UTF16, 1),
        NUMBER(UMBEL_TYPE_INT8, 2),       NUMBER(UMBEL_TYPE_INT16, 3),
        NUMBER(UMBEL_TYPE_INT32, 4),      NUMBER(UMBEL_TYPE_INT64, 5),
        NUMBER(UMBEL_TYPE_UINT8, 6),      NUMBER(UMBEL_TYPE_UINT16, 7),
        NUMBER(UMBEL_TYPE_UINT32, 8),     NUMBER(UMBEL_TYPE_UINT64, 9),
        NUMBER(UMBEL_TYPE_FLOAT, 10),     NUMBER(UMBEL_TYPE_DOUBLE, 11),
        NUMBER(UMBEL_TYPE_UINT32_BE, 12),
    };
    assert_all(all);
}

static void verdicts(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_PLAN_OK, 0),          NUMBER(UMBEL_PLAN_UNDERDETERMINED, 1),
        NUMBER(UMBEL_PLAN_BAD_RATE, 2),    NUMBER(UMBEL_PLAN_BELOW_BOUND, 3),
        NUMBER(UMBEL_PLAN_BEYOND_KIND, 4), NUMBER(UMBEL_PLAN_TOO_LARGE, 5),
        NUMBER(UMBEL_PLAN_TOO_SMALL, 6),   NUMBER(UMBEL_PLAN_BAD_KIND, 7),
        NUMBER(UMBEL_PLAN_BAD_HASHES, 8),
    };
    assert_all(all);
}

static void tables(void **state) {
    (void)state;
    const number all[] = {
        NUMBER(UMBEL_TABLE_ANY, 0),     NUMBER(UMBEL_TABLE_LEVELDB, 1),
        NUMBER(UMBEL_TABLE_PARQUET, 3), NUMBER(UMBEL_TABLE_CLICKHOUSE, 2),
        NUMBER(UMBEL_TABLE_FILTER, 0),  NUMBER(UMBEL_TABLE_EMPTY, 1),
        NUMBER(UMBEL_TABLE_NONE, 2),    NUMBER(UMBEL_TABLE_UNREADABLE, 3),
    };
    assert_all(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strerror), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_formats),  cmocka_unit_test(test_version),
        cmocka_unit_test(errors),        cmocka_unit_test(kinds),
        cmocka_unit_test(formats),       cmocka_unit_test(variants),
        cmocka_unit_test(types),         cmocka_unit_test(verdicts),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
