/* SPDX-License-Identifier: MIT
 *
 * Filters with a secret key, of every kind: their files open with that key and no other
 */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "kind/kind.h"
#include "native_file.h"
#include "random_keys.h"
#include "subjects.h"

enum { KEYS = 2000, FINGERPRINT_AT = 40 };

static const uint8_t secret[16] = "the secret of it", other[16] = "not a secret her";

static umbel_filter *built(umbel_kind kind, const uint8_t *key, const key_set *set) {
    umbel_params params = {.kind = kind, .keys = KEYS, .fpr = 0.01, .key = key};
    umbel_builder *builder = NULL;
    umbel_filter *f = NULL;
    uint8_t copy[16];
    if (key) {
        memcpy(copy, key, sizeof copy); /* the builder must not look at it later */
        params.key = copy;
    }
    assert_ok(umbel_builder_new(&params, NULL, &builder, NULL));
    memset(copy, 0, sizeof copy);
    assert_ok(umbel_builder_add(builder, set->keys, set->n, NULL));
    assert_ok(umbel_builder_finish(builder, &f, NULL));
    umbel_builder_free(builder);
    return f;
}

static umbel_err opens(const uint8_t *bytes, size_t len, const uint8_t *key, umbel_filter **out) {
    umbel_filter *view = NULL;
    umbel_diag diag = {0};
    umbel_opts opts = {.key = key};
    umbel_err e = umbel_decode(UMBEL_FMT_NATIVE, bytes, len, &opts, out, &diag);
    assert_int_equal(umbel_view(UMBEL_FMT_ANY, bytes, len, &opts, &view, NULL), e);
    if (e) assert_int_equal(diag.offset, FINGERPRINT_AT);
    umbel_free(view);
    return e;
}

static void only_with_its_key(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    for (const umbeli_kind *const *kind = umbeli_kinds; *kind; kind++) {
        umbel_filter *f = built((*kind)->id, secret, &set), *again = NULL;
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        assert_int_equal(opens(bytes, len, NULL, &again), UMBEL_EKEY);
        assert_int_equal(opens(bytes, len, other, &again), UMBEL_EKEY);
        assert_null(again);
        assert_ok(umbel_verify(UMBEL_FMT_ANY, bytes, len, NULL)); /* damage shows without it */
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

/* The same keys under another secret, or none, have other bits: nothing to unite or compare. */
static void secrets_keep_filters_apart(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    const uint8_t *keys[] = {secret, other, NULL};
    umbel_filter *f[3];
    umbel_info info[3];
    for (size_t i = 0; i < 3; i++) {
        f[i] = built(UMBEL_BLOCKED, keys[i], &set);
        umbel_describe(f[i], &info[i]);
    }
    assert_string_equal(info[0].layout, "blocked/siphash13");
    assert_string_equal(info[2].layout, "blocked/xxh3");
    assert_int_not_equal(info[0].fingerprint, info[1].fingerprint);
    assert_int_equal(info[2].fingerprint, 0);
    for (size_t i = 1; i < 3; i++) {
        umbel_diag diag = {0};
        assert_false(umbel_equal(f[0], f[i]));
        assert_int_equal(umbel_unite(f[0], f[i], &diag), UMBEL_EMISMATCH);
        assert_non_null(strstr(diag.what, "differ"));
    }
    for (size_t i = 0; i < 3; i++) umbel_free(f[i]);
    free_keys(&set);
}

/* Neither its bytes nor what could stand for them. */
static void no_file_holds_the_secret(void **state) {
    (void)state;
    key_set set = random_keys(KEYS, 9);
    for (const umbeli_kind *const *kind = umbeli_kinds; *kind; kind++) {
        umbel_filter *f = built((*kind)->id, secret, &set);
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
    umbel_filter *plain = built(UMBEL_BLOCKED, NULL, &set), *f = NULL;
    size_t len;
    uint8_t *bytes = bytes_of(plain, &len);
    assert_int_equal(opens(bytes, len, secret, &f), UMBEL_EKEY);
    umbel_diag diag = {0};
    umbel_params params = {.format = UMBEL_FMT_GUAVA, .keys = 9, .fpr = 0.1, .key = secret};
    assert_int_equal(umbel_create(&params, NULL, &f, &diag), UMBEL_EINVAL);
    assert_non_null(strstr(diag.what, "key"));
    uint8_t leveldb[9] = {0, 0, 0, 0, 0, 0, 0, 0, 6};
    umbel_opts opts = {.key = secret};
    assert_int_equal(umbel_decode(UMBEL_FMT_LEVELDB, leveldb, 9, &opts, &f, NULL), UMBEL_EKEY);
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
