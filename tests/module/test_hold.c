/* SPDX-License-Identifier: MIT
 * labels: threads
 *
 * test_hold.c - values that a thread reads while the server continues
 */
#include <pthread.h>
#include <stdatomic.h>

#include "cases.h"
#include "value/value_memory.h"
#include "values.h"

static void held_values_outlive_their_keys(void **state) {
    (void)state;
    bf_value *v = some_value(0, 100), *w = some_value(2, 100);
    bf_value_hold(v);
    bf_value_hold(w);
    bf_value_hold(v);
    assert_true(bf_value_held(v) && bf_value_held(w));
    type_of(v)->methods.free(v); /* as a server does it */
    assert_holds(v, 0, 100);
    bf_value_let_go(w);
    assert_false(bf_value_held(w));
    assert_holds(w, 0, 100); /* its key still has it */
    bf_value_let_go(v);
    assert_true(bf_value_held(v));
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
    const bf_value *first, *second;
    bf_value *result;
    umbel_err error;
    _Atomic bool done;
} work;

static void *merge_both(void *arg) {
    work *w = arg;
    w->error = bf_value_copy(w->first, &w->result);
    if (!w->error) w->error = bf_value_merge(w->result, w->second, NULL);
    w->done = true;
    return NULL;
}

/* Everything that a server does with a value without changing it; ThreadSanitizer watches. */
static void values_are_read_by_many(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        if (i == WINDOW) continue; /* cannot be merged */
        pthread_t thread;
        bf_value *v = some_value(i, 1500), *twin = NULL;
        work w = {.first = v, .second = v};
        bf_value_hold(v);
        assert_int_equal(pthread_create(&thread, NULL, merge_both, &w), 0);
        do {
            fake_io io = saved(v);
            fake_io_free(&io);
            assert_holds(v, 0, 20);
            assert_true(bf_value_memory(v) > 0 && bf_value_size(v) > 0);
            assert_ok(bf_value_copy(v, &twin));
            assert_same(v, twin);
            bf_value_free(twin);
            (void)bf_totals_get();
        } while (!w.done);
        type_of(v)->methods.free(v);
        pthread_join(thread, NULL);
        bf_value_let_go(v);
        assert_ok(w.error);
        assert_holds(w.result, 0, 1500);
        bf_value_free(w.result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(held_values_outlive_their_keys, quiet),
        cmocka_unit_test_teardown(held_values_stay_in_their_places, quiet),
        cmocka_unit_test_teardown(values_are_read_by_many, quiet),
    };
    fake_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
