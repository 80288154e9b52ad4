/* SPDX-License-Identifier: MIT
 *
 * test_plan_refusals.c - impossible plans: every verdict, and nonsense of every sort
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "any_filter.h"
#include "plan/plan.h"

#define GIB (UINT64_C(1) << 30)

/* The public function says the same in its diagnostic; before a colon stands a field, nothing else. */
static void explained(umbel_plan plan, const char *why) {
    static const char *const fields[] = {"", "kind", "fpr", "hashes"};
    umbel_diag diag = {0};
    assert_int_equal(umbel_plan_solve(&plan, &diag), UMBEL_EINVAL);
    assert_string_equal(plan.why, why);
    assert_string_equal(sentence(&diag), why);
    size_t known = 0;
    while (known < 4 && strcmp(diag.field, fields[known]) != 0) known++;
    if (known == 4) fail_msg("'%s' is no field of a plan", diag.field);
}

static umbel_plan refused(umbel_plan plan, umbel_verdict verdict) {
    umbel_plan asked = plan;
    assert_int_equal(umbeli_plan_solve(&plan), UMBEL_EINVAL);
    assert_int_equal(plan.verdict, verdict);
    assert_true(plan.why != NULL && strlen(plan.why) > 10);
    assert_int_equal(plan.kind, asked.kind);
    assert_true(plan.capacity == asked.capacity && plan.bytes == asked.bytes);
    assert_memory_equal(&plan.fpr, &asked.fpr, sizeof plan.fpr);
    assert_int_equal(plan.hashes, asked.hashes);
    assert_true(plan.bits == 0);
    assert_true(umbeli_plan_rate(&plan, 1) == 1.0);
    explained(asked, plan.why);
    return plan;
}

static void underdetermined(void **state) {
    (void)state;
    refused((umbel_plan){0}, UMBEL_PLAN_UNDERDETERMINED);
    refused((umbel_plan){.capacity = 1000}, UMBEL_PLAN_UNDERDETERMINED);
    refused((umbel_plan){.fpr = 0.01}, UMBEL_PLAN_UNDERDETERMINED);
    refused((umbel_plan){.bytes = 1000}, UMBEL_PLAN_UNDERDETERMINED);
    refused((umbel_plan){.capacity = 1000, .fpr = -0.0}, UMBEL_PLAN_UNDERDETERMINED);
    refused((umbel_plan){.kind = UMBEL_KIND_CLASSIC, .bytes = UINT64_MAX},
            UMBEL_PLAN_UNDERDETERMINED);
}

static void bad_rates(void **state) {
    (void)state;
    const double rates[] = {1.0,      1.0 + DBL_EPSILON, 2.0,       100.0, -0.01,
                            -DBL_MIN, HUGE_VAL,          -HUGE_VAL, NAN};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        refused((umbel_plan){.fpr = rates[i]}, UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.fpr = rates[i], .capacity = 1000}, UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.fpr = rates[i], .capacity = 1000, .bytes = 1000},
                UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .fpr = rates[i], .bytes = 1000},
                UMBEL_PLAN_BAD_RATE);
    }
}

static void bad_kinds(void **state) {
    (void)state;
    refused((umbel_plan){.kind = (umbel_kind)99, .capacity = 1000, .fpr = 0.01},
            UMBEL_PLAN_BAD_KIND);
    refused((umbel_plan){.kind = (umbel_kind)(UMBEL_KIND_CLASSIC + 100)}, UMBEL_PLAN_BAD_KIND);
}

static void chosen_hashes(void **state) {
    (void)state;
    umbel_plan plan = {.kind = UMBEL_KIND_CLASSIC, .capacity = 1000000, .fpr = 0.01};
    umbel_plan best = plan;
    assert_int_equal(umbeli_plan_solve(&best), UMBEL_OK);
    for (plan.hashes = 1; plan.hashes <= 64; plan.hashes++) {
        umbel_plan with = plan;
        assert_int_equal(umbeli_plan_solve(&with), UMBEL_OK);
        assert_int_equal(with.hashes, plan.hashes);
        assert_true(with.bytes >= best.bytes);
    }
    refused(plan, UMBEL_PLAN_BAD_HASHES);
    plan.hashes = UINT32_MAX;
    refused(plan, UMBEL_PLAN_BAD_HASHES);
    plan.kind = UMBEL_KIND_AUTO;
    refused(plan, UMBEL_PLAN_BAD_HASHES);
    plan.kind = UMBEL_KIND_BLOCKED;
    plan.hashes = 7;
    refused(plan, UMBEL_PLAN_BAD_HASHES);
    plan.hashes = 8;
    assert_int_equal(umbeli_plan_solve(&plan), UMBEL_OK);
}

/* Ten bits per key: the bound is 2^-10, classic reaches 0.8%, blocked 1.3%. */
static void bound_or_kind(void **state) {
    (void)state;
    umbel_plan plan = {.capacity = 800000, .bytes = 1000000, .fpr = 0.0009};
    for (plan.kind = UMBEL_KIND_AUTO; plan.kind <= UMBEL_KIND_CLASSIC; plan.kind++) {
        umbel_plan below = refused(plan, UMBEL_PLAN_BELOW_BOUND);
        assert_true(below.bits_per_key == 10.0 && below.bound == 0x1p-10);
    }
    plan.fpr = 0.001;
    for (plan.kind = UMBEL_KIND_AUTO; plan.kind <= UMBEL_KIND_CLASSIC; plan.kind++) {
        umbel_plan beyond = refused(plan, UMBEL_PLAN_BEYOND_KIND);
        assert_true(beyond.rate > 0.008 && beyond.rate < 0.013);
    }
    plan.fpr = 0.01;
    plan.kind = UMBEL_KIND_BLOCKED;
    refused(plan, UMBEL_PLAN_BEYOND_KIND);
    plan.kind = UMBEL_KIND_CLASSIC;
    assert_int_equal(umbeli_plan_solve(&plan), UMBEL_OK);

    /* Not even one key fits. */
    refused((umbel_plan){.bytes = 32, .fpr = 1e-78}, UMBEL_PLAN_BELOW_BOUND);
    refused((umbel_plan){.bytes = 64, .fpr = 1e-78}, UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .bytes = 32, .fpr = 1e-12},
            UMBEL_PLAN_BEYOND_KIND);
}

/* No size helps against equal hashes. */
static void below_floor(void **state) {
    (void)state;
    refused((umbel_plan){.capacity = 1000, .fpr = 5e-20}, UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.capacity = 1000, .bytes = GIB, .fpr = 5e-20}, UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.capacity = 1, .fpr = DBL_TRUE_MIN}, UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = 1000, .fpr = 1e-17},
            UMBEL_PLAN_BEYOND_KIND);
    umbel_plan ample = {.kind = UMBEL_KIND_CLASSIC, .capacity = 1, .bytes = GIB};
    assert_int_equal(umbeli_plan_solve(&ample), UMBEL_OK);
    assert_true(ample.fpr >= 0x1p-64 && ample.fpr < 0x1p-63);
    umbel_plan min = {.capacity = 1000, .fpr = 1e-19};
    assert_int_equal(umbeli_plan_solve(&min), UMBEL_OK);
    assert_true(min.bytes < 16384);
}

static void too_small(void **state) {
    (void)state;
    refused((umbel_plan){.capacity = 3, .bytes = 31}, UMBEL_PLAN_TOO_SMALL);
    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = 3, .bytes = 31},
            UMBEL_PLAN_TOO_SMALL);
    refused((umbel_plan){.kind = UMBEL_KIND_CLASSIC, .capacity = 3, .bytes = 63},
            UMBEL_PLAN_TOO_SMALL);
    refused((umbel_plan){.kind = UMBEL_KIND_CLASSIC, .fpr = 0.5, .bytes = 1}, UMBEL_PLAN_TOO_SMALL);
}

static void too_large(void **state) {
    (void)state;
    const uint64_t max = UINT64_MAX;
    refused((umbel_plan){.capacity = max, .fpr = 0.01}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.capacity = max, .fpr = 1e-19}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.capacity = max, .bytes = max}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.capacity = max, .bytes = max, .fpr = 0.01}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.bytes = max, .fpr = 0.01}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.bytes = UINT64_C(1) << 60, .fpr = 0.01}, UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.capacity = UINT64_C(1) << 61, .fpr = 0.1}, UMBEL_PLAN_TOO_LARGE);

    umbel_plan edge = {.bytes = (UINT64_C(1) << 60) - 64, .fpr = 0.01};
    assert_int_equal(umbeli_plan_solve(&edge), UMBEL_OK);
    assert_int_equal(edge.kind, UMBEL_KIND_CLASSIC);
    assert_true(edge.bits == (UINT64_C(1) << 63) - 512);

    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = 1, .bytes = 128 * GIB},
            UMBEL_PLAN_TOO_LARGE);
    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = 200000000000, .fpr = 0.01},
            UMBEL_PLAN_TOO_LARGE);
}

/* So overfull that every answer would be yes: no plan, whatever is given. */
static void full(void **state) {
    (void)state;
    refused((umbel_plan){.capacity = UINT64_MAX, .bytes = 1000}, UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = 1000000, .bytes = 32},
            UMBEL_PLAN_BEYOND_KIND);
    refused((umbel_plan){.kind = UMBEL_KIND_CLASSIC, .capacity = 1000000, .bytes = 64},
            UMBEL_PLAN_BEYOND_KIND);
}

/* Every combination of odd values: solved or refused, always completely, and never slowly. */
static void mixtures(void **state) {
    (void)state;
    static const uint64_t counts[] = {0,
                                      1,
                                      2,
                                      31,
                                      32,
                                      63,
                                      64,
                                      1000,
                                      262144,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_C(1) << 53,
                                      UINT64_C(1) << 60,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX - 1,
                                      UINT64_MAX};
    static const double rates[] = {
        0.0,   DBL_TRUE_MIN,          DBL_MIN, 1e-100, 1e-38, 1e-19, 1e-9, 0.01, 0.5,
        0.999, 1.0 - DBL_EPSILON / 2, 1.0};
    enum { COUNTS = sizeof counts / sizeof *counts, RATES = sizeof rates / sizeof *rates };
    for (size_t i = 0; i < (size_t)COUNTS * COUNTS * RATES * 3 * 2; i++) {
        umbel_plan plan = {.kind = (umbel_kind)(i % 3), .hashes = i / 3 % 2 ? 8 : 0};
        plan.capacity = counts[i / 6 % COUNTS];
        plan.bytes = counts[i / 6 / COUNTS % COUNTS];
        plan.fpr = rates[i / 6 / COUNTS / COUNTS];
        umbel_plan asked = plan;
        if (umbeli_plan_solve(&plan)) {
            refused(asked, plan.verdict);
            continue;
        }
        assert_true(asked.capacity == 0 || plan.capacity == asked.capacity);
        assert_true(asked.bytes == 0 || plan.bytes <= asked.bytes);
        assert_true(asked.fpr == 0.0 || plan.fpr == asked.fpr);
        assert_true(plan.capacity != 0 && plan.bytes != 0 && plan.bits == plan.bytes * 8);
        assert_true(plan.rate > 0.0 && plan.rate <= plan.fpr && plan.fpr < 1.0);
        assert_true(plan.bound <= plan.rate);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(underdetermined),
        cmocka_unit_test(bad_rates),
        cmocka_unit_test(bad_kinds),
        cmocka_unit_test(chosen_hashes),
        cmocka_unit_test(bound_or_kind),
        cmocka_unit_test(below_floor),
        cmocka_unit_test(too_small),
        cmocka_unit_test(too_large),
        cmocka_unit_test(full),
        cmocka_unit_test(mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
