/* SPDX-License-Identifier: MIT
 *
 * test_allocator.c - every allocation fails once: an error or a slower path, no change, no leak
 */
#include "any_filter.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_keys.h"
#include "subjects.h"
#include "umbel.h"
#include "watched_memory.h"

enum { TRIES = 100 };

static umbel_params params_of(umbel_kind kind) {
    return (umbel_params){
        .kind = kind, .bytes = 4096, .hashes = kind == UMBEL_KIND_CLASSIC ? 5 : 0};
}

static void test_create(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; kind <= UMBEL_KIND_CLASSIC; kind++) {
        umbel_params params = params_of(kind);
        umbel_err e = UMBEL_ENOMEM;
        size_t failed = 0;
        for (size_t at = 1; e && at < TRIES; at++) {
            watched_memory m;
            watch_memory(&m, at);
            umbel_filter *f = NULL;
            umbel_diag diag = {0};
            e = umbel_create(&params, &m.opts, &f, &diag);
            if (e) {
                failed++;
                assert_int_equal(e, UMBEL_ENOMEM);
                assert_null(f);
                assert_non_null(strstr(sentence(&diag), "memory"));
            }
            umbel_free(f);
            assert_int_equal(m.blocks, 0);
        }
        assert_int_equal(e, UMBEL_OK);
        assert_int_equal(failed, 2); /* the handle and the bits */
    }
}

static uint8_t *sample_bytes(umbel_kind kind, size_t *len) {
    umbel_params params = params_of(kind);
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    char name[8];
    for (int i = 0; i < 6; i++) { /* more than fit at first */
        snprintf(name, sizeof name, "n%d", i);
        assert_ok(umbel_set_meta(f, name, "text", NULL));
    }
    uint8_t *bytes = bytes_of(f, len);
    umbel_free(f);
    return bytes;
}

static void test_decode_and_view(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; kind <= UMBEL_KIND_CLASSIC; kind++) {
        size_t len;
        uint8_t *bytes = sample_bytes(kind, &len);
        for (int view = 0; view < 2; view++) {
            umbel_err e = UMBEL_ENOMEM;
            size_t at = 0;
            while (e && ++at < TRIES) {
                watched_memory m;
                watch_memory(&m, at);
                umbel_filter *f = NULL;
                e = umbel_decode(bytes, len, view ? UMBEL_MAP : UMBEL_LOAD, NULL, &m.opts, &f,
                                 NULL);
                assert_int_equal(e, at <= 9 + !view ? UMBEL_ENOMEM : UMBEL_OK);
                assert_true(!e == (f != NULL));
                assert_true(m.peak < len + 8192);
                umbel_free(f);
                assert_int_equal(m.blocks, 0);
            }
            assert_int_equal(at, view ? 10 : 11); /* handle, bits, 6 texts, 2 lists, then success */
        }
        free(bytes);
    }
}

static void test_copy(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = sample_bytes(UMBEL_KIND_BLOCKED, &len);
    watched_memory m;
    watch_memory(&m, 0);
    umbel_filter *f = NULL, *copy = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &m.opts, &f, NULL));
    size_t before = m.blocks, calls = m.calls, at = 0;
    umbel_err e = UMBEL_ENOMEM;
    while (e && ++at < TRIES) {
        m.calls = 0;
        m.fail_at = at;
        e = umbel_copy(f, &copy, NULL);
        if (e) {
            assert_int_equal(e, UMBEL_ENOMEM);
            assert_null(copy);
            assert_int_equal(m.blocks, before);
        }
    }
    assert_int_equal(at, calls + 1);
    assert_same_bytes(f, copy);
    umbel_free(copy);
    umbel_free(f);
    assert_int_equal(m.blocks, 0);
    free(bytes);
}

static void test_meta(void **state) {
    (void)state;
    watched_memory m;
    watch_memory(&m, 0);
    umbel_filter *f = NULL;
    umbel_params params = params_of(UMBEL_KIND_BLOCKED);
    assert_ok(umbel_create(&params, &m.opts, &f, NULL));
    char name[8];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "n%d", i % 12); /* the last ones replace earlier ones */
        umbel_err e = UMBEL_ENOMEM;
        for (size_t at = 1; e && at < TRIES; at++) {
            size_t len, after_len;
            uint8_t *before = bytes_of(f, &len);
            m.calls = 0;
            m.fail_at = at;
            e = umbel_set_meta(f, name, "text", NULL);
            uint8_t *after = bytes_of(f, &after_len);
            if (e) {
                assert_int_equal(e, UMBEL_ENOMEM);
                assert_int_equal(after_len, len);
                assert_memory_equal(before, after, len);
            }
            free(before);
            free(after);
        }
        assert_int_equal(e, UMBEL_OK);
    }
    umbel_free(f);
    assert_int_equal(m.blocks, 0);
}

static void test_fold(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; kind <= UMBEL_KIND_CLASSIC; kind++) {
        watched_memory m;
        watch_memory(&m, 0);
        umbel_params params = params_of(kind);
        umbel_filter *f = NULL;
        assert_ok(umbel_create(&params, &m.opts, &f, NULL));
        assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
        umbel_err e = UMBEL_ENOMEM;
        size_t at = 0, len, after_len;
        uint8_t *before = bytes_of(f, &len);
        while (e && ++at < TRIES) {
            m.calls = 0;
            m.fail_at = at;
            e = umbel_fold(f, 0.01, NULL);
            assert_int_equal(m.blocks, 2);
            if (!e) continue;
            assert_int_equal(e, UMBEL_ENOMEM);
            uint8_t *after = bytes_of(f, &after_len);
            assert_int_equal(after_len, len);
            assert_memory_equal(before, after, len);
            free(after);
        }
        assert_int_equal(at, 3);
        assert_true(umbel_contains(f, "ada", 3));
        assert_true(umbel_encoded_size(f, UMBEL_FMT_NATIVE) < len);
        free(before);
        umbel_free(f);
        assert_int_equal(m.blocks, 0);
    }
}

/* Without scratch memory a batch takes the slower path, with the same result.  The limit applies to
 * filters, not to scratch memory. */
static void test_batch_falls_back(void **state) {
    (void)state;
    enum { N = 1024 * 1024 };
    key_set set = random_keys(N, 1);
    uint8_t *want = malloc(N), *got = malloc(N);
    assert_true(want && got);
    umbel_filter *made[2] = {0};
    for (size_t fail = 0; fail < 2; fail++) {
        watched_memory m;
        watch_memory(&m, 0);
        m.opts.threads = 2; /* on a filter of this size they share the hashes of a million keys */
        m.opts.max_bytes = 17 << 20;
        umbel_filter *f = NULL;
        umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 17 << 20};
        assert_ok(umbel_create(&params, &m.opts, &f, NULL));
        m.calls = 0;
        m.fail_at = fail;
        assert_ok(umbel_add_many(f, set.keys, N, fail ? got : want, NULL, NULL));
        assert_int_equal(m.calls, 1);
        assert_true(fail || m.peak > params.bytes + N);
        assert_int_equal(m.blocks, 2);
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &made[fail], NULL));
        free(bytes);
        umbel_free(f);
        assert_int_equal(m.blocks, 0);
    }
    assert_memory_equal(want, got, N);
    assert_same_bytes(made[0], made[1]);
    umbel_free(made[0]);
    umbel_free(made[1]);
    free(want);
    free(got);
    free_keys(&set);
}

static void test_limit_when_decoding(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = sample_bytes(UMBEL_KIND_CLASSIC, &len);
    umbel_filter *f = NULL;
    watched_memory m;
    watch_memory(&m, 0);
    m.opts.max_bytes = 4095;
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &m.opts, &f, NULL), UMBEL_ELIMIT);
    assert_null(f);
    assert_int_equal(m.blocks, 0);
    assert_true(m.peak < 1024);
    m.opts.max_bytes = 4096;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &m.opts, &f, NULL));
    umbel_free(f);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_decode_and_view),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_batch_falls_back),
        cmocka_unit_test(test_limit_when_decoding),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
