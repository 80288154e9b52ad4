/* SPDX-License-Identifier: MIT
 *
 * test_header.c - what programs compiled against the headers rely on: numbers, sizes and places
 *
 * A program keeps working with a later library only while these stay.  Structs have no gaps, so that
 * every byte of them means something, and end in words for what is to come.
 */
#include "cases.h"

#include "umbel_foreign.h"
#include "umbel_meta.h"

/* ---- Numbers ------------------------------------------------------------------------------ */

static void test_errors(void **state) {
    (void)state;
    static const umbel_err errors[] = {
        UMBEL_OK,       UMBEL_EINVAL,  UMBEL_ENOMEM, UMBEL_ELIMIT,  UMBEL_ECORRUPT,
        UMBEL_EVERSION, UMBEL_ESPACE,  UMBEL_EFULL,  UMBEL_EFROZEN, UMBEL_EMISMATCH,
        UMBEL_ENOTSUP,  UMBEL_EABSENT, UMBEL_EIO,    UMBEL_ESECRET, UMBEL_EUNKNOWN,
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) assert_int_equal(errors[i], i);
}

static void test_kinds(void **state) {
    (void)state;
    static const umbel_kind kinds[] = {
        UMBEL_KIND_AUTO,     UMBEL_KIND_BLOCKED,  UMBEL_KIND_CLASSIC, UMBEL_KIND_STATIC,
        UMBEL_KIND_COUNTING, UMBEL_KIND_SCALABLE, UMBEL_KIND_WINDOW,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) assert_int_equal(kinds[i], i);
}

static void test_formats(void **state) {
    (void)state;
    static const umbel_format formats[] = {
        UMBEL_FMT_ANY,     UMBEL_FMT_NATIVE,     UMBEL_FMT_LEVELDB, UMBEL_FMT_COREKV,
        UMBEL_FMT_BADGER,  UMBEL_FMT_CLICKHOUSE, UMBEL_FMT_GOCRC32, UMBEL_FMT_GUAVA,
        UMBEL_FMT_PARQUET, UMBEL_FMT_REDISBLOOM, UMBEL_FMT_DCSO,    UMBEL_FMT_ROCKSDB,
        UMBEL_FMT_SPARK,
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) assert_int_equal(formats[i], i);
}

static void test_verdicts(void **state) {
    (void)state;
    static const umbel_verdict verdicts[] = {
        UMBEL_PLAN_OK,          UMBEL_PLAN_UNDERDETERMINED, UMBEL_PLAN_BAD_RATE,
        UMBEL_PLAN_BELOW_BOUND, UMBEL_PLAN_BEYOND_KIND,     UMBEL_PLAN_TOO_LARGE,
        UMBEL_PLAN_TOO_SMALL,   UMBEL_PLAN_BAD_KIND,        UMBEL_PLAN_BAD_HASHES,
    };
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        assert_int_equal(verdicts[i], i);
    }
}

static void test_types_and_variants(void **state) {
    (void)state;
    static const umbel_type types[] = {
        UMBEL_TYPE_STRING,    UMBEL_TYPE_UTF16,  UMBEL_TYPE_INT8,  UMBEL_TYPE_INT16,
        UMBEL_TYPE_INT32,     UMBEL_TYPE_INT64,  UMBEL_TYPE_UINT8, UMBEL_TYPE_UINT16,
        UMBEL_TYPE_UINT32,    UMBEL_TYPE_UINT64, UMBEL_TYPE_FLOAT, UMBEL_TYPE_DOUBLE,
        UMBEL_TYPE_UINT32_BE,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) assert_int_equal(types[i], i);
    static const umbel_variant variants[] = {
        UMBEL_VARIANT_INT32,
        UMBEL_VARIANT_MITZ32,
        UMBEL_VARIANT_GUAVA_2024,
        UMBEL_VARIANT_CLICKHOUSE_INDEX,
        UMBEL_VARIANT_CLICKHOUSE_NUMBERS,
        UMBEL_VARIANT_CLICKHOUSE_PRE2024,
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        assert_int_equal(variants[i], 1 << i);
    }
}

static void test_version(void **state) {
    (void)state;
    assert_int_equal(UMBEL_VERSION_NUMBER,
                     10000 * UMBEL_VERSION_MAJOR + 100 * UMBEL_VERSION_MINOR + UMBEL_VERSION_PATCH);
}

/* ---- Places, where pointers and size_t have 64 bits ---------------------------------------- */

#if UINTPTR_MAX == UINT64_MAX

#define AT(type, member, place) \
    _Static_assert(offsetof(type, member) == (place), #type "." #member " has moved")
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
/* Nothing lies between these two. */
#define NEXT(type, member, next)                                                                 \
    _Static_assert(offsetof(type, member) + sizeof(((type *)0)->member) == offsetof(type, next), \
                   "a gap in " #type " after " #member)
#define LAST(type, member)                                                               \
    _Static_assert(offsetof(type, member) + sizeof(((type *)0)->member) == sizeof(type), \
                   "a gap at the end of " #type)

AT(umbel_diag, what, 0);
NEXT(umbel_diag, what, offset);
NEXT(umbel_diag, offset, need);
NEXT(umbel_diag, need, sys);
NEXT(umbel_diag, sys, field);
LAST(umbel_diag, field);
SIZE(umbel_diag, 64);

AT(umbel_params, kind, 0);
NEXT(umbel_params, kind, hashes);
NEXT(umbel_params, hashes, capacity);
NEXT(umbel_params, capacity, fpr);
NEXT(umbel_params, fpr, bytes);
NEXT(umbel_params, bytes, seed);
NEXT(umbel_params, seed, secret);
NEXT(umbel_params, secret, concurrent);
NEXT(umbel_params, concurrent, reserved32);
NEXT(umbel_params, reserved32, scalable.expansion);
NEXT(umbel_params, scalable.expansion, scalable.max_layers);
NEXT(umbel_params, scalable.max_layers, window.generations);
NEXT(umbel_params, window.generations, window.manual);
NEXT(umbel_params, window.manual, reserved);
LAST(umbel_params, reserved);
SIZE(umbel_params, 104);

AT(umbel_opts, alloc, 0);
NEXT(umbel_opts, alloc, max_bytes);
NEXT(umbel_opts, max_bytes, secret);
NEXT(umbel_opts, secret, tmp);
NEXT(umbel_opts, tmp, threads);
NEXT(umbel_opts, threads, concurrent);
NEXT(umbel_opts, concurrent, reserved);
LAST(umbel_opts, reserved);
SIZE(umbel_opts, 72);

AT(umbel_info, kind, 0);
NEXT(umbel_info, kind, format);
NEXT(umbel_info, format, layout);
NEXT(umbel_info, layout, kernel);
NEXT(umbel_info, kernel, seed);
NEXT(umbel_info, seed, fingerprint);
NEXT(umbel_info, fingerprint, capacity);
NEXT(umbel_info, capacity, fpr);
NEXT(umbel_info, fpr, bits);
NEXT(umbel_info, bits, bytes);
NEXT(umbel_info, bytes, keys_added);
NEXT(umbel_info, keys_added, hashes);
NEXT(umbel_info, hashes, layers);
NEXT(umbel_info, layers, generations);
NEXT(umbel_info, generations, grows);
NEXT(umbel_info, grows, frozen);
NEXT(umbel_info, frozen, concurrent);
NEXT(umbel_info, concurrent, manual);
NEXT(umbel_info, manual, exceptions);
NEXT(umbel_info, exceptions, outdated);
NEXT(umbel_info, outdated, reserved8);
NEXT(umbel_info, reserved8, reserved);
LAST(umbel_info, reserved);
SIZE(umbel_info, 128);

AT(umbel_measurement, bits, 0);
NEXT(umbel_measurement, bits, bits_set);
NEXT(umbel_measurement, bits_set, keys);
NEXT(umbel_measurement, keys, rate);
NEXT(umbel_measurement, rate, keys_error);
NEXT(umbel_measurement, keys_error, reserved);
LAST(umbel_measurement, reserved);
SIZE(umbel_measurement, 64);

AT(umbel_plan, kind, 0);
NEXT(umbel_plan, kind, hashes);
NEXT(umbel_plan, hashes, capacity);
NEXT(umbel_plan, capacity, fpr);
NEXT(umbel_plan, fpr, bytes);
NEXT(umbel_plan, bytes, bits);
NEXT(umbel_plan, bits, rate);
NEXT(umbel_plan, rate, bits_per_key);
NEXT(umbel_plan, bits_per_key, bound);
NEXT(umbel_plan, bound, generations);
NEXT(umbel_plan, generations, verdict);
NEXT(umbel_plan, verdict, why);
NEXT(umbel_plan, why, reserved);
LAST(umbel_plan, reserved);
SIZE(umbel_plan, 112);

AT(umbel_key, data, 0);
NEXT(umbel_key, data, len);
LAST(umbel_key, len);
SIZE(umbel_key, 16);

AT(umbel_key_rule, field, 0);
NEXT(umbel_key_rule, field, delimiter);
NEXT(umbel_key_rule, delimiter, trim);
NEXT(umbel_key_rule, trim, lower);
NEXT(umbel_key_rule, lower, upper);
LAST(umbel_key_rule, upper);
SIZE(umbel_key_rule, 8);

AT(umbel_alloc, alloc, 0);
NEXT(umbel_alloc, alloc, free);
NEXT(umbel_alloc, free, ctx);
LAST(umbel_alloc, ctx);
SIZE(umbel_alloc, 24);

AT(umbel_foreign, format, 0);
NEXT(umbel_foreign, format, variant);
NEXT(umbel_foreign, variant, capacity);
NEXT(umbel_foreign, capacity, fpr);
NEXT(umbel_foreign, fpr, bytes);
NEXT(umbel_foreign, bytes, seed);
NEXT(umbel_foreign, seed, hashes);
NEXT(umbel_foreign, hashes, bits_per_key);
NEXT(umbel_foreign, bits_per_key, expansion);
NEXT(umbel_foreign, expansion, nonscaling);
NEXT(umbel_foreign, nonscaling, reserved);
LAST(umbel_foreign, reserved);
SIZE(umbel_foreign, 88);

#endif

/* Enums are passed and kept as ints. */
_Static_assert(sizeof(umbel_err) == 4 && sizeof(umbel_kind) == 4 && sizeof(umbel_format) == 4,
               "enums have 4 bytes");
_Static_assert(sizeof(umbel_verdict) == 4 && sizeof(umbel_type) == 4 && sizeof(umbel_variant) == 4,
               "enums have 4 bytes");

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_formats), cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_version), cmocka_unit_test(test_types_and_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
