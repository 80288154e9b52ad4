/* SPDX-License-Identifier: MIT
 *
 * The format redisbloom: bad headers, pieces, files and parameters; links of old releases
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "any_filter.h"
#include "foreign.h"
#include "format/redisbloom/redisbloom_dump.h"
#include "umbel_foreign.h"

enum { FRAME = 16, FIXED = 20, LINK = 53, MIB = 1024 * 1024 };

static const umbel_foreign like = {.format = UMBEL_FMT_REDISBLOOM};
static const umbeli_settings plenty = {.threads = 1};

static umbel_foreign params_of(uint64_t keys, double fpr, uint32_t expansion) {
    return (umbel_foreign){
        .format = UMBEL_FMT_REDISBLOOM, .capacity = keys, .fpr = fpr, .expansion = expansion};
}

static const char *key_of(int i) {
    static char text[16];
    snprintf(text, sizeof text, "key%d", i);
    return text;
}

static umbel_filter *filled(umbel_foreign params, int keys) {
    umbel_filter *f = foreign_create(params);
    for (int i = 0; i < keys; i++) foreign_add(f, key_of(i));
    return f;
}

static uint8_t *header_of(const umbel_filter *f, size_t *len) {
    *len = (size_t)umbeli_redisbloom_header_size(f);
    umbeli_span span = {.bytes = malloc(*len), .cap = *len};
    umbeli_writer w = {.sink = umbeli_span_sink, .ctx = &span};
    assert_non_null(span.bytes);
    umbeli_redisbloom_put_header(f, &w);
    assert_int_equal(span.used, *len);
    return span.bytes;
}

static void odd_pieces_are_refused(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(100, 0.01, 0), 250);
    const umbeli_chain *c = umbeli_chain_of(f);
    assert_int_equal(c->count, 2);
    uint8_t bytes[1024] = {0};
    size_t first = (size_t)c->layers[0].bytes, all = (size_t)umbeli_filter_bytes(f), len;
    const struct {
        int64_t iterator;
        size_t len;
        const char *what;
    } cases[] = {
        {0, 0, "no link"},
        {-1, 8, "no link"},
        {INT64_MIN, 8, "no link"},
        {8, 8, "no link"}, /* before the start */
        {(int64_t)all + 9, 8, "no link"},
        {INT64_MAX, 8, "no link"},
        {(int64_t)first + 2, first + 1, "Too big"}, /* across two links */
        {(int64_t)all + 2, all - first + 1, "Too big"},
        {(int64_t)all + 2, 2, "Too big"},
    };
    umbel_diag diag;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(
            umbeli_redisbloom_load_chunk(f, cases[i].iterator, bytes, cases[i].len, &diag),
            UMBEL_EINVAL);
        assert_non_null(strstr(sentence(&diag), cases[i].what));
    }
    const int64_t none[] = {0, -1, INT64_MIN, INT64_MAX, (int64_t)all + 1};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        int64_t next = 9;
        const uint8_t *piece;
        umbeli_redisbloom_chunk(f, none[i], &next, &piece, &len);
        assert_int_equal(next, 0);
        assert_int_equal(len, 0);
    }
    umbel_free(f);
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 50);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    for (size_t cut = 0; cut < len; cut++) {
        uint64_t at = cut < 8 ? 0 : cut < FRAME ? cut : cut < FRAME + FIXED + 2 * LINK ? 8 : cut;
        foreign_refused(&like, file, cut, UMBEL_ECORRUPT, at);
    }
    uint8_t *longer = calloc(len + 1, 1);
    assert_non_null(longer);
    memcpy(longer, file, len);
    foreign_refused(&like, longer, len + 1, UMBEL_ECORRUPT, len);
    /* A truncated header, with the length to match. */
    for (uint64_t header = 0; header < FIXED + 2 * LINK; header++) {
        foreign_refused_with(&like, file, len, 8, 8, header, UMBEL_ECORRUPT, FRAME + header);
    }
    free(longer);
    free(file);
    umbel_free(f);
}

/* A field of the header set to a value, in a file and through LOADCHUNK, which allocates what the
 * header says. */
static void field_refused(const uint8_t *file, size_t len, size_t at, size_t width, uint64_t value,
                          umbel_err want, size_t told) {
    foreign_refused_with(&like, file, len, FRAME + at, width, value, want, FRAME + told);
    size_t header_len = FIXED + 2 * LINK;
    uint8_t *header = malloc(header_len);
    assert_non_null(header);
    memcpy(header, file + FRAME, header_len);
    for (size_t b = 0; b < width; b++) header[at + b] = (uint8_t)(value >> 8 * b);
    umbel_filter *loaded = NULL;
    assert_int_equal(umbeli_redisbloom_load_header(header, header_len, &plenty, &loaded, NULL),
                     want);
    assert_null(loaded);
    free(header);
}

static void every_field_is_checked(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 50);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    const uint64_t one = UINT64_C(0x3ff0000000000000), nan = UINT64_C(0x7ff8000000000000);
    const uint64_t huge = UINT64_C(0x7fe0000000000000), minus = UINT64_C(0xbff0000000000000);
    const struct {
        size_t at, width;
        uint64_t value;
        umbel_err want;
        size_t told;
    } cases[] = {
        {0, 8, 0, UMBEL_ECORRUPT, 0},
        {0, 8, 1, UMBEL_ECORRUPT, 0},
        {0, 8, UINT64_MAX, UMBEL_ECORRUPT, 0},
        {8, 4, 0, UMBEL_ECORRUPT, 8},
        {8, 4, 1, UMBEL_ECORRUPT, 8},
        {8, 4, 3, UMBEL_ECORRUPT, FIXED + 2 * LINK},
        {8, 4, UINT32_MAX, UMBEL_ECORRUPT, FIXED + 2 * LINK},
        {12, 4, 0, UMBEL_EVERSION, 12},
        {12, 4, 1, UMBEL_EVERSION, 12},
        {12, 4, 7, UMBEL_EVERSION, 12},
        {12, 4, 16, UMBEL_EVERSION, 12},
        {12, 4, UINT32_MAX, UMBEL_EVERSION, 12},
        {FIXED, 8, 0, UMBEL_ECORRUPT, FIXED},
        {FIXED, 8, 1, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED, 8, UINT64_C(1) << 61, UMBEL_ECORRUPT, FIXED},
        {FIXED, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED},
        {FIXED + 8, 8, 0, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED + 8, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED + 8},
        {FIXED + 16, 8, 0, UMBEL_ECORRUPT, 0},
        {FIXED + 16, 8, UINT64_MAX, UMBEL_ECORRUPT, FIXED + LINK + 16},
        {FIXED + 24, 8, 0, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, one, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, nan, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 24, 8, minus, UMBEL_ECORRUPT, FIXED + 24},
        {FIXED + 32, 8, 0, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 32, 8, one, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 32, 8, nan, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 32, 8, huge, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 32, 8, minus, UMBEL_ECORRUPT, FIXED + 32},
        {FIXED + 40, 4, 0, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 40, 4, 1, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 40, 4, UINT32_MAX, UMBEL_ECORRUPT, FIXED + 40},
        {FIXED + 52, 1, 9, UMBEL_ECORRUPT, FIXED + 52}, /* 2^9 bits of 256 */
        {FIXED + 52, 1, 64, UMBEL_ECORRUPT, FIXED + 52},
        {FIXED + 52, 1, 255, UMBEL_ECORRUPT, FIXED + 52},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        field_refused(file, len, cases[i].at, cases[i].width, cases[i].value, cases[i].want,
                      cases[i].told);
    }
    foreign_refused_with(&like, file, len, 0, 8, 0, UMBEL_ECORRUPT, 0);
    foreign_refused_with(&like, file, len, 8, 8, UINT64_MAX, UMBEL_ECORRUPT, 8);
    foreign_refused_with(&like, file, len, 8, 8, len - FRAME + 1, UMBEL_ECORRUPT, 8);
    free(file);
    umbel_free(f);
}

static void a_large_claim_meets_the_limit(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(1000000, 0.01, 0)), *loaded = NULL;
    size_t len;
    uint8_t *header = header_of(f, &len);
    umbeli_settings little = {.threads = 1, .max_bytes = MIB};
    assert_int_equal(umbeli_redisbloom_load_header(header, len, &little, &loaded, NULL),
                     UMBEL_ELIMIT);
    assert_null(loaded);
    free(header);
    umbel_free(f);
}

/* Links of old releases use 2^n2 of their bits. */
static void powers_of_two_are_read(void **state) {
    (void)state;
    umbel_filter *f = filled(params_of(20, 0.01, 0), 20), *old = NULL;
    assert_int_equal(umbeli_chain_of(f)->layers[0].nbits, 256);
    size_t len;
    uint8_t *file = foreign_bytes(f, &len);
    file[FRAME + 12] = UMBELI_REDISBLOOM_FORCE64;
    file[FRAME + FIXED + 52] = 8; /* all 256: the same places */
    foreign_same_again(&like, file, len);
    old = foreign_decode(&like, file, len);
    for (int i = 0; i < 20; i++) assert_true(foreign_contains(old, key_of(i)));
    int next = 20;
    while (umbel_add(old, key_of(next), strlen(key_of(next)), NULL, NULL) == UMBEL_OK) next++;
    assert_int_equal(umbel_add(old, key_of(next), strlen(key_of(next)), NULL, NULL), UMBEL_ENOTSUP);
    umbel_free(old);
    file[FRAME + FIXED + 52] = 7; /* half of them: keys are placed elsewhere */
    memset(file + FRAME + FIXED + LINK, 0xff, 16);
    memset(file + FRAME + FIXED + LINK + 16, 0, 16);
    old = foreign_decode(&like, file, len);
    assert_true(foreign_contains(old, "anything"));
    umbel_free(old);
    free(file);
    umbel_free(f);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    foreign_not_made(params_of(0, 0.1, 0), "capacity");
    foreign_not_made(params_of(10, 0, 0), "fpr");
    umbel_free(foreign_create(params_of(10, 0.1, 32768)));
    foreign_not_made(params_of(10, 0.1, 32769), "expansion");
    foreign_not_made(params_of(UINT64_MAX, 0.01, 0), "capacity");
    foreign_not_made(params_of(10, 5e-324, 0), "fpr");
    umbel_foreign params = params_of(10, 0.1, 2);
    params.nonscaling = true;
    foreign_not_made(params, "expansion");
    params = params_of(10, 0.1, 2);
    params.seed = 1;
    foreign_not_made(params, "seed");
    umbel_plan plan;
    params = params_of(1000000, 0.01, 0);
    assert_int_equal(umbel_plan_foreign(&params, &plan, NULL), UMBEL_OK);
    assert_int_equal(plan.hashes, 8);
    assert_true(plan.rate < 0.0051);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_pieces_are_refused), cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_field_is_checked), cmocka_unit_test(a_large_claim_meets_the_limit),
        cmocka_unit_test(powers_of_two_are_read), cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
