/* SPDX-License-Identifier: MIT
 * labels: threads
 *
 * test_hold.c - values that a thread reads while the server continues
 */
#include <pthread.h>
#include <stdatomic.h>

#include "cases.h"
#include "command/merging.h"
#include "value/server_memory.h"
#include "value/value_memory.h"
#include "values.h"

static bool is_held(bf_value *v) {
    return bf_value_edit(v) == NULL;
}

static void held_values_outlive_their_keys(void **state) {
    (void)state;
    bf_value *v = some_value(0, 100), *w = some_value(2, 100);
    bf_value_hold(v);
    bf_value_hold(w);
    bf_value_hold(v);
    assert_true(is_held(v) && is_held(w));
    type_of(v)->methods.free(v); /* as a server does it */
    assert_holds(v, 0, 100);
    bf_value_let_go(w);
    assert_ptr_equal(bf_value_edit(w), w);
    assert_holds(w, 0, 100); /* its key still has it */
    bf_value_let_go(v);
    assert_true(is_held(v));
    assert_holds(v, 0, 100);
    type_of(w)->methods.free(w);
    bf_value_let_go(v);
    assert_int_equal(fake_heap.pieces, 0);
}

static void held_values_stay_in_their_places(void **state) {
    (void)state;
    bf_value *v = some_value(2, 2500);
    fake_defrag ctx = {0};
    void *moved = v;
    bf_value_hold(v);
    assert_int_equal(type_of(v)->methods.defrag((RedisModuleDefragCtx *)&ctx, NULL, &moved), 0);
    assert_true(ctx.moved == 0 && moved == v);
    bf_value_let_go(v);
    assert_int_equal(type_of(v)->methods.defrag((RedisModuleDefragCtx *)&ctx, NULL, &moved), 0);
    assert_true(ctx.moved > 0 && moved != v);
    bf_value_free(moved);
}

typedef struct work {
    bf_merge merge;
    _Atomic bool done;
} work;

static void *merge_in_thread(void *arg) {
    work *w = arg;
    bf_merge_make(&w->merge);
    w->done = true;
    return NULL;
}

/* Begins to merge `from` into a copy of `into`, or to copy it if that is NULL. */
static pthread_t begin(work *w, const bf_value *into, const bf_value *from, uint64_t limit) {
    static const bf_value *values[2];
    pthread_t thread;
    values[0] = into;
    values[1] = from;
    *w = (work){.merge = {.values = values, .count = 2, .limit = limit}};
    for (int i = 0; i < 2; i++) {
        if (values[i]) bf_value_hold(values[i]);
    }
    assert_int_equal(pthread_create(&thread, NULL, merge_in_thread, w), 0);
    return thread;
}

static bf_value *end(work *w, pthread_t thread) {
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        if (w->merge.values[i]) bf_value_let_go(w->merge.values[i]);
    }
    return w->merge.result; /* NULL: see the error */
}

/* Everything that a server does with a value without changing it. */
static void look_at(bf_value *v) {
    bf_value *twin = NULL;
    fake_io io = saved(v);
    fake_io_free(&io);
    assert_holds(v, 0, 20);
    assert_true(bf_value_memory(v) > 0 && bf_value_size(v) > 0);
    assert_ok(bf_value_copy(v, &twin));
    assert_same(v, twin);
    bf_value_free(twin);
    (void)bf_totals_get();
}

/* What would change it, were it not held: all of these go through the same door. */
static void try_to_change(bf_value *v) {
    fake_defrag ctx = {0};
    void *moved = v;
    assert_int_equal(type_of(v)->methods.defrag((RedisModuleDefragCtx *)&ctx, NULL, &moved), 0);
    assert_true(moved == v && ctx.moved == 0 && is_held(v));
}

/* ThreadSanitizer watches. */
static void values_are_read_by_many(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        work w;
        bf_value *v = some_value(i, 1500), *into = i == WINDOW ? NULL : some_value(i, 20);
        pthread_t thread = begin(&w, into, v, 0);
        do {
            look_at(v);
            try_to_change(v);
        } while (!w.done);
        type_of(v)->methods.free(v); /* while the thread may still read it */
        bf_value *result = end(&w, thread);
        assert_ok(w.merge.error);
        assert_holds(result, 0, 1500);
        bf_value_free(result);
        bf_value_free(into);
    }
}

/* A server frees values in a thread of its own, while another one stops to read them. */
static void *drop(void *value) {
    bf_value_drop(value);
    return NULL;
}

static void values_are_dropped_elsewhere(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        bf_value *v = some_value(i % SHAPES, 10);
        bf_value_hold(v);
        assert_int_equal(pthread_create(&thread, NULL, drop, v), 0);
        assert_true(is_held(v));
        bf_value_let_go(v);
        pthread_join(thread, NULL);
    }
    assert_int_equal(fake_heap.pieces, 0);
}

/* The fake server has none of its other functions, or ends the test.  Large allocations and large
 * pieces given back are what the module's allocator asks about. */
static void threads_ask_the_server_for_memory_only(void **state) {
    (void)state;
    static const bf_params large = {.error = 0.01, .capacity = 60000000, .expansion = 2};
    bf_value *v = NULL;
    work w;
    assert_ok(bf_value_create(&large, 0, &v, NULL));
    assert_true(bf_value_bytes(v) > BF_LARGE);
    bf_value_free(end(&w, begin(&w, NULL, v, 0)));
    assert_true(w.merge.error == UMBEL_OK || w.merge.error == UMBEL_ENOMEM); /* a busy machine */
    assert_null(end(&w, begin(&w, NULL, v, 1))); /* the thread gives back what is too large */
    assert_true(w.merge.error == UMBEL_ELIMIT || w.merge.error == UMBEL_ENOMEM);
    bf_value_free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(held_values_outlive_their_keys, quiet),
        cmocka_unit_test_teardown(held_values_stay_in_their_places, quiet),
        cmocka_unit_test_teardown(values_are_read_by_many, quiet),
        cmocka_unit_test_teardown(values_are_dropped_elsewhere, quiet),
        cmocka_unit_test_teardown(threads_ask_the_server_for_memory_only, quiet),
    };
    fake_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
