/* SPDX-License-Identifier: MIT
 *
 * test_api_numbers.c - the numbers of every public enum: they are compiled into programs, and some
 * are in files
 */
#include "cases.h"

#include "umbel_foreign.h"
#include "umbel_table.h"

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
        NUMBER(UMBEL_FMT_DCSO, 10),
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
        cmocka_unit_test(errors),   cmocka_unit_test(kinds), cmocka_unit_test(formats),
        cmocka_unit_test(variants), cmocka_unit_test(types), cmocka_unit_test(verdicts),
        cmocka_unit_test(tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
