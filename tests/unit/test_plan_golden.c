/* SPDX-License-Identifier: MIT
 *
 * test_plan_golden.c - plans stay what they were: sizes are part of the bytes of a filter
 */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

#include "golden.h"
#include "umbel_plan.h"

/* The last digits of a rate may differ with the logarithms of another C library. */
static void assert_close(const char *what, double got, double wanted, size_t row) {
    if (!(fabs(got - wanted) <= 1e-9 * wanted)) {
        fail_msg("plan %zu: %s is %.17g, was %.17g", row, what, got, wanted);
    }
}

static void assert_same(const char *what, uint64_t got, const char *wanted, size_t row) {
    if (got != strtoull(wanted, NULL, 10)) {
        fail_msg("plan %zu: %s is %llu, was %s", row, what, (unsigned long long)got, wanted);
    }
}

static void plans_of_the_version_before(void **state) {
    (void)state;
    golden_table t = golden_table_open("plan/plans.tsv");
    while (golden_table_next(&t)) {
        char **c = t.column;
        umbel_plan plan = {.kind = (umbel_kind)atoi(c[0]),
                           .capacity = strtoull(c[1], NULL, 10),
                           .fpr = strtod(c[2], NULL),
                           .bytes = strtoull(c[3], NULL, 10),
                           .hashes = (uint32_t)atoi(c[4])};
        umbel_plan_solve(&plan, NULL);
        assert_same("verdict", (uint64_t)plan.verdict, c[5], t.rows);
        assert_same("kind", (uint64_t)plan.kind, c[6], t.rows);
        assert_same("capacity", plan.capacity, c[7], t.rows);
        assert_close("fpr", plan.fpr, strtod(c[8], NULL), t.rows);
        assert_same("bytes", plan.bytes, c[9], t.rows);
        assert_same("hashes", plan.hashes, c[10], t.rows);
        if (plan.verdict == UMBEL_PLAN_OK) {
            assert_close("rate", plan.rate, strtod(c[11], NULL), t.rows);
        }
    }
    assert_int_equal(t.rows, 420);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_of_the_version_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
