/* SPDX-License-Identifier: MIT
 *
 * test_concurrent_snapshots.c - a concurrent filter saved, copied, measured and merged during adds
 *
 * labels: threads
 */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "cases.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random_keys.h"
#include "umbel_foreign.h"

/* 3 MiB: four pieces with a checksum each, the last one short. */
enum { WRITERS = 4, EACH = 16000, ALL = WRITERS * EACH, BYTES = (3 << 20) + 4096, LOOKS = 8 };

typedef struct writer {
    size_t number;
    pthread_t thread;
    _Atomic size_t added; /* of its keys, these are in */
} writer;

static umbel_filter *filter;
static key_set keys;
static writer writers[WRITERS];
static _Atomic unsigned left, looks;
static char folder[64], path[128];

static int open_stage(void **state) {
    random_start(state);
    strcpy(folder, "/tmp/umbel-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.umb", folder);
    keys = random_keys(ALL, 1);
    return 0;
}

static int close_stage(void **state) {
    (void)state;
    free_keys(&keys);
    unlink(path);
    return rmdir(folder);
}

/* One by one and in batches, so that every way of adding takes part.  Each look gets its share of
 * the keys; otherwise adding would be over before the second. */
static void *add_own(void *arg) {
    writer *w = arg;
    const umbel_key *own = keys.keys + w->number * EACH;
    for (size_t i = 0; i < EACH;) {
        if (i >= (size_t)EACH * atomic_load(&looks) / LOOKS) {
            sched_yield();
            continue;
        }
        size_t n = w->number % 2 && i + 16 <= EACH ? 16 : 1;
        if (n > 1) {
            umbel_add_many(filter, own + i, n, NULL, NULL, NULL);
        } else {
            umbel_add(filter, own[i].data, own[i].len, NULL, NULL);
        }
        i += n;
        atomic_store_explicit(&w->added, i, memory_order_release);
    }
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void note_added(size_t added[WRITERS]) {
    for (size_t w = 0; w < WRITERS; w++) {
        added[w] = atomic_load_explicit(&writers[w].added, memory_order_acquire);
    }
}

static void assert_has(const umbel_filter *f, const size_t added[WRITERS]) {
    static uint8_t hit[EACH];
    size_t missing = 0;
    for (size_t w = 0; w < WRITERS; w++) {
        umbel_contains_many(f, keys.keys + w * EACH, added[w], hit);
        for (size_t i = 0; i < added[w]; i++) missing += !hit[i];
    }
    assert_int_equal(missing, 0);
}

/* Calls `look` over and over while all writers add, and once more afterwards. */
static void beside_writers(void (*look)(const size_t added[WRITERS])) {
    size_t added[WRITERS];
    atomic_store(&left, WRITERS);
    atomic_store(&looks, 0);
    for (size_t w = 0; w < WRITERS; w++) {
        writers[w].number = w;
        atomic_store(&writers[w].added, 0);
        assert_int_equal(pthread_create(&writers[w].thread, NULL, add_own, &writers[w]), 0);
    }
    while (atomic_load(&left) > 0) {
        note_added(added);
        atomic_fetch_add(&looks, 1);
        look(added);
    }
    for (size_t w = 0; w < WRITERS; w++) pthread_join(writers[w].thread, NULL);
    note_added(added);
    look(added);
}

static void make_native(void) {
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = BYTES, .concurrent = 1};
    assert_ok(umbel_create(&params, NULL, &filter, NULL));
}

static void save_and_load(const size_t added[WRITERS]) {
    umbel_filter *f = NULL;
    assert_ok(umbel_file_save(filter, UMBEL_FMT_ANY, path, NULL));
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL));
    assert_has(f, added);
    umbel_free(f);
}

static void test_saved(void **state) {
    (void)state;
    make_native();
    beside_writers(save_and_load);
    umbel_filter *f = NULL;
    assert_ok(umbel_file_open(path, UMBEL_LOAD, NULL, NULL, &f, NULL));
    assert_true(umbel_equal(f, filter));
    umbel_free(f);
    umbel_free(filter);
}

static void encode_and_decode(const size_t added[WRITERS]) {
    static uint8_t bytes[BYTES + 65536];
    umbel_filter *f = NULL;
    uint64_t size = umbel_encoded_size(filter, UMBEL_FMT_ANY);
    assert_true(size > 0 && size <= sizeof bytes);
    assert_ok(umbel_encode(filter, UMBEL_FMT_ANY, bytes, sizeof bytes, NULL));
    assert_ok(umbel_decode(bytes, (size_t)size, UMBEL_LOAD, NULL, NULL, &f, NULL));
    assert_has(f, added);
    umbel_free(f);
}

static void test_encoded(void **state) {
    (void)state;
    make_native();
    beside_writers(encode_and_decode);
    umbel_free(filter);
}

/* The other format whose filters can be concurrent. */
static void test_parquet(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_PARQUET, .bytes = 1 << 20};
    umbel_opts opts = {.concurrent = 1};
    assert_ok(umbel_create_foreign(&params, &opts, &filter, NULL));
    beside_writers(encode_and_decode);
    umbel_free(filter);
}

static void copy_and_measure(const size_t added[WRITERS]) {
    umbel_filter *f = NULL;
    umbel_info info;
    umbel_measurement then, now;
    size_t sum = 0;
    for (size_t w = 0; w < WRITERS; w++) sum += added[w];
    umbel_describe(filter, &info);
    umbel_measure(filter, &then);
    assert_int_equal(umbel_is_empty(filter) && sum > 0, false);
    assert_ok(umbel_copy(filter, &f, NULL));
    assert_has(f, added);
    umbel_measure(f, &now);
    assert_true(then.bits_set <= now.bits_set && then.rate <= now.rate);
    assert_true(then.bits_set >= sum / 2); /* each has eight, some in common */
    bool yes = false;
    assert_ok(umbel_is_subset(f, filter, &yes, NULL)); /* bits are only ever set */
    assert_true(yes);
    (void)umbel_equal(f, filter);
    umbel_free(f);
}

static void test_copied_and_measured(void **state) {
    (void)state;
    make_native();
    beside_writers(copy_and_measure);
    umbel_free(filter);
}

/* Merging adds, so it takes part as one more writer, and may read a filter that others add to. */
static umbel_filter *other;

static void merge_both_ways(const size_t added[WRITERS]) {
    umbel_filter *f = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = BYTES};
    assert_ok(umbel_merge(filter, other, NULL));
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_ok(umbel_merge(f, filter, NULL));
    assert_has(f, added);
    assert_true(umbel_contains(f, "ada", 3));
    umbel_free(f);
}

static void test_merged(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = BYTES};
    assert_ok(umbel_create(&params, NULL, &other, NULL));
    /* In every block, so that an update that is lost would take keys along. */
    for (size_t i = 0; i < ALL; i++) {
        uint64_t n = i;
        assert_ok(umbel_add(other, &n, sizeof n, NULL, NULL));
    }
    assert_ok(umbel_add(other, "ada", 3, NULL, NULL));
    make_native();
    beside_writers(merge_both_ways);
    umbel_free(filter);
    umbel_free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved),   cmocka_unit_test(test_encoded),
        cmocka_unit_test(test_parquet), cmocka_unit_test(test_copied_and_measured),
        cmocka_unit_test(test_merged),
    };
    return cmocka_run_group_tests(tests, open_stage, close_stage);
}
