/* SPDX-License-Identifier: MIT
 *
 * test_exact_large.c - an exact filter of 1.4 million members among 100 million known keys
 * labels: long
 *
 * UMBEL_KNOWN in the environment gives another number of keys.  At 10^8 it takes 8 bytes of memory
 * for each of them.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "any_filter.h"
#include "kind_check.h"

enum { BATCH = 1000 };

typedef umbel_err taker(umbel_builder *b, const umbel_key *keys, size_t n, umbel_diag *diag);

static void tell(umbel_builder *b, taker *take, uint64_t stream, uint64_t n) {
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

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static umbel_filter *built(umbel_params params, uint64_t members, uint64_t others, double *took) {
    umbel_builder *b = NULL;
    umbel_filter *f = NULL;
    double before = seconds();
    assert_int_equal(umbel_builder_new(&params, NULL, &b, NULL), UMBEL_OK);
    if (others) tell(b, umbel_builder_never, 2, others);
    tell(b, umbel_builder_add, 1, members);
    assert_int_equal(umbel_builder_finish(b, &f, NULL), UMBEL_OK);
    umbel_builder_free(b);
    *took = seconds() - before;
    return f;
}

/* Right about everything and close to the bound; how long it takes is printed, not judged. */
static void all_known_keys(void **state) {
    (void)state;
    const char *given = getenv("UMBEL_KNOWN");
    uint64_t known = given ? strtoull(given, NULL, 10) : 100000000, members = known / 70;
    uint64_t others = known - members;
    double took, tight_took;
    umbel_filter *f = built((umbel_params){.kind = UMBEL_KIND_EXACT}, members, others, &took);
    assert_int_equal(check_found(f, 1, 0, members), members);
    assert_int_equal(check_found(f, 2, 0, others), 0);
    double r = (double)members, n = (double)others;
    double least = (lgamma(r + n + 1) - lgamma(r + 1) - lgamma(n + 1)) / log(2);
    double ratio = (double)described(f).bits / least;
    umbel_free(f);
    f = built((umbel_params){.kind = UMBEL_KIND_TIGHT, .fpr = 0.01}, known, 0, &tight_took);
    umbel_free(f);
    printf(
        "# %llu known keys: %.4f times the least, built in %.1f s, as a tight filter in %.1f s\n",
        (unsigned long long)known, ratio, took, tight_took);
    assert_true(ratio <= 1.09);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_known_keys),
    };
    check_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
