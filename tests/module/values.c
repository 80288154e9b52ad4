/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <stdio.h>

#include "cases.h"

bf_value *some_value(int i, int keys) {
    static const bf_params shapes[SHAPES] = {
        {.layout = BF_REDISBLOOM, .error = 0.01, .capacity = 100, .expansion = 2},
        {.layout = BF_REDISBLOOM, .error = 0.001, .capacity = 3000},
        {.error = 0.01, .capacity = 100, .expansion = 2, .keyed = true, .key = "fifteen letters"},
        {.error = 0.02, .capacity = 20000, .expansion = 1, .keyed = true, .key = "another"},
        {.error = 0.001, .capacity = 3000, .tightening = 0.5, .expansion = 4},
        {.error = 0.01, .capacity = 3000, .counting = true, .keyed = true, .key = "counting"},
        {.error = 0.01, .capacity = 3000, .window = 3, .keyed = true, .key = "window"},
        {.layout = BF_REDISBLOOM, .error = 0.01, .capacity = 100, .expansion = 1},
        {.error = 0.01, .capacity = 100, .expansion = BF_EXPANSION_AUTO, .keyed = true, .key = "k"},
        {.error = 0.0123, .capacity = 40, .expansion = BF_EXPANSION_AUTO},
        {.error = 1e-12, .capacity = 60, .expansion = BF_EXPANSION_AUTO, .keyed = true},
    };
    bf_value *v = NULL;
    umbel_diag diag = {0};
    if (bf_value_create(&shapes[i], 0, &v, &diag)) fail_msg("%s", diag.what);
    for (int k = 0; k < keys; k++) {
        char text[16];
        uint8_t was_new;
        size_t done;
        umbel_key key = {text, (size_t)snprintf(text, sizeof text, "key%d", k)};
        assert_ok(bf_value_add(v, &key, 1, 0, &was_new, &done));
    }
    return v;
}

const fake_type *type_of(const bf_value *v) {
    return (const fake_type *)bf_type_of(v);
}

fake_io saved(bf_value *v) {
    fake_io io = {0};
    type_of(v)->methods.rdb_save((RedisModuleIO *)&io, v);
    return io;
}

bf_value *loaded(const fake_type *type, const fake_io *io) {
    return fake_load(type, type->encver, io->bytes, io->len);
}

void assert_same(bf_value *a, bf_value *b) {
    bf_params p = bf_value_params(a), q = bf_value_params(b);
    assert_ptr_equal(type_of(a), type_of(b));
    assert_int_equal(fake_digest(type_of(a), a), fake_digest(type_of(b), b));
    assert_true(p.error == q.error && p.tightening == q.tightening);
    assert_int_equal(p.capacity, q.capacity);
    assert_int_equal(p.expansion, q.expansion);
    assert_int_equal(p.counting, q.counting);
    assert_int_equal(p.window, q.window);
    assert_memory_equal(p.key, q.key, sizeof p.key);
    assert_int_equal(bf_value_card(a), bf_value_card(b));
    assert_int_equal(bf_value_layers(a), bf_value_layers(b));
    assert_int_equal(bf_value_capacity(a), bf_value_capacity(b));
}

void assert_holds(const bf_value *v, int from, int to) {
    for (int k = from; k < to; k++) {
        char text[16];
        uint8_t hit;
        umbel_key key = {text, (size_t)snprintf(text, sizeof text, "key%d", k)};
        bf_value_contains(v, &key, 1, &hit);
        assert_int_equal(hit, 1);
    }
}

void assert_goes_on_alike(bf_value *a, bf_value *b) {
    for (int k = 0; k < 2000; k++) {
        char text[16];
        uint8_t mine, theirs;
        size_t done;
        umbel_key key = {text, (size_t)snprintf(text, sizeof text, "more%d", k)};
        umbel_err e = bf_value_add(a, &key, 1, 0, &mine, &done);
        assert_int_equal(bf_value_add(b, &key, 1, 0, &theirs, &done), e);
        if (!e) assert_int_equal(mine, theirs);
    }
    assert_same(a, b);
}

int quiet(void **state) {
    (void)state;
    uint64_t left = fake_heap.pieces;
    fake_heap = (fake_memory){0};
    assert_int_equal(left, 0);
    return 0;
}
