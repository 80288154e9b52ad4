/* SPDX-License-Identifier: MIT
 *
 * test_property.c - what every filter must do, key by key and as a set, for every kind on every kernel
 */
#include "any_filter.h"
#include "cases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/filter.h"
#include "random_keys.h"
#include "subjects.h"
#include "umbel_recipe.h"

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
        assert_int_equal(takes_hashes(f), s->kind != UMBEL_KIND_CLASSIC);
        if (!takes_hashes(f)) {
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
        assert_ok(umbel_set_recipe(f, "field=3 trim", NULL));
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        umbel_filter *again = subject_decode(s, bytes, len);
        assert_same_bytes(f, again);
        assert_all_in(again, &set);
        assert_ok(umbel_decode(bytes, len, UMBEL_MAP, NULL, &(umbel_opts){.secret = s->key}, &view,
                               NULL));
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

static void merge_is_the_union(void **state) {
    const subject *s = *state;
    for (size_t size = 0; size < SIZES; size++) {
        umbel_params params = {.bytes = sizes[size], .seed = random_word()};
        umbel_filter *a = subject_create(s, params, NULL), *b = subject_create(s, params, NULL);
        umbel_filter *all = subject_create(s, params, NULL), *common = NULL;
        key_set left = random_keys(load_of(sizes[size]) / 4, 4), right = random_keys(left.n, 5);
        key_set shared = random_keys(left.n / 2 + 1, 6);
        bool yes = false;
        add_all(a, &left);
        add_all(a, &shared);
        add_all(b, &right);
        add_all(b, &shared);
        add_all(all, &left);
        add_all(all, &right);
        add_all(all, &shared);
        uint64_t sum = keys_added(a) + keys_added(b);
        assert_ok(umbel_copy(a, &common, NULL));
        assert_ok(umbel_intersect(common, b, NULL));
        assert_all_in(common, &shared);
        assert_ok(umbel_is_subset(common, a, &yes, NULL));
        assert_true(yes);
        assert_ok(umbel_is_subset(common, b, &yes, NULL));
        assert_true(yes);
        if (sizes[size] >= 1024) {
            assert_ok(umbel_is_subset(a, b, &yes, NULL));
            assert_false(yes);
            assert_false(umbel_equal(a, b));
        }

        assert_ok(umbel_merge(a, b, NULL));
        assert_true(umbel_equal(a, all));
        assert_true(keys_added(a) <= sum); /* more are hidden in one filter than in two */
        umbel_measurement now = measured(a);
        double truth = (double)(left.n + right.n + shared.n);
        assert_true(fabs(now.keys - truth) <= 3 * now.keys_error + 1);
        assert_all_in(a, &left);
        assert_all_in(a, &right);
        assert_ok(umbel_is_subset(b, a, &yes, NULL));
        assert_true(yes);
        assert_ok(umbel_clear(a, NULL));
        assert_true(umbel_is_empty(a));
        assert_int_equal(keys_added(a), 0);
        assert_ok(umbel_is_subset(a, b, &yes, NULL));
        assert_true(yes);
        umbel_free(a);
        umbel_free(b);
        umbel_free(all);
        umbel_free(common);
        free_keys(&left);
        free_keys(&right);
        free_keys(&shared);
    }
}

static void mismatches_are_named(void **state) {
    const subject *s = *state;
    umbel_filter *f = subject_create(s, (umbel_params){.bytes = 1024}, NULL);
    const struct {
        umbel_params params;
        const char *word;
    } others[] = {
        {{.bytes = 1024, .seed = 1}, "seed"},
        {{.bytes = 1088}, "size"},
    };
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    for (size_t i = 0; i <= 2; i++) {
        umbel_filter *other = NULL;
        const char *word = i < 2 ? others[i].word : "kind";
        if (i < 2) {
            other = subject_create(s, others[i].params, NULL);
        } else {
            bool classic = s->kind == UMBEL_KIND_CLASSIC;
            umbel_params params = {.kind = classic ? UMBEL_KIND_BLOCKED : UMBEL_KIND_CLASSIC,
                                   .bytes = 1024,
                                   .hashes = 8};
            assert_ok(umbel_create(&params, NULL, &other, NULL));
        }
        assert_ok(umbel_add(other, "bob", 3, NULL, NULL));
        umbel_diag diag = {0};
        bool yes = true;
        assert_int_equal(umbel_merge(f, other, &diag), UMBEL_EMISMATCH);
        assert_non_null(strstr(sentence(&diag), word));
        assert_int_equal(umbel_intersect(f, other, NULL), UMBEL_EMISMATCH);
        assert_int_equal(umbel_is_subset(f, other, &yes, NULL), UMBEL_EMISMATCH);
        assert_true(yes); /* untouched */
        assert_false(umbel_equal(f, other));
        assert_true(umbel_contains(f, "ada", 3) && keys_added(f) == 1);
        umbel_free(other);
    }
    umbel_free(f);
}

/* Above 1; of 1, which has none, more than any number's. */
static uint64_t least_factor(uint64_t n) {
    for (uint64_t i = 2; i <= n; i++) {
        if (n % i == 0) return i;
    }
    return UINT64_MAX;
}

/* Every key stays in, the rate stays below the requested one, and the bits are those of a filter
 * that was created at that size. */
static void fold_by_any_factor(void **state) {
    const subject *s = *state;
    const uint64_t blocks[] = {64, 48, 45, 14, 7, 1, 4096, 3 * 5 * 7 * 11};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        umbel_params params = {.bytes = 32 * blocks[i], .seed = random_word()};
        umbel_filter *f = subject_create(s, params, NULL);
        key_set set = random_keys(load_of(params.bytes) / 8, 8);
        add_all(f, &set);
        umbel_info before, after;
        umbel_measurement before_now = measured(f);
        umbel_measurement after_now;
        umbel_describe(f, &before);
        umbel_diag diag = {0};
        assert_int_equal(umbel_fold(f, before_now.rate / 2, &diag), UMBEL_EINVAL);
        assert_non_null(strstr(sentence(&diag), "fpr"));
        const double wrong[] = {0, 1, -1, NAN, INFINITY};
        for (size_t w = 0; w < 5; w++) {
            assert_int_equal(umbel_fold(f, wrong[w], NULL), UMBEL_EINVAL);
        }
        double asked = 0.05;
        assert_ok(umbel_fold(f, asked, NULL));
        umbel_describe(f, &after);
        umbel_measure(f, &after_now);
        assert_all_in(f, &set);
        assert_true(after_now.rate <= asked);
        assert_true(before.bits % after.bits == 0);
        uint64_t unit = s->kind == UMBEL_KIND_CLASSIC ? 64 : s->kind == UMBEL_KIND_LINE ? 512 : 256;
        assert_int_equal(after.keys_added, before.keys_added);
        if (after.bits == before.bits) {
            assert_true(least_factor(before.bits / unit) >= 7);
        } else {
            assert_true(after.fpr == asked);
            params.bytes = after.bytes;
            umbel_filter *small = subject_create(s, params, NULL);
            add_all(small, &set);
            assert_true(umbel_equal(small, f));
            umbel_info whole;
            umbel_filter *next = NULL;
            assert_ok(umbel_copy(f, &next, NULL));
            assert_ok(umbel_fold(next, 0.999999, NULL)); /* continues as far as it can */
            umbel_describe(next, &whole);
            assert_true(whole.bits < after.bits || least_factor(whole.bits / unit) >= 7);
            assert_all_in(next, &set);
            assert_ok(umbel_add(f, "after folding", 13, NULL, NULL));
            assert_true(umbel_contains(f, "after folding", 13));
            umbel_free(next);
            umbel_free(small);
        }
        umbel_free(f);
        free_keys(&set);
    }
}

/* With no bit set one block or word remains, whatever the size was. */
static void fold_of_an_empty_one(void **state) {
    const subject *s = *state;
    const uint64_t bytes[] = {8, 16, 24, 32, 48, 64, 96, 160, 192, 224, 4096, 4128, 1 << 20};
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        uint64_t want = s->kind == UMBEL_KIND_CLASSIC ? 8 : s->kind == UMBEL_KIND_LINE ? 64 : 32;
        if (bytes[i] < want) continue; /* too small a filter of this kind */
        umbel_params params = {.bytes = bytes[i]};
        umbel_filter *f = subject_create(s, params, NULL), *small = NULL;
        umbel_info info;
        assert_ok(umbel_fold(f, 0.01, NULL));
        umbel_describe(f, &info);
        if (info.bytes != want) fail_msg("%zu: %zu bytes", i, (size_t)info.bytes);
        assert_int_equal(info.bits, 8 * want);
        params.bytes = want;
        small = subject_create(s, params, NULL);
        assert_true(umbel_is_empty(f) && umbel_equal(f, small));
        assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
        assert_ok(umbel_add(small, "ada", 3, NULL, NULL));
        assert_true(umbel_contains(f, "ada", 3) && umbel_equal(f, small));
        umbel_free(f);
        umbel_free(small);
    }
}

static void describe_counts(void **state) {
    const subject *s = *state;
    umbel_filter *f = subject_create(s, (umbel_params){.capacity = 20000, .fpr = 0.01}, NULL);
    key_set set = random_keys(20000, 9);
    umbel_info info;
    umbel_measurement now;
    errno = 0;
    umbel_describe(f, &info);
    umbel_measure(f, &now);
    assert_true(now.bits_set == 0 && now.rate == 0);
    assert_true(now.keys == 0 && !signbit(now.keys));
    add_all(f, &set);
    umbel_describe(f, &info);
    umbel_measure(f, &now);
    uint64_t count = 0;
    for (uint64_t p = 0; p < info.bits; p++) count += umbeli_bit_test(f->data, p);
    assert_true(now.bits_set == count);
    assert_true(fabs(now.keys - 20000) < 200);
    assert_true(info.keys_added > 19800 && info.keys_added <= 20000);
    assert_int_equal(info.keys_added, keys_added(f));
    memset(f->data, 0xff, f->data_len);
    umbel_describe(f, &info);
    umbel_measure(f, &now);
    assert_true(now.rate == 1 && isinf(now.keys));
    assert_int_equal(errno, 0);
    umbel_free(f);
    free_keys(&set);
}

static const property properties[] = {
    {"batches agree", batches_agree},
    {"hashes agree", hashes_agree},
    {"odd keys", odd_keys},
    {"copies and bytes", copies_and_bytes},
    {"merge is the union", merge_is_the_union},
    {"mismatches are named", mismatches_are_named},
    {"fold by any factor", fold_by_any_factor},
    {"fold of an empty one", fold_of_an_empty_one},
    {"describe counts", describe_counts},
};

int main(void) {
    return run_over_subjects("property", properties, sizeof properties / sizeof properties[0]);
}
