/* SPDX-License-Identifier: MIT
 *
 * test_api_names.c - names, error texts, versions
 */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "format/codecs.h"
#include "kind/kind.h"

static void test_strerror(void **state) {
    (void)state;
    const char *unknown = umbel_strerror((umbel_err)9999);
    assert_non_null(unknown);
    assert_string_equal(umbel_strerror((umbel_err)-1), unknown);
    for (int e = UMBEL_OK; e <= UMBEL_EUNKNOWN; e++) {
        const char *text = umbel_strerror((umbel_err)e);
        assert_non_null(text);
        assert_string_not_equal(text, unknown);
        for (int other = UMBEL_OK; other < e; other++) {
            assert_string_not_equal(text, umbel_strerror((umbel_err)other));
        }
    }
}

static void test_kinds(void **state) {
    (void)state;
    umbel_kind kind = UMBEL_KIND_CLASSIC;
    assert_true(umbel_kind_named("auto", &kind));
    assert_int_equal(kind, UMBEL_KIND_AUTO);
    assert_string_equal(umbel_kind_name(UMBEL_KIND_AUTO), "auto");
    umbel_kind last = UMBEL_KIND_AUTO;
    for (const umbeli_kind *const *k = umbeli_kinds; *k; k++) {
        assert_true((*k)->id > last); /* in order, each once */
        last = (*k)->id;
        assert_string_equal(umbel_kind_name((*k)->id), (*k)->name);
        assert_true(umbel_kind_named((*k)->name, &kind));
        assert_int_equal(kind, (*k)->id);
    }
    assert_int_equal(UMBEL_KIND_BLOCKED, 1); /* these numbers are in files */
    assert_int_equal(UMBEL_KIND_CLASSIC, 2);
    kind = UMBEL_KIND_BLOCKED;
    assert_false(umbel_kind_named("", &kind));
    assert_false(umbel_kind_named("Blocked", &kind));
    assert_int_equal(kind, UMBEL_KIND_BLOCKED);
    assert_null(umbel_kind_name((umbel_kind)9999));
}

static void test_formats(void **state) {
    (void)state;
    umbel_format last = UMBEL_FMT_ANY, format;
    for (const umbeli_codec *const *codec = umbeli_codecs; *codec; codec++) {
        assert_true((*codec)->id > last);
        last = (*codec)->id;
        assert_string_equal(umbel_format_name((*codec)->id), (*codec)->name);
        assert_true(umbel_format_named((*codec)->name, &format));
        assert_int_equal(format, (*codec)->id);
    }
    format = UMBEL_FMT_NATIVE;
    assert_false(umbel_format_named("no such format", &format));
    assert_int_equal(format, UMBEL_FMT_NATIVE);
    assert_null(umbel_format_name((umbel_format)9999));
    assert_string_equal(umbel_format_name(UMBEL_FMT_NATIVE), "native");
}

static void test_version(void **state) {
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", UMBEL_VERSION_MAJOR, UMBEL_VERSION_MINOR,
             UMBEL_VERSION_PATCH);
    assert_string_equal(version, UMBEL_VERSION);
    assert_string_equal(umbel_version(), UMBEL_VERSION);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strerror),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
