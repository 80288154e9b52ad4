/* SPDX-License-Identifier: MIT
 *
 * test_exact.c - exact filters: no known key is answered wrongly, in little more than the least bits
 *
 * labels: once
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "any_filter.h"
#include "kind_check.h"
#include "umbel_plan.h"

/* Members are keys 0 to members - 1 of one stream, the others those of the next.  The first `both`
 * members are told of as others, too, and everything comes `times` times. */
typedef struct universe {
    uint64_t stream, members, others, both;
    uint64_t times;
} universe;

typedef umbel_err taker(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag);

static void tell(umbel_builder *b, taker *take, uint64_t stream, uint64_t n) {
    enum { BATCH = 1000 };
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t numbers[BATCH];
        umbel_key keys[BATCH];
        size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < some; j++) {
            numbers[j] = check_key(stream, i + j);
            keys[j] = (umbel_key){&numbers[j], 8};
        }
        assert_int_equal(take(b, keys, some, NULL), UMBEL_OK);
    }
}

static umbel_filter *built(const universe *u, umbel_params params, const umbel_opts *opts) {
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    umbel_build_report report;
    params.kind = UMBEL_KIND_EXACT;
    assert_int_equal(umbel_builder_new(&params, opts, &b, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < u->times; i++) {
        tell(b, umbel_builder_never, u->stream + 1, u->others);
        tell(b, umbel_builder_never, u->stream, u->both);
    }
    for (uint64_t i = 0; i < u->times; i++) tell(b, umbel_builder_add, u->stream, u->members);
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_report(b, &report);
    assert_int_equal(report.never, u->others + u->both);
    assert_int_equal(report.members, u->both);
    umbel_builder_free(b);
    return f;
}

/* The logarithm of the number of ways to choose the members from all known keys. */
static double least_bits(const universe *u) {
    double r = (double)u->members, n = (double)u->others;
    return (lgamma(r + n + 1) - lgamma(r + 1) - lgamma(n + 1)) / log(2);
}

static void all_right(const umbel_filter *f, const universe *u) {
    assert_int_equal(check_found(f, u->stream, 0, u->members), u->members);
    assert_int_equal(check_found(f, u->stream + 1, 0, u->others), 0);
    umbel_info info = described(f);
    assert_int_equal(info.kind, UMBEL_KIND_EXACT);
    assert_int_equal(info.keys_added, u->members);
    assert_int_equal(info.universe, u->others);
}

/* From 0 to 10^low members, and as many others at another size. */
static universe any_universe(uint64_t i) {
    uint64_t dice = check_key(77, i);
    universe u = {.stream = 1000 + 2 * i, .times = 1 + i % 3 / 2};
    u.members = i % 10 == 0 ? 0 : (uint64_t)pow(10, (double)(dice % 1000) / 1000 * 4.7);
    u.others = i % 10 == 1 ? 0 : (uint64_t)pow(10, (double)(dice / 1000 % 1000) / 1000 * 5.3);
    u.both = dice / 1000000 % (u.members + 1) / (1 + i % 5);
    return u;
}

static void hundred_universes(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        universe u = any_universe(i);
        umbel_params params = {.seed = i % 2 ? check_key(78, i) : 0, .fpr = i % 4 == 3 ? 1e-4 : 0};
        umbel_filter *f = built(&u, params, NULL);
        all_right(f, &u);
        umbel_measurement now = measured(f);
        check_rate(f, 5, 200000, now.rate, u.members >= 1000 ? now.rate : 0);
        assert_true(params.fpr == 0 || now.rate <= params.fpr);
        umbel_free(f);
    }
}

static void close_to_the_bound(void **state) {
    (void)state;
    const universe some[] = {
        {.stream = 1, .members = 10000, .others = 200000},
        {.stream = 3, .members = 20000, .others = 640000}, /* the worst ratio */
        {.stream = 5, .members = 10000, .others = 3000000},
        {.stream = 7, .members = 30000, .others = 615000},
        {.stream = 9, .members = 100000, .others = 1900000},
        {.stream = 11, .members = 50000, .others = 3200000},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        universe u = some[i];
        u.times = 1;
        umbel_filter *f = built(&u, (umbel_params){0}, NULL);
        all_right(f, &u);
        double bits = (double)described(f).bits, ratio = bits / least_bits(&u);
        printf("# %6llu of %8llu: %.3f bits per member, %.4f times the least\n",
               (unsigned long long)u.members, (unsigned long long)(u.members + u.others),
               bits / (double)u.members, ratio);
        assert_true(ratio <= 1.10);
        umbel_free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hundred_universes),
        cmocka_unit_test(close_to_the_bound),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
