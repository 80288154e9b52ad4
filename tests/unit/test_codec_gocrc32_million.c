/* SPDX-License-Identifier: MIT
 * labels: slow
 *
 * A million keys added to the CRC-32 filter for 10^9 keys, 1.2 GB of it: all are found, and none of
 * the next million is.  The Go code prints "true" and "0".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign.h"
#include "umbel_foreign.h"

enum { MILLION = 1000000, BATCH = 10000 };

/* Hits among the numbers from..from+MILLION-1, or, when adding, keys added. */
static size_t work(umbel_filter *f, int from, bool adding) {
    static char text[BATCH][16];
    static umbel_key keys[BATCH];
    static uint8_t hit[BATCH];
    size_t hits = 0;
    for (int first = from; first < from + MILLION; first += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            int len = snprintf(text[i], sizeof text[i], "%d", first + i);
            keys[i] = (umbel_key){text[i], (size_t)len};
        }
        if (adding) {
            assert_int_equal(umbel_add_many(f, keys, BATCH, NULL, NULL, NULL), UMBEL_OK);
            hits += BATCH;
        } else {
            umbel_contains_many(f, keys, BATCH, hit);
            for (int i = 0; i < BATCH; i++) hits += hit[i];
        }
    }
    return hits;
}

static void a_million_puts(void **state) {
    (void)state;
    umbel_foreign params = {.format = UMBEL_FMT_GOCRC32, .capacity = 1000000000, .fpr = 0.01};
    umbel_filter *f = NULL;
    if (umbel_create_foreign(&params, NULL, &f, NULL) == UMBEL_ENOMEM) skip();
    assert_non_null(f);
    char text[128];
    assert_int_equal(umbel_text(f, text, sizeof text, NULL), UMBEL_OK);
    assert_string_equal(text, "bitsSize: 9585058377, hashFuncSize: 6");
    assert_int_equal(work(f, 1, true), MILLION);
    assert_int_equal(work(f, 1, false), MILLION);
    assert_int_equal(work(f, MILLION + 1, false), 0);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_puts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
