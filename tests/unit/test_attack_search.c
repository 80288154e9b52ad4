/* SPDX-License-Identifier: MIT
 *
 * test_attack_search.c - an attacker who knows a filter's bits and its hash searches for false
 * positives, then tries them on a keyed filter
 *
 * Where nothing is secret, every key found works.  Under an unknown secret they are keys like any
 * others: hits are binomial at the promised rate, and at most five standard deviations above it.
 *
 * labels: once
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_keys.h"

enum { MEMBERS = 20000, WANTED = 2000, ROOM = 24 };

static const double promise = 0.01;
static const uint8_t secret[17] = "nobody knows it!", guess[17], other[17] = "another's secret";

/* The i-th key, where keys are numbers of four bytes or texts. */
typedef struct world {
    bool numbers;
    char text[ROOM];
} world;

static umbel_key key_at(world *w, uint64_t i) {
    if (w->numbers) {
        uint32_t number = (uint32_t)i * UINT32_C(0x9e3779b1); /* odd: all are distinct */
        memcpy(w->text, &number, sizeof number);
        return (umbel_key){w->text, sizeof number};
    }
    int len = snprintf(w->text, sizeof w->text, "id-%llu", (unsigned long long)i);
    return (umbel_key){w->text, (size_t)len};
}

static umbel_filter *filled(any_params params, world *w) {
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    params.native.capacity = params.foreign.capacity = MEMBERS;
    if (any_create(&params, NULL, &f, &diag)) fail_msg("%s", sentence(&diag));
    for (uint64_t i = 0; i < MEMBERS; i++) {
        umbel_key key = key_at(w, i);
        assert_ok(umbel_add(f, key.data, key.len, NULL, NULL));
    }
    return f;
}

/* Tries keys that are not in the filter until n false positives are found; returns how many it
 * tried. */
static uint64_t search(const umbel_filter *f, world *w, uint64_t *found, size_t n) {
    uint64_t i = MEMBERS;
    for (size_t at = 0; at < n; i++) {
        umbel_key key = key_at(w, i);
        if (umbel_contains(f, key.data, key.len)) found[at++] = i;
        if (i > UINT32_MAX) fail_msg("no keys are left");
    }
    return i - MEMBERS;
}

static size_t hits(const umbel_filter *f, world *w, const uint64_t *found, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        umbel_key key = key_at(w, found[i]);
        count += umbel_contains(f, key.data, key.len);
    }
    return count;
}

static void kept(const char *name, double seen, double n) {
    double max = n * promise + 5 * sqrt(n * promise * (1 - promise));
    print_message("#   %s: %.0f of %.0f, at most %.1f are chance\n", name, seen, n, max);
    assert_true(seen <= max);
}

static const struct {
    const char *name;
    any_params params;
    bool numbers;
} open[] = {
    {"native, blocked",
     {.native = {.kind = UMBEL_KIND_BLOCKED, .fpr = 0.01, .seed = 12345}},
     false},
    {"native, classic",
     {.native = {.kind = UMBEL_KIND_CLASSIC, .fpr = 0.01, .seed = 12345}},
     false},
    {"leveldb", {.foreign = {.format = UMBEL_FMT_LEVELDB, .bits_per_key = 10}}, false},
    {"corekv", {.foreign = {.format = UMBEL_FMT_COREKV, .bits_per_key = 10}}, true},
    {"badger", {.foreign = {.format = UMBEL_FMT_BADGER, .bits_per_key = 10}}, true},
    {"clickhouse",
     {.foreign = {.format = UMBEL_FMT_CLICKHOUSE, .bytes = 25000, .hashes = 7}},
     false},
    {"gocrc32", {.foreign = {.format = UMBEL_FMT_GOCRC32, .fpr = 0.01}}, false},
    {"guava", {.foreign = {.format = UMBEL_FMT_GUAVA, .fpr = 0.01}}, false},
    {"parquet", {.foreign = {.format = UMBEL_FMT_PARQUET, .fpr = 0.01}}, false},
    {"redisbloom", {.foreign = {.format = UMBEL_FMT_REDISBLOOM, .fpr = 0.01}}, false},
    {"dcso", {.foreign = {.format = UMBEL_FMT_DCSO, .fpr = 0.01}}, false},
};

static const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED, UMBEL_KIND_CLASSIC};

static umbel_filter *keyed(umbel_kind kind, const uint8_t *key, uint64_t seed, world *w) {
    return filled(
        (any_params){.native = {.kind = kind, .fpr = promise, .seed = seed}, .secret = key}, w);
}

/* Every filter whose hash is public, and the keyed ones that replace it. */
static void chosen_false_positives(void **state) {
    (void)state;
    static uint64_t found[WANTED];
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        world w = {.numbers = open[i].numbers};
        umbel_filter *f = filled(open[i].params, &w), *copy = NULL;
        assert_ok(umbel_copy(f, &copy, NULL)); /* from a file that the attacker read, or keys known
                                                * to them */
        uint64_t tried = search(copy, &w, found, WANTED);
        umbel_free(copy);
        size_t right = hits(f, &w, found, WANTED);
        print_message(
            "# %s: %zu of %d chosen keys are taken for others; %.0f were tried for each\n",
            open[i].name, right, WANTED, (double)tried / WANTED);
        assert_int_equal(right, WANTED);
        umbel_free(f);
        for (size_t k = 0; k < 2; k++) {
            f = keyed(kinds[k], secret, 12345, &w);
            kept(k ? "classic under a key" : "blocked under a key",
                 (double)hits(f, &w, found, WANTED), WANTED);
            umbel_free(f);
        }
    }
}

/* Kind, size and seed may be known, and the attacker may even choose the seed: filters made with
 * them under other secrets yield nothing of use. */
static void known_parameters_do_not_help(void **state) {
    (void)state;
    static uint64_t found[WANTED];
    const uint64_t seeds[] = {0, 1, UINT64_MAX, random_word()};
    const uint8_t *keys[] = {NULL, guess, other};
    world w = {.numbers = false};
    for (size_t k = 0; k < 2; k++) {
        double seen = 0, asked = 0;
        for (size_t s = 0; s < 4; s++) {
            umbel_filter *victim = keyed(kinds[k], secret, seeds[s], &w);
            for (size_t i = 0; i < 3; i++) {
                umbel_filter *mine = keyed(kinds[k], keys[i], seeds[s], &w);
                search(mine, &w, found, WANTED);
                seen += (double)hits(victim, &w, found, WANTED);
                asked += WANTED;
                umbel_free(mine);
            }
            umbel_free(victim);
        }
        kept(umbel_kind_name(kinds[k]), seen, asked);
    }
}

/* An attacker who may query the filter itself finds a false positive in 1 / rate queries, no
 * faster; and it is not one under another secret. */
static void questions_cost_what_they_must(void **state) {
    (void)state;
    static uint64_t found[WANTED];
    world w = {.numbers = false};
    for (size_t k = 0; k < 2; k++) {
        umbel_filter *f = keyed(kinds[k], secret, 0, &w), *next = keyed(kinds[k], other, 0, &w);
        umbel_measurement now = measured(f);
        double tried = (double)search(f, &w, found, WANTED);
        double expected = tried * now.rate;
        print_message("# %s: %.1f questions a false positive, rate %g\n", umbel_kind_name(kinds[k]),
                      tried / WANTED, now.rate);
        assert_true(fabs(WANTED - expected) <= 5 * sqrt(expected));
        kept("after a change of the key", (double)hits(next, &w, found, WANTED), WANTED);
        umbel_free(f);
        umbel_free(next);
    }
}

/* Removes keys that were never added; returns how many keys that were added are then missed. */
static size_t robbed(umbel_filter *f, world *w, const uint64_t *found, size_t n, size_t *taken) {
    size_t missed = 0;
    *taken = 0;
    for (size_t i = 0; i < n; i++) {
        umbel_key key = key_at(w, found[i]);
        *taken += umbel_remove(f, key.data, key.len, NULL) == UMBEL_OK;
    }
    for (uint64_t i = 0; i < MEMBERS; i++) {
        umbel_key key = key_at(w, i);
        missed += !umbel_contains(f, key.data, key.len);
    }
    return missed;
}

/* A counting filter that lets untrusted users remove keys: false positives become false
 * negatives. */
static void chosen_removals(void **state) {
    (void)state;
    static uint64_t found[WANTED];
    world w = {.numbers = false};
    umbel_filter *f = keyed(UMBEL_KIND_COUNTING, NULL, 0, &w);
    size_t taken, missed;
    search(f, &w, found, WANTED);
    missed = robbed(f, &w, found, WANTED, &taken);
    print_message("# counting: %zu of %d removals done, then %zu of %d keys are missed\n", taken,
                  WANTED, missed, MEMBERS);
    assert_true(missed > MEMBERS / 10);
    umbel_free(f);
    f = keyed(UMBEL_KIND_COUNTING, secret, 0, &w);
    missed = robbed(f, &w, found, WANTED, &taken);
    print_message("#   under a key: %zu keys are missed\n", missed);
    kept("removals under a key", (double)taken, WANTED);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_false_positives),
        cmocka_unit_test(known_parameters_do_not_help),
        cmocka_unit_test(questions_cost_what_they_must),
        cmocka_unit_test(chosen_removals),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
