/* SPDX-License-Identifier: MIT
 *
 * The format dcso: files of the real program, its sizes and counts, bad input
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "native_file.h"
#include "umbel_foreign.h"

static const umbel_foreign like = {.format = UMBEL_FMT_DCSO};

enum { HEADER = 48 };

static umbel_foreign params_of(uint64_t keys, double fpr) {
    return (umbel_foreign){.format = UMBEL_FMT_DCSO, .capacity = keys, .fpr = fpr};
}

/* ---- Files of the real program ---- */

static void writes_the_file(const umbel_filter *f, const char *path) {
    size_t want_len, len;
    uint8_t *want = golden_file(path, &want_len), *bytes = foreign_bytes(f, &len);
    assert_int_equal(len, want_len);
    assert_memory_equal(bytes, want, len);
    foreign_same_again(&like, want, want_len);
    assert_int_equal(umbel_decode(want, want_len, UMBEL_VERIFY,
                                  &(umbel_foreign){.format = UMBEL_FMT_DCSO}, NULL, NULL, NULL),
                     UMBEL_OK);
    umbel_filter *g = NULL;
    assert_int_equal(umbel_decode(want, want_len, UMBEL_LOAD, NULL, NULL, &g, NULL), UMBEL_OK);
    assert_int_equal(keys_added(g), keys_added(f));
    umbel_free(g);
    free(bytes);
    free(want);
}

static void fifty_keys(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(100, 0.01));
    for (int i = 0; i < 50; i++) {
        char text[16];
        snprintf(text, sizeof text, "key%d", i);
        foreign_add(f, text);
        foreign_add(f, text); /* counted once */
    }
    writes_the_file(f, "dcso/a.bloom");
    umbel_info info = described(f);
    assert_int_equal(info.bits, 958);
    assert_int_equal(info.hashes, 7);
    assert_int_equal(info.capacity, 100);
    assert_int_equal(info.keys_added, 50);
    umbel_free(f);
}

static void keys_and_data(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(3, 0.5));
    foreign_add(f, "hello");
    foreign_add(f, "world");
    foreign_add(f, "");
    size_t len = 99;
    assert_null(umbel_get_data(f, &len));
    assert_int_equal(len, 0);
    assert_int_equal(umbel_set_data(f, "meta-data!\n", 11, NULL), UMBEL_OK);
    umbel_filter *other = umbel_new(10, 0.01); /* whose file has no place for them */
    assert_non_null(other);
    assert_int_equal(umbel_set_data(other, "data", 4, NULL), UMBEL_ENOTSUP);
    assert_int_equal(umbel_set_data(other, NULL, 0, NULL), UMBEL_OK);
    assert_null(umbel_get_data(other, NULL));
    umbel_free(other);
    writes_the_file(f, "dcso/c.bloom");
    assert_memory_equal(umbel_get_data(f, &len), "meta-data!\n", 11);
    assert_int_equal(umbel_set_data(f, umbel_get_data(f, NULL), 4, NULL), UMBEL_OK); /* its own */
    assert_memory_equal(umbel_get_data(f, &len), "meta", 4);
    assert_int_equal(umbel_set_data(f, NULL, 0, NULL), UMBEL_OK);
    assert_null(umbel_get_data(f, &len));
    umbel_free(f);
}

static void lines_of_windows(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(10, 0.01));
    foreign_add(f, "key1");
    foreign_add(f, "abc  ");
    writes_the_file(f, "dcso/crlf.bloom");
    umbel_free(f);
}

/* Joining adds the counts, as DCSO does. */
static void counts_add_up(void **state) {
    (void)state;
    umbel_filter *a = foreign_create(params_of(100, 0.01)),
                 *b = foreign_create(params_of(100, 0.01));
    foreign_add(a, "x");
    foreign_add(b, "x");
    foreign_add(b, "y");
    assert_int_equal(umbel_merge(a, b, NULL), UMBEL_OK);
    assert_int_equal(keys_added(a), 3);
    umbel_free(a);
    umbel_free(b);
}

/* ---- Sizes ---- */

static void rates_near_one_match_everything(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(1, 0.9)); /* no bits, no probes */
    assert_true(foreign_contains(f, "anything"));
    foreign_add(f, "x");
    size_t len;
    uint8_t *bytes = foreign_bytes(f, &len);
    assert_int_equal(len, HEADER);
    foreign_same_again(&like, bytes, len);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL),
                     UMBEL_OK); /* recognised as well */
    umbel_measurement now = measured(f);
    assert_true(now.rate == 1);
    umbel_plan plan;
    umbel_foreign params = params_of(1, 0.9);
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_true(plan.rate == 1);
    free(bytes);
    umbel_free(f);
}

static void probes_have_a_limit(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(1000, 0x1p-1024));
    umbel_info info = described(f);
    assert_int_equal(info.hashes, 1024);
    umbel_free(f);
    foreign_not_made(params_of(1000, 0x1p-1025), "1024 probes");
}

static void nonsense_is_refused(void **state) {
    (void)state;
    foreign_not_made(params_of(0, 0.1), "capacity");
    foreign_not_made(params_of(10, 0), "fpr");
    foreign_not_made(params_of(UINT64_MAX, 0.01), "capacity");
    foreign_not_made(params_of(2, 5e-324), "fpr");
    umbel_foreign params = params_of(10, 0.1);
    params.hashes = 3;
    foreign_not_made(params, "hashes");
}

/* ---- Bad input ---- */

static void every_truncation_is_refused(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len); /* no data: every byte counts */
    for (size_t cut = 0; cut < len; cut++) {
        foreign_refused(&like, bytes, cut, UMBEL_ECORRUPT, cut < HEADER ? cut : 32);
    }
    free(bytes);
}

static void every_field_is_checked(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len);
    const uint64_t nan = UINT64_C(0x7ff8000000000000), one = UINT64_C(0x3ff0000000000000);
    const struct {
        size_t at;
        uint64_t value;
        umbel_err want;
    } cases[] = {
        {0, 0, UMBEL_EVERSION},
        {0, 2, UMBEL_EVERSION},
        {0, 257, UMBEL_EVERSION},
        {0, UINT64_MAX, UMBEL_EVERSION},
        {16, 0, UMBEL_ECORRUPT},
        {16, one, UMBEL_ECORRUPT},
        {16, nan, UMBEL_ECORRUPT},
        {16, UINT64_MAX, UMBEL_ECORRUPT},
        {16, one | UINT64_C(1) << 63, UMBEL_ECORRUPT},
        {24, 0, UMBEL_ECORRUPT},
        {24, 1025, UMBEL_EVERSION},
        {24, UINT64_C(1) << 32, UMBEL_EVERSION},
        {24, UINT64_MAX, UMBEL_EVERSION},
        {32, 961, UMBEL_ECORRUPT},
        {32, UINT64_MAX, UMBEL_ECORRUPT},
        {32, UINT64_MAX - 63, UMBEL_ECORRUPT},
        {32, UINT64_C(1) << 63, UMBEL_ECORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        foreign_refused_with(&like, bytes, len, cases[i].at, 8, cases[i].value, cases[i].want,
                             cases[i].at);
    }
    foreign_refused_with(&like, bytes, len, 32, 8, 0, UMBEL_ECORRUPT, 24); /* k without m */
    foreign_refused_with(&like, bytes, len, len - 1, 1, 0x80, UMBEL_ECORRUPT,
                         len - 8); /* padding */
    /* These are valid values: capacity, a shorter filter with data after it, counts. */
    const struct {
        size_t at;
        uint64_t value;
    } fine[] = {{8, 0}, {8, 1}, {8, UINT64_MAX}, {24, 1}, {24, 1024}, {40, 0}, {40, UINT64_MAX}};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        uint8_t old[8];
        memcpy(old, bytes + fine[i].at, 8);
        native_set(bytes, fine[i].at, 8, fine[i].value);
        foreign_same_again(&like, bytes, len);
        memcpy(bytes + fine[i].at, old, 8);
    }
    free(bytes);
}

static void what_is_not_dcso_is_not_recognised(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len);
    umbel_filter *f = NULL;
    native_set(bytes, 24, 8, 8); /* a different k from what n and p give */
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, NULL), UMBEL_EUNKNOWN);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD,
                                  &(umbel_foreign){.format = UMBEL_FMT_DCSO}, NULL, &f, NULL),
                     UMBEL_OK);
    umbel_free(f);
    free(bytes);
}

static void batches_agree(void **state) {
    (void)state;
    enum { N = 3000 };
    foreign_number_batches_agree(params_of(N, 0.01));
    foreign_number_batches_agree(params_of(N, 0.5));
}

/* The library reads no gzip, and says that this is what it sees. */
static void gzipped_bytes_are_named(void **state) {
    (void)state;
    static const uint8_t gzip[60] = {0x1f, 0x8b, 0x08};
    const umbel_format formats[] = {UMBEL_FMT_DCSO, UMBEL_FMT_ANY};
    for (size_t i = 0; i < 2; i++) {
        for (size_t len = 2; len <= sizeof gzip; len += 58) {
            umbel_filter *f = NULL;
            umbel_diag diag[3] = {{0}};
            umbel_err e[] = {
                umbel_decode(gzip, len, UMBEL_LOAD, &(umbel_foreign){.format = formats[i]}, NULL,
                             &f, &diag[0]),
                umbel_decode(gzip, len, UMBEL_MAP, &(umbel_foreign){.format = formats[i]}, NULL, &f,
                             &diag[1]),
                umbel_decode(gzip, len, UMBEL_VERIFY, &(umbel_foreign){.format = formats[i]}, NULL,
                             NULL, &diag[2])};
            assert_null(f);
            for (size_t k = 0; k < 3; k++) {
                assert_int_equal(e[k], UMBEL_EVERSION);
                assert_non_null(strstr(diag[k].what, "gzip-compressed"));
            }
        }
    }
}

/* A reader that has only the beginning learns how long the file is. */
static void cut_files_say_how_long_they_were(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len);
    for (size_t cut = HEADER; cut < len; cut++) {
        umbel_diag diag = {0};
        assert_int_equal(umbel_decode(bytes, cut, UMBEL_VERIFY,
                                      &(umbel_foreign){.format = UMBEL_FMT_DCSO}, NULL, NULL,
                                      &diag),
                         UMBEL_ECORRUPT);
        assert_int_equal(diag.need, len);
    }
    free(bytes);
}

static void the_data_section_has_a_limit(void **state) {
    (void)state;
    enum { DATA = 100000 };
    umbel_foreign params = {.format = UMBEL_FMT_DCSO, .capacity = 100, .fpr = 0.01};
    umbel_filter *f = NULL, *again = NULL;
    uint8_t *data = calloc(1, DATA);
    assert_int_equal(umbel_create_foreign(&params, NULL, &f, NULL), UMBEL_OK);
    assert_int_equal(umbel_set_data(f, data, DATA, NULL), UMBEL_OK);
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_DCSO);
    uint8_t *bytes = malloc(len);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_DCSO, bytes, len, NULL), UMBEL_OK);
    umbel_opts opts = {.max_bytes = DATA - 1};
    umbel_foreign as = {.format = UMBEL_FMT_DCSO};
    umbel_diag diag = {0};
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &as, &opts, &again, &diag), UMBEL_ELIMIT);
    assert_int_equal(diag.need, DATA);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, &as, &opts, &again, &diag), UMBEL_ELIMIT);
    opts.max_bytes = DATA;
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &as, &opts, &again, NULL), UMBEL_OK);
    umbel_free(again);
    umbel_free(f);
    free(bytes);
    free(data);
}

/* m = 958: the last byte has two bits to spare. */
static void views_with_stray_bits_can_be_saved(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_DCSO, .capacity = 100, .fpr = 0.01};
    umbel_foreign as = {.format = UMBEL_FMT_DCSO};
    umbel_filter *f = NULL, *view = NULL, *copy = NULL, *again = NULL;
    umbel_info info;
    assert_int_equal(umbel_create_foreign(&params, NULL, &f, NULL), UMBEL_OK);
    umbel_describe(f, &info);
    assert_int_not_equal(info.bits % 8, 0);
    uint8_t bytes[1000], written[1000];
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_DCSO);
    assert_true(len <= sizeof bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_DCSO, bytes, sizeof bytes, NULL), UMBEL_OK);
    bytes[48 + info.bits / 8] |= 0x80;
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &as, NULL, &again, NULL), UMBEL_ECORRUPT);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, &as, NULL, &view, NULL), UMBEL_OK);
    assert_int_equal(umbel_copy(view, &copy, NULL), UMBEL_OK);
    const umbel_filter *both[] = {view, copy};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(umbel_encode(both[i], UMBEL_FMT_DCSO, written, sizeof written, NULL),
                         UMBEL_OK);
        assert_int_equal(umbel_decode(written, len, UMBEL_LOAD, &as, NULL, &again, NULL), UMBEL_OK);
        umbel_free(again);
    }
    umbel_free(copy);
    umbel_free(view);
    umbel_free(f);
}

/* ---- Keys of one form ---- */

static size_t form_key(char *key, uint64_t i) {
    return (size_t)sprintf(key, "user%" PRIu64 "@dom%" PRIu64 ".example.org/0", i, i);
}

/* The rate that the bits tell for such keys, and the one that is found. */
static void rates_of_one_form(uint64_t keys, double fpr, double *said, double *found) {
    enum { ABSENT = 200000 };
    umbel_foreign params = params_of(keys, fpr);
    umbel_filter *f = NULL;
    umbel_measurement now;
    char key[64];
    uint64_t hits = 0;
    assert_int_equal(umbel_create_foreign(&params, NULL, &f, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < keys; i++) {
        assert_int_equal(umbel_add(f, key, form_key(key, i), NULL, NULL), UMBEL_OK);
    }
    for (uint64_t i = 0; i < ABSENT; i++) {
        hits += umbel_contains(f, key, form_key(key, 10000000 + i));
    }
    umbel_measure(f, &now);
    *said = now.rate_alike;
    *found = (double)hits / ABSENT;
    umbel_free(f);
}

/* With an even number of bits a thousand times the promise, whatever the size; the bits show it. */
static void keys_of_one_form(void **state) {
    static const uint64_t even[] = {100, 1000, 10000, 100000};
    double said, found;
    (void)state;
    for (size_t i = 0; i < sizeof even / sizeof *even; i++) {
        umbel_foreign params = params_of(even[i], 1e-5);
        umbel_plan plan;
        assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
        assert_true(plan.bits % 2 == 0);
        rates_of_one_form(even[i], 1e-5, &said, &found);
        assert_true(found > 500e-5);
        assert_true(said > 0.9 * found);
        assert_true(said < 1.1 * found);
        assert_true(plan.rate_alike > 0.8 * found);
    }
    umbel_foreign odd = params_of(128, 1e-5);
    umbel_plan plan;
    assert_int_equal(umbel_plan_foreign(&odd, &plan, NULL), UMBEL_OK);
    assert_true(plan.bits % 2 == 1);
    assert_true(plan.rate_alike == 0);
    rates_of_one_form(128, 1e-5, &said, &found);
    assert_true(said == 0);
    assert_true(found < 10e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifty_keys),
        cmocka_unit_test(keys_and_data),
        cmocka_unit_test(lines_of_windows),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(rates_near_one_match_everything),
        cmocka_unit_test(probes_have_a_limit),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_field_is_checked),
        cmocka_unit_test(what_is_not_dcso_is_not_recognised),
        cmocka_unit_test(batches_agree),
        cmocka_unit_test(the_data_section_has_a_limit),
        cmocka_unit_test(views_with_stray_bits_can_be_saved),
        cmocka_unit_test(gzipped_bytes_are_named),
        cmocka_unit_test(cut_files_say_how_long_they_were),
        cmocka_unit_test(keys_of_one_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
