/* SPDX-License-Identifier: MIT
 *
 * test_explain.c - what went wrong as one sentence: field, reason, place, size, system error
 */
#include "cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subjects.h"
#include "umbel_foreign.h"

static void says(umbel_err err, const umbel_diag *diag, const char *want) {
    char text[256];
    errno = 5;
    assert_ptr_equal(umbel_explain(err, diag, text, sizeof text), text);
    assert_int_equal(errno, 5);
    assert_string_equal(text, want);
}

static void test_parts(void **state) {
    (void)state;
    says(UMBEL_EINVAL, NULL, "parameter out of range");
    says(UMBEL_OK, NULL, "no error");
    says(UMBEL_EFULL, &(umbel_diag){0}, "filter full");
    says((umbel_err)9999, NULL, "unknown error");
    says(UMBEL_EINVAL, &(umbel_diag){.what = "not 0"}, "not 0");
    says(UMBEL_EINVAL, &(umbel_diag){.what = "not 0", .field = "seed"}, "seed: not 0");
    says(UMBEL_EINVAL, &(umbel_diag){.field = "seed"}, "seed: parameter out of range");
    says(UMBEL_ECORRUPT, &(umbel_diag){.what = "not 0", .field = "seed", .offset = UINT64_MAX},
         "seed: not 0, at byte 18446744073709551615");
    says(UMBEL_ELIMIT, &(umbel_diag){.what = "too much", .need = UINT64_MAX},
         "too much; 18446744073709551615 would be enough");
    char want[128];
    snprintf(want, sizeof want, "path: cannot open: %s", strerror(ENOENT));
    says(UMBEL_EIO, &(umbel_diag){.what = "cannot open", .field = "path", .sys = ENOENT}, want);
    says(UMBEL_EIO, &(umbel_diag){.what = "cannot open"}, "cannot open");
    /* A field as long as can be. */
    umbel_diag longest = {.what = "wrong"};
    memset(longest.field, 'x', sizeof longest.field - 1);
    says(UMBEL_EINVAL, &longest, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: wrong");
}

static void test_cut(void **state) {
    (void)state;
    const umbel_diag diag = {.what = "the bits are damaged", .field = "payload", .offset = 77};
    const char *whole = "payload: the bits are damaged, at byte 77";
    size_t len = strlen(whole);
    for (size_t cap = 1; cap < len + 3; cap++) {
        char text[64];
        memset(text, '#', sizeof text);
        assert_ptr_equal(umbel_explain(UMBEL_ECORRUPT, &diag, text, cap), text);
        size_t kept = cap - 1 < len ? cap - 1 : len;
        assert_int_equal(strlen(text), kept);
        assert_memory_equal(text, whole, kept);
        for (size_t i = cap; i < sizeof text; i++) assert_int_equal(text[i], '#');
    }
    char system[1] = {'#'}; /* the other sentence, with nothing but its end */
    umbel_explain(UMBEL_EIO, &(umbel_diag){.what = "cannot", .sys = EIO}, system, 1);
    assert_int_equal(system[0], 0);
}

/* As they come from the library. */
static void test_real_ones(void **state) {
    (void)state;
    umbel_filter *f = NULL, *none = NULL;
    umbel_diag diag = {0};
    char want[128];
    assert_ok(umbel_create(&(umbel_params){.bytes = 4096}, NULL, &f, NULL));
    size_t len;
    uint8_t *bytes = bytes_of(f, &len);
    umbel_err e =
        umbel_decode(bytes, len, UMBEL_LOAD, NULL, &(umbel_opts){.max_bytes = 4095}, &none, &diag);
    says(e, &diag, "max_bytes: must allow a filter of this size; 4096 would be enough");
    bytes[4096 + 100] ^= 1;
    says(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &none, &diag), &diag,
         "payload checksum: the bits are damaged, at byte 4096"); /* as umbel.h has it */
    says(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, &diag), &diag,
         "payload checksum: the bits are damaged, at byte 4096");
    assert_string_equal(diag.field, "payload checksum");
    assert_string_equal(diag.what, "the bits are damaged");
    snprintf(want, sizeof want, "cannot open the file: %s", strerror(ENOENT));
    says(umbel_file_open("/no/such/file", UMBEL_LOAD, NULL, NULL, &none, &diag), &diag, want);
    says(umbel_create(&(umbel_params){.bytes = 64, .reserved = {1}}, NULL, &none, &diag), &diag,
         "params.reserved: must be 0");
    assert_null(none);
    free(bytes);
    umbel_free(f);
}

/* A diagnostic describes only the last failure: nothing of an earlier one stays in it. */
static void test_nothing_is_left_over(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_diag diag;
    memset(&diag, 0x55, sizeof diag);
    assert_int_equal(umbel_file_open("/no/such/file", UMBEL_LOAD, NULL, NULL, &f, &diag),
                     UMBEL_EIO);
    assert_int_equal(diag.sys, ENOENT);
    assert_int_equal(diag.offset, 0);
    assert_int_equal(diag.need, 0);
    assert_string_equal(diag.field, "");
    assert_int_equal(umbel_create(&(umbel_params){.kind = 99, .bytes = 64}, NULL, &f, &diag),
                     UMBEL_EINVAL);
    assert_int_equal(diag.sys, 0);
    assert_int_equal(diag.offset, 0);
    assert_int_equal(diag.need, 0);
    assert_string_equal(diag.field, "kind");
    for (size_t i = sizeof "kind"; i < sizeof diag.field; i++) assert_int_equal(diag.field[i], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_real_ones),
        cmocka_unit_test(test_nothing_is_left_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
