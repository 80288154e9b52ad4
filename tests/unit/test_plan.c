/* SPDX-License-Identifier: MIT
 *
 * test_plan.c - solving plans: edges, round trips, the choice of a kind; every refusal
 */
#include "cases.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "any_filter.h"
#include "umbel_plan.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static umbel_plan solved(umbel_plan plan) {
    umbel_err err = umbel_plan_solve(&plan, NULL);
    if (err) fail_msg("refused (%d): %s", (int)plan.verdict, plan.why);
    assert_int_equal(plan.verdict, UMBEL_PLAN_OK);
    assert_non_null(plan.why);
    assert_true(plan.kind == UMBEL_KIND_BLOCKED || plan.kind == UMBEL_KIND_LINE ||
                plan.kind == UMBEL_KIND_CLASSIC);
    assert_true(plan.capacity > 0 && plan.bits == plan.bytes * 8);
    assert_true(plan.rate > 0.0);
    assert_true(plan.rate <= plan.fpr);
    assert_true(plan.fpr < 1.0);
    assert_true(plan.rate == umbel_plan_rate(&plan, plan.capacity));
    assert_true(plan.rate >= plan.bound);
    assert_true(fabs(plan.bits_per_key * (double)plan.capacity / (double)plan.bits - 1.0) < 1e-12);
    return plan;
}

/* "A site has a blocklist of two billion URLs.  How to keep it in 500 MB?"  Not at all. */
static void two_billion_urls(void **state) {
    (void)state;
    const uint64_t urls = 2000000000;
    umbel_plan no = {.capacity = urls, .fpr = 0.01, .bytes = 500 * MIB};
    assert_int_equal(umbel_plan_solve(&no, NULL), UMBEL_EINVAL);
    assert_int_equal(no.verdict, UMBEL_PLAN_BELOW_BOUND);
    assert_true(fabs(no.bits_per_key - 2.097) < 0.001);
    assert_true(fabs(no.bound - 0.234) < 0.0005);

    umbel_plan best = solved((umbel_plan){.capacity = urls, .bytes = 500 * MIB});
    assert_int_equal(best.kind, UMBEL_KIND_CLASSIC);
    assert_int_equal(best.hashes, 2);
    assert_true(best.bytes == 500 * MIB);
    assert_true(fabs(best.fpr - 0.378) < 0.0005);

    umbel_plan percent =
        solved((umbel_plan){.kind = UMBEL_KIND_CLASSIC, .capacity = urls, .fpr = 0.01});
    assert_true(fabs((double)percent.bytes / (double)GIB - 2.23) < 0.005);
    umbel_plan fast = solved((umbel_plan){.capacity = urls, .fpr = 0.01});
    assert_int_equal(fast.kind, UMBEL_KIND_LINE);
    assert_true(fabs((double)fast.bytes / (double)GIB - 2.35) < 0.005);
    fast = solved((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .capacity = urls, .fpr = 0.01});
    assert_true(fabs((double)fast.bytes / (double)GIB - 2.45) < 0.005);

    umbel_plan fits = {.kind = UMBEL_KIND_CLASSIC, .bytes = 500 * MIB, .fpr = 0.01};
    assert_true(fabs((double)solved(fits).capacity / 437.2e6 - 1.0) < 0.001);
    fits.kind = UMBEL_KIND_BLOCKED;
    assert_true(fabs((double)solved(fits).capacity / 398.3e6 - 1.0) < 0.001);
}

/* m = -n ln p / (ln 2)^2 and k = (m/n) ln 2 are exact where k is an integer: p = 2^-k, and enough
 * keys that filters do not differ. */
static void textbook_formulas(void **state) {
    (void)state;
    const double keys = 1e14, ln2 = log(2.0);
    for (uint32_t k = 1; k <= 20; k++) {
        umbel_plan plan = solved((umbel_plan){
            .kind = UMBEL_KIND_CLASSIC, .capacity = (uint64_t)keys, .fpr = ldexp(1.0, -(int)k)});
        double m = -keys * log(plan.fpr) / (ln2 * ln2);
        assert_int_equal(plan.hashes, k);
        assert_true(fabs((double)plan.bits - m) < 512.0 + m * 1e-6);
    }
    for (double fpr = 0.7; fpr > 1e-15; fpr /= 3) { /* otherwise a little more, k being whole */
        umbel_plan plan = solved(
            (umbel_plan){.kind = UMBEL_KIND_CLASSIC, .capacity = (uint64_t)keys, .fpr = fpr});
        double m = -keys * log(fpr) / (ln2 * ln2);
        assert_true((double)plan.bits > m * (1 - 1e-6) &&
                    (double)plan.bits < m * (fpr > 0.4 ? 1.3 : 1.02) + 512);
        assert_true(fabs(plan.hashes - (double)plan.bits / keys * ln2) < 1.0);
    }
}

static const umbel_kind kinds[] = {UMBEL_KIND_AUTO, UMBEL_KIND_BLOCKED, UMBEL_KIND_CLASSIC,
                                   UMBEL_KIND_LINE};
static const double rates[] = {0.99, 0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6};
static const uint64_t key_counts[] = {1, 2, 10, 100, 999, 50000, 1000000, 123456789, 5000000000};

/* The next smaller size, given how the kinds round. */
static uint64_t smaller(const umbel_plan *plan) {
    if (plan->kind == UMBEL_KIND_CLASSIC) return plan->bytes - 64;
    uint64_t block = plan->kind == UMBEL_KIND_LINE ? 64 : 32;
    return plan->bytes > 8192 * block ? plan->bytes - 64 * block : plan->bytes - block;
}

static void check_edges(umbel_kind kind, uint64_t keys, double fpr) {
    umbel_plan plan = solved((umbel_plan){.kind = kind, .capacity = keys, .fpr = fpr});
    assert_true(plan.capacity == keys && plan.fpr == fpr);
    assert_true(kind == UMBEL_KIND_AUTO || plan.kind == kind);

    umbel_plan again = solved(plan); /* a solved plan is a plan with all three given */
    assert_true(again.bytes == plan.bytes && again.hashes == plan.hashes);

    umbel_plan less = {.kind = plan.kind, .capacity = keys, .fpr = fpr, .bytes = smaller(&plan)};
    if (less.bytes != 0) {
        assert_int_equal(umbel_plan_solve(&less, NULL), UMBEL_EINVAL);
        assert_true(less.verdict == UMBEL_PLAN_BEYOND_KIND ||
                    less.verdict == UMBEL_PLAN_BELOW_BOUND);
    }

    /* More than the minimum is never refused. */
    for (uint64_t more = 1; more < 10000; more = 3 * more + 20) {
        solved((umbel_plan){
            .kind = plan.kind, .capacity = keys, .fpr = fpr, .bytes = plan.bytes + more});
    }

    umbel_plan rate =
        solved((umbel_plan){.kind = plan.kind, .capacity = keys, .bytes = plan.bytes});
    assert_true(rate.fpr <= fpr);
    assert_true(rate.rate == plan.rate);
    assert_int_equal(rate.bytes, plan.bytes);
    assert_true(solved(rate).bytes == plan.bytes); /* what was promised can be requested */
    rate.fpr = nextafter(rate.fpr, 0.0);
    assert_int_equal(umbel_plan_solve(&rate, NULL), UMBEL_EINVAL);

    umbel_plan max = solved((umbel_plan){.kind = plan.kind, .fpr = fpr, .bytes = plan.bytes});
    assert_true(max.capacity >= keys);
    umbel_plan one_more = {.kind = plan.kind,
                           .fpr = fpr,
                           .bytes = plan.bytes,
                           .capacity = max.capacity + 1 + max.capacity / 1000000000000};
    assert_int_equal(umbel_plan_solve(&one_more, NULL), UMBEL_EINVAL);
}

static void edges_and_round_trips(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            for (size_t k = 0; k < sizeof key_counts / sizeof *key_counts; k++) {
                check_edges(kinds[i], key_counts[k], rates[j]);
            }
        }
    }
}

/* fpr is promised for the filter that is made, rate is the mean: far apart where a single key
 * matters, equal where none does. */
static void promise_and_mean(void **state) {
    (void)state;
    static const struct {
        uint64_t keys;
        double blocked,
            classic; /* by what fraction the promise exceeds the mean, at 10 bits per key */
    } cases[] = {
        {100, 0.76, 0.25},        {1000, 0.31, 0.12},           {10000, 0.086, 0.037},
        {1000000, 0.008, 0.0037}, {1000000000, 2.5e-4, 1.2e-4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = cases[i].keys * 10 / 8;
        umbel_plan fast = {.kind = UMBEL_KIND_BLOCKED, .capacity = cases[i].keys, .bytes = bytes};
        umbel_plan small = {.kind = UMBEL_KIND_CLASSIC, .capacity = cases[i].keys, .bytes = bytes};
        double above = solved(fast).fpr / solved(fast).rate - 1;
        assert_true(above < cases[i].blocked * 1.05 && above > cases[i].blocked * 0.95);
        above = solved(small).fpr / solved(small).rate - 1;
        assert_true(above < cases[i].classic * 1.05 && above > cases[i].classic * 0.95);
    }
}

static void more_costs_more(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            uint64_t before = 0;
            for (uint64_t keys = 1; keys < UINT64_C(10000000000); keys += 1 + keys / 3) {
                umbel_plan plan =
                    solved((umbel_plan){.kind = kinds[i], .capacity = keys, .fpr = rates[j]});
                assert_true(kinds[i] == UMBEL_KIND_AUTO || plan.bytes >= before);
                before = plan.bytes;
            }
        }
    }
}

static void rounding(void **state) {
    (void)state;
    static const struct {
        umbel_kind kind;
        uint64_t given, used;
    } cases[] = {
        {UMBEL_KIND_BLOCKED, 32, 32},
        {UMBEL_KIND_BLOCKED, 95, 64},
        {UMBEL_KIND_BLOCKED, 8191 * 32 + 31, 8191 * 32},
        {UMBEL_KIND_BLOCKED, 8255 * 32, 8192 * 32},
        {UMBEL_KIND_BLOCKED, 8256 * 32, 8256 * 32},
        {UMBEL_KIND_BLOCKED, 128 * GIB - 64 * 32, 128 * GIB - 64 * 32},
        {UMBEL_KIND_LINE, 64, 64},
        {UMBEL_KIND_LINE, 191, 128},
        {UMBEL_KIND_LINE, 8255 * 64, 8192 * 64},
        {UMBEL_KIND_LINE, 8256 * 64, 8256 * 64},
        {UMBEL_KIND_LINE, 256 * GIB - 64 * 64, 256 * GIB - 64 * 64},
        {UMBEL_KIND_CLASSIC, 64, 64},
        {UMBEL_KIND_CLASSIC, 127, 64},
        {UMBEL_KIND_CLASSIC, 1000063, 1000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        umbel_plan ask = {.kind = cases[i].kind, .bytes = cases[i].given, .fpr = 0.01};
        umbel_plan plan = solved(ask);
        assert_true(plan.bytes == cases[i].used);
        ask.capacity = plan.capacity;
        assert_true(solved(ask).bytes == cases[i].used);
        ask.fpr = 0.0;
        assert_true(solved(ask).bytes == cases[i].used);
    }
    umbel_plan large = {.kind = UMBEL_KIND_BLOCKED, .capacity = 1234567, .fpr = 0.01};
    assert_true(solved(large).bytes % (64 * 32) == 0);
}

/* The bytes that `kind` needs for what `promise` can promise; infinite if one of them cannot. */
static double needs(umbel_kind kind, umbel_kind promise, umbel_plan ask) {
    ask.kind = promise;
    if (umbel_plan_solve(&ask, NULL)) return HUGE_VAL;
    umbel_plan plan = {.kind = kind, .capacity = ask.capacity, .fpr = ask.fpr};
    return umbel_plan_solve(&plan, NULL) ? HUGE_VAL : (double)plan.bytes;
}

static bool is_quarter_smaller(umbel_kind than, umbel_plan ask) {
    double bytes = needs(than, than, ask);
    return bytes == HUGE_VAL || needs(UMBEL_KIND_CLASSIC, than, ask) <= 0.75 * bytes;
}

/* What docs/planning.md says of AUTO. */
static umbel_kind expected(umbel_plan ask) {
    umbel_plan line = ask;
    line.kind = UMBEL_KIND_LINE;
    bool possible = !umbel_plan_solve(&line, NULL);
    double saves = needs(UMBEL_KIND_BLOCKED, UMBEL_KIND_BLOCKED, ask) /
                   needs(UMBEL_KIND_LINE, UMBEL_KIND_BLOCKED, ask);
    double least = line.bytes <= MIB ? 1.12 : line.bytes <= 32 * MIB ? 1.06 : 1.02;
    umbel_plan blocked = ask;
    blocked.kind = UMBEL_KIND_BLOCKED;
    if (!umbel_plan_solve(&blocked, NULL) && !(possible && saves >= least) &&
        !is_quarter_smaller(UMBEL_KIND_BLOCKED, ask)) {
        return UMBEL_KIND_BLOCKED;
    }
    if (possible && !is_quarter_smaller(UMBEL_KIND_LINE, ask)) return UMBEL_KIND_LINE;
    return UMBEL_KIND_CLASSIC;
}

/* Whichever two are given, in the cache and beyond. */
static void auto_rule(void **state) {
    (void)state;
    int chosen[UMBEL_KIND_LINE + 1] = {0};
    for (uint64_t keys = 10000; keys <= 100000000; keys *= 100) {
        for (double fpr = 0.9; fpr > 1e-9; fpr /= 1.6) {
            double bytes = -log2(fpr) * (double)keys / 8 * 1.44 + 64;
            const umbel_plan asks[] = {
                {.capacity = keys, .fpr = fpr},
                {.capacity = keys, .bytes = (uint64_t)bytes},
                {.fpr = fpr, .bytes = (uint64_t)bytes},
                {.capacity = keys / 2, .fpr = fpr, .bytes = (uint64_t)bytes * 2},
            };
            for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
                umbel_plan plan = solved(asks[i]);
                assert_int_equal(plan.kind, expected(asks[i]));
                assert_true(plan.why[0] != 0);
                chosen[plan.kind]++;
            }
        }
    }
    assert_true(chosen[UMBEL_KIND_BLOCKED] > 30);
    assert_true(chosen[UMBEL_KIND_CLASSIC] > 100);
    assert_true(chosen[UMBEL_KIND_LINE] > 100);
}

static void auto_examples(void **state) {
    (void)state;
    static const struct {
        umbel_plan ask;
        umbel_kind kind;
    } cases[] = {
        {{.capacity = 1000000, .fpr = 0.01}, UMBEL_KIND_BLOCKED},
        {{.capacity = 100000000, .fpr = 0.01}, UMBEL_KIND_LINE},
        {{.capacity = 10000, .fpr = 0.001}, UMBEL_KIND_BLOCKED},
        {{.capacity = 1000000, .fpr = 0.001}, UMBEL_KIND_LINE},
        {{.capacity = 10000, .fpr = 1e-4}, UMBEL_KIND_LINE},
        {{.capacity = 1000000000, .fpr = 1e-4}, UMBEL_KIND_LINE},
        {{.capacity = 1000000, .fpr = 1e-6}, UMBEL_KIND_CLASSIC},
        {{.capacity = 1000000, .fpr = 0.01, .bytes = 2 * MIB}, UMBEL_KIND_BLOCKED},
        {{.capacity = 10000000, .fpr = 0.01, .bytes = GIB}, UMBEL_KIND_LINE},
        /* What only one of them can do is done by that one. */
        {{.capacity = 3, .bytes = 32}, UMBEL_KIND_BLOCKED},
        {{.capacity = 1000, .fpr = 0.01, .hashes = 5}, UMBEL_KIND_CLASSIC},
        {{.capacity = 1000, .fpr = 0.01, .hashes = 16}, UMBEL_KIND_LINE},
        {{.fpr = 0.01, .bytes = 255 * GIB}, UMBEL_KIND_LINE},
        {{.fpr = 0.01, .bytes = 256 * GIB}, UMBEL_KIND_CLASSIC},
        {{.capacity = 1000000, .fpr = 0.01, .bytes = 1270000}, UMBEL_KIND_LINE},
        {{.capacity = 1000000, .fpr = 0.01, .bytes = 1250000}, UMBEL_KIND_CLASSIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(solved(cases[i].ask).kind, cases[i].kind);
    }
    /* Concurrent writers have no classic filter. */
    umbel_params rare = {.capacity = 1000000, .fpr = 1e-6, .concurrent = true};
    umbel_filter *f = NULL;
    assert_ok(umbel_create(&rare, NULL, &f, NULL));
    assert_int_equal(described(f).kind, UMBEL_KIND_LINE);
    umbel_free(f);
    /* A number of lanes that does not exist. */
    umbel_plan six = {.kind = UMBEL_KIND_LINE, .capacity = 1000, .fpr = 0.01, .hashes = 6};
    assert_int_equal(umbel_plan_solve(&six, NULL), UMBEL_EINVAL);
    assert_int_equal(six.verdict, UMBEL_PLAN_BAD_HASHES);
}

/* ---- impossible plans ----------------------------------------------------------------------- */

/* The public function says the same in its diagnostic; before a colon stands a field, nothing else. */
static void explained(umbel_plan plan, const char *why) {
    static const char *const fields[] = {"", "kind", "fpr", "hashes"};
    umbel_diag diag = {0};
    assert_int_equal(umbel_plan_solve(&plan, &diag), UMBEL_EINVAL);
    assert_string_equal(plan.why, why);
    assert_string_equal(sentence(&diag), why);
    size_t known = 0;
    while (known < 4 && strcmp(diag.field, fields[known]) != 0) known++;
    if (known == 4) fail_msg("'%s' is not a field of a plan", diag.field);
}

static umbel_plan refused(umbel_plan plan, umbel_verdict verdict) {
    umbel_plan asked = plan;
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_EINVAL);
    assert_int_equal(plan.verdict, verdict);
    assert_true(plan.why != NULL && strlen(plan.why) > 10);
    assert_int_equal(plan.kind, asked.kind);
    assert_true(plan.capacity == asked.capacity && plan.bytes == asked.bytes);
    assert_memory_equal(&plan.fpr, &asked.fpr, sizeof plan.fpr);
    assert_int_equal(plan.hashes, asked.hashes);
    assert_true(plan.bits == 0);
    assert_true(umbel_plan_rate(&plan, 1) == 1.0);
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
    const double wrong[] = {1.0,      1.0 + DBL_EPSILON, 2.0,       100.0, -0.01,
                            -DBL_MIN, HUGE_VAL,          -HUGE_VAL, NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refused((umbel_plan){.fpr = wrong[i]}, UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.fpr = wrong[i], .capacity = 1000}, UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.fpr = wrong[i], .capacity = 1000, .bytes = 1000},
                UMBEL_PLAN_BAD_RATE);
        refused((umbel_plan){.kind = UMBEL_KIND_BLOCKED, .fpr = wrong[i], .bytes = 1000},
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
    assert_int_equal(umbel_plan_solve(&best, NULL), UMBEL_OK);
    for (plan.hashes = 1; plan.hashes <= 64; plan.hashes++) {
        umbel_plan with = plan;
        assert_int_equal(umbel_plan_solve(&with, NULL), UMBEL_OK);
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
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);
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
    assert_int_equal(umbel_plan_solve(&plan, NULL), UMBEL_OK);

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
    assert_int_equal(umbel_plan_solve(&ample, NULL), UMBEL_OK);
    assert_true(ample.fpr >= 0x1p-64 && ample.fpr < 0x1p-63);
    umbel_plan min = {.capacity = 1000, .fpr = 1e-19};
    assert_int_equal(umbel_plan_solve(&min, NULL), UMBEL_OK);
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
    assert_int_equal(umbel_plan_solve(&edge, NULL), UMBEL_OK);
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
    static const double extreme[] = {
        0.0,   DBL_TRUE_MIN,          DBL_MIN, 1e-100, 1e-38, 1e-19, 1e-9, 0.01, 0.5,
        0.999, 1.0 - DBL_EPSILON / 2, 1.0};
    enum { COUNTS = sizeof counts / sizeof *counts, RATES = sizeof extreme / sizeof *extreme };
    for (size_t i = 0; i < (size_t)COUNTS * COUNTS * RATES * 3 * 2; i++) {
        umbel_plan plan = {.kind = (umbel_kind)(i % 3), .hashes = i / 3 % 2 ? 8 : 0};
        plan.capacity = counts[i / 6 % COUNTS];
        plan.bytes = counts[i / 6 / COUNTS % COUNTS];
        plan.fpr = extreme[i / 6 / COUNTS / COUNTS];
        umbel_plan asked = plan;
        if (umbel_plan_solve(&plan, NULL)) {
            refused(asked, plan.verdict);
            continue;
        }
        assert_true(asked.capacity == 0 || plan.capacity == asked.capacity);
        assert_true(asked.bytes == 0 || plan.bytes <= asked.bytes);
        assert_true(asked.fpr == 0.0 || plan.fpr == asked.fpr);
        assert_true(plan.capacity != 0);
        assert_true(plan.bytes != 0);
        assert_int_equal(plan.bits, plan.bytes * 8);
        assert_true(plan.rate > 0.0);
        assert_true(plan.rate <= plan.fpr);
        assert_true(plan.fpr < 1.0);
        assert_true(plan.bound <= plan.rate);
    }
}

static void *solve_here(void *plan) {
    umbel_plan *p = plan;
    umbel_plan_solve(p, NULL);
    return NULL;
}

/* In any order, a plan is the one that a thread gets which has never planned. */
static void plans_are_remembered(void **state) {
    (void)state;
    static const uint64_t capacities[] = {0, 1, 100, 1000, 12345678};
    static const double promises[] = {0.0, 1e-4, 0.01, 2.0};
    static const uint64_t sizes[] = {0, 100, 1000, 1 << 20};
    enum { REQUESTS = 5 * 4 * 4 * 4 };
    umbel_plan asked[REQUESTS], fresh[REQUESTS];
    memset(asked, 0, sizeof asked);
    for (size_t i = 0; i < REQUESTS; i++) {
        asked[i].kind = (umbel_kind)(i % 4);
        asked[i].capacity = capacities[i / 4 % 5];
        asked[i].fpr = promises[i / 20 % 4];
        asked[i].bytes = sizes[i / 80];
        fresh[i] = asked[i];
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, solve_here, &fresh[i]), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    for (size_t turn = 0; turn < 4 * REQUESTS; turn++) {
        size_t i = turn % 2 ? turn / 2 % REQUESTS : umbel_mix(turn) % REQUESTS;
        for (int again = 0; again < 2; again++) {
            umbel_plan plan = asked[i];
            umbel_err err = umbel_plan_solve(&plan, NULL);
            assert_int_equal(err == UMBEL_OK, fresh[i].verdict == UMBEL_PLAN_OK);
            assert_memory_equal(&plan, &fresh[i], sizeof plan);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_billion_urls),
        cmocka_unit_test(textbook_formulas),
        cmocka_unit_test(edges_and_round_trips),
        cmocka_unit_test(promise_and_mean),
        cmocka_unit_test(more_costs_more),
        cmocka_unit_test(rounding),
        cmocka_unit_test(auto_rule),
        cmocka_unit_test(auto_examples),
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
        cmocka_unit_test(plans_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
