/* SPDX-License-Identifier: MIT
 *
 * test_concurrent_opened.c - opts.concurrent: a filter that was decoded or loaded takes keys from
 * many threads, and kinds that cannot are refused
 *
 * labels: threads
 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_filter.h"
#include "random_keys.h"
#include "watched_memory.h"

enum { THREADS = 4, N = 40000, HALF = N / 2 };

static const umbel_opts concurrent = {.concurrent = 1};

typedef struct worker {
    umbel_filter *f;
    const umbel_key *keys; /* of the second half, every fourth */
    size_t number;
    uint64_t lost;
    pthread_t thread;
} worker;

/* Some keys one by one, some in batches, some as hashes. */
static void *add_some(void *arg) {
    worker *w = arg;
    umbel_key batch[64];
    uint64_t hashes[64];
    size_t n = 0, round = 0;
    for (size_t i = w->number; i < HALF; i += THREADS) {
        batch[n++] = w->keys[i];
        if (n < 64 && i + THREADS < HALF) continue;
        umbel_err e = UMBEL_OK;
        size_t done = n;
        if (round % 3 == 0) {
            for (size_t k = 0; k < n && !e; k++) {
                e = umbel_add(w->f, batch[k].data, batch[k].len, NULL, NULL);
            }
        } else if (round % 3 == 1) {
            e = umbel_add_many(w->f, batch, n, NULL, &done, NULL);
        } else {
            for (size_t k = 0; k < n; k++) hashes[k] = one_hash(w->f, batch[k].data, batch[k].len);
            e = umbel_add_hashes(w->f, hashes, n, NULL, &done, NULL);
        }
        w->lost += e || done != n;
        for (size_t k = 0; k < n; k++) {
            w->lost += !umbel_contains(w->f, batch[k].data, batch[k].len);
        }
        n = 0;
        round++;
    }
    return NULL;
}

static void add_in_threads(umbel_filter *f, const key_set *set) {
    worker workers[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        workers[t] = (worker){.f = f, .keys = set->keys + HALF, .number = t};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, add_some, &workers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        assert_int_equal(workers[t].lost, 0);
    }
}

static void is_concurrent(const umbel_filter *f, bool yes) {
    umbel_info info = described(f);
    assert_int_equal(info.concurrent, yes);
}

/* The bytes of a filter with the first half of the keys, to be read again; `one` gets them all. */
static uint8_t *half_full(const any_params *params, const key_set *set, size_t *len,
                          umbel_filter **one) {
    assert_ok(any_create(params, NULL, one, NULL));
    assert_ok(umbel_add_many(*one, set->keys, HALF, NULL, NULL, NULL));
    *len = (size_t)umbel_encoded_size(*one, UMBEL_FMT_ANY);
    uint8_t *bytes = malloc(*len);
    assert_non_null(bytes);
    assert_ok(umbel_encode(*one, UMBEL_FMT_ANY, bytes, *len, NULL));
    assert_ok(umbel_add_many(*one, set->keys + HALF, HALF, NULL, NULL, NULL));
    return bytes;
}

static void nothing_is_lost(umbel_filter *f, const key_set *set, const umbel_filter *one) {
    is_concurrent(f, true);
    add_in_threads(f, set);
    assert_true(umbel_equal(f, one));
    for (size_t i = 0; i < N; i++) {
        assert_true(umbel_contains(f, set->keys[i].data, set->keys[i].len));
    }
    umbel_free(f);
}

static const any_params blocked[] = {
    {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = N, .fpr = 0.001}},
    {.native = {.kind = UMBEL_KIND_BLOCKED, .bytes = 1 << 22, .seed = 9}}, /* beyond the caches */
    {.native = {.kind = UMBEL_KIND_LINE, .capacity = N, .fpr = 0.0001}},
    {.foreign = {.format = UMBEL_FMT_PARQUET, .capacity = N, .fpr = 0.001}},
};

static void test_decoded(void **state) {
    (void)state;
    key_set set = random_keys(N, 1);
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) {
        umbel_filter *one = NULL, *f = NULL, *copy = NULL;
        size_t len;
        uint8_t *bytes = half_full(&blocked[i], &set, &len, &one);
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, any_as(&blocked[i]), &concurrent, &f, NULL));
        assert_ok(umbel_copy(f, &copy, NULL)); /* with the same options */
        nothing_is_lost(f, &set, one);
        nothing_is_lost(copy, &set, one);
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, any_as(&blocked[i]), NULL, &f, NULL));
        is_concurrent(f, false);
        umbel_free(f);
        umbel_free(one);
        free(bytes);
    }
    free_keys(&set);
}

static void test_loaded(void **state) {
    (void)state;
    char folder[] = "/tmp/umbel-opened-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f", folder);
    key_set set = random_keys(N, 1);
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) {
        umbel_filter *one = NULL, *half = NULL, *f = NULL;
        size_t len;
        uint8_t *bytes = half_full(&blocked[i], &set, &len, &one);
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, any_as(&blocked[i]), NULL, &half, NULL));
        assert_ok(umbel_file_save(half, UMBEL_FMT_ANY, path, NULL));
        assert_ok(umbel_file_open(path, UMBEL_LOAD, any_as(&blocked[i]), &concurrent, &f, NULL));
        nothing_is_lost(f, &set, one);
        /* A map does not own its bits: nobody writes, so nothing is concurrent. */
        assert_ok(umbel_file_open(path, UMBEL_MAP, any_as(&blocked[i]), &concurrent, &f, NULL));
        is_concurrent(f, false);
        assert_int_equal(umbel_add(f, "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_true(umbel_equal(f, half));
        umbel_free(f);
        umbel_free(half);
        umbel_free(one);
        free(bytes);
    }
    unlink(path);
    rmdir(folder);
    free_keys(&set);
}

/* It can be combined with a secret and the other options. */
static void test_with_a_secret(void **state) {
    (void)state;
    static const uint8_t secret[17] = "sixteen letters.";
    const any_params keyed = {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = N, .fpr = 0.001},
                              .secret = secret};
    umbel_opts opts = {.concurrent = 1, .secret = secret, .threads = 2};
    key_set set = random_keys(N, 1);
    umbel_filter *one = NULL, *f = NULL;
    size_t len;
    uint8_t *bytes = half_full(&keyed, &set, &len, &one);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts, &f, NULL));
    nothing_is_lost(f, &set, one);
    umbel_free(one);
    free(bytes);
    free_keys(&set);
}

static const any_params others[] = {
    {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = 100, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_STATIC, .capacity = 100, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = 100, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_SCALABLE, .capacity = 100, .fpr = 0.01}},
    {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 100, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_LEVELDB, .capacity = 100, .bits_per_key = 10}},
    {.foreign = {.format = UMBEL_FMT_COREKV, .capacity = 100, .bits_per_key = 10}},
    {.foreign = {.format = UMBEL_FMT_BADGER, .capacity = 100, .bits_per_key = 10}},
    {.foreign = {.format = UMBEL_FMT_CLICKHOUSE, .bytes = 100, .hashes = 3}},
    {.foreign = {.format = UMBEL_FMT_GOCRC32, .capacity = 100, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_GUAVA, .capacity = 100, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .capacity = 100, .fpr = 0.01}},
    {.foreign = {.format = UMBEL_FMT_DCSO, .capacity = 100, .fpr = 0.01}},
};

static umbel_err make(const any_params *params, const umbel_opts *opts, umbel_filter **f,
                      umbel_diag *diag) {
    umbel_key key = {"abcd", 4};
    if (params->native.kind != UMBEL_KIND_STATIC) return any_create(params, opts, f, diag);
    return build_from(&params->native, opts, &key, 1, f, diag);
}

static void refused(umbel_err e, const umbel_filter *f, const umbel_diag *diag, size_t i) {
    if (e != UMBEL_EINVAL) fail_msg("others[%zu]: %s", i, umbel_err_name(e));
    assert_null(f);
    assert_string_equal(diag->field, "concurrent");
    assert_int_equal(diag->offset, 0); /* it is an option, not a byte of the file */
}

static void test_others_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        watched_memory m;
        watch_memory(&m, 0);
        m.opts.concurrent = 1;
        umbel_filter *plain = NULL, *f = NULL;
        umbel_diag diag = {0};
        refused(make(&others[i], &m.opts, &f, &diag), f, &diag, i);
        assert_ok(make(&others[i], NULL, &plain, NULL));
        static uint8_t bytes[1 << 20];
        size_t len = (size_t)umbel_encoded_size(plain, UMBEL_FMT_ANY);
        assert_ok(umbel_encode(plain, UMBEL_FMT_ANY, bytes, sizeof bytes, NULL));
        diag = (umbel_diag){0};
        refused(umbel_decode(bytes, len, UMBEL_LOAD, any_as(&others[i]), &m.opts, &f, &diag), f,
                &diag, i);
        umbel_err e = umbel_decode(bytes, len, UMBEL_MAP, any_as(&others[i]), &m.opts, &f, NULL);
        assert_true(e == UMBEL_OK || e == UMBEL_ENOTSUP); /* views allow it */
        if (!e) {
            is_concurrent(f, false);
            assert_true(umbel_equal(f, plain));
        }
        umbel_free(f);
        umbel_free(plain);
        assert_int_equal(m.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_loaded),
        cmocka_unit_test(test_with_a_secret),
        cmocka_unit_test(test_others_are_refused),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
