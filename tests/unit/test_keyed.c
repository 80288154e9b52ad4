/* SPDX-License-Identifier: MIT
 *
 * Filters with a secret, of every kind: their files open with that secret and no other
 */
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "native_file.h"
#include "random_keys.h"
#include "subjects.h"
#include "umbel_foreign.h"

enum { KEYS = 2000, FINGERPRINT_AT = 40 };

static const uint8_t secret[16] = "the secret of it", other[16] = "not a secret her";

static umbel_filter *built(umbel_kind kind, const uint8_t *key, const key_set *set) {
    umbel_params params = {.kind = kind, .capacity = KEYS, .fpr = 0.01};
    umbel_opts opts = {0};
    umbel_builder *builder = NULL;
    umbel_filter *f = NULL;
    uint8_t copy[16];
    if (key) {
        memcpy(copy, key, sizeof copy); /* the builder must not look at it later */
        opts.secret = copy;
    }
    assert_ok(umbel_builder_new(&params, &opts, &builder, NULL));
    memset(copy, 0, sizeof copy);
    assert_ok(umbel_builder_add(builder, set->keys, set->n, NULL));
    assert_ok(umbel_builder_finish(builder, &f, NULL));
    umbel_builder_free(builder);
    return f;
}

static umbel_err opens(const uint8_t *bytes, size_t len, const uint8_t *key, umbel_filter **out) {
    umbel_filter *view = NULL;
    umbel_diag diag = {0};
    umbel_opts opts = {.secret = key};
    umbel_err e = umbel_decode(bytes, len, UMBEL_LOAD, &(umbel_foreign){.format = UMBEL_FMT_NATIVE},
                               &opts, out, &diag);
    assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, NULL, &opts, &view, NULL), e);
    if (e) assert_int_equal(diag.offset, FINGERPRINT_AT);
    umbel_free(view);
    return e;
}

static void only_with_its_key(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_name(kind); kind++) {
        umbel_filter *f = built(kind, secret, &set), *again = NULL;
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        assert_int_equal(opens(bytes, len, NULL, &again), UMBEL_ESECRET);
        assert_int_equal(opens(bytes, len, other, &again), UMBEL_ESECRET);
        assert_null(again);
        assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL,
                               NULL)); /* damage shows without it */
        assert_ok(opens(bytes, len, secret, &again));
        assert_true(umbel_equal(f, again));
        for (size_t i = 0; i < set.n; i++) {
            assert_true(umbel_contains(again, set.keys[i].data, set.keys[i].len));
        }
        umbel_free(again);
        umbel_free(f);
        free(bytes);
    }
    free_keys(&set);
}

/* The same keys under another secret, or none, have other bits: nothing to merge or compare. */
static void secrets_keep_filters_apart(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    const uint8_t *keys[] = {secret, other, NULL};
    umbel_filter *f[3];
    umbel_info info[3];
    for (size_t i = 0; i < 3; i++) {
        f[i] = built(UMBEL_KIND_BLOCKED, keys[i], &set);
        umbel_describe(f[i], &info[i]);
    }
    assert_string_equal(info[0].layout, "blocked/siphash13");
    assert_string_equal(info[2].layout, "blocked/xxh3");
    assert_int_not_equal(info[0].fingerprint, info[1].fingerprint);
    assert_int_equal(info[2].fingerprint, 0);
    for (size_t i = 1; i < 3; i++) {
        umbel_diag diag = {0};
        assert_false(umbel_equal(f[0], f[i]));
        assert_int_equal(umbel_merge(f[0], f[i], &diag), UMBEL_EMISMATCH);
        assert_non_null(strstr(sentence(&diag), "differ"));
    }
    for (size_t i = 0; i < 3; i++) umbel_free(f[i]);
    free_keys(&set);
}

/* Neither its bytes nor anything equivalent to them. */
static void no_file_holds_the_secret(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    for (umbel_kind kind = UMBEL_KIND_AUTO + 1; umbel_kind_name(kind); kind++) {
        umbel_filter *f = built(kind, secret, &set);
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        for (size_t i = 0; i + 8 <= len; i++) {
            assert_int_not_equal(memcmp(bytes + i, secret, 8), 0);
            assert_int_not_equal(memcmp(bytes + i, secret + 8, 8), 0);
        }
        umbel_free(f);
        free(bytes);
    }
    free_keys(&set);
}

static void keys_where_they_do_not_belong(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    umbel_filter *plain = built(UMBEL_KIND_BLOCKED, NULL, &set), *f = NULL;
    size_t len;
    uint8_t *bytes = bytes_of(plain, &len);
    assert_int_equal(opens(bytes, len, secret, &f), UMBEL_ESECRET);
    umbel_diag diag = {0};
    umbel_foreign params = {.format = UMBEL_FMT_GUAVA, .capacity = 9, .fpr = 0.1};
    assert_int_equal(umbel_create_foreign(&params, &(umbel_opts){.secret = secret}, &f, &diag),
                     UMBEL_EINVAL);
    assert_string_equal(diag.field, "secret");
    uint8_t leveldb[9] = {0, 0, 0, 0, 0, 0, 0, 0, 6};
    umbel_opts opts = {.secret = secret};
    assert_int_equal(umbel_decode(leveldb, 9, UMBEL_LOAD,
                                  &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, &opts, &f, NULL),
                     UMBEL_ESECRET);
    assert_null(f);
    umbel_free(plain);
    free(bytes);
    free_keys(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_with_its_key),
        cmocka_unit_test(secrets_keep_filters_apart),
        cmocka_unit_test(no_file_holds_the_secret),
        cmocka_unit_test(keys_where_they_do_not_belong),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
