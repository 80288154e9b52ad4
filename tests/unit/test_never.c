/* SPDX-License-Identifier: MIT
 *
 * test_never.c - good keys are never found, members always: exceptions in memory and in files
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "golden.h"
#include "native_file.h"
#include "native_judge.h"
#include "random_keys.h"
#include "subjects.h"
#include "umbel_never.h"

enum { GOOD = 4000, MEMBERS = 8000, IN_BOTH = 50, STRANGERS = 4000 };
static const uint8_t secret[17] = "sixteen bytes it";

static size_t count_kinds(void) {
    size_t n = 0;
    while (umbel_kind_name((umbel_kind)(n + 1))) n++;
    return n;
}

/* Keys [0, MEMBERS) go in, [MEMBERS - IN_BOTH, MEMBERS - IN_BOTH + GOOD) are good, the others are
 * neither. */
typedef struct guarded {
    key_set set;
    const umbel_key *good, *strangers;
    umbel_params params;
    umbel_filter *plain, *filter; /* the same, without and with exceptions */
    umbel_build_report result;
} guarded;

static guarded make_keyed(umbel_params params, const uint8_t *key) {
    umbel_opts opts = {.secret = key};
    if (params.kind == UMBEL_KIND_SCALABLE) params.capacity = 20; /* so that it has to grow */
    guarded g = {.set = random_keys(MEMBERS + GOOD + STRANGERS, 1), .params = params};
    umbel_never *never = NULL;
    g.good = g.set.keys + MEMBERS - IN_BOTH;
    g.strangers = g.good + GOOD;
    assert_ok(build_from(&params, &opts, g.set.keys, MEMBERS, &g.plain, NULL));
    assert_ok(umbel_copy(g.plain, &g.filter, NULL));
    assert_ok(umbel_never_new(&params, &opts, &never, NULL));
    assert_ok(umbel_never_ask(never, g.good, GOOD / 2, NULL));
    assert_ok(umbel_never_ask(never, g.good + 7, GOOD - 7, NULL)); /* most of them twice */
    assert_ok(umbel_never_show(never, g.set.keys, 10, NULL));
    assert_ok(umbel_never_show(never, g.set.keys, MEMBERS, NULL));
    assert_int_equal(umbel_never_ask(never, g.good, 1, NULL), UMBEL_EINVAL);
    assert_ok(umbel_never_finish(never, g.filter, &g.result, NULL));
    umbel_never_free(never);
    return g;
}

static guarded make(umbel_params params) {
    return make_keyed(params, NULL);
}

static void dispose(guarded *g) {
    umbel_free(g->plain);
    umbel_free(g->filter);
    free_keys(&g->set);
}

/* Whether a filter has one key, which every way to ask must agree on. */
static bool has(const umbel_filter *f, const umbel_key *key) {
    bool found = umbel_contains(f, key->data, key->len);
    assert_int_equal(umbel_count(f, key->data, key->len) != 0, found);
    if (takes_hashes(f)) {
        uint64_t hash = one_hash(f, key->data, key->len);
        uint8_t hit = 2;
        assert_int_equal(umbel_contains_hash(f, hash), found);
        umbel_contains_hashes(f, &hash, 1, &hit);
        assert_int_equal(hit, found);
    }
    return found;
}

/* No member lost, no good key caught, all others as without exceptions.  Returns how many good keys
 * the plain filter catches. */
static size_t check(const guarded *g, const umbel_filter *f) {
    size_t n = MEMBERS - IN_BOTH + GOOD + STRANGERS, caught = 0;
    uint8_t *with = malloc(n), *without = malloc(n);
    umbel_contains_many(f, g->set.keys, n, with);
    umbel_contains_many(g->plain, g->set.keys, n, without);
    for (size_t i = 0; i < n; i++) {
        bool good = i >= MEMBERS && i < MEMBERS - IN_BOTH + GOOD;
        if (i < MEMBERS) assert_true(without[i]);
        assert_int_equal(with[i], good ? 0 : without[i]);
        assert_int_equal(has(f, &g->set.keys[i]), with[i]);
        caught += good && without[i];
    }
    free(with);
    free(without);
    return caught;
}

/* The proof: 100 random sets, of every kind, with and without a secret. */
static void test_no_good_key_and_every_member(void **state) {
    (void)state;
    const size_t kinds = count_kinds();
    double expected = 0, found = 0;
    for (unsigned i = 0; i < 100; i++) {
        umbel_params params = {.kind = (umbel_kind)(1 + i % kinds),
                               .capacity = MEMBERS,
                               .fpr = 0.01,
                               .seed = random_word()};
        guarded g = make_keyed(params, i / kinds % 2 ? secret : NULL);
        size_t caught = check(&g, g.filter);
        assert_int_equal(g.result.never, GOOD);
        assert_int_equal(g.result.members, IN_BOTH);
        assert_int_equal(g.result.exceptions, caught);
        umbel_info info;
        umbel_describe(g.filter, &info);
        assert_int_equal(info.exceptions, caught);
        assert_false(info.outdated);
        expected += measured(g.plain).rate * (GOOD - IN_BOTH);
        found += (double)caught;
        dispose(&g);
    }
    print_message("# %.0f exceptions, %.0f planned\n", found, expected);
    assert_true(fabs(found - expected) < 5 * sqrt(expected)); /* Poisson */
}

/* Encoded, decoded, viewed, copied: the same answers and the same bytes. */
static void test_files_hold_them(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; umbel_kind_name(kind); kind++) {
        guarded g = make((umbel_params){.kind = kind, .capacity = MEMBERS, .fpr = 0.2});
        umbel_filter *copy = NULL, *decoded = NULL, *viewed = NULL;
        size_t len;
        uint8_t *bytes = bytes_of(g.filter, &len);
        assert_int_equal(native_get(bytes, 8, 2), 2);
        assert_true(native_get(bytes, 92, 4) == g.result.exceptions && g.result.exceptions > 0);
        assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
        assert_ok(umbel_copy(g.filter, &copy, NULL));
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &decoded, NULL));
        assert_ok(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &viewed, NULL));
        umbel_filter *all[] = {copy, decoded, viewed};
        for (size_t k = 0; k < 3; k++) {
            check(&g, all[k]);
            assert_true(umbel_equal(all[k], g.filter));
            assert_false(umbel_equal(all[k], g.plain));
            size_t again_len;
            uint8_t *again = bytes_of(all[k], &again_len);
            assert_int_equal(again_len, len);
            assert_memory_equal(again, bytes, len);
            free(again);
            umbel_free(all[k]);
        }
        free(bytes);
        dispose(&g);
    }
}

/* Adding a good key makes it a member; nothing else changes, except that the list is outdated. */
static void test_adding_drops_the_exception(void **state) {
    (void)state;
    for (umbel_kind kind = UMBEL_KIND_BLOCKED; umbel_kind_name(kind); kind++) {
        guarded g = make((umbel_params){.kind = kind, .capacity = 2 * MEMBERS, .fpr = 0.3});
        umbel_traits can;
        umbel_kind_traits(kind, &can);
        uint64_t left = g.result.exceptions;
        assert_true(left > 3);
        for (size_t k = IN_BOTH; k < GOOD && !can.built_once; k++) {
            const umbel_key *key = &g.good[k];
            if (!umbel_contains(g.plain, key->data, key->len)) continue;
            umbel_info info;
            bool one = false;
            uint8_t many = 0;
            if (can.counts) {
                assert_int_equal(umbel_remove(g.filter, key->data, key->len, NULL), UMBEL_EABSENT);
            }
            if (k % 2) {
                assert_ok(umbel_add(g.filter, key->data, key->len, &one, NULL));
            } else if (k % 4 || !takes_hashes(g.filter)) {
                assert_ok(umbel_add_many(g.filter, key, 1, &many, NULL, NULL));
            } else {
                uint64_t hash = one_hash(g.filter, key->data, key->len);
                assert_ok(umbel_add_hashes(g.filter, &hash, 1, &many, NULL, NULL));
            }
            assert_true(one || many);
            assert_true(has(g.filter, key));
            umbel_describe(g.filter, &info);
            assert_int_equal(info.exceptions, --left);
        }
        if (!can.built_once) assert_int_equal(left, 0);
        if (!can.built_once) {
            assert_ok(umbel_add_many(g.filter, g.strangers, 50, NULL, NULL, NULL));
            size_t len;
            uint8_t *bytes = bytes_of(g.filter, &len);
            assert_int_equal(native_get(bytes, 8, 2), 1); /* nothing that 0.2 does not know */
            free(bytes);
        }
        dispose(&g);
    }
}

static void test_outdated(void **state) {
    (void)state;
    guarded g = make((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = MEMBERS, .fpr = 0.02});
    umbel_info info;
    assert_ok(umbel_add(g.filter, g.set.keys[0].data, g.set.keys[0].len, NULL, NULL)); /* is in */
    umbel_describe(g.filter, &info);
    assert_false(info.outdated);
    assert_ok(umbel_add_many(g.filter, g.strangers, 50, NULL, NULL, NULL));
    umbel_describe(g.filter, &info);
    assert_true(info.outdated && info.exceptions > 0);
    size_t len;
    uint8_t *bytes = bytes_of(g.filter, &len);
    umbel_filter *again = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &again, NULL));
    umbel_describe(again, &info);
    assert_true(info.outdated);
    umbel_free(again);
    free(bytes);
    dispose(&g);
}

static uint64_t exceptions_of(const umbel_filter *f) {
    umbel_info info = described(f);
    return info.exceptions;
}

/* What makes a filter find more keys drops exceptions; what does not keeps them. */
static void test_whole_filters(void **state) {
    (void)state;
    guarded g = make((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = MEMBERS, .fpr = 0.02});
    umbel_filter *f = NULL;
    assert_ok(umbel_copy(g.filter, &f, NULL));
    assert_ok(umbel_intersect(f, g.plain, NULL));
    check(&g, f);
    assert_ok(umbel_fold(f, 0.03, NULL)); /* too little for one halving */
    check(&g, f);
    assert_ok(umbel_fold(f, 0.9, NULL));
    assert_int_equal(exceptions_of(f), 0);
    umbel_free(f);

    assert_ok(umbel_copy(g.filter, &f, NULL));
    assert_ok(umbel_merge(f, g.plain, NULL));
    assert_int_equal(exceptions_of(f), 0);
    assert_true(umbel_equal(f, g.plain));
    umbel_free(f);

    assert_ok(umbel_copy(g.plain, &f, NULL));
    assert_ok(umbel_merge(f, g.filter, NULL));
    assert_int_equal(exceptions_of(f), 0);
    umbel_free(f);

    assert_ok(umbel_clear(g.filter, NULL));
    assert_int_equal(exceptions_of(g.filter), 0);
    dispose(&g);

    g = make((umbel_params){.kind = UMBEL_KIND_COUNTING, .capacity = MEMBERS, .fpr = 0.02});
    assert_ok(umbel_snapshot(g.filter, &f, NULL));
    check(&g, f);
    umbel_free(f);
    dispose(&g);
}

static void refuse(umbel_never *never, umbel_params params, const uint8_t *key, umbel_err want,
                   const char *what) {
    umbel_filter *f = NULL;
    umbel_diag diag = {.what = ""};
    assert_ok(umbel_create(&params, &(umbel_opts){.secret = key}, &f, NULL));
    assert_int_equal(umbel_never_finish(never, f, NULL, &diag), want);
    if (!strstr(sentence(&diag), what)) fail_msg("%s", sentence(&diag));
    assert_int_equal(exceptions_of(f), 0);
    umbel_free(f);
}

static void test_refusals(void **state) {
    (void)state;
    umbel_never *never = NULL;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = 1000, .fpr = 0.01};
    assert_ok(umbel_never_new(&params, NULL, &never, NULL));
    umbel_params other = params;
    other.seed = 1;
    refuse(never, other, NULL, UMBEL_EMISMATCH, "seed or secret");
    refuse(never, params, secret, UMBEL_EMISMATCH, "seed or secret");
    other = params;
    other.kind = UMBEL_KIND_CLASSIC;
    refuse(never, other, NULL, UMBEL_EMISMATCH, "classic");
    umbel_filter *full = NULL; /* of ones */
    size_t len;
    assert_ok(
        umbel_create(&(umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 32}, NULL, &full, NULL));
    uint8_t *bytes = bytes_of(full, &len);
    umbel_free(full);
    memset(bytes + 4096, 0xff, 32);
    native_resum(bytes, len);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &full, NULL));
    for (uint64_t i = 0; i < 64001; i++) {
        assert_ok(umbel_never_ask(never, &(umbel_key){&i, sizeof i}, 1, NULL));
    }
    umbel_diag diag = {0};
    assert_int_equal(umbel_never_finish(never, full, NULL, &diag), UMBEL_EFULL);
    assert_string_equal(diag.field, "exceptions");
    for (uint64_t i = 0; i < 1; i++) {
        assert_ok(umbel_never_show(never, &(umbel_key){&i, sizeof i}, 1, NULL));
    }
    assert_ok(umbel_never_finish(never, full, NULL, NULL));
    assert_int_equal(exceptions_of(full), 64000);
    for (uint64_t i = 0; i < 64002; i++) {
        assert_int_equal(umbel_contains(full, &i, sizeof i), i == 0 || i == 64001);
    }
    umbel_never_free(never);
    umbel_free(full);
    free(bytes);
}

static void test_not_concurrent(void **state) {
    (void)state;
    guarded g = make((umbel_params){.kind = UMBEL_KIND_BLOCKED, .capacity = MEMBERS, .fpr = 0.02});
    size_t len;
    uint8_t *bytes = bytes_of(g.filter, &len);
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    umbel_opts opts = {.concurrent = 1};
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts, &f, &diag), UMBEL_ENOTSUP);
    assert_string_equal(diag.field, "concurrent");
    free(bytes);
    dispose(&g);
}

/* A header that lies about its exceptions, with checksums that do not. */
static void test_lies(void **state) {
    (void)state;
    const struct {
        size_t at, width;
        uint64_t value, offset;
    } lies[] = {
        {8, 2, 1, 92},      /* version 1 with exceptions */
        {92, 4, 0, 92},     /* version 2 without */
        {92, 4, 1, 12},     /* fewer than there are */
        {92, 4, 64001, 92}, /* too many */
        {92, 4, 4000, 92},  /* beyond the header */
        {89, 1, 2, 89},     /* neither outdated nor not */
        {90, 2, 1, 89},
    };
    size_t len;
    uint8_t *bytes = golden_native("never_blocked", &len);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        uint8_t *lying = exact_copy(bytes, len);
        native_set(lying, lies[i].at, lies[i].width, lies[i].value);
        native_resum(lying, len);
        native_refused(lying, len, UMBEL_ECORRUPT, lies[i].offset);
        free(lying);
    }
    uint8_t *unsorted = exact_copy(bytes, len);
    memcpy(unsorted + 136, unsorted + 128, 8); /* one of them twice */
    native_resum(unsorted, len);
    native_refused(unsorted, len, UMBEL_ECORRUPT, 136);
    free(unsorted);
    free(bytes);
}

/* Files of the independent writer. */
static void test_golden(void **state) {
    (void)state;
    const struct {
        const char *name;
        size_t added;
        bool outdated;
    } files[] = {
        {"never_blocked", 100, false}, {"never_line", 60, true}, {"never_classic", 100, false}};
    hex_keys all = hex_keys_from("tests/golden/native/keys.hex");
    for (size_t i = 0; i < 3; i++) {
        size_t len, again_len;
        uint8_t *bytes = golden_native(files[i].name, &len), *again;
        umbel_filter *f = NULL;
        umbel_info info;
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, NULL));
        umbel_describe(f, &info);
        assert_true(info.exceptions > 0 && info.outdated == files[i].outdated);
        for (size_t k = 0; k < all.n; k++) {
            assert_int_equal(has(f, &all.keys[k]), k < files[i].added);
        }
        again = bytes_of(f, &again_len);
        assert_int_equal(again_len, len);
        assert_memory_equal(again, bytes, len);
        free(again);
        free(bytes);
        umbel_free(f);
    }
    free_hex_keys(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_good_key_and_every_member),
        cmocka_unit_test(test_files_hold_them),
        cmocka_unit_test(test_adding_drops_the_exception),
        cmocka_unit_test(test_outdated),
        cmocka_unit_test(test_whole_filters),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_concurrent),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
