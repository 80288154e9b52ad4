/* SPDX-License-Identifier: MIT
 *
 * test_types.c - what a server asks of a type: RDB, memory, digests, lazy freeing, defragmentation
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "value/value_memory.h"
#include "values.h"

/* ---- RDB ---- */

static void values_come_back_from_rdb(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        for (int keys = 0; keys <= 2500; keys += 2500) {
            bf_value *v = some_value(i, keys);
            fake_io io = saved(v);
            bf_value *back = loaded(type_of(v), &io);
            assert_non_null(back);
            assert_same(v, back);
            assert_goes_on_alike(v, back);
            bf_value_free(v);
            bf_value_free(back);
            fake_io_free(&io);
        }
    }
}

/* Every prefix, and every byte changed: the result is a valid value or NULL, and takes no more
 * memory than the input justifies. */
static void damaged_rdb_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, i == 3 ? 0 : 150);
        const fake_type *type = type_of(v);
        fake_io io = saved(v);
        size_t step = io.len / 2000 + 1;
        fake_heap.largest = 0;
        for (size_t cut = 0; cut < io.len; cut += cut < 600 ? 1 : step) {
            assert_null(fake_load(type, type->encver, io.bytes, cut));
        }
        for (size_t at = 0; at < io.len; at += at < 600 ? 1 : step) {
            uint8_t old = io.bytes[at];
            io.bytes[at] = (uint8_t)(old ^ (1u << at % 8));
            bf_value *other = loaded(type, &io);
            if (other) bf_value_free(other);
            io.bytes[at] = old;
        }
        assert_true(fake_heap.largest < 2 * io.len + 65536);
        bf_value_free(v);
        fake_io_free(&io);
    }
}

static void other_versions_are_refused(void **state) {
    (void)state;
    bf_value *v = some_value(2, 10), *w = some_value(0, 10);
    fake_io io = saved(v), old = saved(w);
    assert_null(fake_load(&fake_types[FAKE_BLOCKED], 0, io.bytes, io.len));
    assert_null(fake_load(&fake_types[FAKE_BLOCKED], 3, io.bytes, io.len));
    assert_null(fake_load(&fake_types[FAKE_REDISBLOOM], 5, old.bytes, old.len));
    assert_null(fake_load(&fake_types[FAKE_REDISBLOOM], -1, old.bytes, old.len));
    bf_value_free(v);
    bf_value_free(w);
    fake_io_free(&io);
    fake_io_free(&old);
}

/* Encodings 2 and 3 have no growth: the fourth of the values. */
static void older_files_of_redisbloom_are_read(void **state) {
    (void)state;
    bf_value *v = some_value(0, 50);
    fake_io io = saved(v), old = {0};
    /* keys 50, links 1, options 5, growth 2, each after its opcode */
    static const uint8_t begins[] = {2, 50, 2, 1, 2, 5, 2, 2};
    assert_memory_equal(io.bytes, begins, sizeof begins);
    old.bytes = malloc(io.len - 2);
    old.len = io.len - 2;
    assert_non_null(old.bytes);
    memcpy(old.bytes, io.bytes, 6);
    memcpy(old.bytes + 6, io.bytes + 8, io.len - 8);
    for (int encver = 2; encver <= 3; encver++) {
        bf_value *back = fake_load(&fake_types[FAKE_REDISBLOOM], encver, old.bytes, old.len);
        assert_non_null(back);
        assert_same(v, back);
        bf_value_free(back);
    }
    bf_value_free(v);
    fake_io_free(&io);
    fake_io_free(&old);
}

static void loading_may_run_out_of_memory(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, 500);
        fake_io io = saved(v);
        const fake_type *type = type_of(v);
        uint64_t pieces = fake_heap.pieces;
        for (uint64_t at = 1; at < 60; at++) {
            fake_heap.fail_at = at;
            bf_value *back = loaded(type, &io);
            fake_heap.fail_at = 0;
            if (back) bf_value_free(back);
            assert_int_equal(fake_heap.pieces, pieces);
        }
        bf_value_free(v);
        fake_io_free(&io);
    }
}

/* ---- Defragmentation ---- */

static void every_piece_moves(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        for (int hurry = 0; hurry < 2; hurry++) {
            bf_value *v = some_value(i, 2000), *twin = some_value(i, 2000);
            fake_defrag ctx = {.has_cursor = true, .hurry = hurry};
            uint64_t pieces = fake_heap.pieces, calls = 1, own = 0;
            const fake_type *type = type_of(v);
            bf_value *old = v;
            void *value = v;
            while (type->methods.defrag((RedisModuleDefragCtx *)&ctx, NULL, &value)) calls++;
            v = value;
            assert_ptr_not_equal(v, old);
            assert_int_equal(fake_heap.pieces, pieces);
            if (hurry && type == &fake_types[FAKE_BLOCKED]) {
                assert_int_equal(calls, bf_value_layers(v));
            }
            if (!hurry) assert_int_equal(calls, 1);
            assert_same(v, twin);
            assert_holds(v, i == WINDOW ? 1000 : 0, 2000);
            assert_goes_on_alike(v, twin);
            bf_value_free(twin);
            bf_value_free(v);
            own = pieces / 2;
            assert_int_equal(ctx.moved, own);
            assert_int_equal(fake_heap.pieces, 0);
        }
    }
}

/* A server that gives no cursor wants everything done in one call. */
static void without_a_cursor_all_moves_at_once(void **state) {
    (void)state;
    bf_value *v = some_value(2, 2000);
    fake_defrag ctx = {.hurry = true};
    assert_int_equal(bf_value_defrag((RedisModuleDefragCtx *)&ctx, &v), 0);
    assert_int_equal(ctx.moved, fake_heap.pieces);
    assert_holds(v, 0, 2000);
    bf_value_free(v);
}

static void memory_is_what_the_allocator_sees(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        bf_value *v = some_value(i, 2500);
        assert_int_equal(bf_value_memory(v), fake_heap.bytes);
        assert_int_equal(type_of(v)->methods.mem_usage(v), fake_heap.bytes);
        bf_totals totals = bf_totals_get();
        assert_int_equal(totals.bytes, fake_heap.bytes);
        bf_value_free(v);
    }
}

static void digests_tell_filters_apart(void **state) {
    (void)state;
    uint64_t seen[2 * SHAPES];
    for (int i = 0; i < 2 * SHAPES; i++) {
        bf_value *v = some_value(i / 2, 100 + i % 2);
        seen[i] = fake_digest(type_of(v), v);
        for (int j = 0; j < i; j++) assert_int_not_equal(seen[i], seen[j]);
        bf_value_free(v);
    }
}

static void large_filters_are_freed_lazily(void **state) {
    (void)state;
    bf_params p = {.error = 0.01, .capacity = 100, .expansion = 2};
    bf_value *small = NULL, *large = NULL;
    assert_ok(bf_value_create(&p, 0, &small, NULL));
    p.capacity = 10000000;
    assert_ok(bf_value_create(&p, 0, &large, NULL));
    assert_true(type_of(small)->methods.free_effort(NULL, small) <= 64);
    assert_true(type_of(large)->methods.free_effort(NULL, large) > 64);
    bf_value_free(small);
    bf_value_free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(values_come_back_from_rdb, quiet),
        cmocka_unit_test_teardown(damaged_rdb_is_refused, quiet),
        cmocka_unit_test_teardown(other_versions_are_refused, quiet),
        cmocka_unit_test_teardown(older_files_of_redisbloom_are_read, quiet),
        cmocka_unit_test_teardown(loading_may_run_out_of_memory, quiet),
        cmocka_unit_test_teardown(every_piece_moves, quiet),
        cmocka_unit_test_teardown(without_a_cursor_all_moves_at_once, quiet),
        cmocka_unit_test_teardown(memory_is_what_the_allocator_sees, quiet),
        cmocka_unit_test_teardown(digests_tell_filters_apart, quiet),
        cmocka_unit_test_teardown(large_filters_are_freed_lazily, quiet),
    };
    fake_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
