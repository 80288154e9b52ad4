/* SPDX-License-Identifier: MIT
 *
 * RocksDB's tables: files of RocksDB 7.8.3 and 9.7.4 in format versions 2 to 6, with every kind of
 * filter, checksum, compression and index; what is refused, and what damage does
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "core/cpu.h"
#include "golden.h"
#include "tables/crc32c.h"
#include "umbel_table.h"

typedef struct known {
    const char *name;
    unsigned keys, places, version;
    const char *checksum;
} known;

static const known files[] = {
    {"v2", 200, 1, 2, "crc32c"},
    {"v2_parts", 200, 5, 2, "crc32c"},
    {"v3_parts", 200, 3, 3, "xxhash"},
    {"v4_parts_bzip2", 200, 3, 4, "xxhash64"},
    {"v4_lz4", 200, 1, 4, "none"},
    {"v5_parts_lz4", 200, 3, 5, "xxh3"},
    {"v5_zstd", 200, 1, 5, "xxh3"},
    {"v5_zlib_first", 200, 1, 5, "xxh3"},
    {"v5_ribbon_parts", 800, 3, 5, "xxh3"},
    {"v5_prefix_only", 200, 4, 5, "xxh3"},
    {"v5_prefix_too", 200, 1, 5, "xxh3"},
    {"v5_reverse_parts", 200, 3, 5, "xxh3"},
    {"v5_none", 50, 1, 5, "xxh3"},
    {"v5_tiny_ribbon", 20, 1, 5, "xxh3"},
    {"v6", 200, 1, 6, "xxh3"},
    {"v6_ribbon", 600, 1, 6, "xxh3"},
};
enum { FILES = sizeof files / sizeof *files };

static uint8_t *file_of(const char *name, size_t *len) {
    char path[64];
    snprintf(path, sizeof path, "rocksdb/%s.sst", name);
    return golden_file(path, len);
}

static umbel_table_answer ask(const umbel_table *t, const char *key, uint8_t *may) {
    umbel_table_answer answer;
    assert_ok(umbel_table_check(t, NULL, key, strlen(key), may, &answer, NULL));
    return answer;
}

static const char *fact(const umbel_table *t, const char *name) {
    umbel_table_fact f;
    for (size_t i = 0; umbel_table_fact_of(t, i, &f); i++) {
        if (strcmp(f.name, name) == 0) return f.text;
    }
    return NULL;
}

/* Every key is found, in one place, and so is its block; few others are. */
static void files_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const known *k = &files[i];
        size_t len, found = 0;
        uint8_t *bytes = file_of(k->name, &len), may[8];
        char key[32], number[12];
        umbel_table *t = NULL;
        assert_ok(umbel_table_read(bytes, len, NULL, NULL, &t, NULL));
        assert_int_equal(umbel_table_fault(t, 0, NULL), UMBEL_OK);
        assert_int_equal(umbel_table_system_of(t), UMBEL_TABLE_ROCKSDB);
        assert_int_equal(umbel_table_count(t), k->places);
        snprintf(number, sizeof number, "%u", k->version);
        assert_string_equal(fact(t, "footer.format_version"), number);
        assert_string_equal(fact(t, "footer.checksum"), k->checksum);
        snprintf(number, sizeof number, "%u", k->keys);
        assert_string_equal(fact(t, "rocksdb.num.entries"), number);
        for (unsigned n = 0; n < k->keys; n++) {
            snprintf(key, sizeof key, "key%09u", n);
            umbel_table_answer answer = ask(t, key, may);
            assert_true(answer.may_contain);
            assert_int_equal(answer.places, 1);
            assert_true(answer.has_block);
            assert_true(answer.len > 0 && answer.block + answer.len < len);
        }
        for (unsigned n = 0; n < 2000;
             n++) { /* between keys, so in range; with its prefix, if any */
            snprintf(key, sizeof key, "key%09u.%u", n % k->keys, n);
            found += ask(t, key, may).may_contain;
        }
        bool blind = strcmp(k->name, "v5_none") == 0 || strcmp(k->name, "v5_prefix_only") == 0;
        assert_true(blind ? found == 2000 : found < 60);
        umbel_table_close(t);
        free(bytes);
    }
}

/* A filter of prefixes alone answers for prefixes: keys of 11 bytes and more. */
static void prefixes_are_asked(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_of("v5_prefix_only", &len), may[8];
    umbel_table *t = NULL;
    assert_ok(umbel_table_read(bytes, len, NULL, NULL, &t, NULL));
    assert_true(ask(t, "key00000001 is a prefix", may).may_contain);
    assert_true(ask(t, "key0000000", may).may_contain); /* too short to have one */
    assert_false(ask(t, "key00000099 has another", may).may_contain);
    umbel_table_close(t);
    free(bytes);
}

static void a_filter_is_taken_out(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_of("v5_ribbon_parts", &len);
    umbel_table *t = NULL;
    umbel_filter *f = NULL;
    umbel_table_place place;
    assert_ok(umbel_table_read(bytes, len, NULL, NULL, &t, NULL));
    umbel_table_place_of(t, 1, &place);
    assert_ok(umbel_table_filter(t, 1, &f, NULL));
    assert_int_equal(umbel_encoded_size(f, UMBEL_FMT_ROCKSDB), place.len);
    uint8_t *again = malloc((size_t)place.len);
    assert_non_null(again);
    assert_ok(umbel_encode(f, UMBEL_FMT_ROCKSDB, again, (size_t)place.len, NULL));
    assert_memory_equal(again, bytes + place.offset, (size_t)place.len);
    free(again);
    umbel_free(f);
    umbel_table_close(t);
    free(bytes);
}

static void others_are_refused_by_name(void **state) {
    (void)state;
    size_t len;
    uint8_t *bytes = file_of("v1", &len);
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    assert_int_equal(umbel_table_read(bytes, len, NULL, NULL, &t, &diag), UMBEL_EVERSION);
    assert_string_equal(diag.field, "format_version");
    free(bytes);
    bytes = file_of("v5_zstd", &len);
    for (unsigned version = 0; version < 300; version++) {
        bytes[len - 12] = (uint8_t)version;
        bytes[len - 11] = (uint8_t)(version >> 8);
        if (version >= 2 && version <= 6) continue;
        assert_int_equal(umbel_table_read(bytes, len, NULL, NULL, &t, &diag), UMBEL_EVERSION);
        assert_string_equal(diag.field, "format_version");
    }
    memcpy(bytes + len - 8, "\x64\x95\xbf\x63\x96\x22\x42\x82", 8); /* a plain table */
    assert_int_equal(umbel_table_read(bytes, len, NULL, NULL, &t, &diag), UMBEL_EVERSION);
    assert_non_null(strstr(diag.what, "plain"));
    free(bytes);
}

/* Whatever is opened never says no to a key that is in the file, unless the damage is a byte that no
 * checksum covers: then only nothing bad happens.  Returns whether the damage was seen. */
static bool survives(const known *k, const uint8_t *bytes, size_t len, bool covered) {
    uint8_t may[16];
    char key[32];
    umbel_table *t = NULL;
    umbel_diag diag = {0};
    if (umbel_table_read(bytes, len, NULL, NULL, &t, &diag)) return diag.what != NULL;
    bool seen = umbel_table_fault(t, 0, NULL) != UMBEL_OK;
    assert_true(umbel_table_count(t) <= 16);
    for (unsigned n = 0; n < k->keys; n += 41) {
        snprintf(key, sizeof key, "key%09u", n);
        umbel_table_answer answer = ask(t, key, may);
        if (covered) assert_true(answer.may_contain);
    }
    for (size_t i = 0; i < umbel_table_count(t); i++) {
        umbel_filter *f = NULL;
        umbel_measurement now;
        if (umbel_table_filter(t, i, &f, NULL)) continue;
        umbel_measure(f, &now);
        umbel_free(f);
    }
    umbel_table_close(t);
    return seen;
}

static void damage_is_seen(void **state) {
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        const known *k = &files[i];
        size_t len;
        uint8_t *bytes = file_of(k->name, &len);
        umbel_table *t = NULL;
        umbel_table_place first;
        assert_ok(umbel_table_read(bytes, len, NULL, NULL, &t, NULL));
        umbel_table_place_of(t, 0, &first);
        umbel_table_close(t);
        bool summed = strcmp(k->checksum, "none") != 0;
        for (size_t at = (size_t)first.offset; at < len; at++) {
            bytes[at] ^= (uint8_t)(1u << at % 8);
            bool seen = survives(k, bytes, len, summed && at < len - 53);
            bool filter = first.state == UMBEL_TABLE_FILTER && at - first.offset < first.len;
            if (summed && filter) assert_true(seen);
            bytes[at] ^= (uint8_t)(1u << at % 8);
        }
        for (size_t cut = 0; cut < len; cut += 7) survives(k, bytes, cut, false);
        free(bytes);
    }
}

static void both_ways_of_crc32c(void **state) {
    (void)state;
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        uint32_t fast = umbeli_crc32c(bytes, len);
        umbeli_cpu_limit(0);
        assert_int_equal(umbeli_crc32c(bytes, len), fast);
        umbeli_cpu_limit(UINT32_MAX);
    }
    assert_int_equal(umbeli_crc32c("123456789", 9), 0xe3069283);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read),        cmocka_unit_test(prefixes_are_asked),
        cmocka_unit_test(a_filter_is_taken_out), cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(damage_is_seen),        cmocka_unit_test(both_ways_of_crc32c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
