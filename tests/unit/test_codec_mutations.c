/* SPDX-License-Identifier: MIT
 *
 * Random mutations: whatever a decoder accepts can be used, and is encoded back to the same bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "any_filter.h"
#include "cases.h"
#include "every_format.h"
#include "foreign.h"
#include "umbel_foreign.h"

enum { ROUNDS = 2000, MAX_GROWTH = 64 };

static uint64_t seed;

/* What a program does with a filter that it was given. */
static void use(umbel_filter *f, const umbel_foreign *like, const uint8_t *bytes, size_t len) {
    uint64_t size = umbel_encoded_size(f, like->format);
    /* RocksDB has several ways to write a filter without keys, Parquet to write a header, and
     * DataSketches leaves the number of set bits open. */
    bool one_way = like->format != UMBEL_FMT_PARQUET && like->format != UMBEL_FMT_DATASKETCHES &&
                   (like->format != UMBEL_FMT_ROCKSDB || len > 5);
    if (size && one_way) { /* a filter without bits has no bytes in gocrc32 */
        uint8_t *again = malloc((size_t)size);
        assert_non_null(again);
        assert_int_equal(size, len);
        assert_int_equal(umbel_encode(f, like->format, again, (size_t)size, NULL), UMBEL_OK);
        assert_memory_equal(again, bytes, len);
        free(again);
    }
    umbel_measurement now = measured(f);
    assert_true(now.rate >= 0 && now.rate <= 1);
    (void)umbel_contains(f, "key1", 4);
    umbel_key keys[] = {{"key2", 4}, {"key3", 4}, {"key4", 4}};
    uint8_t hit[3];
    umbel_contains_many(f, keys, 3, hit);
    if (umbel_add_many(f, keys, 3, NULL, NULL, NULL) == UMBEL_OK) {
        umbel_contains_many(f, keys, 3, hit);
        assert_memory_equal(hit, ((uint8_t[]){1, 1, 1}), 3);
    }
}

/* Flips bits, writes extreme values, truncates, appends. */
static size_t mutate(uint8_t *bytes, size_t len, uint64_t *random) {
    static const uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};
    for (uint64_t n = 1 + foreign_random(random) % 4; n > 0 && len > 0; n--) {
        /* Mostly where headers and trailers are. */
        uint64_t where = foreign_random(random), span = where & 1 ? len : len < 100 ? len : 100;
        size_t at = (size_t)(foreign_random(random) % span);
        if ((where & 6) == 6) at = len - 1 - at;
        switch (foreign_random(random) % 4) {
        case 0: bytes[at] ^= (uint8_t)(1 << where % 8); break;
        case 1: bytes[at] = extremes[foreign_random(random) % sizeof extremes]; break;
        case 2: len -= foreign_random(random) % 8 ? 0 : at % len; break;
        default:
            if (foreign_random(random) % 8 == 0) bytes[len++] = (uint8_t)where;
        }
    }
    return len;
}

static void mutations_of(const umbel_foreign *like, const uint8_t *valid, size_t valid_len) {
    uint64_t random = seed;
    size_t taken = 0;
    uint8_t *bytes = malloc(valid_len + MAX_GROWTH);
    assert_non_null(bytes);
    for (size_t round = 0; round < ROUNDS; round++) {
        memcpy(bytes, valid, valid_len);
        size_t len = mutate(bytes, valid_len, &random);
        uint8_t *exact = malloc(len ? len : 1);
        assert_non_null(exact);
        memcpy(exact, bytes, len);
        foreign_memory m;
        foreign_memory_start(&m, 4 * len + 200000, 0);
        umbel_filter *f = NULL;
        umbel_diag diag = {0};
        umbel_err e = umbel_decode(exact, len, UMBEL_LOAD, like, &m.opts, &f, &diag);
        if (e) {
            assert_null(f);
            assert_non_null(diag.what);
            assert_int_not_equal(e, UMBEL_ENOMEM); /* requests no more than the input justifies */
        } else {
            taken++;
            use(f, like, exact, len);
        }
        umbel_free(f);
        assert_int_equal(m.blocks, 0);
        f = NULL;
        if (umbel_decode(exact, len, UMBEL_MAP, like, NULL, &f, NULL) == UMBEL_OK) {
            (void)umbel_contains(f, "key1", 4);
            umbel_free(f);
        }
        free(exact);
    }
    assert_true(taken > 0 && taken < ROUNDS);
    free(bytes);
}

static void one_form(const format_form *form) {
    umbel_filter *f = foreign_create(form->made);
    for (int i = 0; i < 60; i++) {
        char text[16];
        snprintf(text, sizeof text, "k%03d", i);
        assert_int_equal(umbel_add(f, text, 4, NULL, NULL), UMBEL_OK);
    }
    (void)umbel_set_data(f, "data", 4, NULL); /* where it can have some */
    size_t len;
    uint8_t *bytes = foreign_bytes(f, &len);
    printf("# %s\n", form->name);
    fflush(stdout);
    mutations_of(&form->made, bytes, len);
    free(bytes);
    umbel_free(f);
}

static void every_form(void **state) {
    (void)state;
    format_form forms[EVERY_FORMAT];
    size_t count = every_format(forms, 60, 0.01);
    for (size_t i = 0; i < count; i++) one_form(&forms[i]);
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("# seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
