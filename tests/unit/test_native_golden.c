/* SPDX-License-Identifier: MIT
 *
 * test_native_golden.c - the library against files and hashes that it did not make
 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "core/bits.h"
#include "core/filter.h"
#include "golden.h"
#include "hash/xxh.h"
#include "native_file.h"
#include "subjects.h"
#include "umbel_recipe.h"

#define FOLDER "tests/golden/native/"

typedef struct golden {
    const char *name;
    size_t in; /* this many of keys.hex are in it, from the first */
    umbel_info want;
    size_t metas;
} golden;

#define ALL_KEYS SIZE_MAX

static const golden files[] = {
    {"blocked_empty", 0, {.kind = UMBEL_KIND_BLOCKED, .bits = 256, .hashes = 8}, 0},
    {"blocked_1", 8, {.kind = UMBEL_KIND_BLOCKED, .bits = 256, .hashes = 8, .seed = 7}, 0},
    {"blocked_7", ALL_KEYS, {.kind = UMBEL_KIND_BLOCKED, .bits = 1792, .hashes = 8}, 0},
    {"blocked_64",
     ALL_KEYS,
     {.kind = UMBEL_KIND_BLOCKED,
      .bits = 16384,
      .hashes = 8,
      .seed = UINT64_MAX,
      .capacity = 1000,
      .fpr = 0.01},
     0},
    {"blocked_meta",
     20,
     {.kind = UMBEL_KIND_BLOCKED,
      .bits = 768,
      .hashes = 8,
      .seed = 5,
      .capacity = 20,
      .fpr = 0.001},
     3},
    {"classic_1", 0, {.kind = UMBEL_KIND_CLASSIC, .bits = 1, .hashes = 1}, 0},
    {"classic_64", 5, {.kind = UMBEL_KIND_CLASSIC, .bits = 64, .hashes = 3}, 0},
    {"classic_1001", 100, {.kind = UMBEL_KIND_CLASSIC, .bits = 1001, .hashes = 5, .seed = 3}, 0},
    {"classic_4096",
     ALL_KEYS,
     {.kind = UMBEL_KIND_CLASSIC,
      .bits = 4096,
      .hashes = 14,
      .seed = UINT64_C(0x8000000000000001),
      .capacity = 202,
      .fpr = 6.1e-05},
     0},
    {"classic_1024hashes", 50, {.kind = UMBEL_KIND_CLASSIC, .bits = 65536, .hashes = 1024}, 0},
    {"keyed_blocked",
     ALL_KEYS,
     {.kind = UMBEL_KIND_BLOCKED,
      .bits = 16384,
      .hashes = 8,
      .seed = UINT64_MAX,
      .fingerprint = UINT64_C(0x1224052d566dccce),
      .capacity = 1000,
      .fpr = 0.01},
     0},
    {"line_4", ALL_KEYS, {.kind = UMBEL_KIND_LINE, .bits = 2560, .hashes = 4, .seed = 11}, 0},
    {"line_8",
     ALL_KEYS,
     {.kind = UMBEL_KIND_LINE, .bits = 4608, .hashes = 8, .capacity = 400, .fpr = 0.02},
     0},
    {"line_16", 12, {.kind = UMBEL_KIND_LINE, .bits = 512, .hashes = 16, .seed = UINT64_MAX}, 0},
    {"keyed_line",
     ALL_KEYS,
     {.kind = UMBEL_KIND_LINE,
      .bits = 6144,
      .hashes = 16,
      .fingerprint = UINT64_C(0x1224052d566dccce)},
     0},
    {"keyed_classic",
     ALL_KEYS,
     {.kind = UMBEL_KIND_CLASSIC,
      .bits = 4097,
      .hashes = 14,
      .fingerprint = UINT64_C(0x1224052d566dccce)},
     0},
};

static void assert_described(const umbel_filter *f, const golden *g) {
    umbel_info info = described(f);
    assert_int_equal(info.kind, g->want.kind);
    assert_int_equal(info.bits, g->want.bits);
    assert_int_equal(info.hashes, g->want.hashes);
    assert_int_equal(info.seed, g->want.seed);
    assert_int_equal(info.fingerprint, g->want.fingerprint);
    assert_int_equal(info.capacity, g->want.capacity);
    assert_true(info.fpr == g->want.fpr);
    const char *name, *value;
    assert_int_equal(umbel_meta_at(f, g->metas, &name, &value), false);
    if (g->metas) assert_true(umbel_meta_at(f, g->metas - 1, &name, &value));
}

/* Read it, clear it, fill it again: the bytes must be those that the other program wrote. */
static void test_files(void **state) {
    (void)state;
    hex_keys all = hex_keys_from(FOLDER "keys.hex");
    assert_int_equal(all.n, 201);
    assert_int_equal(all.keys[0].len, 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const golden *g = &files[i];
        print_message("# %s\n", g->name);
        size_t len, in = g->in == ALL_KEYS ? all.n : g->in;
        uint8_t *bytes = golden_native(g->name, &len);
        for (size_t s = 0; s < SUBJECTS; s++) {
            if (!subject_runs(&subjects[s]) || subjects[s].kind != g->want.kind) continue;
            if (!subjects[s].key != !g->want.fingerprint) continue; /* the files have its secret */
            umbel_filter *f = subject_decode(&subjects[s], bytes, len);
            assert_described(f, g);
            for (size_t k = 0; k < in; k++) {
                assert_true(umbel_contains(f, all.keys[k].data, all.keys[k].len));
            }
            assert_ok(umbel_clear(f, NULL));
            for (size_t k = 0; k < in; k++) {
                assert_ok(umbel_add(f, all.keys[k].data, all.keys[k].len, NULL, NULL));
            }
            size_t again_len;
            uint8_t *again = bytes_of(f, &again_len);
            assert_int_equal(again_len, len);
            assert_memory_equal(again, bytes, len);
            free(again);
            umbel_free(f);
        }
        free(bytes);
    }
    free_hex_keys(&all);
}

/* The worked example of docs/formats/native.md, made by umbel_create. */
static void test_ada(void **state) {
    (void)state;
    umbel_filter *f = NULL;
    assert_ok(
        umbel_create(&(umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 32}, NULL, &f, NULL));
    assert_ok(umbel_add(f, "ada", 3, NULL, NULL));
    size_t len, want_len;
    uint8_t *bytes = bytes_of(f, &len), *want = golden_native("ada", &want_len);
    assert_int_equal(len, want_len);
    assert_memory_equal(bytes, want, len);
    free(bytes);
    free(want);
    umbel_free(f);
}

static umbel_filter *opened(const char *name) {
    umbel_filter *f = NULL;
    size_t len;
    uint8_t *bytes = golden_native(name, &len);
    assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, NULL));
    free(bytes);
    return f;
}

/* Recipes of this version, and those that stand for what 0.2 wrote. */
static void test_recipes(void **state) {
    (void)state;
    static const struct {
        const char *name, *recipe, *first_meta; /* the name of the first entry that is visible */
    } cases[] = {
        {"ada", "line", NULL},
        {"blocked_meta", "field=2 delimiter=comma trim lower", "source"},
        {"classic_4096", "line trim upper", NULL},
        {"recipe_csv", "csv column=\"e-mail address\" lower", "x"},
        {"recipe_json", "json=.user.email", NULL},
        {"recipe_crlf", "line crlf", NULL},
        {"recipe_later", "line fnord=7", NULL},
        {"old_rule", "field=2 delimiter=comma trim lower", NULL},
        {"old_csv", "csv field=3", "a"},
        {"old_column", "csv column=\"the \\\"name\\\"\" delimiter=; lower missing=empty", NULL},
        {"old_own", "field=2 delimiter=comma trim lower", "key.note"},
        {"old_odd", "line", "key.csv"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        umbel_filter *f = opened(cases[i].name), *again = NULL;
        const char *name = NULL, *value;
        assert_string_equal(umbel_get_recipe(f), cases[i].recipe);
        assert_int_equal(umbel_meta_at(f, 0, &name, &value), cases[i].first_meta != NULL);
        if (cases[i].first_meta) assert_string_equal(name, cases[i].first_meta);
        size_t len;
        uint8_t *bytes = bytes_of(f, &len); /* and what is written says the same */
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &again, NULL));
        assert_string_equal(umbel_get_recipe(again), cases[i].recipe);
        free(bytes);
        umbel_free(again);
        umbel_free(f);
    }
}

/* Files whose recipe and key rule contradict each other. */
static void test_recipe_lies(void **state) {
    (void)state;
    static const char *const names[] = {"bad_missing", "bad_both", "bad_flag",
                                        "bad_rule",    "bad_zero", "bad_unsaid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t len;
        uint8_t *bytes = golden_native(names[i], &len);
        umbel_filter *f = NULL;
        umbel_diag diag = {0};
        assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &f, &diag),
                         UMBEL_ECORRUPT);
        assert_null(f);
        assert_int_equal(diag.offset, 80);
        assert_string_equal(diag.field, i == 1 ? "key rule" : "recipe");
        free(bytes);
    }
}

static void test_meta(void **state) {
    (void)state;
    umbel_filter *f = opened("blocked_meta");
    const char *name, *value;
    assert_true(umbel_meta_at(f, 0, &name, &value));
    assert_string_equal(name, "source");
    assert_string_equal(value, "Bl\303\274ten");
    assert_true(umbel_meta_at(f, 1, &name, &value));
    assert_string_equal(name, "empty");
    assert_string_equal(value, "");
    assert_true(umbel_meta_at(f, 2, &name, &value));
    assert_int_equal(strlen(name), 255);
    assert_int_equal(strlen(value), 5000);
    umbel_free(f);
}

static void test_xxh3(void **state) {
    (void)state;
    FILE *table = fopen(FOLDER "xxh3.tsv", "r");
    assert_non_null(table);
    char line[256];
    uint8_t key[4096];
    int rows = 0;
    while (fgets(line, sizeof line, table)) {
        unsigned long long len, seed, want, high, low;
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%llu %llx %llx %llx %llx", &len, &seed, &want, &high, &low),
                         5);
        assert_true(len <= sizeof key);
        for (size_t i = 0; i < len; i++) key[i] = (uint8_t)(i * 167 + len);
        umbeli_hash128 wide = umbeli_xxh3_128(key, len, seed);
        assert_true(umbeli_xxh3_64(key, len, seed) == want);
        assert_true(wide.low == low && wide.high == high);
        umbeli_xxh3_stream stream;
        umbeli_xxh3_begin(&stream, seed);
        for (size_t at = 0; at < len; at += 7) {
            umbeli_xxh3_sink(&stream, key + at, len - at < 7 ? len - at : 7);
        }
        assert_true(umbeli_xxh3_end(&stream) == want);
        rows++;
    }
    fclose(table);
    assert_int_equal(rows, 41 * 4);
}

/* The vectors of docs/formats/native.md. */
static void test_blocked_vectors(void **state) {
    (void)state;
    static const char url[] = "https://example.org/";
    static const struct {
        uint64_t seed;
        const char *key;
        uint64_t hash, blocks, block;
        const char *mask;
    } rows[] = {
        {UINT64_C(0x0), "", UINT64_C(0x2d06800538d394c2), 1, 0,
         "0000040008000000200000000100000001000000000400000001000080000000"},
        {UINT64_C(0x0), "ada", UINT64_C(0x691d4463952c802f), 1, 0,
         "1000000000000080080000000000000200800000080000000001000000001000"},
        {UINT64_C(0x0), "ada", UINT64_C(0x691d4463952c802f), 1000, 410,
         "1000000000000080080000000000000200800000080000000001000000001000"},
        {UINT64_C(0x2a), "ada", UINT64_C(0x5daeca8ff8ea1194), 1000, 365,
         "0000010004000000000000010040000080000000000000040020000000002000"},
        {UINT64_C(0x0), url, UINT64_C(0x8e2c3c2914c7cb49), 1000, 555,
         "0000040020000000000000010080000004000000000000020000001004000000"},
        {UINT64_C(0xffffffffffffffff), url, UINT64_C(0x877920588d1e2150), 1000000, 529191,
         "0000002000000010000040000000400020000000000002000000001080000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        umbel_params params = {
            .kind = UMBEL_KIND_BLOCKED, .bytes = 32 * rows[i].blocks, .seed = rows[i].seed};
        umbel_filter *f = NULL;
        assert_ok(umbel_create(&params, NULL, &f, NULL));
        assert_true(one_hash(f, rows[i].key, strlen(rows[i].key)) == rows[i].hash);
        assert_ok(umbel_add(f, rows[i].key, strlen(rows[i].key), NULL, NULL));
        char mask[65];
        for (size_t at = 0; at < 32; at++) {
            snprintf(mask + 2 * at, 3, "%02x", f->data[32 * rows[i].block + at]);
        }
        assert_string_equal(mask, rows[i].mask);
        umbel_free(f);
    }
}

static void test_classic_vectors(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        const char *key;
        uint64_t bits, positions[4];
    } rows[] = {
        {0x0, "", 1000, {375, 671, 170, 526}},
        {0x0, "ada", 1000, {410, 930, 214, 240}},
        {0x2a, "ada", 1000, {365, 778, 479, 868}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        umbel_params params = {.kind = UMBEL_KIND_CLASSIC,
                               .bytes = rows[i].bits / 8,
                               .hashes = 4,
                               .seed = rows[i].seed};
        umbel_filter *f = NULL;
        umbel_measurement now;
        assert_ok(umbel_create(&params, NULL, &f, NULL));
        assert_ok(umbel_add(f, rows[i].key, strlen(rows[i].key), NULL, NULL));
        umbel_measure(f, &now);
        assert_int_equal(now.bits_set, 4);
        for (size_t p = 0; p < 4; p++) assert_true(umbeli_bit_test(f->data, rows[i].positions[p]));
        umbel_free(f);
    }
}

static void test_keyed_vectors(void **state) {
    (void)state;
    static const uint8_t secret[17] = "sixteen bytes it";
    static const struct {
        uint64_t seed;
        const char *key;
        uint64_t hash, block, positions[4];
    } rows[] = {
        {0x0, "", UINT64_C(0xa71afd2aa7ee1761), 652, {757, 486, 521, 11}},
        {0x0, "ada", UINT64_C(0x305757466cc1641b), 188, {633, 992, 970, 141}},
        {0x2a, "ada", UINT64_C(0xb519edfdeabdfcaa), 707, {599, 686, 91, 892}},
        {0x0, "https://example.org/", UINT64_C(0xcf19262aef2ccc3a), 808, {880, 330, 419, 596}},
    };
    const umbel_opts opts = {.secret = secret};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        umbel_params params = {.kind = UMBEL_KIND_CLASSIC, .bytes = 125, .hashes = 4};
        umbel_filter *blocked = NULL, *classic = NULL;
        size_t len = strlen(rows[i].key);
        params.seed = rows[i].seed;
        assert_ok(umbel_create(&params, &opts, &classic, NULL));
        assert_ok(umbel_add(classic, rows[i].key, len, NULL, NULL));
        for (size_t p = 0; p < 4; p++) {
            assert_true(umbeli_bit_test(classic->data, rows[i].positions[p]));
        }
        params = (umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = 32000, .seed = rows[i].seed};
        assert_ok(umbel_create(&params, &opts, &blocked, NULL));
        assert_true(one_hash(blocked, rows[i].key, len) == rows[i].hash);
        assert_ok(umbel_add(blocked, rows[i].key, len, NULL, NULL));
        assert_false(umbeli_bits_none(blocked->data + 32 * rows[i].block, 32));
        umbel_free(blocked);
        umbel_free(classic);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_ada),
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_recipe_lies),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_xxh3),
        cmocka_unit_test(test_blocked_vectors),
        cmocka_unit_test(test_classic_vectors),
        cmocka_unit_test(test_keyed_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
