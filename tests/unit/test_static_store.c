/* SPDX-License-Identifier: MIT
 *
 * test_static_store.c - hashes waiting for their static filter, in memory and in a file
 */
#define _DEFAULT_SOURCE /* RLIMIT_FSIZE */
#include "any_filter.h"
#include "cases.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "core/memory.h"
#include "kind/static/static.h"
#include "watched_memory.h"

enum { KEYS = 3 * 8192 + 5, BUCKET = 0xab };

/* All in one bucket, so that it has several chunks, each at its own offset in the file. */
static uint64_t hash_at(uint64_t i) {
    return (uint64_t)BUCKET << 56 | (i * UINT64_C(0x9e3779b97f4a7c15) >> 8);
}

static umbel_err fill(umbeli_store *store, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    for (uint64_t i = 0; i < KEYS && !e; i++) {
        uint64_t hash = hash_at(i);
        e = umbeli_store_add(store, &hash, 1, diag);
    }
    return e;
}

static void check_bucket(const char *directory) {
    umbeli_settings memory;
    umbeli_store *store = NULL;
    assert_ok(umbeli_settings_from(NULL, &memory, NULL));
    assert_ok(umbeli_store_new(directory, &memory, &store, NULL));
    assert_ok(fill(store, NULL));
    assert_int_equal(umbeli_store_count(store, BUCKET), KEYS);
    assert_int_equal(umbeli_store_count(store, BUCKET + 1), 0);

    uint64_t *hashes = malloc(KEYS * sizeof *hashes);
    assert_non_null(hashes);
    assert_ok(umbeli_store_load(store, BUCKET, hashes, NULL));
    for (uint64_t i = 0; i < KEYS; i++) assert_true(hashes[i] == hash_at(i));

    /* Written back in another order, and fewer of them, as after sorting. */
    const uint64_t kept = 2 * 8192 + 100;
    for (uint64_t i = 0; i < kept; i++) hashes[i] = hash_at(KEYS - 1 - i);
    assert_ok(umbeli_store_replace(store, BUCKET, hashes, kept, NULL));
    assert_int_equal(umbeli_store_count(store, BUCKET), kept);
    for (uint64_t i = 0; i < kept; i++) hashes[i] = 0;
    assert_ok(umbeli_store_load(store, BUCKET, hashes, NULL));
    for (uint64_t i = 0; i < kept; i++) assert_true(hashes[i] == hash_at(KEYS - 1 - i));
    free(hashes);
    umbeli_store_delete(store);
}

static void chunks_come_back(void **state) {
    (void)state;
    check_bucket(NULL);
    check_bucket("/tmp");
}

/* The second chunk no longer fits. */
static void a_full_disk_is_said(void **state) {
    (void)state;
    umbeli_settings memory;
    umbeli_store *store = NULL;
    assert_ok(umbeli_settings_from(NULL, &memory, NULL));
    assert_ok(umbeli_store_new("/tmp", &memory, &store, NULL));
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){65536 + 100, before.rlim_max}), 0);
    errno = 7;
    umbel_diag diag = {0};
    umbel_err e = fill(store, &diag);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(errno, 7);
    assert_int_equal(e, UMBEL_EIO);
    assert_int_equal(diag.sys, EFBIG);
    assert_string_equal(sentence(&diag), "cannot read or write the temporary file");
    umbeli_store_delete(store);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const directories[] = {NULL, "/tmp"};
    for (int d = 0; d < 2; d++) {
        umbel_err e = UMBEL_ENOMEM;
        size_t refused = 0;
        for (size_t at = 1; e; at++) {
            watched_memory watched;
            umbeli_settings memory;
            umbeli_store *store = NULL;
            watch_memory(&watched, at);
            assert_ok(umbeli_settings_from(&watched.opts, &memory, NULL));
            e = umbeli_store_new(directories[d], &memory, &store, NULL);
            if (!e) e = fill(store, NULL);
            assert_true(e == UMBEL_OK || e == UMBEL_ENOMEM);
            refused += e != UMBEL_OK;
            umbeli_store_delete(store);
            assert_int_equal(watched.blocks, 0);
        }
        assert_true(refused >= 3); /* the store, a chunk, the list of chunks */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_come_back),
        cmocka_unit_test(a_full_disk_is_said),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
