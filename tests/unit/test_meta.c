/* SPDX-License-Identifier: MIT
 *
 * test_meta.c - names with texts and the recipe, as stored with a filter
 */
#include "any_filter.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"
#include "subjects.h"
#include "umbel_foreign.h"
#include "umbel_recipe.h"

enum { LIMIT = 512 * 1024, ENTRIES = 1024 };

static umbel_filter *small(void) {
    umbel_filter *f = NULL;
    assert_ok(
        umbel_create(&(umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 32}, NULL, &f, NULL));
    return f;
}

static size_t count(const umbel_filter *f) {
    size_t n = 0;
    const char *name, *value;
    while (umbel_meta_at(f, n, &name, &value)) n++;
    return n;
}

static void assert_entry(const umbel_filter *f, size_t i, const char *want_name,
                         const char *want_value) {
    const char *name = NULL, *value = NULL;
    assert_true(umbel_meta_at(f, i, &name, &value));
    assert_string_equal(name, want_name);
    assert_string_equal(value, want_value);
}

static void test_order_replace_remove(void **state) {
    (void)state;
    umbel_filter *f = small();
    char name[16];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_ok(umbel_set_meta(f, name, "old", NULL));
    }
    assert_ok(umbel_set_meta(f, "name3", "a longer text than before", NULL));
    assert_ok(umbel_set_meta(f, "name", "a prefix is another name", NULL));
    assert_ok(umbel_set_meta(f, "name0", NULL, NULL));
    assert_ok(umbel_set_meta(f, "name19", NULL, NULL));
    assert_ok(umbel_set_meta(f, "not there", NULL, NULL));
    assert_int_equal(count(f), 19);
    assert_entry(f, 0, "name1", "old");
    assert_entry(f, 2, "name3", "a longer text than before");
    assert_entry(f, 17, "name18", "old");
    assert_entry(f, 18, "name", "a prefix is another name");
    umbel_filter *copy = NULL;
    assert_ok(umbel_copy(f, &copy, NULL));
    assert_same_bytes(f, copy);
    assert_ok(umbel_clear(copy, NULL));
    assert_int_equal(count(copy), 19);
    umbel_free(copy);
    umbel_free(f);
}

static char *text_of(size_t len) {
    char *text = malloc(len + 1);
    assert_non_null(text);
    memset(text, 'x', len);
    text[len] = 0;
    return text;
}

static void refused(umbel_filter *f, const char *name, const char *value) {
    size_t before = count(f);
    umbel_diag diag = {0};
    assert_int_equal(umbel_set_meta(f, name, value, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(sentence(&diag), "metadata"));
    assert_int_equal(count(f), before);
}

static void test_limits(void **state) {
    (void)state;
    umbel_filter *f = small();
    char *name = text_of(256), *full = text_of(LIMIT - 1);
    refused(f, "", "v");
    refused(f, name, "v");
    name[255] = 0;
    assert_ok(umbel_set_meta(f, name, "v", NULL));
    assert_ok(umbel_set_meta(f, name, NULL, NULL));

    assert_ok(umbel_set_meta(f, "n", full, NULL)); /* 512 KiB exactly */
    assert_int_equal(strlen("n") + strlen(umbel_get_meta(f, "n")), LIMIT);
    refused(f, "m", "");
    refused(f, "nn", full);
    assert_ok(umbel_set_meta(f, "n", full, NULL)); /* replaces itself */
    size_t len;
    uint8_t *bytes = bytes_of(f, &len);
    umbel_filter *again = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                           NULL, &again, NULL));
    assert_same_bytes(f, again);
    umbel_free(again);
    free(bytes);
    free(name);
    free(full);
    umbel_free(f);
}

/* What can be set can be saved and read: many short entries must not exceed the header's limit. */
static void test_number_of_entries(void **state) {
    (void)state;
    umbel_filter *f = small();
    char name[16];
    char *value = text_of(LIMIT / ENTRIES - 8);
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(name, sizeof name, "%08d", i);
        assert_ok(umbel_set_meta(f, name, value, NULL));
    }
    refused(f, "more", "");
    assert_ok(umbel_set_meta(f, "00000000", "", NULL));
    refused(f, "more", "");
    size_t len;
    uint8_t *bytes = bytes_of(f, &len);
    umbel_filter *again = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                           NULL, &again, NULL));
    assert_same_bytes(f, again);
    umbel_free(again);
    free(bytes);
    free(value);
    umbel_free(f);
}

static void test_lengths_instead_of_nul(void **state) {
    (void)state;
    umbel_filter *f = small();
    assert_ok(umbeli_meta_set(f, "abcdef", 3, "uvwxyz", 2, NULL));
    assert_entry(f, 0, "abc", "uv");
    assert_ok(umbeli_meta_set(f, "abc", 3, NULL, 0, NULL));
    assert_entry(f, 0, "abc", "");
    assert_int_equal(umbeli_meta_set(f, "a\0c", 3, "v", 1, NULL), UMBEL_EINVAL);
    assert_int_equal(umbeli_meta_set(f, "ac", 2, "v\0", 2, NULL), UMBEL_EINVAL);
    assert_int_equal(count(f), 1);
    umbel_free(f);
}

static void test_recipe(void **state) {
    (void)state;
    umbel_filter *f = small(), *copy = NULL;
    umbel_diag diag = {0};
    const char *name, *value;
    assert_string_equal(umbel_get_recipe(f), "line");
    assert_ok(umbel_set_meta(f, "a", "1", NULL));
    assert_ok(umbel_set_recipe(f, "csv  column=\"x\" header", NULL));
    assert_ok(umbel_set_meta(f, "b", "2", NULL));
    assert_string_equal(umbel_get_recipe(f), "csv column=x");
    assert_int_equal(count(f), 2); /* it is not among the metadata ... */
    assert_true(umbel_meta_at(f, 1, &name, &value));
    assert_string_equal(name, "b");
    assert_int_equal(umbel_set_meta(f, "recipe", "line", &diag), UMBEL_EINVAL); /* ... nor set so */
    assert_string_equal(diag.field, "recipe");
    assert_int_equal(umbel_set_meta(f, "recipe", NULL, NULL), UMBEL_EINVAL);
    assert_int_equal(umbel_set_recipe(f, "line fnord", &diag), UMBEL_EVERSION);
    assert_string_equal(diag.field, "fnord");
    assert_int_equal(diag.offset, 5);
    assert_string_equal(umbel_get_recipe(f), "csv column=x"); /* failure changes nothing */
    assert_ok(umbel_copy(f, &copy, NULL));
    assert_string_equal(umbel_get_recipe(copy), "csv column=x");
    assert_ok(umbel_set_recipe(copy, "line", NULL));
    assert_string_equal(umbel_get_recipe(copy), "line");
    umbel_free(copy);
    umbel_free(f);
}

/* The part may be elsewhere in each file's records; what is done to it may not differ. */
static void test_filters_of_different_recipes(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool agree;
    } rows[] = {
        {"line", "line", true},
        {"line", "field=2", true},
        {"csv column=mail lower", "field=1,3 lower", true},
        {"line sha1", "json=.password sha1", true},
        {"line", "line lower", false},
        {"line lower", "line upper", false},
        {"line trim", "line", false},
        {"line", "domain", false},
        {"line sha1", "line ntlm", false},
        {"line type=int64", "field=2 type=int64", true},
        {"line type=int64", "line type=int32", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        umbel_filter *a = umbel_new(100, 0.01), *b = umbel_new(100, 0.01);
        umbel_err want = rows[i].agree ? UMBEL_OK : UMBEL_EMISMATCH;
        umbel_diag diag = {0};
        bool yes;
        assert_ok(umbel_set_recipe(a, rows[i].a, NULL));
        assert_ok(umbel_set_recipe(b, rows[i].b, NULL));
        assert_int_equal(umbel_merge(a, b, &diag), want);
        assert_string_equal(diag.field, rows[i].agree ? "" : "recipe");
        assert_int_equal(umbel_intersect(b, a, NULL), want);
        assert_int_equal(umbel_is_subset(a, b, &yes, NULL), want);
        assert_string_equal(umbel_get_recipe(a), rows[i].a); /* stays */
        umbel_free(a);
        umbel_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_replace_remove),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_number_of_entries),
        cmocka_unit_test(test_lengths_instead_of_nul),
        cmocka_unit_test(test_recipe),
        cmocka_unit_test(test_filters_of_different_recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
