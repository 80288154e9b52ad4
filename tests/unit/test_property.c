/* SPDX-License-Identifier: MIT
 *
 * test_property.c - what every filter must do, for every kind on every kernel
 */
#include "any_filter.h"
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "random_keys.h"
#include "subjects.h"

/* Loads around one filter's capacity, and sizes in bytes: a block, odd numbers of blocks, below and
 * above where lookups start to prefetch (256 KiB). */
static const uint64_t sizes[] = {32, 96, 1024, 7 * 32, 12000 / 32 * 32, 256 * 1024, 300 * 1024};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static size_t load_of(uint64_t bytes) {
    return (size_t)(bytes * 8 / 10);
}

static void add_all(umbel_filter *f, const key_set *set) {
    assert_ok(umbel_add_many(f, set->keys, set->n, NULL, NULL, NULL));
}

static void assert_all_in(const umbel_filter *f, const key_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        if (!umbel_contains(f, set->keys[i].data, set->keys[i].len)) fail_msg("key %zu is lost", i);
    }
}

/* One by one and in batches: the same bits, counts and answers. */
static void batches_agree(void **state) {
    const subject *s = *state;
    for (size_t size = 0; size < SIZES; size++) {
        umbel_params params = {.bytes = sizes[size], .seed = random_word()};
        umbel_filter *one = subject_create(s, params, NULL),
                     *many = subject_create(s, params, NULL);
        key_set set = random_keys(load_of(sizes[size]) + random_below(300), 1);
        uint8_t *fresh = malloc(set.n), *hit = malloc(set.n);
        assert_true(fresh && hit);
        key_set half = {.keys = set.keys, .n = set.n / 2};
        add_all(many, &half); /* so that some are in already */
        for (size_t i = 0; i < set.n / 2; i++) {
            assert_ok(umbel_add(one, set.keys[i].data, set.keys[i].len, NULL, NULL));
        }
        assert_ok(umbel_add_many(many, set.keys, set.n, fresh, NULL, NULL));
        for (size_t i = 0; i < set.n; i++) {
            bool there = umbel_contains(one, set.keys[i].data, set.keys[i].len), was_new;
            assert_ok(umbel_add(one, set.keys[i].data, set.keys[i].len, &was_new, NULL));
            assert_int_equal(was_new, fresh[i]);
            assert_int_equal(was_new, !there);
            if (i < set.n / 2) assert_false(was_new);
        }
        assert_same_bytes(one, many);
        assert_all_in(many, &set);

        key_set asked = random_keys(set.n, 2);
        umbel_contains_many(many, asked.keys, asked.n, hit);
        for (size_t i = 0; i < asked.n; i++) {
            assert_int_equal(hit[i], umbel_contains(one, asked.keys[i].data, asked.keys[i].len));
        }
        umbel_contains_many(many, set.keys, set.n, hit);
        for (size_t i = 0; i < set.n; i++) assert_int_equal(hit[i], 1);
        umbel_contains_many(many, NULL, 0, NULL);
        assert_ok(umbel_add_many(many, NULL, 0, NULL, NULL, NULL));
        free(fresh);
        free(hit);
        free_keys(&set);
        free_keys(&asked);
        umbel_free(one);
        umbel_free(many);
    }
}

/* Hashes in place of keys, where the kind takes them. */
static void hashes_agree(void **state) {
    const subject *s = *state;
    for (size_t size = 0; size < SIZES; size++) {
        umbel_params params = {.bytes = sizes[size], .seed = random_word()};
        umbel_filter *keyed = subject_create(s, params, NULL), *f = subject_create(s, params, NULL);
        key_set set = random_keys(load_of(sizes[size]) + 9, 3);
        uint64_t *hashes = hashes_of(f, &set);
        uint8_t *a = malloc(set.n), *b = malloc(set.n);
        assert_true(a && b);
        assert_int_equal(umbel_takes_hashes(f), s->kind != UMBEL_KIND_CLASSIC);
        if (!umbel_takes_hashes(f)) {
            assert_int_equal(umbel_add_hashes(f, hashes, set.n, a, NULL, NULL), UMBEL_ENOTSUP);
            memset(a, 7, set.n);
            umbel_contains_hashes(f, hashes, set.n, a);
            for (size_t i = 0; i < set.n; i++) assert_int_equal(a[i], 1);
            assert_int_equal(hashes[0], 0);
            assert_true(umbel_contains_hash(f, 1));
            assert_true(umbel_is_empty(f));
        } else {
            assert_ok(umbel_add_many(keyed, set.keys, set.n, a, NULL, NULL));
            assert_ok(umbel_add_hashes(f, hashes, set.n, b, NULL, NULL));
            assert_memory_equal(a, b, set.n);
            assert_same_bytes(keyed, f);
            umbel_contains_hashes(f, hashes, set.n, b);
            for (size_t i = 0; i < set.n; i++) assert_int_equal(b[i], 1);
            for (size_t i = 0; i < set.n; i++) hashes[i] = random_word();
            umbel_contains_hashes(f, hashes, set.n, b);
            for (size_t i = 0; i < set.n; i++) {
                assert_int_equal(b[i], umbel_contains_hash(f, hashes[i]));
            }
        }
        free(a);
        free(b);
        free(hashes);
        free_keys(&set);
        umbel_free(keyed);
        umbel_free(f);
    }
}

static void odd_keys(void **state) {
    const subject *s = *state;
    umbel_filter *f = subject_create(s, (umbel_params){.bytes = 4096}, NULL);
    bool was_new = false;
    assert_false(umbel_contains(f, NULL, 0));
    assert_ok(umbel_add(f, NULL, 0, &was_new, NULL));
    assert_true(was_new && umbel_contains(f, "", 0));
    assert_ok(umbel_add(f, "", 0, &was_new, NULL));
    assert_false(was_new);
    assert_ok(umbel_add(f, "a\0b", 3, NULL, NULL));
    assert_true(umbel_contains(f, "a\0b", 3));
    assert_false(umbel_contains(f, "a\0c", 3));
    assert_false(umbel_contains(f, "a", 1));
    umbel_key none = {0};
    uint8_t hit = 7;
    umbel_contains_many(f, &none, 1, &hit);
    assert_int_equal(hit, 1);
    assert_int_equal(keys_added(f), 2);
    umbel_free(f);
}

static void copies_and_bytes(void **state) {
    const subject *s = *state;
    for (size_t size = 0; size < SIZES; size++) {
        umbel_params params = {.bytes = sizes[size], .seed = random_word()};
        umbel_filter *f = subject_create(s, params, NULL), *copy = NULL, *view = NULL;
        key_set set = random_keys(load_of(sizes[size]) / 2, 7);
        add_all(f, &set);
        assert_ok(umbel_set_meta(f, "from", "here", NULL));
        assert_ok(umbel_set_key_rule(f, &(umbel_key_rule){.trim = true, .field = 3}, NULL));
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        umbel_filter *again = subject_decode(s, bytes, len);
        assert_same_bytes(f, again);
        assert_all_in(again, &set);
        assert_ok(umbel_view(bytes, len, NULL, &(umbel_opts){.secret = s->key}, &view, NULL));
        assert_same_bytes(f, view);
        assert_all_in(view, &set);
        assert_int_equal(umbel_add(view, "x", 1, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_add_many(view, set.keys, 1, NULL, NULL, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_merge(view, f, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_intersect(view, f, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_clear(view, NULL), UMBEL_EFROZEN);
        assert_int_equal(umbel_fold(view, 0.9, NULL), UMBEL_EFROZEN);
        assert_ok(umbel_copy(view, &copy, NULL)); /* mutable, and on its own */
        umbel_free(view);
        memset(bytes, 0, len);
        assert_same_bytes(f, copy);
        assert_ok(umbel_add(copy, "only in the copy", 16, NULL, NULL));
        assert_ok(umbel_clear(copy, NULL));
        assert_all_in(f, &set);
        free(bytes);
        free_keys(&set);
        umbel_free(f);
        umbel_free(again);
        umbel_free(copy);
    }
}

static const property properties[] = {
    {"batches agree", batches_agree},
    {"hashes agree", hashes_agree},
    {"odd keys", odd_keys},
    {"copies and bytes", copies_and_bytes},
};

int main(void) {
    return run_over_subjects("property", properties, sizeof properties / sizeof properties[0]);
}
