/* SPDX-License-Identifier: MIT
 *
 * test_native_damage.c - native files that are truncated, extended or damaged, and buffers too
 * small
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "golden.h"
#include "native_file.h"
#include "native_judge.h"
#include "subjects.h"
#include "umbel_foreign.h"

enum { PAYLOAD = 4096 };

static void test_cut_and_lengthened(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; kind <= UMBEL_KIND_CLASSIC; kind++) {
        size_t len;
        umbel_diag diag;
        uint8_t *bytes = native_sample(kind, &len);
        for (size_t cut = 0; cut < len; cut++) {
            assert_int_equal(native_verdict(bytes, cut, &diag), UMBEL_ECORRUPT);
        }
        uint8_t *longer = malloc(len + 5000);
        assert_non_null(longer);
        for (size_t more = 1; more <= 5000; more += more < 40 ? 1 : 97) {
            memcpy(longer, bytes, len);
            memset(longer + len, more % 2 ? 0 : 0x55, more);
            native_refused(longer, len + more, UMBEL_ECORRUPT, len);
        }
        free(longer);
        free(bytes);
    }
}

/* Every bit of the header, and some of everything after it. */
static void test_flipped_bits(void **state) {
    (void)state;
    size_t len;
    umbel_diag diag;
    uint8_t *bytes = native_sample(UMBEL_KIND_BLOCKED, &len);
    size_t header = native_get(bytes, 12, 4);
    for (size_t bit = 0; bit < 8 * len; bit += bit < 8 * header || bit > 8 * PAYLOAD ? 1 : 101) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
        umbel_err e = native_verdict(bytes, len, &diag);
        assert_int_equal(e, bit / 64 == 1 && bit < 80 ? UMBEL_EVERSION : UMBEL_ECORRUPT);
        if (bit / 8 >= PAYLOAD) assert_true(diag.offset >= PAYLOAD);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
    }
    assert_int_equal(native_verdict(bytes, len, &diag), UMBEL_OK);
    free(bytes);
}

static void test_bits_behind_the_last(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_native("classic_1001", &len);
    umbel_diag diag;
    assert_int_equal(native_verdict(bytes, len, &diag), UMBEL_OK);
    uint8_t *last = bytes + PAYLOAD + 125;
    *last |= 2;                                          /* bit 1001 */
    native_refused(bytes, len, UMBEL_ECORRUPT, PAYLOAD); /* the checksum of the piece */
    native_resum(bytes, len);
    native_refused(bytes, len, UMBEL_ECORRUPT, PAYLOAD + 125);
    free(bytes);
}

/* Unchecked, only the header and the sum at the end, by which deltas know the file, are read: the
 * bits need not even be readable. */
static void test_view_leaves_the_bits_alone(void **state) {
    (void)state;
    umbel_filter *f = NULL, *view = NULL;
    assert_ok(umbel_create(&(umbel_params){.bytes = 16 * 4096}, NULL, &f, NULL));
    size_t len, room = 18 * 4096;
    uint8_t *bytes = bytes_of(f, &len);
    assert_true(len <= room);
    uint8_t *pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    memcpy(pages, bytes, len);
    assert_int_equal(mprotect(pages + 4096, room - 2 * 4096, PROT_NONE), 0);
    assert_ok(
        umbel_decode(pages, len, UMBEL_MAP, NULL, &(umbel_opts){.unchecked = true}, &view, NULL));
    assert_int_equal(mprotect(pages + 4096, room - 2 * 4096, PROT_READ), 0);
    assert_true(umbel_is_empty(view));
    umbel_free(view);
    umbel_free(f);
    munmap(pages, room);
    free(bytes);
}

static void test_not_recognised(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    const char text[] = "This is no filter at all, and long enough to be looked at twice over.";
    assert_int_equal(umbel_decode(text, sizeof text, UMBEL_LOAD, NULL, NULL, &f, &diag),
                     UMBEL_EUNKNOWN);
    assert_non_null(strstr(sentence(&diag), "format"));
    assert_int_equal(umbel_decode(NULL, 0, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_EUNKNOWN);
    assert_int_equal(umbel_decode(text, 9, UMBEL_LOAD,
                                  &(umbel_foreign){.format = (umbel_format)9999}, NULL, &f, &diag),
                     UMBEL_EINVAL);
    assert_int_equal(umbel_decode(text, sizeof text, UMBEL_LOAD,
                                  &(umbel_foreign){.format = UMBEL_FMT_NATIVE}, NULL, &f, NULL),
                     UMBEL_ECORRUPT);
    /* Eight bytes are enough to recognise the format. */
    const char magic[] = "UMBEL\x1a\r\n";
    assert_int_equal(umbel_decode(magic, 7, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_EUNKNOWN);
    assert_int_equal(umbel_decode(magic, 8, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_ECORRUPT);
    assert_null(f);
}

static void test_encode_into_too_little(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    uint8_t out[8192];
    assert_ok(umbel_create(&(umbel_params){.bytes = 32}, NULL, &f, NULL));
    size_t len = umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    memset(out, 0x77, sizeof out);
    for (size_t cap = 0; cap < len; cap += 1 + cap / 9) {
        assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, out, cap, NULL), UMBEL_ESPACE);
    }
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, out, len - 1, NULL), UMBEL_ESPACE);
    assert_int_equal(out[0], 0x77); /* nothing was written */
    assert_ok(umbel_encode(f, UMBEL_FMT_NATIVE, out, sizeof out, NULL));
    assert_int_equal(out[len], 0x77);
    assert_int_equal(umbel_encode(f, (umbel_format)9999, out, sizeof out, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_encoded_size(f, (umbel_format)9999), 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_and_lengthened),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_bits_behind_the_last),
        cmocka_unit_test(test_view_leaves_the_bits_alone),
        cmocka_unit_test(test_not_recognised),
        cmocka_unit_test(test_encode_into_too_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
