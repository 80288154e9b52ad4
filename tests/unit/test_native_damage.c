/* SPDX-License-Identifier: MIT
 *
 * test_native_damage.c - native files that are cut, lengthened, damaged or lie
 *
 * Lying means that the checksums fit: the field itself has to be found out.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "cases.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "native_file.h"
#include "random_keys.h"
#include "subjects.h"
#include "watched_memory.h"

enum { FIXED = 128, PAYLOAD = 4096 };

static uint8_t *sample(umbel_kind kind, size_t *len) {
    umbel_params params = {.kind = kind, .bytes = 160, .seed = 3};
    if (kind == UMBEL_CLASSIC) params.hashes = 5;
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (char c = 'a'; c <= 'z'; c++) assert_ok(umbel_add(f, &c, 1, NULL));
    assert_ok(umbel_set_meta(f, "name", "text", NULL));
    assert_ok(umbel_set_meta(f, "second", "more", NULL));
    uint8_t *bytes = bytes_of(f, len);
    umbel_free(f);
    return bytes;
}

/* A copy that ends where its memory ends, so that the sanitizer sees a byte too many. */
static uint8_t *exact(const uint8_t *bytes, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    if (len) memcpy(copy, bytes, len);
    return copy;
}

/* A filter that came of it has to work: ask it, fill it, write it, read that again. */
static void use(umbel_filter *f) {
    umbel_info info;
    umbel_describe(f, &info);
    umbel_contains(f, "a", 1);
    assert_ok(umbel_add(f, "key", 3, NULL));
    assert_true(umbel_contains(f, "key", 3));
    size_t len;
    uint8_t *bytes = bytes_of(f, &len);
    umbel_filter *again = NULL;
    assert_ok(umbel_decode(UMBEL_FMT_NATIVE, bytes, len, NULL, &again, NULL));
    assert_same_bytes(f, again);
    umbel_free(again);
    free(bytes);
}

/* What umbel_decode says; all ways to read must agree, and none may take much memory. */
static umbel_err verdict(const uint8_t *bytes, size_t len, umbel_diag *diag) {
    uint8_t *copy = exact(bytes, len);
    watched_memory m;
    watch_memory(&m, 0);
    umbel_filter *f = NULL;
    *diag = (umbel_diag){.offset = UINT64_MAX};
    umbel_err e = umbel_decode(UMBEL_FMT_NATIVE, copy, len, &m.opts, &f, diag);
    assert_true(m.peak <= len + 4096);
    assert_int_equal(umbel_verify(UMBEL_FMT_NATIVE, copy, len, NULL), e);
    if (e) {
        assert_null(f);
        assert_true(e == UMBEL_ECORRUPT || e == UMBEL_EVERSION);
        assert_true(diag->what && diag->offset <= len);
    } else {
        use(f);
    }
    umbel_free(f);
    f = NULL;
    umbel_err seen = umbel_view(UMBEL_FMT_NATIVE, copy, len, &m.opts, &f, NULL);
    if (!e) assert_int_equal(seen, UMBEL_OK);
    if (!seen) umbel_contains(f, "a", 1); /* harmless, whatever the bits are */
    umbel_free(f);
    assert_int_equal(m.blocks, 0);
    free(copy);
    return e;
}

static void refused(const uint8_t *bytes, size_t len, umbel_err want, uint64_t offset) {
    umbel_diag diag;
    umbel_err e = verdict(bytes, len, &diag);
    if (e != want || diag.offset != offset) {
        fail_msg("%s at %d (%s), not %s at %d", umbel_strerror(e), (int)diag.offset,
                 e ? diag.what : "", umbel_strerror(want), (int)offset);
    }
}

static void test_cut_and_lengthened(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_BLOCKED; kind <= UMBEL_CLASSIC; kind++) {
        size_t len;
        umbel_diag diag;
        uint8_t *bytes = sample(kind, &len);
        for (size_t cut = 0; cut < len; cut++) {
            assert_int_equal(verdict(bytes, cut, &diag), UMBEL_ECORRUPT);
        }
        uint8_t *longer = malloc(len + 5000);
        assert_non_null(longer);
        for (size_t more = 1; more <= 5000; more += more < 40 ? 1 : 97) {
            memcpy(longer, bytes, len);
            memset(longer + len, more % 2 ? 0 : 0x55, more);
            refused(longer, len + more, UMBEL_ECORRUPT, 104);
        }
        free(longer);
        free(bytes);
    }
}

/* Every bit of the header, and some of everything behind it. */
static void test_flipped_bits(void **state) {
    (void)state;
    size_t len;
    umbel_diag diag;
    uint8_t *bytes = sample(UMBEL_BLOCKED, &len);
    size_t header = native_get(bytes, 12, 4);
    for (size_t bit = 0; bit < 8 * len; bit += bit < 8 * header || bit > 8 * PAYLOAD ? 1 : 101) {
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
        umbel_err e = verdict(bytes, len, &diag);
        assert_int_equal(e, bit / 64 == 1 && bit < 80 ? UMBEL_EVERSION : UMBEL_ECORRUPT);
        if (bit / 8 >= PAYLOAD) assert_true(diag.offset >= PAYLOAD);
        bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ (1u << (bit % 8)));
    }
    assert_int_equal(verdict(bytes, len, &diag), UMBEL_OK);
    free(bytes);
}

typedef struct field {
    size_t at, width;
    bool any; /* every value makes a filter */
} field;

static const field fields[] = {
    {8, 2, false},   {10, 2, false},  {12, 4, false},  {16, 4, false},  {20, 4, false},
    {24, 4, false},  {28, 4, false},  {32, 8, true},   {40, 8, false},  {48, 8, false},
    {56, 8, true},   {64, 8, false},  {72, 8, true},   {80, 4, false},  {84, 4, true},
    {88, 1, false},  {89, 7, false},  {96, 8, false},  {104, 8, false}, {112, 4, false},
    {116, 4, false}, {120, 4, false}, {124, 4, false},
};

/* Values that are valid lies: others may be in the file. */
static bool may_pass(umbel_kind kind, const uint8_t *bytes, const field *f, uint64_t value) {
    if (f->any) return true;
    if (f->at == 28) return kind == UMBEL_CLASSIC && value >= 1 && value <= 1024;
    if (f->at == 64) return value < UINT64_C(0x3ff0000000000000);
    if (f->at == 80) return value <= 5 && value != 6;
    if (f->at == 16) return kind == UMBEL_BLOCKED && value == UMBEL_CLASSIC; /* with 8 hashes */
    if (f->at == 48 && kind == UMBEL_CLASSIC && value > 8 * 159 && value < 8 * 160) {
        return bytes[PAYLOAD + 159] >> (value % 8) == 0; /* the bits cut off are clear */
    }
    return false;
}

static void test_lying_fields(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_BLOCKED; kind <= UMBEL_CLASSIC; kind++) {
        size_t len;
        uint8_t *bytes = sample(kind, &len);
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
                uint8_t *lie = exact(bytes, len);
                native_set(lie, f->at, f->width, value);
                native_resum(lie, len);
                umbel_diag diag;
                umbel_err e = verdict(lie, len, &diag);
                bool pass = value == old || may_pass(kind, bytes, f, value);
                if (!e != pass) {
                    fail_msg("byte %zu set to %llx: %s", f->at, (unsigned long long)value,
                             e ? diag.what : "accepted");
                }
                free(lie);
            }
        }
        free(bytes);
    }
}

static void lie(size_t at, size_t width, uint64_t value, umbel_err want, uint64_t offset) {
    size_t len;
    uint8_t *bytes = sample(UMBEL_CLASSIC, &len);
    native_set(bytes, at, width, value);
    native_resum(bytes, len);
    refused(bytes, len, want, offset);
    free(bytes);
}

/* Which error, and where it points. */
static void test_words_for_lies(void **state) {
    (void)state;
    lie(0, 1, 'u', UMBEL_ECORRUPT, 0);
    lie(8, 2, 2, UMBEL_EVERSION, 8);
    lie(8, 2, 0, UMBEL_EVERSION, 8);
    lie(8, 2, 0x0100, UMBEL_EVERSION, 8); /* written big-endian */
    lie(10, 2, 1, UMBEL_ECORRUPT, 10);
    lie(12, 4, 1 << 30, UMBEL_ECORRUPT, 12);
    lie(12, 4, 135, UMBEL_ECORRUPT, 12);
    lie(16, 4, 0, UMBEL_EVERSION, 16);
    lie(16, 4, 99, UMBEL_EVERSION, 16);
    lie(20, 4, 2, UMBEL_EVERSION, 16);
    lie(24, 4, 2, UMBEL_EVERSION, 16);
    lie(28, 4, 0, UMBEL_ECORRUPT, 16);
    lie(28, 4, 1025, UMBEL_ECORRUPT, 16);
    lie(40, 8, 1, UMBEL_EVERSION, 40);
    lie(48, 8, 0, UMBEL_ECORRUPT, 16);
    lie(48, 8, UINT64_MAX, UMBEL_ECORRUPT, 16);
    lie(64, 8, UINT64_C(0x7ff8000000000000), UMBEL_ECORRUPT, 64);
    lie(80, 4, 8, UMBEL_EVERSION, 80);
    lie(80, 4, 6, UMBEL_ECORRUPT, 80);
    lie(88, 1, ',', UMBEL_ECORRUPT, 80);
    lie(89, 1, 1, UMBEL_ECORRUPT, 89);
    lie(96, 8, 0, UMBEL_ECORRUPT, 96);
    lie(96, 8, 8192, UMBEL_ECORRUPT, 96);
    lie(104, 8, UINT64_MAX - 4095, UMBEL_ECORRUPT, 104);
    lie(104, 8, 161, UMBEL_ECORRUPT, 104);
    lie(112, 4, 0, UMBEL_EVERSION, 112);
    lie(116, 4, 8, UMBEL_EVERSION, 116);
    lie(120, 4, UINT32_MAX, UMBEL_ECORRUPT, 120);
    lie(120, 4, 0, UMBEL_ECORRUPT, 12);
    lie(124, 4, 1, UMBEL_ECORRUPT, 124);
    /* metadata: "name" "text", "second" "more" in 6 + 8 and 6 + 10 bytes, 2 of padding */
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
    uint8_t *bytes = sample(UMBEL_BLOCKED, &len);
    /* As one name of four letters with four of text, and again. */
    native_set(bytes, 120, 4, 28);
    native_set(bytes, 12, 4, 168);
    memcpy(bytes + FIXED + 14, bytes + FIXED, 14);
    memset(bytes + FIXED + 28, 0, 4);
    native_resum(bytes, len);
    refused(bytes, len, UMBEL_ECORRUPT, FIXED + 14);
    free(bytes);
}

static void test_bits_behind_the_last(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_bytes("tests/golden/native/classic_1001.umb", &len);
    umbel_diag diag;
    assert_int_equal(verdict(bytes, len, &diag), UMBEL_OK);
    uint8_t *last = bytes + PAYLOAD + 125;
    *last |= 2;                                   /* bit 1001 */
    refused(bytes, len, UMBEL_ECORRUPT, PAYLOAD); /* the checksum of the piece */
    native_resum(bytes, len);
    refused(bytes, len, UMBEL_ECORRUPT, PAYLOAD + 125);
    free(bytes);
}

/* Only the header is read: the rest may not even be readable. */
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
    assert_int_equal(mprotect(pages + 4096, room - 4096, PROT_NONE), 0);
    assert_ok(umbel_view(UMBEL_FMT_ANY, pages, len, NULL, &view, NULL));
    assert_int_equal(mprotect(pages + 4096, room - 4096, PROT_READ), 0);
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
    assert_int_equal(umbel_decode(UMBEL_FMT_ANY, text, sizeof text, NULL, &f, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(diag.what, "format"));
    assert_int_equal(umbel_decode(UMBEL_FMT_ANY, NULL, 0, NULL, &f, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_decode((umbel_format)9999, text, 9, NULL, &f, &diag), UMBEL_EINVAL);
    assert_int_equal(umbel_decode(UMBEL_FMT_NATIVE, text, sizeof text, NULL, &f, NULL),
                     UMBEL_ECORRUPT);
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
    assert_int_equal(umbel_encode(f, UMBEL_FMT_ANY, out, sizeof out, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_encoded_size(f, (umbel_format)9999), 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_and_lengthened),
        cmocka_unit_test(test_flipped_bits),
        cmocka_unit_test(test_lying_fields),
        cmocka_unit_test(test_words_for_lies),
        cmocka_unit_test(test_a_name_twice),
        cmocka_unit_test(test_bits_behind_the_last),
        cmocka_unit_test(test_view_leaves_the_bits_alone),
        cmocka_unit_test(test_not_recognised),
        cmocka_unit_test(test_encode_into_too_little),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
