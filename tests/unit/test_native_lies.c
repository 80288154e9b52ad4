/* SPDX-License-Identifier: MIT
 *
 * test_native_lies.c - native files that lie: the checksums match, so the field itself must be
 * checked
 */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "native_file.h"
#include "native_judge.h"
#include "random_keys.h"

enum { FIXED = 128, PAYLOAD = 4096 };

typedef struct field {
    size_t at, width;
    bool any; /* every value gives a filter */
} field;

static const field fields[] = {
    {8, 2, false},   {10, 2, false},  {12, 4, false}, {16, 4, false},  {20, 4, false},
    {24, 4, false},  {28, 4, false},  {32, 8, true},  {40, 8, false},  {48, 8, false},
    {56, 8, true},   {64, 8, false},  {72, 8, true},  {80, 4, false},  {84, 4, true},
    {88, 1, false},  {89, 7, false},  {96, 8, false}, {104, 8, false}, {112, 4, false},
    {116, 4, false}, {120, 4, false}, {124, 4, true},
};

/* Values that are valid lies: they could be in a real file. */
static bool may_pass(umbel_kind kind, const uint8_t *bytes, const field *f, uint64_t value) {
    if (f->any) return true;
    if (f->at == 28 && kind == UMBEL_KIND_LINE) return value == 4 || value == 8 || value == 16;
    if (f->at == 28) return kind == UMBEL_KIND_CLASSIC && value >= 1 && value <= 1024;
    if (f->at == 64) return value < UINT64_C(0x3ff0000000000000);
    if (f->at == 80) return value <= 5 && value != 6;
    if (f->at == 16) { /* with 8 hashes; two lines are as good as four blocks, or one of counters */
        return (kind == UMBEL_KIND_BLOCKED && value == UMBEL_KIND_CLASSIC) ||
               (kind == UMBEL_KIND_LINE &&
                (value == UMBEL_KIND_CLASSIC || value == UMBEL_KIND_BLOCKED ||
                 value == UMBEL_KIND_COUNTING));
    }
    if (f->at == 48 && kind == UMBEL_KIND_CLASSIC && value > 8 * 159 && value < 8 * 160) {
        return bytes[PAYLOAD + 159] >> (value % 8) == 0; /* the bits cut off are clear */
    }
    return false;
}

static void test_lying_fields(void **state) {
    (void)state;
    static const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED, UMBEL_KIND_CLASSIC, UMBEL_KIND_LINE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        umbel_kind kind = kinds[k];
        size_t len;
        uint8_t *bytes = native_sample(kind, &len);
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            const field *f = &fields[i];
            uint64_t max = f->width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * f->width) - 1;
            uint64_t old = native_get(bytes, f->at, f->width);
            const uint64_t values[] = {0,
                                       1,
                                       2,
                                       3,
                                       6,
                                       7,
                                       8,
                                       255,
                                       old - 1,
                                       old + 1,
                                       old * 2,
                                       old / 2,
                                       old + 8,
                                       old + 4096,
                                       max / 2,
                                       max / 2 + 1,
                                       max - 1,
                                       max,
                                       1024,
                                       1025,
                                       4095,
                                       4096,
                                       1048576,
                                       old ^ 0x80,
                                       max - 7,
                                       old + 256,
                                       old - 256,
                                       UINT64_C(0x7ff8000000000000), /* a NaN */
                                       UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0xbf847ae147ae147b),
                                       random_word()};
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                uint64_t value = values[v] & max;
                uint8_t *lie = exact_copy(bytes, len);
                native_set(lie, f->at, f->width, value);
                native_resum(lie, len);
                umbel_diag diag;
                umbel_err e = native_verdict(lie, len, &diag);
                bool pass = value == old || may_pass(kind, bytes, f, value);
                if (!e != pass) {
                    fail_msg("byte %zu set to %llx: %s", f->at, (unsigned long long)value,
                             e ? sentence(&diag) : "accepted");
                }
                free(lie);
            }
        }
        free(bytes);
    }
}

static void lie(size_t at, size_t width, uint64_t value, umbel_err want, uint64_t offset) {
    size_t len;
    uint8_t *bytes = native_sample(UMBEL_KIND_CLASSIC, &len);
    native_set(bytes, at, width, value);
    native_resum(bytes, len);
    native_refused(bytes, len, want, offset);
    free(bytes);
}

/* Which error, and where it points. */
static void test_words_for_lies(void **state) {
    (void)state;
    lie(0, 1, 'u', UMBEL_ECORRUPT, 0);
    lie(8, 2, 3, UMBEL_EVERSION, 8);
    lie(8, 2, 2, UMBEL_ECORRUPT, 92); /* and no exceptions */
    lie(8, 2, 0, UMBEL_EVERSION, 8);
    lie(8, 2, 0x0100, UMBEL_EVERSION, 8); /* written big-endian */
    lie(10, 2, 1, UMBEL_ECORRUPT, 10);
    lie(12, 4, 1 << 30, UMBEL_ECORRUPT, 12);
    lie(12, 4, 135, UMBEL_ECORRUPT, 12);
    lie(16, 4, 0, UMBEL_EVERSION, 16);
    lie(16, 4, 99, UMBEL_EVERSION, 16);
    lie(20, 4, 2, UMBEL_EVERSION, 16);
    lie(24, 4, 3, UMBEL_EVERSION, 16);
    lie(24, 4, 2, UMBEL_ECORRUPT, 40); /* a keyed hash, but no fingerprint */
    lie(28, 4, 0, UMBEL_ECORRUPT, 16);
    lie(28, 4, 1025, UMBEL_ECORRUPT, 16);
    lie(40, 8, 1, UMBEL_ECORRUPT, 40);
    lie(48, 8, 0, UMBEL_ECORRUPT, 16);
    lie(48, 8, UINT64_MAX, UMBEL_ECORRUPT, 16);
    lie(64, 8, UINT64_C(0x7ff8000000000000), UMBEL_ECORRUPT, 64);
    lie(80, 4, 16, UMBEL_EVERSION, 80);
    lie(80, 4, 8, UMBEL_ECORRUPT, 80); /* only the recipe says it, and there is none */
    lie(80, 4, 6, UMBEL_ECORRUPT, 80);
    lie(88, 1, ',', UMBEL_ECORRUPT, 80);
    lie(89, 1, 1, UMBEL_ECORRUPT, 89);
    lie(96, 8, 0, UMBEL_ECORRUPT, 96);
    lie(96, 8, 8192, UMBEL_ECORRUPT, 96);
    lie(104, 8, UINT64_MAX - 4095, UMBEL_ECORRUPT, 104);
    lie(104, 8, 161, UMBEL_ECORRUPT, 4272);
    lie(112, 4, 0, UMBEL_EVERSION, 112);
    lie(116, 4, 8, UMBEL_ECORRUPT, 120);
    lie(116, 8, 8 | UINT64_C(22) << 32, UMBEL_EVERSION, 116); /* 8 of the 30 bytes of metadata */
    lie(120, 4, UINT32_MAX, UMBEL_ECORRUPT, 120);
    lie(120, 4, 0, UMBEL_ECORRUPT, 12);
    /* metadata: "name" "text", "second" "more" in 6 + 8 and 6 + 10 bytes, and 2 of padding */
    lie(FIXED, 2, 0, UMBEL_ECORRUPT, FIXED);
    lie(FIXED, 2, 300, UMBEL_ECORRUPT, FIXED);
    lie(FIXED + 2, 4, UINT32_MAX, UMBEL_ECORRUPT, FIXED);
    lie(FIXED + 6, 1, 0, UMBEL_ECORRUPT, FIXED);
    lie(FIXED + 10, 1, 0, UMBEL_ECORRUPT, FIXED);
    lie(FIXED + 16, 4, 5, UMBEL_ECORRUPT, FIXED + 14);
    lie(FIXED + 30, 1, 1, UMBEL_ECORRUPT, FIXED + 30);
    lie(200, 1, 1, UMBEL_ECORRUPT, 168); /* between header and payload */
}

static void test_a_name_twice(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = native_sample(UMBEL_KIND_BLOCKED, &len);
    /* As one name of four letters with four of text, and again. */
    native_set(bytes, 120, 4, 28);
    native_set(bytes, 12, 4, 168);
    memcpy(bytes + FIXED + 14, bytes + FIXED, 14);
    memset(bytes + FIXED + 28, 0, 4);
    native_resum(bytes, len);
    native_refused(bytes, len, UMBEL_ECORRUPT, FIXED + 14);
    free(bytes);
}

/* A width near 2^32, one more for some shards: the sum wraps to something that looks right. */
static void test_width_that_wraps(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_STATIC, .capacity = 1, .fpr = 0.01};
    umbel_builder *builder = NULL;
    umbel_filter *f = NULL;
    assert_ok(umbel_builder_new(&params, NULL, &builder, NULL));
    assert_ok(umbel_builder_add(builder, &(umbel_key){"ada", 3}, 1, NULL));
    assert_ok(umbel_builder_finish(builder, &f, NULL));
    umbel_builder_free(builder);
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL));
    umbel_free(f);
    for (uint32_t wide = 0; wide <= 1; wide++) {
        for (uint32_t below = 0; below < 4; below++) {
            native_set(bytes, FIXED + 0, 4, 2); /* shards, so that one may be wide */
            native_set(bytes, FIXED + 12, 4, UINT32_MAX - below);
            native_set(bytes, FIXED + 16, 4, wide);
            native_resum(bytes, len);
            umbel_diag diag = {0};
            assert_int_equal(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, &diag),
                             UMBEL_ECORRUPT);
            assert_string_equal(diag.field, "fingerprint width");
        }
    }
    free(bytes);
}

/* Only decoding looks after the last bit; what a view with some there becomes can be decoded. */
static void test_stray_bits_of_views(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .capacity = 101, .fpr = 0.01};
    umbel_filter *f = NULL, *view = NULL, *copy = NULL, *again = NULL;
    umbel_info info;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    umbel_describe(f, &info);
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len), *written = malloc(len);
    assert_true(bytes && written);
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL));
    umbel_free(f);
    native_set(bytes, 48, 8, info.bits - 3); /* the planner makes whole bytes */
    bytes[PAYLOAD + info.bytes - 1] &= 0x1f;
    native_resum(bytes, len);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, NULL));
    bytes[PAYLOAD + info.bytes - 1] |= 0x80;
    native_resum(bytes, len);
    native_refused(bytes, len, UMBEL_ECORRUPT, PAYLOAD + info.bytes - 1);
    assert_ok(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &view, NULL));
    assert_ok(umbel_copy(view, &copy, NULL));
    const umbel_filter *both[] = {view, copy};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(umbel_encode(both[i], UMBEL_FMT_NATIVE, written, len, NULL));
        assert_ok(umbel_decode(written, len, UMBEL_LOAD, NULL, NULL, &again, NULL));
        assert_true(umbel_equal(again, f));
        umbel_free(again);
    }
    umbel_free(copy);
    umbel_free(view);
    umbel_free(f);
    free(written);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lying_fields),        cmocka_unit_test(test_words_for_lies),
        cmocka_unit_test(test_a_name_twice),        cmocka_unit_test(test_width_that_wraps),
        cmocka_unit_test(test_stray_bits_of_views),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
