/* SPDX-License-Identifier: MIT
 *
 * test_api_params.c - umbel_create: what is refused and with which message, and what the rest gives
 */
#include "any_filter.h"
#include "cases.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "umbel_foreign.h"
#include "watched_memory.h"

static const uint64_t huge = UINT64_MAX;

static void refused_with(umbel_params params, umbel_err want, const char *word) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.offset = 99, .sys = 99};
    watched_memory m;
    watch_memory(&m, 0);
    errno = 0;
    umbel_err e = umbel_create(&params, &m.opts, &f, &diag);
    if (e != want) fail_msg("%s, not %s", umbel_err_name(e), umbel_err_name(want));
    assert_null(f);
    assert_int_equal(m.calls, 0); /* before anything is allocated */
    assert_int_equal(errno, 0);
    assert_int_equal(diag.offset, 0);
    assert_int_equal(diag.sys, 0);
    if (!strstr(sentence(&diag), word))
        fail_msg("\"%s\" does not say \"%s\"", sentence(&diag), word);
    assert_int_equal(umbel_create(&params, NULL, &f, NULL), want); /* diag is optional */
}

static void refused(umbel_params params, const char *word) {
    refused_with(params, UMBEL_EINVAL, word);
}

static void test_rates(void **state) {
    (void)state;
    const double rates[] = {NAN, -NAN, INFINITY, -INFINITY, -0.01, -1e-300, 1.0, 1.5, 1e300};
    for (umbel_kind kind = UMBEL_KIND_AUTO; kind <= UMBEL_KIND_CLASSIC; kind++) {
        for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
            refused((umbel_params){.kind = kind, .capacity = 1000, .fpr = rates[i]}, "fpr");
            refused((umbel_params){.kind = kind, .bytes = 1000, .fpr = rates[i]}, "fpr");
            refused((umbel_params){.kind = kind, .capacity = 1, .bytes = 64, .fpr = rates[i]},
                    "fpr");
        }
        refused((umbel_params){.kind = kind, .capacity = 1000, .fpr = 0}, "two of");
    }
}

static void test_too_little(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_AUTO; kind <= UMBEL_KIND_CLASSIC; kind++) {
        refused((umbel_params){.kind = kind}, "two of");
        refused((umbel_params){.kind = kind, .capacity = 5}, "two of");
        refused((umbel_params){.kind = kind, .fpr = 0.5}, "two of");
    }
    for (uint64_t bytes = 1; bytes < 32; bytes++) {
        refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = bytes}, "block");
    }
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = 64}, "hashes");
}

static void test_too_much(void **state) {
    (void)state;
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .capacity = huge, .fpr = 1e-9}, "2^63");
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .capacity = UINT64_C(1) << 62, .fpr = 0.01},
            "2^63");
    refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = huge, .fpr = 0.01}, "");
    refused((umbel_params){.kind = UMBEL_KIND_AUTO, .capacity = huge, .fpr = 1e-18}, "");
    refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = huge}, "bytes");
    refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = UINT64_C(1) << 37}, "bytes");
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = huge, .hashes = 3}, "bytes");
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = UINT64_C(1) << 60, .hashes = 3},
            "bytes");
    refused((umbel_params){.capacity = 2000000000, .bytes = 500 << 20, .fpr = 0.01}, "");
}

static void test_contradictions(void **state) {
    (void)state;
    refused(
        (umbel_params){.kind = UMBEL_KIND_CLASSIC, .capacity = 10, .fpr = 0.1, .concurrent = true},
        "concurrent");
    refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 64, .hashes = 7}, "hashes");
    refused((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = 9, .fpr = 0.1, .hashes = 7},
            "hashes");
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = 64, .hashes = 1025}, "hashes");
    refused((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = 64, .hashes = UINT32_MAX},
            "hashes");
    refused(
        (umbel_params){
            .kind = UMBEL_KIND_CLASSIC, .capacity = 10, .fpr = 0.1, .hashes = UINT32_MAX},
        "hashes");
    refused((umbel_params){.kind = (umbel_kind)9999, .capacity = 10, .fpr = 0.1}, "kind");
    refused((umbel_params){.kind = (umbel_kind)9999, .bytes = 1000}, "kind");
    umbel_foreign strange = {.format = (umbel_format)9999, .capacity = 10, .fpr = 0.1};
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_create_foreign(&strange, NULL, &f, &diag), UMBEL_EINVAL);
    assert_null(f);
    assert_string_equal(diag.field, "format");
}

static void test_reserved(void **state) {
    (void)state;
    umbel_params params = {.capacity = 10, .fpr = 0.1};
    for (size_t i = 0; i < sizeof params.reserved / sizeof params.reserved[0]; i++) {
        params.reserved[i] = 1;
        refused(params, "reserved");
        params.reserved[i] = 0;
    }
}

/* 127 GiB and more: the limit is checked before memory is requested. */
static void test_limit(void **state) {
    (void)state;
    watched_memory m;
    watch_memory(&m, 0);
    m.opts.max_bytes = 1 << 20;
    umbel_filter *f = NULL;
    const umbel_params large[] = {
        {.kind = UMBEL_KIND_BLOCKED, .bytes = (UINT64_C(1) << 37) - 32},
        {.kind = UMBEL_KIND_CLASSIC, .bytes = (UINT64_C(1) << 60) - 1, .hashes = 1},
        {.capacity = 1000000, .fpr = 0.01},
        {.kind = UMBEL_KIND_BLOCKED, .bytes = (1 << 20) + 32},
    };
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        umbel_diag diag = {0};
        assert_int_equal(umbel_create(&large[i], &m.opts, &f, &diag), UMBEL_ELIMIT);
        assert_non_null(strstr(sentence(&diag), "max_bytes"));
        assert_true(m.peak < 4096);
        assert_int_equal(m.blocks, 0);
    }
    assert_ok(umbel_create(&(umbel_params){.bytes = 1 << 20}, &m.opts, &f, NULL));
    umbel_free(f);
    assert_int_equal(m.blocks, 0);
}

static void test_no_memory(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    errno = 0;
    umbel_params params = {
        .kind = UMBEL_KIND_CLASSIC, .bytes = (UINT64_C(1) << 60) - 1, .hashes = 1};
    assert_int_equal(umbel_create(&params, NULL, &f, &diag), UMBEL_ENOMEM);
    assert_non_null(strstr(sentence(&diag), "memory"));
    assert_null(f);
    assert_int_equal(errno, 0);
}

static umbel_info made(umbel_params params) {
    umbel_filter *f = NULL;
    umbel_info info;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    umbel_describe(f, &info);
    umbel_free(f);
    return info;
}

static void test_shapes(void **state) {
    (void)state;
    umbel_info info = made((umbel_params){.bytes = 100, .seed = huge});
    assert_int_equal(info.kind, UMBEL_KIND_BLOCKED);
    assert_int_equal(info.bits, 768); /* at most what was given */
    assert_int_equal(info.hashes, 8);
    assert_true(info.seed == huge);
    assert_string_equal(info.layout, "blocked/xxh3");
    assert_int_equal(info.capacity, 0);
    assert_true(info.fpr == 0);
    assert_false(info.frozen || info.concurrent);

    info = made((umbel_params){.kind = UMBEL_KIND_CLASSIC, .bytes = 100, .hashes = 1024});
    assert_int_equal(info.bits, 800);
    assert_int_equal(info.bytes, 100);
    assert_int_equal(info.hashes, 1024);
    assert_string_equal(info.layout, "classic/xxh3-128");

    info = made((umbel_params){.capacity = 1000, .fpr = 0.01, .concurrent = true});
    assert_int_equal(info.kind, UMBEL_KIND_BLOCKED);
    assert_true(info.concurrent);
    assert_int_equal(info.capacity, 1000);
    assert_true(info.fpr == 0.01);

    info = made((umbel_params){.capacity = 1000, .fpr = 1e-12}); /* where blocked is too large */
    assert_int_equal(info.kind, UMBEL_KIND_CLASSIC);
    info = made((umbel_params){.capacity = 1, .fpr = 0.999999});
    assert_true(info.bytes <= 64);
    info = made((umbel_params){.kind = UMBEL_KIND_CLASSIC, .capacity = 10, .bytes = 1000});
    assert_true(info.fpr > 0 && info.fpr < 1e-9);
    umbel_filter *f = NULL;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .capacity = 10, .bytes = 1000};
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    umbel_measurement now = measured(f);
    assert_int_equal(now.bits_set, 0);
    assert_true(now.keys == 0);
    assert_true(!signbit(now.keys));
    assert_true(now.rate == 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),     cmocka_unit_test(test_too_little),
        cmocka_unit_test(test_too_much),  cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_reserved),  cmocka_unit_test(test_limit),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
