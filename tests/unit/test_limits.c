/* SPDX-License-Identifier: MIT
 *
 * test_limits.c - decoding takes no more memory than opts.max_bytes, and reports what would suffice
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "every_format.h"
#include "foreign.h"
#include "golden.h"
#include "umbel_foreign.h"
#include "watched_memory.h"

/* The handle, the descriptions of layers, and the rounding of the array. */
enum { BESIDES = 8192 };

static umbel_err decode(const umbel_foreign *like, const uint8_t *bytes, size_t len, uint64_t limit,
                        watched_memory *m, umbel_filter **f, umbel_diag *diag) {
    watch_memory(m, 0);
    m->opts.max_bytes = limit;
    return umbel_decode(bytes, len, UMBEL_LOAD, like, &m->opts, f, diag);
}

/* Enough is enough, one byte less is not, and neither takes more. */
static void obeys(const umbel_foreign *like, const uint8_t *bytes, size_t len, size_t besides) {
    watched_memory m;
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_ok(decode(like, bytes, len, 0, &m, &f, &diag));
    size_t extra = 0;
    (void)umbel_get_data(f, &extra);
    uint64_t need = described(f).bytes > extra ? described(f).bytes : extra;
    umbel_free(f);
    f = NULL;
    if (need == 0) return;
    assert_ok(decode(like, bytes, len, need, &m, &f, &diag));
    assert_true(m.peak <= need + besides);
    umbel_free(f);
    f = NULL;
    assert_int_equal(m.blocks, 0);
    for (uint64_t limit = need - 1; limit > 0; limit /= 3) {
        diag = (umbel_diag){0};
        assert_int_equal(decode(like, bytes, len, limit, &m, &f, &diag), UMBEL_ELIMIT);
        assert_null(f);
        assert_non_null(diag.what);
        assert_int_equal(diag.need, need);
        assert_true(m.peak <= besides);
        assert_int_equal(m.blocks, 0);
    }
}

/* A view does not own its bits, so no limit on them is exceeded. */
static void views_need_none(const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    watched_memory m;
    watch_memory(&m, 0);
    m.opts.max_bytes = 1;
    if (like && like->format == UMBEL_FMT_DCSO) m.opts.max_bytes = len; /* its data is copied */
    umbel_filter *f = NULL;
    umbel_err e = umbel_decode(bytes, len, UMBEL_MAP, like, &m.opts, &f, NULL);
    assert_true(e == UMBEL_OK || e == UMBEL_ENOTSUP);
    assert_true(m.peak <= BESIDES);
    umbel_free(f);
}

static void check(umbel_foreign like, const uint8_t *bytes, size_t len) {
    obeys(&like, bytes, len, BESIDES);
    views_need_none(&like, bytes, len);
}

static void test_native_golden(void **state) {
    (void)state;
    static const char *const names[] = {
        "ada",       "blocked_1",    "blocked_64", "blocked_7",    "blocked_empty",
        "classic_1", "classic_1001", "classic_64", "blocked_meta", "classic_4096"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len;
        uint8_t *bytes = golden_native(names[i], &len);
        check((umbel_foreign){.format = UMBEL_FMT_NATIVE}, bytes, len);
        free(bytes);
    }
}

/* Rows of a table whose column is a filter in hex. */
static void check_rows(const char *path, size_t column, umbel_foreign like) {
    golden_table t = golden_table_open(path);
    while (golden_table_next(&t)) {
        if (!t.column[column][0]) continue; /* too large to be stored */
        size_t len;
        uint8_t *bytes = golden_hex(t.column[column], &len);
        check(like, bytes, len);
        free(bytes);
    }
    assert_true(t.rows > 3);
    golden_table_close(&t);
}

static void test_foreign_golden(void **state) {
    (void)state;
    check_rows("leveldb/filters.tsv", 3, (umbel_foreign){.format = UMBEL_FMT_LEVELDB});
    check_rows("corekv/filters.tsv", 4, (umbel_foreign){.format = UMBEL_FMT_COREKV});
    check_rows("corekv/filters.tsv", 4, (umbel_foreign){.format = UMBEL_FMT_BADGER});
    check_rows("guava/filters.tsv", 11, (umbel_foreign){.format = UMBEL_FMT_GUAVA});
    static const char *const dcso[] = {"dcso/a.bloom", "dcso/c.bloom", "dcso/crlf.bloom"};
    for (size_t i = 0; i < 3; i++) {
        size_t len;
        uint8_t *bytes = golden_file(dcso[i], &len);
        check((umbel_foreign){.format = UMBEL_FMT_DCSO}, bytes, len);
        free(bytes);
    }
    golden_table t = golden_table_open("parquet/filters.tsv");
    while (golden_table_next(&t)) {
        char hex[20000];
        snprintf(hex, sizeof hex, "%s%s", t.column[3], t.column[6]);
        size_t len;
        uint8_t *bytes = golden_hex(hex, &len);
        check((umbel_foreign){.format = UMBEL_FMT_PARQUET}, bytes, len);
        free(bytes);
    }
    golden_table_close(&t);
}

static void check_filled(const any_params *made, const umbel_foreign *like) {
    umbel_filter *f = NULL;
    size_t len;
    assert_ok(any_create(made, NULL, &f, NULL));
    for (uint32_t k = 0; k < 20000; k++) { /* those that grow get several layers */
        assert_ok(umbel_add(f, &k, sizeof k, NULL, NULL));
    }
    uint8_t *bytes = foreign_bytes(f, &len);
    check(*like, bytes, len);
    free(bytes);
    umbel_free(f);
}

/* Larger ones: what is allocated besides the bits does not grow with them. */
static void test_large(void **state) {
    (void)state;
    static const any_params made[] = {
        {.native = {.kind = UMBEL_KIND_BLOCKED, .capacity = 200000, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_CLASSIC, .capacity = 200000, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_COUNTING, .capacity = 100000, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_WINDOW, .capacity = 100000, .fpr = 0.01}},
        {.native = {.kind = UMBEL_KIND_SCALABLE, .capacity = 500, .fpr = 0.01}},
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        check_filled(&made[i], &(umbel_foreign){.format = UMBEL_FMT_NATIVE});
    }
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 100000, 0.01);
    for (size_t i = 0; i < count; i++) {
        bool grows = forms[i].about.takes & UMBEL_FIELD_EXPANSION;
        if (grows) forms[i].made.capacity = 500;
        check_filled(&(any_params){.foreign = forms[i].made}, &forms[i].read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_native_golden),
        cmocka_unit_test(test_foreign_golden),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
