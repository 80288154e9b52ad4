/* SPDX-License-Identifier: MIT
 *
 * test_api_names.c - names, error texts, versions, and what the kinds can do
 */
#include "cases.h"

#include <stdio.h>
#include <string.h>

#include "any_filter.h"
#include "every_format.h"
#include "format/codec.h"
#include "kind/kind.h"
#include "umbel_foreign.h"

static const char *text_of(int err, char *text) {
    return umbel_explain((umbel_err)err, NULL, text, 64);
}

static void test_errors(void **state) {
    (void)state;
    char unknown[64], text[64], another[64];
    assert_string_equal(text_of(-1, text), text_of(9999, unknown));
    for (int e = UMBEL_OK; umbel_err_name((umbel_err)e); e++) {
        assert_string_not_equal(text_of(e, text), unknown);
        for (int other = UMBEL_OK; other < e; other++) {
            assert_string_not_equal(text, text_of(other, another));
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
    umbel_traits traits;
    for (const umbeli_kind *const *k = umbeli_kinds; *k; k++) {
        assert_true((*k)->id > last); /* in order, each once */
        last = (*k)->id;
        assert_string_equal(umbel_kind_name((*k)->id), (*k)->name);
        assert_true(umbel_kind_traits((*k)->id, &traits));
        assert_in_range(strlen(traits.purpose), 1, 20); /* fits umbel plan's table */
        assert_true(umbel_kind_named((*k)->name, &kind));
        assert_int_equal(kind, (*k)->id);
    }
    kind = UMBEL_KIND_BLOCKED;
    assert_false(umbel_kind_named("", &kind));
    assert_false(umbel_kind_named("Blocked", &kind));
    assert_int_equal(kind, UMBEL_KIND_BLOCKED);
    assert_null(umbel_kind_name((umbel_kind)9999));
    assert_false(umbel_kind_traits((umbel_kind)9999, &traits));
    assert_null(traits.purpose);
    assert_false(umbel_kind_traits(UMBEL_KIND_AUTO, &traits));
    assert_null(traits.purpose);
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

/* Lists are read from 0 until there is no more name; each name once. */
static void assert_list(const char *(*name_of)(int)) {
    int n = 0;
    for (; name_of(n); n++) {
        assert_true(name_of(n)[0]);
        for (int other = 0; other < n; other++) {
            assert_string_not_equal(name_of(n), name_of(other));
        }
    }
    assert_true(n > 5);
    assert_null(name_of(-1));
    assert_null(name_of(9999));
}

static const char *error_name(int i) {
    return umbel_err_name((umbel_err)i);
}

static const char *verdict_name(int i) {
    return umbel_verdict_name((umbel_verdict)i);
}

static const char *type_name(int i) {
    return umbel_type_name((umbel_type)i);
}

static void test_lists(void **state) {
    (void)state;
    assert_list(error_name);
    assert_list(verdict_name);
    assert_list(type_name);
    assert_string_equal(umbel_err_name(UMBEL_EUNSYNCED), "EUNSYNCED");
    assert_string_equal(umbel_verdict_name(UMBEL_PLAN_BELOW_BOUND), "below-bound");
}

/* A trait is what the filters of the kind do, not what a table says. */
static void assert_traits(umbel_kind kind) {
    umbel_traits can;
    umbel_filter *f = NULL, *other = NULL;
    umbel_params params = {.kind = kind, .capacity = 1000, .fpr = 0.01};
    assert_true(umbel_kind_traits(kind, &can));
    umbel_builder *b = NULL;
    assert_ok(umbel_builder_new(&params, NULL, &b, NULL));
    assert_ok(umbel_builder_add(b, &(umbel_key){"ada", 3}, 1, NULL));
    assert_ok(umbel_builder_finish(b, &f, NULL));
    umbel_builder_free(b);
    assert_ok(umbel_copy(f, &other, NULL));
    umbel_info info = described(f);
    assert_int_equal(can.built_once, info.frozen);
    assert_int_equal(can.adds, umbel_add(f, "bob", 3, NULL, NULL) == UMBEL_OK);
    assert_int_equal(can.grows, info.grows);
    assert_int_equal(can.forgets, umbel_advance(f, NULL) == UMBEL_OK);
    assert_int_equal(can.merges, umbel_merge(f, other, NULL) == UMBEL_OK);
    assert_int_equal(can.removes, umbel_remove(f, "bob", 3, NULL) == UMBEL_OK);
    assert_int_equal(can.counts, umbel_count(f, "ada", 3) == 2); /* both had it */
    assert_int_equal(can.folds, umbel_fold(f, 0.01, NULL) == UMBEL_OK);
    assert_int_equal(can.hashes, takes_hashes(f));
    umbel_free(f);
    umbel_free(other);
    params.concurrent = true;
    umbel_err e = umbel_create(&params, NULL, &f, NULL);
    assert_int_equal(can.concurrent, e == UMBEL_OK);
    if (!e) umbel_free(f);
}

static void test_traits(void **state) {
    (void)state;
    int kinds = 1;
    for (; umbel_kind_name((umbel_kind)kinds); kinds++) assert_traits((umbel_kind)kinds);
    assert_true(kinds > 8);
    umbel_traits none, no = {0};
    assert_false(umbel_kind_traits(UMBEL_KIND_AUTO, &none));
    assert_memory_equal(&none, &no, sizeof no);
    assert_false(umbel_kind_traits((umbel_kind)9999, &none));
}

static void test_formats_are_described(void **state) {
    (void)state;
    umbel_format_info about, none = {0};
    umbel_format format = UMBEL_FMT_ANY;
    memset(&about, 0x55, sizeof about);
    assert_false(umbel_format_describe(format, &about));
    assert_memory_equal(&about, &none, sizeof about);
    while (umbel_format_describe(++format, &about)) {
        umbel_format found;
        assert_string_equal(about.name, umbel_format_name(format));
        assert_true(umbel_format_named(about.name, &found) && found == format);
        assert_true(about.system && *about.system);
        assert_int_equal(about.takes == 0, format == UMBEL_FMT_NATIVE);
        assert_int_equal(about.needs & ~about.takes, 0);
        for (uint32_t bit = 1; bit; bit <<= 1) {
            bool named = umbel_variant_name(format, bit) != NULL;
            assert_int_equal(named, (about.variants & bit) != 0);
        }
    }
    assert_false(umbel_format_named("no such format", &format));
}

/* A field that a format is said to take is needed by some filter of it or, where it is refused, for
 * another reason; one that it is not said to take is refused by name. */
static void test_fields_that_are_taken(void **state) {
    (void)state;
    static const struct {
        uint32_t field;
        const char *name;
        umbel_foreign given;
    } fields[] = {
        {UMBEL_FIELD_CAPACITY, "capacity", {.capacity = 9}},
        {UMBEL_FIELD_FPR, "fpr", {.fpr = 0.1}},
        {UMBEL_FIELD_BYTES, "bytes", {.bytes = 64}},
        {UMBEL_FIELD_SEED, "seed", {.seed = 5}},
        {UMBEL_FIELD_HASHES, "hashes", {.hashes = 3}},
        {UMBEL_FIELD_BITS_PER_KEY, "bits_per_key", {.bits_per_key = 10}},
        {UMBEL_FIELD_EXPANSION, "expansion", {.expansion = 2}},
        {UMBEL_FIELD_NONSCALING, "nonscaling", {.nonscaling = true}},
    };
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 1000, 0.01);
    uint32_t seen = 0, last = UMBEL_FMT_NATIVE;
    for (size_t i = 0; i < count; i++) {
        umbel_format format = forms[i].made.format;
        assert_true(format == last || format == last + 1); /* a filter of each can be made */
        last = format;
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            umbel_foreign alone = fields[k].given;
            umbel_plan plan;
            umbel_diag diag = {0};
            alone.format = format;
            umbel_err e = umbel_plan_foreign(&alone, &plan, &diag);
            bool taken = forms[i].about.takes & fields[k].field;
            if (taken) seen |= fields[k].field;
            if (!taken) assert_int_equal(e, UMBEL_EINVAL);
            if (!taken) assert_string_equal(diag.field, fields[k].name);
        }
    }
    assert_int_equal(seen, 2 * UMBEL_FIELD_NONSCALING - 1);
    assert_null(umbel_format_name(last + 1));
}

static void test_variants(void **state) {
    (void)state;
    uint32_t bits = 99;
    assert_true(umbel_variant_named(UMBEL_FMT_GUAVA, "mitz32", &bits));
    assert_int_equal(bits, UMBEL_VARIANT_MITZ32);
    assert_false(umbel_variant_named(UMBEL_FMT_SPARK, "mitz32", &bits));
    assert_int_equal(bits, UMBEL_VARIANT_MITZ32); /* untouched */
    assert_true(umbel_variant_named(UMBEL_FMT_SPARK, "v2", &bits));
    assert_int_equal(bits, 0);
    assert_null(umbel_variant_name(UMBEL_FMT_GUAVA, 0));
    assert_null(umbel_variant_name(UMBEL_FMT_NATIVE, UMBEL_VARIANT_MITZ32));
    uint32_t all = 0;
    for (uint32_t bit = 1; bit;
         bit <<= 1) { /* each name leads back, in its own format and in any */
        const char *name = umbel_variant_name(UMBEL_FMT_ANY, bit);
        if (!name) continue;
        assert_true(umbel_variant_named(UMBEL_FMT_ANY, name, &bits));
        assert_int_equal(bits, bit);
        all |= bit;
    }
    assert_int_equal(all, 2 * UMBEL_VARIANT_SPARK_V1 - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_formats_are_described),
        cmocka_unit_test(test_fields_that_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
