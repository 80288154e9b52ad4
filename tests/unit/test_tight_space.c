/* SPDX-License-Identifier: MIT
 *
 * test_tight_space.c - bits per key and rates of tight filters that were built: docs/notes/tight.md
 * labels: long
 *
 * Twenty sets of keys for each number of them, all from seeds that were not used to choose the
 * constants of the layout.  Everything is counted but the header that all kinds have: payload, and
 * the kind's own parameters.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "any_filter.h"
#include "kind_check.h"
#include "native_file.h"

enum { SETS = 20, BATCH = 1000, FIRST_SET = 270000 };

static const double rates[] = {0.6, 0.5,  0.43, 0.4,   0.38, 0.34, 0.3,  0.25, 0.2,
                               0.1, 0.05, 0.01, 0.001, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9};

static umbel_filter *built(uint64_t stream, uint64_t n, double fpr) {
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = fpr, .seed = stream};
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
    for (uint64_t i = 0; i < n; i += BATCH) {
        uint64_t numbers[BATCH];
        umbel_key keys[BATCH];
        size_t some = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < some; j++) {
            numbers[j] = check_key(stream, i + j);
            keys[j] = (umbel_key){&numbers[j], 8};
        }
        assert_int_equal(umbel_builder_add(b, keys, some, NULL), UMBEL_OK);
    }
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_free(b);
    return f;
}

/* Payload and parameters, from the file's header. */
static double bits_of(const umbel_filter *f) {
    size_t len = (size_t)umbel_encoded_size(f, UMBEL_FMT_NATIVE);
    uint8_t *bytes = malloc(len);
    assert_non_null(bytes);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, len, NULL), UMBEL_OK);
    double bits = 8 * ((double)native_get(bytes, 104, 8) + (double)native_get(bytes, 116, 4));
    free(bytes);
    return bits;
}

/* Twenty filters: none loses a key, all are of one size, and together they keep the rate. */
static double measure(uint64_t n, double fpr) {
    double bits = 0, expected = 0, asked = 0, seen = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        umbel_filter *f = built(FIRST_SET + set, n, fpr);
        umbel_measurement now = measured(f);
        assert_int_equal(check_found(f, FIRST_SET + set, 0, n), n);
        double found = (double)check_found(f, 1, set * 200000, 200000);
        assert_true(found <= 200000 * fpr + 5 * sqrt(200000 * fpr) + 5);
        seen += found;
        asked += 200000;
        expected += 200000 * now.rate;
        assert_true(set == 0 || bits == bits_of(f));
        bits = bits_of(f);
        umbel_free(f);
    }
    assert_true(seen <= asked * fpr + 4 * sqrt(asked * fpr) + 4);
    assert_true(fabs(seen - expected) <= 5 * sqrt(expected) + 0.002 * expected + 5);
    return bits / (double)n;
}

/* What docs/notes/tight.md promises, as a multiple of the bound. */
static double at_most(uint64_t n, double fpr) {
    if (n < 10000) return fpr <= 0.05 ? 1.08 : fpr <= 0.25 ? 1.13 : 1.2;
    if (n < 100000) return fpr <= 0.05 ? 1.05 : fpr <= 0.25 ? 1.07 : fpr <= 0.5 ? 1.12 : 1.15;
    if (fpr == 0.01 && n >= 1000000) return 1.02;
    if (-log2(fpr) == floor(-log2(fpr))) return 1.01;
    return fpr <= 0.05 ? 1.03 : fpr <= 0.5 ? 1.07 : 1.11;
}

static void table(void **state) {
    (void)state;
    const uint64_t sizes[] = {1000, 10000, 100000, 1000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        printf("# %8llu keys:", (unsigned long long)sizes[i]);
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            double bits = measure(sizes[i], rates[j]);
            double ratio = bits / -log2(rates[j]);
            printf("  %g: %.3f bits, %.4f", rates[j], bits, ratio);
            assert_true(ratio <= at_most(sizes[i], rates[j]));
        }
        printf("\n");
        fflush(stdout);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
