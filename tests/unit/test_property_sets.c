/* SPDX-License-Identifier: MIT
 *
 * test_property_sets.c - whole filters as sets, and what is reported about them, for every kind on
 * every kernel
 */
#include "any_filter.h"
#include "cases.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/bits.h"
#include "core/filter.h"
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

/* Every key stays in, the rate stays below the requested one, and the bits are those of a filter
 * that was created at that size. */
static void fold_halves(void **state) {
    const subject *s = *state;
    const uint64_t blocks[] = {64, 48, 7, 1, 4096};
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
        uint64_t times = before.bits / after.bits;
        assert_int_equal(times & (times - 1), 0);
        assert_int_equal(after.keys_added, before.keys_added);
        if (blocks[i] % 2) { /* an odd number of blocks; of classic words only one */
            if (s->kind != UMBEL_KIND_CLASSIC) assert_int_equal(times, 1);
        } else {
            assert_true(times >= 2);
            assert_true(after.fpr == asked);
            params.bytes = after.bytes;
            umbel_filter *small = subject_create(s, params, NULL);
            add_all(small, &set);
            assert_true(umbel_equal(small, f));
            umbel_info whole;
            umbel_filter *next = NULL;
            assert_ok(umbel_copy(f, &next, NULL));
            assert_ok(umbel_fold(next, 0.999999, NULL)); /* goes on as far as it can */
            umbel_describe(next, &whole);
            assert_true(whole.bits < after.bits || whole.bits <= 256 ||
                        (s->kind == UMBEL_KIND_LINE && whole.bits / 512 % 2));
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

/* With no bit set only the size can stop it: blocked and line filters stop at an odd number of
 * blocks,
 * classic ones where a half would not be whole 64-bit words. */
static void fold_of_an_empty_one(void **state) {
    const subject *s = *state;
    const struct {
        uint64_t bytes, classic, blocked, line;
    } cases[] = {{8, 8, 0, 0},       {16, 8, 0, 0},     {24, 24, 0, 0},        {32, 8, 32, 0},
                 {48, 24, 0, 0},     {96, 24, 96, 64},  {128, 8, 32, 64},      {160, 40, 160, 64},
                 {192, 24, 96, 192}, {4096, 8, 32, 64}, {4128, 1032, 4128, 64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t want = s->kind == UMBEL_KIND_CLASSIC ? cases[i].classic
                        : s->kind == UMBEL_KIND_LINE  ? cases[i].line
                                                      : cases[i].blocked;
        if (!want) continue; /* too small a filter of this kind */
        umbel_params params = {.bytes = cases[i].bytes};
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
    {"merge is the union", merge_is_the_union},
    {"mismatches are named", mismatches_are_named},
    {"fold halves", fold_halves},
    {"fold of an empty one", fold_of_an_empty_one},
    {"describe counts", describe_counts},
};

int main(void) {
    return run_over_subjects("property_sets", properties, sizeof properties / sizeof properties[0]);
}
