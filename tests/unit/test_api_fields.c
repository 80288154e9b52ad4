/* SPDX-License-Identifier: MIT
 *
 * test_api_fields.c - fields that a kind or a format does not have are refused by name, and so are
 * reserved words; what is given through the options
 */
#include "cases.h"

#include <math.h>
#include <string.h>

#include "any_filter.h"
#include "every_format.h"
#include "umbel_foreign.h"
#include "umbel_text.h"
#include "watched_memory.h"

static const uint8_t secret[17] = "sixteen letters.";

/* AUTO and every kind that there is. */
static bool is_kind(umbel_kind kind) {
    return kind == UMBEL_KIND_AUTO || umbel_kind_name(kind);
}

/* Kinds that are built once are made by the builder alone. */
static umbel_err make(const umbel_params *params, const umbel_opts *opts, umbel_diag *diag) {
    umbel_filter *f = NULL;
    umbel_traits traits;
    umbel_kind_traits(params->kind, &traits);
    umbel_err e = traits.built_once ? build_from(params, opts, &(umbel_key){"a", 1}, 1, &f, diag)
                                    : umbel_create(params, opts, &f, diag);
    assert_true(!e == (f != NULL));
    umbel_free(f);
    return e;
}

static void refused(const umbel_params *params, const umbel_opts *opts, const char *field) {
    watched_memory m;
    umbel_diag diag = {0};
    watch_memory(&m, 0);
    if (opts) {
        m.opts.secret = opts->secret;
        m.opts.concurrent = opts->concurrent;
        memcpy(m.opts.reserved, opts->reserved, sizeof m.opts.reserved);
    }
    umbel_err e = make(params, &m.opts, &diag);
    if (e != UMBEL_EINVAL || strcmp(diag.field, field) != 0) {
        fail_msg("%s: %s: '%s', not '%s'", umbel_kind_name(params->kind), umbel_err_name(e),
                 sentence(&diag), field);
    }
    assert_int_equal(m.calls, 0); /* before anything is allocated */
    assert_int_equal(diag.offset, 0);
    assert_int_equal(diag.need, 0);
    assert_int_equal(diag.sys, 0);
}

static umbel_params plain(umbel_kind kind) {
    return (umbel_params){.kind = kind, .capacity = 1000, .fpr = 0.01};
}

/* The kind that has each field; AUTO: a field that only another kind has. */
static void test_fields_of_other_kinds(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_AUTO; is_kind(kind); kind++) {
        umbel_params p = plain(kind);
        assert_ok(make(&p, NULL, NULL));
        struct {
            const char *field;
            umbel_params with;
            bool taken;
        } cases[] = {
            {"concurrent", p,
             kind == UMBEL_KIND_BLOCKED || kind == UMBEL_KIND_LINE || kind == UMBEL_KIND_AUTO},
            {"expansion", p, kind == UMBEL_KIND_SCALABLE},
            {"max_layers", p, kind == UMBEL_KIND_SCALABLE},
            {"generations", p, kind == UMBEL_KIND_WINDOW},
            {"manual", p, kind == UMBEL_KIND_WINDOW},
        };
        cases[0].with.concurrent = 1;
        cases[1].with.scalable.expansion = 3;
        cases[2].with.scalable.max_layers = 3;
        cases[3].with.window.generations = 3;
        cases[4].with.window.manual = 1;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (cases[i].taken) {
                assert_ok(make(&cases[i].with, NULL, NULL));
            } else {
                refused(&cases[i].with, NULL, cases[i].field);
            }
        }
    }
}

static void test_hashes(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; is_kind(kind); kind++) {
        if (kind == UMBEL_KIND_CLASSIC || kind == UMBEL_KIND_STATIC) continue;
        if (kind == UMBEL_KIND_TIGHT || kind == UMBEL_KIND_EXACT) continue; /* built: below */
        umbel_params p = plain(kind);
        p.hashes = 7;
        refused(&p, NULL, "hashes");
    }
    umbel_diag diag = {0};
    const umbel_kind once[] = {UMBEL_KIND_TIGHT, UMBEL_KIND_EXACT};
    for (size_t i = 0; i < 2; i++) {
        umbel_params p = plain(once[i]);
        p.hashes = 7;
        assert_int_equal(make(&p, NULL, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.field, "hashes");
    }
    umbel_params classic = plain(UMBEL_KIND_CLASSIC), fuse = plain(UMBEL_KIND_STATIC);
    classic.hashes = 7;
    fuse.hashes = 3;
    assert_ok(make(&classic, NULL, NULL));
    assert_ok(make(&fuse, NULL, NULL));
}

static void test_no_such_kind(void **state) {
    (void)state;
    umbel_kind kind = UMBEL_KIND_AUTO;
    while (is_kind(kind)) kind++;
    umbel_params p = plain(kind);
    umbel_filter *f = NULL;
    umbel_builder *b = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_create(&p, NULL, &f, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "kind");
    assert_int_equal(umbel_builder_new(&p, NULL, &b, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "kind");
    p = plain(UMBEL_KIND_STATIC); /* not this way */
    assert_int_equal(umbel_create(&p, NULL, &f, &diag), UMBEL_ENOTSUP);
    assert_string_equal(diag.field, "kind");
    assert_true(f == NULL && b == NULL);
}

static void test_reserved(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_AUTO; is_kind(kind); kind++) {
        umbel_params p = plain(kind);
        for (size_t i = 0; i < sizeof p.reserved / sizeof *p.reserved; i++) {
            p.reserved[i] = UINT64_C(1) << 63;
            refused(&p, NULL, "params.reserved");
            p.reserved[i] = 0;
            umbel_opts opts = {0};
            opts.reserved[i] = 1;
            refused(&p, &opts, "opts.reserved");
        }
    }
}

/* Making, planning, decoding, viewing and verifying all check. */
static void test_reserved_of_other_systems(void **state) {
    (void)state;
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 100, 0.01);
    for (size_t i = 0; i < count; i++) {
        umbel_filter *f = NULL, *none = NULL;
        umbel_plan plan;
        uint8_t bytes[4096];
        assert_ok(umbel_create_foreign(&forms[i].made, NULL, &f, NULL));
        size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_ANY);
        assert_ok(umbel_encode(f, UMBEL_FMT_ANY, bytes, sizeof bytes, NULL));
        assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, &forms[i].made, NULL, NULL, NULL));
        for (size_t k = 0; k < sizeof forms[i].made.reserved / sizeof *forms[i].made.reserved;
             k++) {
            umbel_foreign p = forms[i].made;
            p.reserved[k] = 1;
            for (int way = 0; way < 5; way++) {
                umbel_diag diag = {0};
                umbel_err e =
                    way == 0   ? umbel_create_foreign(&p, NULL, &none, &diag)
                    : way == 1 ? umbel_plan_foreign(&p, &plan, &diag)
                    : way == 2 ? umbel_decode(bytes, len, UMBEL_LOAD, &p, NULL, &none, &diag)
                    : way == 3 ? umbel_decode(bytes, len, UMBEL_MAP, &p, NULL, &none, &diag)
                               : umbel_decode(bytes, len, UMBEL_VERIFY, &p, NULL, NULL, &diag);
                assert_int_equal(e, UMBEL_EINVAL);
                assert_string_equal(diag.field, "foreign.reserved");
                assert_null(none);
            }
        }
        umbel_free(f);
    }
    umbel_diag diag = {0}; /* also where the format is only to be recognised */
    assert_int_equal(
        umbel_decode("", 0, UMBEL_VERIFY, &(umbel_foreign){.reserved = {1}}, NULL, NULL, &diag),
        UMBEL_EINVAL);
    assert_string_equal(diag.field, "foreign.reserved");
}

/* Filters of every kind can be keyed, other systems' cannot. */
static void test_secret_in_the_options(void **state) {
    (void)state;
    umbel_opts opts = {.secret = secret};
    for (umbel_kind kind = UMBEL_KIND_AUTO; is_kind(kind); kind++) {
        umbel_params p = plain(kind);
        assert_ok(make(&p, &opts, NULL));
    }
    umbel_foreign guava = {.format = UMBEL_FMT_GUAVA, .capacity = 9, .fpr = 0.1};
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_create_foreign(&guava, &opts, &f, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "secret");
    assert_null(f);
}

static void test_secret_from_a_file(void **state) {
    (void)state;
    static const char digits[] = "00112233445566778899aAbBcCdDeEfF\r\n";
    uint8_t bytes[16], got[16] = {0};
    umbel_diag diag = {0};
    for (unsigned i = 0; i < 16; i++) bytes[i] = (uint8_t)(0x11 * i);
    for (size_t end = 32; end <= 34; end += 2) { /* \n alone: below */
        memset(got, 0xff, 16);
        assert_ok(umbel_parse_secret(digits, end, got, NULL));
        assert_memory_equal(got, bytes, 16);
    }
    assert_ok(umbel_parse_secret("00112233445566778899aabbccddeeff\n", 33, got, NULL));
    assert_memory_equal(got, bytes, 16);
    assert_ok(umbel_parse_secret(bytes, 16, got, NULL));
    assert_memory_equal(got, bytes, 16);
    static const struct {
        const char *text;
        size_t len;
    } bad[] = {{"", 0},
               {"sixteen letters.", 16},
               {digits, 31},
               {digits, 35},
               {"0011223344556677889 aabbccddeeff", 32},
               {"00112233445566778899aabbccddeefg", 32}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(umbel_parse_secret(bad[i].text, bad[i].len, got, &diag), UMBEL_EINVAL);
        assert_memory_equal(got, bytes, 16); /* untouched */
        assert_non_null(diag.what);
    }
}

static void test_native_is_not_foreign(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    umbel_plan plan;
    umbel_diag diag = {0};
    static const umbel_format formats[] = {UMBEL_FMT_ANY, UMBEL_FMT_NATIVE, (umbel_format)99};
    for (size_t i = 0; i < 3; i++) {
        umbel_foreign p = {.format = formats[i], .capacity = 10, .fpr = 0.1};
        assert_int_equal(umbel_create_foreign(&p, NULL, &f, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.field, "format");
        assert_int_equal(umbel_plan_foreign(&p, &plan, &diag), UMBEL_EINVAL);
        assert_string_equal(diag.field, "format");
    }
    assert_null(f);
}

static void test_new(void **state) {
    (void)state;
    umbel_filter *f = umbel_new(1000, 0.01);
    assert_non_null(f);
    umbel_info info = described(f);
    assert_int_equal(info.kind, UMBEL_KIND_BLOCKED);
    assert_int_equal(info.capacity, 1000);
    assert_true(info.fpr == 0.01);
    assert_int_equal(info.seed, 0);
    assert_int_equal(info.fingerprint, 0);
    assert_true(!info.concurrent);
    assert_true(!info.frozen);
    assert_true(umbel_is_empty(f));
    umbel_filter *same = NULL;
    assert_ok(umbel_create(&(umbel_params){.capacity = 1000, .fpr = 0.01}, NULL, &same, NULL));
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    assert_ok(umbel_add(same, "ada", 3, NULL, NULL));
    assert_true(umbel_contains(f, "ada", 3) && umbel_equal(f, same));
    umbel_free(f);
    umbel_free(same);

    f = umbel_new(1000, 1e-12); /* where blocked would be too large */
    assert_non_null(f);
    umbel_describe(f, &info);
    assert_int_equal(info.kind, UMBEL_KIND_CLASSIC);
    umbel_free(f);

    assert_null(umbel_new(0, 0.01));
    assert_null(umbel_new(1000, 0));
    assert_null(umbel_new(1000, 1));
    assert_null(umbel_new(1000, -0.5));
    assert_null(umbel_new(1000, (double)NAN));
    assert_null(umbel_new(UINT64_MAX, 0.01));
    assert_null(umbel_new(UINT64_C(1) << 57, 0.01)); /* there is such a filter, and no memory */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_of_other_kinds),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_no_such_kind),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_reserved_of_other_systems),
        cmocka_unit_test(test_secret_in_the_options),
        cmocka_unit_test(test_secret_from_a_file),
        cmocka_unit_test(test_native_is_not_foreign),
        cmocka_unit_test(test_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
