/* SPDX-License-Identifier: MIT
 *
 * RocksDB's filters: the bytes that RocksDB 7.8.3 wrote, every value of the five bytes at their end,
 * live rates of the filters that are only read
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_filter.h"
#include "cases.h"
#include "foreign.h"
#include "golden.h"
#include "umbel_foreign.h"

static const umbel_foreign rocksdb = {.format = UMBEL_FMT_ROCKSDB};

/* ---- Golden filters ---- */

/* Calls use with every key of a set: "key%09d_0_99", "lengths_0_300" or "lengths_long". */
static uint64_t each_key(const char *set, umbel_filter *f,
                         void (*use)(umbel_filter *, const void *, size_t)) {
    static const size_t longer[] = {0, 1000, 1023, 1024, 1025, 1087, 1088, 2000, 2048, 5000};
    static uint8_t bytes[5000];
    unsigned last = 0;
    char text[32];
    if (sscanf(set, "key%%09d_0_%u", &last) == 1) {
        for (unsigned i = 0; i <= last; i++) {
            use(f, text, (size_t)snprintf(text, sizeof text, "key%09u", i));
        }
        return last + 1;
    }
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(200 + 7 * i);
    if (strcmp(set, "lengths_0_300") == 0) {
        for (size_t i = 0; i <= 300; i++) use(f, bytes, i);
        return 301;
    }
    assert_string_equal(set, "lengths_long");
    for (size_t i = 0; i < 10; i++) use(f, bytes, longer[i]);
    return 10;
}

static void add_key(umbel_filter *f, const void *key, size_t len) {
    assert_ok(umbel_add(f, key, len, NULL, NULL));
}

static void is_found(umbel_filter *f, const void *key, size_t len) {
    assert_true(umbel_contains(f, key, len));
}

static void filters_are_rocksdbs(void **state) {
    (void)state;
    unsigned written = 0;
    golden_table t = golden_table_open("rocksdb/filters.tsv");
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[4], &len);
        double bits = strtod(t.column[1], NULL);
        umbel_filter *f = foreign_decode(&rocksdb, bytes, len), *view = NULL;
        uint64_t keys = each_key(t.column[3], f, is_found);
        foreign_is(&rocksdb, f, bytes, len);
        assert_ok(umbel_decode(bytes, len, UMBEL_MAP, &rocksdb, NULL, &view, NULL));
        each_key(t.column[3], view, is_found);
        assert_true(umbel_equal(f, view));
        umbel_free(view);
        umbel_free(f);
        bool fast = bytes[len - 5] == 0xff && t.column[0][0] == 'b' && bits == floor(bits);
        if (fast) {
            f = foreign_create((umbel_foreign){
                .format = UMBEL_FMT_ROCKSDB, .capacity = keys, .bits_per_key = (uint32_t)bits});
            each_key(t.column[3], f, add_key);
            foreign_is(&rocksdb, f, bytes, len);
            umbel_free(f);
            written++;
        }
        free(bytes);
    }
    assert_int_equal(t.rows, 71);
    assert_int_equal(written, 40);
    golden_table_close(&t);
}

/* ---- Every byte at the end ---- */

enum { EVERY = 1, NONE = 0, SOME = 2 };

/* What RocksDB's readers do with such a filter, whose bits are all 0. */
static int reads_as(const uint8_t *bytes, size_t len) {
    if (len <= 5) return NONE;
    const uint8_t *last = bytes + len - 5;
    uint64_t n = len - 5, lines = 0;
    for (int i = 4; i > 0; i--) lines = lines << 8 | last[i];
    if (last[0] == 0xff) {
        bool known = last[1] == 0 && last[2] >= 1 && last[2] <= 30 && last[3] == 0 && last[4] == 0;
        return known && n % 64 == 0 ? NONE : EVERY;
    }
    if (last[0] == 0xfe) return lines >> 8 >= 2 ? SOME : EVERY;
    if (last[0] == 0 || last[0] > 127 || lines == 0 || n % lines) return EVERY;
    uint64_t each = n / lines;
    return each & (each - 1) ? EVERY : NONE;
}

static void check_bytes(const uint8_t *bytes, size_t len) {
    int want = reads_as(bytes, len);
    umbel_filter *f = NULL;
    umbel_diag diag = {0};
    assert_ok(umbel_decode(bytes, len, UMBEL_MAP, &rocksdb, NULL, &f, NULL));
    for (int i = 0; i < 8; i++) {
        bool found = umbel_contains(f, &i, sizeof i);
        if (want != SOME) assert_int_equal(found, want);
    }
    umbel_measurement now = measured(f);
    if (want == EVERY) assert_true(now.rate == 1);
    if (want == NONE) assert_true(now.rate == 0);
    if (want == NONE) assert_true(now.keys == 0);
    umbel_free(f);
    umbel_err e = umbel_decode(bytes, len, UMBEL_VERIFY, &rocksdb, NULL, NULL, &diag);
    f = NULL;
    assert_int_equal(umbel_decode(bytes, len, UMBEL_LOAD, &rocksdb, NULL, &f, NULL), e);
    if (e) {
        assert_true(want == EVERY);
        assert_true(diag.what);
        assert_true(diag.offset + 5 >= len - 5);
    } else {
        size_t again;
        free(foreign_bytes(f, &again));
        assert_int_equal(again, len <= 5 ? 69 : len);
        assert_true(len <= 5 || want != EVERY || bytes[len - 5] == 0);
        umbel_free(f);
    }
}

static void every_byte_at_the_end(void **state) {
    (void)state;
    static const size_t lens[] = {0, 1, 4, 5, 6, 16, 32, 64, 65, 128, 192, 512};
    static const uint8_t ends[][5] = {
        {0xff, 0, 6, 0, 0}, {0xfe, 7, 2, 0, 0}, {6, 1, 0, 0, 0}, {6, 3, 0, 0, 0}, {0, 0, 0, 0, 0}};
    for (size_t l = 0; l < sizeof lens / sizeof *lens; l++) {
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            for (size_t at = 0; at < 5; at++) {
                for (unsigned value = 0; value < 256; value++) {
                    uint8_t bytes[512 + 5] = {0}, end[5];
                    memcpy(end, ends[k], 5);
                    end[at] = (uint8_t)value;
                    memcpy(bytes + lens[l], end, 5);
                    check_bytes(bytes, lens[l] + 5);
                }
            }
        }
        uint8_t nothing[5] = {6, 0, 0, 0, 0};
        if (lens[l] <= 5) check_bytes(nothing, lens[l]);
    }
}

/* ---- Sizes ---- */

static void sizes_follow(void **state) {
    (void)state;
    const struct {
        umbel_foreign p;
        const char *what;
    } wrong[] = {
        {{.bits_per_key = 10}, "required to size"},
        {{.capacity = 10}, "give this, fpr or bytes"},
        {{.capacity = 10, .bits_per_key = 10, .fpr = 0.1}, "excludes bits_per_key"},
        {{.capacity = 10, .bits_per_key = 10, .hashes = 3}, "follows from bits_per_key"},
        {{.capacity = 1000, .bytes = 64}, "too few"},
        {{.capacity = 1000, .bits_per_key = 10, .bytes = 1216}, "too few"},
        {{.bytes = 100, .hashes = 3}, "lines of 64"},
        {{.bytes = 128, .hashes = 31}, "must be 1 to 30"},
        {{.bytes = 128}, "must be 1 to 30"},
        {{.capacity = 1000, .fpr = 1e-12}, "out of reach"},
        {{.capacity = 10, .bits_per_key = 10, .seed = 1}, "has none"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        umbel_foreign p = wrong[i].p;
        p.format = UMBEL_FMT_ROCKSDB;
        foreign_not_made(p, wrong[i].what);
    }
    umbel_foreign p = {.format = UMBEL_FMT_ROCKSDB, .bytes = 128, .hashes = 4};
    umbel_filter *f = foreign_create(p);
    assert_int_equal(described(f).bits, 1024);
    assert_int_equal(described(f).hashes, 4);
    umbel_free(f);
    p = (umbel_foreign){.format = UMBEL_FMT_ROCKSDB, .capacity = 1000, .bytes = 1290};
    f = foreign_create(p); /* 20 lines, 10.24 bits per key */
    assert_int_equal(described(f).bits, 20 * 512);
    assert_int_equal(described(f).hashes, 7);
    umbel_free(f);
}

static void a_rate_is_kept(void **state) {
    (void)state;
    static const double rates[] = {0.4, 0.1, 0.01, 0.001, 1e-5};
    for (uint64_t n = 1; n <= 1000000; n *= 10) {
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            umbel_foreign p = {.format = UMBEL_FMT_ROCKSDB, .capacity = n, .fpr = rates[i]};
            umbel_plan plan;
            assert_ok(umbel_plan_foreign(&p, &plan, NULL));
            assert_true(plan.rate <= rates[i] && plan.verdict == UMBEL_PLAN_OK);
            assert_int_equal(plan.bytes % 64, 0);
        }
    }
}

/* ---- Live rates of what is only read ---- */

static uint64_t random_state = 30;

static uint64_t draw(void) {
    return foreign_random(&random_state);
}

/* The same on every machine. */
static void draw_key(uint8_t key[16]) {
    uint64_t half[2] = {draw(), draw()};
    for (size_t k = 0; k < 16; k++) key[k] = (uint8_t)(half[k / 8] >> 8 * (k % 8));
}

/* Within what chance explains among two million lookups, and among the quarter of a million that
 * measuring makes at least in larger filters of the older kind; or this part of it. */
static void rate_is_true(const char *what, const umbel_filter *f, double keys, double part) {
    enum { QUESTIONS = 2000000, TRIED = 250000, LIMIT = 4 };
    uint64_t hits = 0;
    umbel_measurement now = measured(f);
    for (int i = 0; i < QUESTIONS; i++) {
        uint8_t key[16];
        draw_key(key);
        hits += umbel_contains(f, key, sizeof key);
    }
    double found = (double)hits / QUESTIONS;
    double chance = LIMIT * sqrt(now.rate / QUESTIONS + now.rate / TRIED);
    print_message("# %s: %.0f keys, said %.1f give or take %.1f; live %.4g, found %.4g\n", what,
                  keys, now.keys, now.keys_error, now.rate, found);
    assert_true(fabs(now.rate - found) <= fmax(chance, part * found));
    assert_true(fabs(now.keys - keys) <= 4 * now.keys_error + 1);
}

static void legacy_rates(void **state) {
    (void)state;
    static const unsigned counts[] = {40, 1000, 30000, 1000000};
    static const unsigned bits_per_key[] = {3, 10, 20};
    for (size_t line = 64; line <= 256; line *= 2) {
        /* Not all steps of a long line are tried, and with few keys single ones decide. */
        for (size_t i = line > 64; i < sizeof counts / sizeof *counts; i++) {
            for (size_t b = 0; b < 3; b++) {
                uint64_t lines = (counts[i] * bits_per_key[b] / 8 / line) | 1, len = lines * line;
                uint8_t *bytes = calloc(1, len + 5);
                assert_non_null(bytes);
                bytes[len] = (uint8_t)fmax(1, floor(bits_per_key[b] * 0.69));
                for (size_t k = 0; k < 4; k++) bytes[len + 1 + k] = (uint8_t)(lines >> 8 * k);
                umbel_filter *f = foreign_decode(&rocksdb, bytes, len + 5);
                for (unsigned n = 0; n < counts[i]; n++) {
                    uint8_t key[16];
                    draw_key(key);
                    assert_ok(umbel_add(f, key, sizeof key, NULL, NULL));
                }
                size_t size;
                uint8_t *written = foreign_bytes(f, &size);
                umbel_free(f);
                f = foreign_decode(&rocksdb, written, size); /* which does not know the count */
                free(written);
                /* Fewer steps of longer lines are tried. */
                rate_is_true("legacy", f, counts[i], line > 64 ? 0.12 : 0.05);
                umbel_free(f);
                free(bytes);
            }
        }
    }
}

static void ribbon_rates(void **state) {
    (void)state;
    golden_table t = golden_table_open("rocksdb/filters.tsv");
    unsigned seen = 0;
    while (golden_table_next(&t)) {
        size_t len;
        uint8_t *bytes = golden_hex(t.column[4], &len);
        if (bytes[len - 5] == 0xfe) {
            umbel_filter *f = foreign_decode(&rocksdb, bytes, len), *copy = NULL;
            rate_is_true("ribbon", f, t.column[3][0] == 'l' ? 301 : atof(t.column[3] + 10) + 1,
                         0.05);
            assert_int_equal(umbel_add(f, "x", 1, NULL, NULL), UMBEL_EFROZEN);
            assert_ok(umbel_copy(f, &copy, NULL));
            assert_true(umbel_equal(f, copy));
            assert_int_equal(umbel_add(copy, "x", 1, NULL, NULL), UMBEL_EFROZEN);
            assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_NATIVE), 0);
            umbel_free(copy);
            umbel_free(f);
            seen++;
        }
        free(bytes);
    }
    assert_int_equal(seen, 7);
    golden_table_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_are_rocksdbs), cmocka_unit_test(every_byte_at_the_end),
        cmocka_unit_test(sizes_follow),         cmocka_unit_test(a_rate_is_kept),
        cmocka_unit_test(legacy_rates),         cmocka_unit_test(ribbon_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
