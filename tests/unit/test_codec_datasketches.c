/* SPDX-License-Identifier: MIT
 *
 * test_codec_datasketches.c - DataSketches' filters: the bytes and answers of its C++, Java and Go
 * programs, and what is refused
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"

enum { NAME, CAPACITY, FPR, BYTES, HASHES, SEED, BITS_SET, KEYS, FROM, TO, COUNTED, ANSWERS };
enum { QUESTIONS = 2000, AT_BITS_SET = 24, HEADER = 32, EMPTY = 24 };

static const umbel_foreign datasketches = {.format = UMBEL_FMT_DATASKETCHES};

static uint8_t *file_of(const char *name, size_t *len) {
    char path[64];
    snprintf(path, sizeof path, "datasketches/%s.sk", name);
    return golden_file(path, len);
}

static uint64_t number_at(const uint8_t *bytes, size_t at) {
    uint64_t x = 0;
    for (int i = 7; i >= 0; i--) x = x << 8 | bytes[at + (size_t)i];
    return x;
}

static void set_number(uint8_t *bytes, size_t at, uint64_t x) {
    for (size_t i = 0; i < 8; i++) bytes[at + i] = (uint8_t)(x >> 8 * i);
}

/* The i-th key of a kind, see tests/golden/README.md. */
static umbel_key key_of(const char *kind, int i, char room[96]) {
    char text[96];
    size_t len;
    if (strcmp(kind, "string") == 0 || strcmp(kind, "far") == 0) {
        len = (size_t)snprintf(room, 96, "key%d", i);
        if (*kind == 'f') {
            len += (size_t)snprintf(room + len, 96 - len, "/%.*s\xc3\xa9", i % 60,
                                    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        }
        return (umbel_key){room, len};
    }
    umbel_type type = *kind == 'd' ? UMBEL_TYPE_DOUBLE : UMBEL_TYPE_INT64;
    snprintf(text, sizeof text, "%.17g", *kind == 'd' ? i * 0.25 : i * 7919.0);
    assert_ok(umbel_typed_key(type, text, strlen(text), room, 96, &len, NULL));
    return (umbel_key){room, len};
}

/* The file as umbel writes it: with the number of bits set, where DataSketches said -1. */
static uint64_t with_bits_set(uint8_t *bytes, size_t len, const umbel_filter *f) {
    uint64_t was = len > AT_BITS_SET ? number_at(bytes, AT_BITS_SET) : 0;
    if (len > AT_BITS_SET) set_number(bytes, AT_BITS_SET, measured(f).bits_set);
    return was;
}

static umbel_foreign params_of(char **column) {
    return (umbel_foreign){.format = UMBEL_FMT_DATASKETCHES,
                           .capacity = strtoull(column[CAPACITY], NULL, 10),
                           .fpr = strtod(column[FPR], NULL),
                           .bytes = strtoull(column[BYTES], NULL, 10),
                           .hashes =
                               strcmp(column[BYTES], "0") ? (uint32_t)atoi(column[HASHES]) : 0,
                           .seed = strtoull(column[SEED], NULL, 10)};
}

static void files_are_those_of_cpp(void **state) {
    (void)state;
    golden_table t = golden_table_open("datasketches/filters.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        char room[96];
        uint8_t *bytes = file_of(t.column[NAME], &len);
        umbel_filter *f = foreign_create(params_of(t.column)), *known = NULL;
        assert_int_equal(described(f).hashes, atoi(t.column[HASHES]));
        for (int i = atoi(t.column[FROM]); i < atoi(t.column[TO]); i++) {
            umbel_key key = key_of(t.column[KEYS], i, room);
            assert_ok(umbel_add(f, key.data, key.len, NULL, NULL));
        }
        assert_int_equal(measured(f).bits_set, strtoull(t.column[BITS_SET], NULL, 10));
        uint64_t was = with_bits_set(bytes, len, f);
        bool dirty = len > EMPTY && strcmp(t.column[COUNTED], "0") == 0;
        assert_true(was == (dirty ? UINT64_MAX : measured(f).bits_set));
        assert_ok(
            umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &known, NULL)); /* it is recognised */
        assert_true(umbel_equal(f, known));
        foreign_is(&datasketches, f, bytes, len);
        foreign_needs_every_byte(&datasketches, bytes, len);
        umbel_free(known);
        umbel_free(f);
        free(bytes);
    }
    assert_int_equal(t.rows, 10);
    golden_table_close(&t);
}

/* What C++ found of 2,000 absent keys. */
static void answers_are_those_of_cpp(void **state) {
    (void)state;
    golden_table t = golden_table_open("datasketches/filters.tsv");
    unsigned found = 0;
    while (golden_table_next(&t)) {
        size_t len, answers_len;
        char room[96];
        uint8_t *bytes = file_of(t.column[NAME], &len);
        uint8_t *answers = golden_hex(t.column[ANSWERS], &answers_len);
        umbel_filter *f = foreign_decode(&datasketches, bytes, len);
        assert_int_equal(answers_len, QUESTIONS / 8);
        for (int i = 0; i < QUESTIONS; i++) {
            umbel_key key = key_of(t.column[KEYS], atoi(t.column[TO]) + i, room);
            unsigned said = answers[i / 8] >> i % 8 & 1;
            assert_int_equal(umbel_contains(f, key.data, key.len), said);
            found += said;
        }
        umbel_free(f);
        free(answers);
        free(bytes);
    }
    assert_true(found > 2500); /* 2,000 of them in the full one */
    golden_table_close(&t);
}

/* Files that the projects exchange: the longs from 0 to 999, and the NaN of Java's
 * doubleToLongBits. */
static void exchanged_files(void **state) {
    (void)state;
    static const uint8_t nan_key[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
    static const char *const languages[] = {"cpp", "java", "go"};
    for (size_t i = 0; i < 6; i++) {
        char name[32];
        size_t len;
        bool five = i >= 3;
        snprintf(name, sizeof name, "n10000_h%d_%s", five ? 5 : 3, languages[i % 3]);
        uint8_t *bytes = file_of(name, &len);
        umbel_filter *f = foreign_decode(&datasketches, bytes, len);
        umbel_foreign same = {.format = UMBEL_FMT_DATASKETCHES,
                              .bytes = 1250,
                              .hashes = five ? 5 : 3,
                              .seed = described(f).seed};
        umbel_filter *made = foreign_create(same);
        for (uint64_t n = 0; n < 1000; n++) {
            uint8_t key[8];
            set_number(key, 0, n);
            assert_true(umbel_contains(f, key, 8));
            assert_ok(umbel_add(made, key, 8, NULL, NULL));
        }
        assert_ok(umbel_add(made, nan_key, 8, NULL, NULL));
        assert_true(umbel_equal(f, made));
        uint64_t was = with_bits_set(bytes, len, f);
        assert_true(was == (i % 3 == 1 ? UINT64_MAX : measured(f).bits_set));
        foreign_is(&datasketches, made, bytes, len);
        umbel_free(made);
        umbel_free(f);
        free(bytes);
    }
}

static void typed_files_of_go(void **state) {
    (void)state;
    for (int doubles = 0; doubles < 2; doubles++) {
        size_t len;
        char room[96];
        uint8_t *bytes = file_of(doubles ? "double_n10000_h3_go" : "string_n10000_h3_go", &len);
        umbel_filter *f = foreign_decode(&datasketches, bytes, len);
        for (int i = 0; i < 1000; i++) {
            umbel_key key = doubles ? key_of("double", 4 * i, room)
                                    : (umbel_key){room, (size_t)snprintf(room, 96, "%d", i)};
            assert_true(umbel_contains(f, key.data, key.len));
        }
        umbel_free(f);
        free(bytes);
    }
}

static void empty_files(void **state) {
    (void)state;
    static const char *const names[] = {"n0_h3_cpp", "n0_h3_java", "n0_h3_go"};
    for (size_t i = 0; i < 3; i++) {
        size_t len, again_len;
        uint8_t *bytes = file_of(names[i], &len);
        umbel_filter *f = foreign_decode(&datasketches, bytes, len), *view = NULL;
        assert_int_equal(len, EMPTY);
        assert_int_equal(described(f).bits, 1024);
        assert_false(umbel_contains(f, "a", 1));
        foreign_same_again(&datasketches, bytes, len);
        assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &view, NULL),
                         UMBEL_ENOTSUP);
        foreign_add(f, "a");
        uint8_t *again = foreign_bytes(f, &again_len);
        assert_int_equal(again_len, HEADER + 128);
        assert_true(number_at(again, AT_BITS_SET) == measured(f).bits_set);
        assert_ok(umbel_clear(f, NULL));
        assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_ANY), EMPTY);
        umbel_free(f);
        free(again);
        free(bytes);
    }
}

/* 24 bytes may ask for 16 GiB: no more than 64 MiB are given, unless the caller allows them. */
static void empty_files_take_little(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_of("empty", &len);
    const uint64_t enough = UINT64_C(64) << 20;
    bytes[16] = bytes[17] = bytes[18] = 0;
    bytes[18] = 0x80; /* 2^23 words */
    umbel_filter *f = foreign_decode(&datasketches, bytes, len);
    assert_int_equal(described(f).bytes, enough);
    umbel_free(f);
    f = NULL;
    bytes[16] = 1;
    umbel_diag diag = {0};
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, &diag), UMBEL_ELIMIT);
    assert_null(f);
    assert_int_equal(diag.need, enough + 8);
    umbel_opts opts = {.max_bytes = enough};
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts, &f, &diag), UMBEL_ELIMIT);
    opts.max_bytes += 8;
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, &opts, &f, &diag));
    umbel_free(f);
    assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
    free(bytes);
}

static void the_empty_key(void **state) {
    (void)state;
    umbel_foreign p = {.format = UMBEL_FMT_DATASKETCHES, .bytes = 8, .hashes = 1};
    umbel_filter *f = foreign_create(p);
    umbel_diag diag = {0};
    uint8_t hit[3];
    const umbel_key keys[] = {{"a", 1}, {"", 0}, {"b", 1}};
    size_t done;
    for (int i = 0; i < 1000; i++) { /* every bit is set */
        assert_ok(umbel_add(f, &i, sizeof i, NULL, NULL));
    }
    assert_int_equal(umbel_add(f, "", 0, NULL, &diag), UMBEL_EINVAL);
    assert_string_equal(diag.field, "key");
    assert_false(umbel_contains(f, "", 0));
    umbel_contains_many(f, keys, 3, hit);
    assert_memory_equal(hit, ((uint8_t[]){1, 0, 1}), 3);
    assert_int_equal(umbel_add_many(f, keys, 3, NULL, &done, NULL), UMBEL_EINVAL);
    assert_int_equal(done, 1);
    assert_int_equal(umbel_probes(f, "", 0, NULL, 0), 0);
    umbel_free(f);
}

static void sizes_are_those_of_cpp(void **state) {
    (void)state;
    golden_table t = golden_table_open("datasketches/sizes.tsv");
    while (golden_table_next(&t)) {
        umbel_plan plan;
        umbel_foreign p = {.format = UMBEL_FMT_DATASKETCHES,
                           .capacity = strtoull(t.column[0], NULL, 10),
                           .fpr = strtod(t.column[1], NULL)};
        umbel_err e = umbel_plan_foreign(&p, &plan, NULL);
        uint64_t bits = strtoull(t.column[2], NULL, 10);
        assert_int_equal(e, bits > (UINT64_C(2147483643) << 6) ? UMBEL_EINVAL : UMBEL_OK);
        if (e) continue;
        assert_true(plan.bits == bits);
        assert_int_equal(plan.hashes, atoi(t.column[3]));
        assert_int_equal(plan.caution != NULL, bits >> 32 != 0); /* from 512 MiB on */
    }
    assert_int_equal(t.rows, 17 * 16);
    golden_table_close(&t);
}

static void what_is_not_made(void **state) {
    (void)state;
    static const struct {
        umbel_foreign p;
        const char *what;
    } bad[] = {
        {{.capacity = 10}, "fpr: this format needs it"},
        {{.fpr = 0.1}, "capacity: this format needs it"},
        {{.bytes = 64}, "hashes: required with bytes alone"},
        {{.bytes = 64, .hashes = 3, .fpr = 0.1}, "fpr: excludes bytes"},
        {{.capacity = 10, .fpr = 0.1, .hashes = 3}, "hashes: needs bytes"},
        {{.bytes = 64, .hashes = 1025}, "hashes: more than 1024"},
        {{.bytes = UINT64_C(2147483643) * 8 + 1, .hashes = 3}, "DataSketches refuses this size"},
        {{.capacity = 10, .bits_per_key = 3}, "bits_per_key: this format does not take it"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        foreign_not_made(foreign_as(UMBEL_FMT_DATASKETCHES, bad[i].p), bad[i].what);
    }
    umbel_plan plan; /* suggestNumHashes(10, 512) */
    umbel_foreign sized = {.format = UMBEL_FMT_DATASKETCHES, .capacity = 10, .bytes = 64};
    assert_ok(umbel_plan_foreign(&sized, &plan, NULL));
    assert_int_equal(plan.hashes, 36);
}

static void what_is_refused(void **state) {
    (void)state;
    static const struct {
        size_t at, width;
        uint64_t value;
        umbel_err err;
        uint64_t offset;
    } bad[] = {
        {0, 1, 3, UMBEL_ECORRUPT, 0},
        {0, 1, 5, UMBEL_ECORRUPT, 0},
        {1, 1, 2, UMBEL_EVERSION, 1},
        {2, 1, 20, UMBEL_EVERSION, 2},
        {3, 1, 1, UMBEL_EVERSION, 3},
        {3, 1, 5, UMBEL_EVERSION, 3},
        {4, 2, 0, UMBEL_ECORRUPT, 4},
        {4, 2, 1025, UMBEL_EVERSION, 4},
        {4, 2, 0xffff, UMBEL_EVERSION, 4},
        {6, 2, 1, UMBEL_EVERSION, 6},
        {16, 4, 0, UMBEL_ECORRUPT, 16},
        {16, 4, UINT32_MAX, UMBEL_ECORRUPT, 16},
        {16, 4, 14, UMBEL_ECORRUPT, 32 + 14 * 8},
        {20, 4, 1, UMBEL_EVERSION, 20},
        {24, 8, 961, UMBEL_ECORRUPT, 24},
        {24, 8, UINT64_MAX - 1, UMBEL_ECORRUPT, 24},
        {16, 4, 2147483643, UMBEL_ECORRUPT, 152},
        {3, 1, 4, UMBEL_ECORRUPT, 0},
    };
    size_t len;
    uint8_t *bytes = file_of("counted", &len); /* 15 words */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        foreign_refused_with(&datasketches, bytes, len, bad[i].at, bad[i].width, bad[i].value,
                             bad[i].err, bad[i].offset);
    }
    /* Empty, it says, and then there are words. */
    bytes[0] = 3;
    bytes[3] = 4;
    foreign_refused_saying(&datasketches, bytes, len, UMBEL_ECORRUPT, EMPTY, "bytes after");
    /* A count of bits that is not theirs is no reason: C++ loses count (docs/formats). */
    bytes[0] = 4;
    bytes[3] = 0;
    set_number(bytes, AT_BITS_SET, 7);
    assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
    free(bytes);
}

static void batches(void **state) {
    (void)state;
    foreign_number_batches_agree((umbel_foreign){
        .format = UMBEL_FMT_DATASKETCHES, .capacity = 3000, .fpr = 0.01, .seed = (uint64_t)-3});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_those_of_cpp),
        cmocka_unit_test(answers_are_those_of_cpp),
        cmocka_unit_test(exchanged_files),
        cmocka_unit_test(typed_files_of_go),
        cmocka_unit_test(empty_files),
        cmocka_unit_test(empty_files_take_little),
        cmocka_unit_test(the_empty_key),
        cmocka_unit_test(sizes_are_those_of_cpp),
        cmocka_unit_test(what_is_not_made),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
