/* SPDX-License-Identifier: MIT
 *
 * test_memory.c - the caller's allocator, the limit, alignment, and fork and join
 *
 * labels: threads
 */
#include "any_filter.h"
#include "cases.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "watched_memory.h"

static void test_reserved(void **state) {
    (void)state;
    uint64_t words[3] = {0};
    assert_true(umbeli_reserved_zero(words, sizeof words));
    for (size_t i = 0; i < 3; i++) {
        words[i] = UINT64_C(1) << 63;
        assert_false(umbeli_reserved_zero(words, sizeof words));
        assert_true(umbeli_reserved_zero(words, i * sizeof *words));
        words[i] = 0;
    }
}

static void test_opts(void **state) {
    (void)state;
    umbeli_settings m;
    umbel_diag diag;
    assert_ok(umbeli_settings_from(NULL, &m, NULL));
    assert_int_equal(m.threads, 1);
    assert_int_equal(m.max_bytes, 0);
    assert_ok(umbeli_settings_from(&(umbel_opts){.threads = 0, .max_bytes = 5}, &m, NULL));
    assert_int_equal(m.threads, 1);
    assert_int_equal(m.max_bytes, 5);
    assert_ok(umbeli_settings_from(&(umbel_opts){.threads = 1024}, &m, NULL));
    assert_int_equal(m.threads, 1024);

    umbel_alloc half = {.alloc = NULL, .free = NULL};
    const umbel_opts wrong[] = {{.threads = 1025},       {.alloc = &half},
                                {.reserved = {1}},       {.reserved = {0, 1}},
                                {.reserved = {0, 0, 1}}, {.reserved = {0, 0, 0, 1}}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        diag = (umbel_diag){0};
        assert_int_equal(umbeli_settings_from(&wrong[i], &m, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.field, i < 1 ? "threads" : i < 2 ? "alloc" : "opts.reserved");
    }
}

static void test_arrays(void **state) {
    (void)state;
    const uint64_t lens[] = {1, 63, 64, 65, 4095, 4194303, 4194304, 4194305, 6000000};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        for (int hooked = 0; hooked < 2; hooked++) {
            watched_memory watched;
            watch_memory(&watched, 0); /* hands out memory that is not zeroed */
            umbeli_settings m;
            umbeli_array array;
            assert_ok(umbeli_settings_from(hooked ? &watched.opts : NULL, &m, NULL));
            assert_ok(umbeli_array_new(&m, lens[i], &array, NULL));
            uintptr_t align = !hooked && lens[i] >= 4194304 ? 2097152 : 64;
            assert_int_equal((uintptr_t)array.data % align, 0);
            if (hooked) assert_true(array.data - (uint8_t *)array.raw <= 64);
            assert_true(umbeli_bits_none(array.data, lens[i] + 63)); /* readable after the end */
            memset(array.data, 1, lens[i]);
            assert_int_equal(watched.blocks, hooked);
            umbeli_array_delete(&m, &array);
            assert_null(array.data);
            assert_int_equal(watched.blocks, 0);
        }
    }
}

static void test_limit(void **state) {
    (void)state;
    watched_memory watched;
    watch_memory(&watched, 0);
    watched.opts.max_bytes = 1000;
    umbeli_settings m;
    umbeli_array array;
    assert_ok(umbeli_settings_from(&watched.opts, &m, NULL));
    assert_int_equal(umbeli_array_new(&m, 1001, &array, NULL), UMBEL_ELIMIT);
    assert_int_equal(watched.calls, 0);
    assert_ok(umbeli_array_new(&m, 1000, &array, NULL));
    umbeli_array_delete(&m, &array);
}

static void test_impossible_sizes(void **state) {
    (void)state;
    umbeli_settings m;
    umbeli_array array;
    assert_ok(umbeli_settings_from(NULL, &m, NULL));
    errno = 0;
    const uint64_t lens[] = {UINT64_MAX, UINT64_MAX - 64, UINT64_C(1) << 62};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(umbeli_array_new(&m, lens[i], &array, NULL), UMBEL_ENOMEM);
    }
    assert_int_equal(errno, 0);
}

enum { MOST = 200 };

static void mark(void *ctx, uint32_t t) {
    atomic_fetch_add((_Atomic uint32_t *)ctx + t, 1);
}

static void test_parallel(void **state) {
    (void)state;
    const uint32_t threads[] = {1, 2, 3, 63, 64, 65, 129, MOST};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        _Atomic uint32_t done[MOST + 1] = {0};
        umbeli_parallel(threads[i], mark, done);
        for (uint32_t t = 0; t <= MOST; t++) assert_int_equal(done[t], t < threads[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reserved),         cmocka_unit_test(test_opts),
        cmocka_unit_test(test_arrays),           cmocka_unit_test(test_limit),
        cmocka_unit_test(test_impossible_sizes), cmocka_unit_test(test_parallel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
