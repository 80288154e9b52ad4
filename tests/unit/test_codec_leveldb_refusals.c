/* SPDX-License-Identifier: MIT
 *
 * The format leveldb: damage, nonsense, and how a view answers where decoding refuses
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbel_foreign like = {.format = UMBEL_FMT_LEVELDB};

/* LevelDB takes 0 bits a key; here that is said in bytes. */
static umbel_foreign params_of(uint64_t keys, uint32_t bits_per_key) {
    if (bits_per_key == 0) {
        return (umbel_foreign){.format = UMBEL_FMT_LEVELDB, .bytes = 8, .hashes = 1};
    }
    return (umbel_foreign){
        .format = UMBEL_FMT_LEVELDB, .capacity = keys, .bits_per_key = bits_per_key};
}

static void nonsense_is_refused(void **state) {
    (void)state;
    const umbel_format l = UMBEL_FMT_LEVELDB;
    foreign_not_made((umbel_foreign){.format = l}, "capacity");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10}, "bits_per_key");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10, .bits_per_key = 9, .fpr = .1},
                     "fpr");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 10, .bits_per_key = 9, .seed = 1},
                     "seed");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .bits_per_key = 9, .hashes = 4},
                     "hashes");
    foreign_not_made((umbel_foreign){.format = l, .bytes = 9, .hashes = 31}, "hashes");
    foreign_not_made((umbel_foreign){.format = l, .bytes = 9}, "hashes");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 99, .bits_per_key = 9, .bytes = 8},
                     "bytes");
    foreign_not_made((umbel_foreign){.format = l, .capacity = UINT64_MAX, .bits_per_key = 9},
                     "2^63");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 1000000000, .fpr = 1e-9}, "32-bit");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = 1.5}, "fpr");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .nonscaling = 1},
                     "nonscaling");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .expansion = 2},
                     "expansion");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .variant = 1},
                     "variant");
    foreign_not_made((umbel_foreign){.format = l, .capacity = 9, .fpr = .1, .reserved = {0, 1}},
                     "reserved");
}

static void odd_filters_answer_as_leveldb_does(void **state) {
    (void)state;
    golden_table t = golden_table_open("leveldb/odd.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[0], &len);
        umbel_filter *f = NULL;
        assert_int_equal(
            umbel_view(bytes, len, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f, NULL),
            UMBEL_OK);
        uint8_t hit[2];
        umbel_contains_many(f, (umbel_key[]){{"hello", 5}, {NULL, 0}}, 2, hit);
        assert_int_equal(foreign_contains(f, "hello"), t.column[1][0] == '1');
        assert_int_equal(hit[0], t.column[1][0] == '1');
        umbel_info info;
        umbel_describe(f, &info);
        assert_true(info.frozen);
        umbel_free(f);
        uint8_t k = len ? bytes[len - 1] : 0;
        foreign_refused(&like, bytes, len, k > 30 ? UMBEL_EVERSION : UMBEL_ECORRUPT,
                        len ? len - 1 : 0);
        free(bytes);
    }
    assert_int_equal(t.rows, 4);
    golden_table_close(&t);
}

static void every_k(void **state) {
    (void)state;
    for (unsigned k = 0; k < 256; k++) {
        uint8_t bytes[9] = {0};
        bytes[8] = (uint8_t)k;
        umbel_filter *f = NULL;
        assert_int_equal(
            umbel_view(bytes, 9, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f, NULL),
            UMBEL_OK);
        assert_int_equal(foreign_contains(f, "x"), k == 0 || k > 30);
        /* What no writer produces is not written here either. */
        assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_LEVELDB), k == 0 || k > 30 ? 0 : 9);
        umbel_free(f);
        if (k == 0 || k > 30) {
            umbel_err want = k ? UMBEL_EVERSION : UMBEL_ECORRUPT;
            foreign_refused(&like, bytes, 9, want, 8);
            assert_int_equal(
                umbel_verify(bytes, 9, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL), want);
        } else {
            foreign_same_again(&like, bytes, 9);
            assert_int_equal(
                umbel_verify(bytes, 9, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL),
                UMBEL_OK);
        }
    }
}

static void too_short_is_refused(void **state) {
    (void)state;
    const uint8_t bytes[1] = {6};
    foreign_refused(&like, bytes, 0, UMBEL_ECORRUPT, 0);
    foreign_refused(&like, bytes, 1, UMBEL_ECORRUPT, 1);
    umbel_filter *f = NULL;
    assert_int_equal(
        umbel_view(bytes, 1, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, NULL, &f, NULL),
        UMBEL_OK);
    assert_false(foreign_contains(f, "hello"));
    umbel_free(f);
}

static void the_limit_is_kept(void **state) {
    (void)state;
    uint8_t bytes[101] = {[100] = 6};
    umbel_opts opts = {.max_bytes = 99};
    umbel_filter *f = NULL;
    assert_int_equal(
        umbel_decode(bytes, 101, &(umbel_foreign){.format = UMBEL_FMT_LEVELDB}, &opts, &f, NULL),
        UMBEL_ELIMIT);
    umbel_foreign params = params_of(1000, 10);
    assert_int_equal(umbel_create_foreign(&params, &opts, &f, NULL), UMBEL_ELIMIT);
    assert_null(f);
}

static void other_formats_are_told_apart(void **state) {
    (void)state;
    umbel_filter *f = foreign_create(params_of(10, 10)), *g = NULL;
    umbel_diag diag;
    uint8_t bytes[64];
    assert_int_equal(umbel_encode(f, UMBEL_FMT_NATIVE, bytes, sizeof bytes, &diag),
                     UMBEL_EMISMATCH);
    assert_int_equal(umbel_encode(f, UMBEL_FMT_BADGER, bytes, sizeof bytes, &diag),
                     UMBEL_EMISMATCH);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_NATIVE), 0);
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_COREKV), 14); /* the same bits indeed */
    size_t len;
    uint8_t *own = foreign_bytes(f, &len);
    assert_int_equal(umbel_decode(own, len, NULL, NULL, &g, &diag), UMBEL_EUNKNOWN);
    char text[8];
    assert_int_equal(umbel_text(f, text, sizeof text, &diag), UMBEL_ENOTSUP);
    free(own);
    umbel_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(odd_filters_answer_as_leveldb_does),
        cmocka_unit_test(every_k),
        cmocka_unit_test(too_short_is_refused),
        cmocka_unit_test(the_limit_is_kept),
        cmocka_unit_test(other_formats_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
