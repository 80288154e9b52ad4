/* SPDX-License-Identifier: MIT
 *
 * test_bytes.c - the bounded reader and the writer
 */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

static void test_reads_in_order(void **state) {
    (void)state;
    uint8_t bytes[32];
    umbeli_span span = {.bytes = bytes, .cap = sizeof bytes};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    umbeli_put_u8(&w, 0xfe);
    umbeli_put_u16le(&w, 0x0201);
    umbeli_put_u32le(&w, 0x06050403);
    umbeli_put_u64le(&w, UINT64_C(0x0e0d0c0b0a090807));
    umbeli_put_f64le(&w, -0.5);
    umbeli_put_u32be(&w, 0x01020304);
    umbeli_put_zeros(&w, 5);
    assert_false(w.failed);
    assert_int_equal(w.written, 32);
    const uint8_t want[] = {0xfe, 1, 2, 3, 4, 5,    6,    7, 8, 9, 10, 11, 12, 13, 14, 0,
                            0,    0, 0, 0, 0, 0xe0, 0xbf, 1, 2, 3, 4,  0,  0,  0,  0,  0};
    assert_memory_equal(bytes, want, sizeof want);

    umbeli_reader r = umbeli_reader_over(bytes, sizeof bytes);
    assert_int_equal(umbeli_take_u8(&r), 0xfe);
    assert_int_equal(umbeli_take_u16le(&r), 0x0201);
    assert_int_equal(umbeli_take_u32le(&r), 0x06050403);
    assert_true(umbeli_take_u64le(&r) == UINT64_C(0x0e0d0c0b0a090807));
    assert_true(umbeli_take_f64le(&r) == -0.5);
    assert_int_equal(umbeli_take_u32be(&r), 0x01020304);
    assert_int_equal(umbeli_left(&r), 5);
    assert_ptr_equal(umbeli_take(&r, 5), bytes + 27);
    assert_non_null(umbeli_take(&r, 0));
    assert_false(r.failed);
}

/* Memory of exactly that size, so that the sanitizer catches an overrun. */
static void test_ends_where_the_bytes_end(void **state) {
    (void)state;
    for (size_t len = 0; len < 9; len++) {
        uint8_t *bytes = malloc(len + !len);
        assert_non_null(bytes);
        memset(bytes, 0x11, len);
        umbeli_reader r = umbeli_reader_over(bytes, len);
        uint64_t word = umbeli_take_u64le(&r);
        assert_true(word == (len == 8 ? UINT64_C(0x1111111111111111) : 0));
        assert_int_equal(r.failed, len < 8);
        assert_int_equal(r.pos, len < 8 ? 0 : 8);
        free(bytes);
    }
}

static void test_failure_sticks(void **state) {
    (void)state;
    const uint8_t bytes[4] = {1, 2, 3, 4};
    umbeli_reader r = umbeli_reader_over(bytes, sizeof bytes);
    assert_int_equal(umbeli_take_u8(&r), 1);
    assert_null(umbeli_take(&r, 4));
    assert_true(r.failed);
    assert_int_equal(r.pos, 1); /* where it was requested */
    assert_int_equal(umbeli_take_u8(&r), 0);
    assert_int_equal(umbeli_take_u16le(&r), 0);
    assert_null(umbeli_take(&r, 0));
    umbeli_reader huge = umbeli_reader_over(bytes, sizeof bytes);
    assert_null(umbeli_take(&huge, UINT64_MAX));
    umbeli_reader wraps = umbeli_reader_over(bytes, sizeof bytes);
    umbeli_take_u8(&wraps);
    assert_null(umbeli_take(&wraps, UINT64_MAX));
}

static void test_writer_stops_at_a_full_sink(void **state) {
    (void)state;
    uint8_t bytes[8] = {0};
    umbeli_span span = {.bytes = bytes, .cap = 5};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    umbeli_put_u32le(&w, 0x04030201);
    umbeli_put_u16le(&w, 0x0605);
    assert_true(w.failed);
    umbeli_put_u8(&w, 9); /* there would be room, but it has failed */
    umbeli_put_zeros(&w, 1);
    assert_int_equal(w.written, 4);
    assert_memory_equal(bytes, ((uint8_t[]){1, 2, 3, 4, 0, 0, 0, 0}), 8);
}

static bool count_only(void *ctx, const void *bytes, size_t len) {
    (void)bytes;
    *(uint64_t *)ctx += len;
    return true;
}

static void test_many_zeros(void **state) {
    (void)state;
    uint64_t sum = 0;
    umbeli_writer w = {.sink = count_only, .ctx = &sum};
    umbeli_put_zeros(&w, 100001);
    umbeli_put(&w, NULL, 0);
    assert_int_equal(sum, 100001);
    assert_int_equal(w.written, 100001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_in_order), cmocka_unit_test(test_ends_where_the_bytes_end),
        cmocka_unit_test(test_failure_sticks), cmocka_unit_test(test_writer_stops_at_a_full_sink),
        cmocka_unit_test(test_many_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
