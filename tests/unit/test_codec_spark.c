/* SPDX-License-Identifier: MIT
 *
 * Spark's filters: the bytes and answers that Spark's own classes gave, both versions, and what is
 * refused
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbel_foreign spark = {.format = UMBEL_FMT_SPARK};

typedef struct made {
    const char *name;
    char keys; /* s: key-0 ... key-999, l: longs, b: single bytes, 0: none */
    umbel_foreign params;
} made;

static const made files[] = {
    {"V1_s0_str1000_p0.001",
     's',
     {.variant = UMBEL_VARIANT_SPARK_V1, .capacity = 1000, .fpr = 0.001}},
    {"V1_s0_long1000_m9585",
     'l',
     {.variant = UMBEL_VARIANT_SPARK_V1, .capacity = 1000, .bytes = 1200}},
    {"V1_s0_bytes256_m2048",
     'b',
     {.variant = UMBEL_VARIANT_SPARK_V1, .capacity = 256, .bytes = 256}},
    {"V1_s0_empty_m1", 0, {.variant = UMBEL_VARIANT_SPARK_V1, .hashes = 1, .bytes = 1}},
    {"V2_s0_str1000_p0.001", 's', {.capacity = 1000, .fpr = 0.001}},
    {"V2_s42_long1000_m9585", 'l', {.capacity = 1000, .bytes = 1200, .seed = 42}},
    {"V2_s42_bytes256_m2048", 'b', {.capacity = 256, .bytes = 256, .seed = 42}},
    {"V2_s0_empty_m1", 0, {.hashes = 1, .bytes = 1}},
};
enum { FILES = sizeof files / sizeof *files };

static uint8_t *file_of(const char *name, const char *suffix, size_t *len) {
    char path[64];
    snprintf(path, sizeof path, "spark/%s.%s", name, suffix);
    return golden_file(path, len);
}

static umbel_key long_key(int64_t n, uint8_t bytes[8]) {
    char text[24];
    size_t len;
    snprintf(text, sizeof text, "%lld", (long long)n);
    assert_ok(umbel_typed_key(UMBEL_TYPE_INT64, text, strlen(text), bytes, 8, &len, NULL));
    return (umbel_key){bytes, len};
}

static void put_all(umbel_filter *f, char keys) {
    char text[32];
    uint8_t bytes[8];
    for (int i = 0; keys == 's' && i < 1000; i++) {
        assert_ok(umbel_add(f, text, (size_t)snprintf(text, sizeof text, "key-%d", i), NULL, NULL));
    }
    for (int i = -500; keys == 'l' && i < 500; i++) {
        umbel_key key = long_key((int64_t)i * 1000003, bytes);
        assert_ok(umbel_add(f, key.data, key.len, NULL, NULL));
    }
    for (int i = 0; keys == 'b' && i < 256; i++)
        assert_ok(umbel_add(f, &(uint8_t){(uint8_t)i}, 1, NULL, NULL));
}

static void files_are_sparks(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t len;
        uint8_t *bytes = file_of(files[i].name, "bin", &len);
        umbel_foreign params = files[i].params;
        params.format = UMBEL_FMT_SPARK;
        umbel_filter *f = foreign_create(params), *known = NULL;
        put_all(f, files[i].keys);
        foreign_is(&spark, f, bytes, len);
        foreign_needs_every_byte(&spark, bytes, len);
        assert_ok(umbel_decode(bytes, len, UMBEL_LOAD, NULL, NULL, &known, NULL));
        assert_true(umbel_equal(f, known));
        umbel_free(known);
        umbel_free(f);
        free(bytes);
    }
}

/* "s key-7" and "l 1000003": what Spark finds of 3,000 strings and as many longs. */
static void answers_are_sparks(void **state) {
    (void)state;
    static const char *const names[] = {"V1_s0_str1000_p0.001", "V1_s0_bytes256_m2048",
                                        "V2_s42_long1000_m9585", "V2_s42_bytes256_m2048"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len, yes_len;
        uint8_t *bytes = file_of(names[i], "bin", &len), eight[8];
        char *yes = (char *)file_of(names[i], "yes", &yes_len), *next = yes, line[40];
        umbel_filter *f = foreign_decode(&spark, bytes, len);
        for (int k = 0; k < 3000; k++) {
            for (int kind = 0; kind < 2; kind++) {
                int n = kind ? snprintf(line, sizeof line, "l %lld\n", (k - 1500) * 1000003LL)
                             : snprintf(line, sizeof line, "s key-%d\n", k);
                umbel_key key = kind ? long_key((k - 1500) * INT64_C(1000003), eight)
                                     : (umbel_key){line + 2, (size_t)n - 3};
                bool found = strncmp(next, line, (size_t)n) == 0;
                assert_int_equal(umbel_contains(f, key.data, key.len), found);
                if (found) next += n;
            }
        }
        assert_true(next == yes + yes_len);
        umbel_free(f);
        free(bytes);
        free(yes);
    }
}

static void sizes_and_seeds(void **state) {
    (void)state;
    umbel_foreign p = {.format = UMBEL_FMT_SPARK, .capacity = 5000}; /* create(5000) */
    umbel_filter *f = foreign_create(p);
    assert_int_equal(described(f).bits, 36544); /* 571 words for 36,493 bits */
    assert_int_equal(described(f).hashes, 5);
    umbel_free(f);
    uint8_t *bytes[2];
    size_t len[2];
    for (int i = 0; i < 2; i++) { /* the least int, and the greatest number of 32 bits */
        p.seed = i ? (uint64_t)INT32_MIN : UINT32_MAX;
        f = foreign_create(p);
        assert_int_equal(described(f).seed, (uint32_t)p.seed);
        umbel_free(f);
    }
    const uint64_t seeds[] = {(uint64_t)-7, (uint32_t)-7};
    for (int i = 0; i < 2; i++) { /* one int, written in two ways */
        p.seed = seeds[i];
        f = foreign_create(p);
        assert_ok(umbel_add(f, "x", 1, NULL, NULL));
        bytes[i] = foreign_bytes(f, &len[i]);
        umbel_free(f);
    }
    assert_int_equal(len[0], len[1]);
    assert_memory_equal(bytes[0], bytes[1], len[0]);
    assert_memory_equal(bytes[0] + 8, "\xff\xff\xff\xf9", 4);
    free(bytes[0]);
    free(bytes[1]);
}

static void what_spark_refuses(void **state) {
    (void)state;
    const struct {
        umbel_foreign p;
        const char *what;
    } wrong[] = {
        {{.fpr = 0.01}, "required by Spark"},
        {{.bytes = 64}, "required by Spark"},
        {{.capacity = 10, .hashes = 3}, "needs bytes"},
        {{.capacity = 10, .bytes = 64, .fpr = 0.1}, "excludes bytes"},
        {{.capacity = 1, .fpr = 0.999}, "refuses this size"},
        {{.capacity = UINT64_C(1) << 40, .fpr = 0.01}, "refuses this size"},
        {{.capacity = 1, .bytes = 1000000}, "more than 1024 probes"},
        {{.capacity = 10, .seed = 3, .variant = UMBEL_VARIANT_SPARK_V1}, "version 1 has none"},
        {{.capacity = 10, .seed = UINT64_C(1) << 32}, "32 bits"},
        {{.capacity = 10, .seed = (uint64_t)INT32_MIN - 1}, "32 bits"},
        {{.capacity = 10, .variant = UMBEL_VARIANT_MITZ32}, "does not belong"},
        {{.capacity = 10, .bits_per_key = 8}, "does not take it"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        umbel_foreign p = wrong[i].p;
        p.format = UMBEL_FMT_SPARK;
        foreign_not_made(p, wrong[i].what);
    }
}

static void what_is_not_sparks(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_of("V2_s0_empty_m1", "bin", &len);
    const struct {
        size_t at;
        uint32_t value;
        umbel_err err;
        const char *what;
    } wrong[] = {
        {0, 0, UMBEL_EVERSION, "must be 1 or 2"},
        {0, 3, UMBEL_EVERSION, "must be 1 or 2"},
        {4, 0, UMBEL_ECORRUPT, "not positive"},
        {4, 0x80000000, UMBEL_ECORRUPT, "not positive"},
        {4, 1025, UMBEL_EVERSION, "more than 1024"},
        {12, 0, UMBEL_ECORRUPT, "not positive"},
        {12, 0xffffffff, UMBEL_ECORRUPT, "not positive"},
        {12, 2, UMBEL_ECORRUPT, "cut off"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t copy[24], big[4];
        assert_int_equal(len, sizeof copy);
        memcpy(copy, bytes, len);
        for (int k = 0; k < 4; k++) big[k] = (uint8_t)(wrong[i].value >> 8 * (3 - k));
        memcpy(copy + wrong[i].at, big, 4);
        foreign_refused_saying(&spark, copy, len, wrong[i].err,
                               wrong[i].value == 2 ? len : wrong[i].at, wrong[i].what);
        assert_int_equal(umbel_decode(copy, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL),
                         UMBEL_EUNKNOWN);
    }
    assert_ok(umbel_decode(bytes, len, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
    umbel_filter *f = NULL;
    assert_int_equal(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &f, NULL), UMBEL_ENOTSUP);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_sparks),   cmocka_unit_test(answers_are_sparks),
        cmocka_unit_test(sizes_and_seeds),    cmocka_unit_test(what_spark_refuses),
        cmocka_unit_test(what_is_not_sparks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
