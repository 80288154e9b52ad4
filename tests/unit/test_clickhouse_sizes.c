/* SPDX-License-Identifier: MIT
 *
 * Bits per row and hashes of ClickHouse's bloom_filter(p), for rates in its table and between them
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec_check.h"
#include "format/clickhouse/clickhouse_index.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbeli_codec *const clickhouse = &umbeli_codec_clickhouse;

static void sizes_are_the_servers(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/best_practices.tsv");
    while (golden_table_next(&t)) {
        double p = strtod(t.column[0], NULL);
        umbeli_clickhouse_best now = umbeli_clickhouse_best_of(p, false);
        umbeli_clickhouse_best before = umbeli_clickhouse_best_of(p, true);
        assert_int_equal(now.bits_per_row, strtoul(t.column[1], NULL, 10));
        assert_int_equal(now.hashes, strtoul(t.column[2], NULL, 10));
        assert_int_equal(before.bits_per_row, strtoul(t.column[3], NULL, 10));
        assert_int_equal(before.hashes, strtoul(t.column[4], NULL, 10));
    }
    assert_int_equal(t.rows, 34);
    golden_table_close(&t);
}

static void sizes_at_every_rate_of_the_table(void **state) {
    (void)state;
    golden_table t = golden_table_open("clickhouse/rates.tsv");
    while (golden_table_next(&t)) {
        umbeli_clickhouse_best best = umbeli_clickhouse_best_of(strtod(t.column[0], NULL), false);
        if (best.bits_per_row != strtoul(t.column[1], NULL, 10) ||
            best.hashes != strtoul(t.column[2], NULL, 10)) {
            fail_msg("%s: %u bits, %u hashes", t.column[0], best.bits_per_row, best.hashes);
        }
    }
    assert_int_equal(t.rows, 421);
    golden_table_close(&t);
}

static void sizes_around_the_anomaly(void **state) {
    (void)state;
    const struct {
        double p;
        uint32_t bits, hashes;
    } cases[] = {{0.22, 4, 2}, {0.2209, 4, 2}, {0.221, 19, 13}, {0.23, 19, 13}, {0.2371, 3, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbeli_clickhouse_best best = umbeli_clickhouse_best_of(cases[i].p, false);
        assert_int_equal(best.bits_per_row, cases[i].bits);
        assert_int_equal(best.hashes, cases[i].hashes);
    }
    umbel_foreign p = {.capacity = 100, .fpr = 0.5, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX};
    umbel_filter *f = codec_create(clickhouse, &p);
    assert_int_equal(f->data_len, 25);
    umbel_free(f);
    p.variant |= UMBEL_VARIANT_CLICKHOUSE_PRE2024;
    f = codec_create(clickhouse, &p);
    assert_int_equal(f->data_len, 238);
    assert_int_equal(f->shape.hashes, 13);
    umbel_free(f);
}

/* The plan describes the filter that would be created. */
static void plans_are_of_what_is_made(void **state) {
    (void)state;
    const umbel_foreign cases[] = {
        {.capacity = 1000, .bytes = 1250, .hashes = 7},
        {.capacity = 8192, .fpr = 0.025, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX},
        {.capacity = 8192, .fpr = 0.2209, .variant = UMBEL_VARIANT_CLICKHOUSE_INDEX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_foreign p = cases[i];
        p.format = UMBEL_FMT_CLICKHOUSE;
        umbel_plan plan = {0};
        assert_int_equal(umbel_plan_foreign(&p, &plan, NULL), UMBEL_OK);
        umbel_filter *f = codec_create(clickhouse, &p);
        assert_int_equal(plan.bits, f->shape.bits);
        assert_int_equal(plan.hashes, f->shape.hashes);
        assert_int_equal(plan.capacity, p.capacity);
        /* The textbook's formula, which holds for a classic filter. */
        double m = (double)plan.bits, k = plan.hashes, n = (double)plan.capacity;
        assert_true(fabs(plan.rate / pow(1 - exp(-k * n / m), k) - 1) < 0.02);
        assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
        assert_true(plan.rate <= plan.fpr);
        umbel_free(f);
    }
    umbel_foreign without = {.format = UMBEL_FMT_CLICKHOUSE, .capacity = 1000, .bytes = 1250};
    umbel_plan plan = {0};
    umbel_diag diag = {0};
    assert_int_equal(umbel_plan_foreign(&without, &plan, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "hashes");
    assert_string_equal(diag.what, "required by ClickHouse");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_the_servers),
        cmocka_unit_test(sizes_at_every_rate_of_the_table),
        cmocka_unit_test(sizes_around_the_anomaly),
        cmocka_unit_test(plans_are_of_what_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
