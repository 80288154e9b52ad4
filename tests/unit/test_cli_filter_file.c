/* SPDX-License-Identifier: MIT
 *
 * test_cli_filter_file.c - filters that the command opens: mapped, loaded, or unpacked from gzip
 */
#define _DEFAULT_SOURCE /* mkstemp */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/filter_bytes.h"
#include "filter/filter_file.h"
#include "foreign.h"
#include "golden.h"
#include "gzip.h"
#include "umbel_foreign.h"

/* ---- Mapped and loaded files ---- */

static const char name[] = "tests/golden/dcso/a.bloom";

static unsigned mappings(void) {
    char line[1024];
    unsigned n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) n += strstr(line, name) != NULL;
    fclose(maps);
    return n;
}

/* Closed in a different order from the one in which they were opened. */
static void test_close(void **state) {
    (void)state;
    cli_settings s = {.format = UMBEL_FMT_DCSO};
    umbel_filter *f[3];
    for (unsigned i = 0; i < 3; i++) f[i] = cli_filter_open(name, &s);
    assert_int_equal(mappings(), 3);
    umbel_free(f[1]);
    assert_true(umbel_contains(f[0], "key1", 4) && umbel_contains(f[2], "key1", 4));
    umbel_free(f[0]);
    assert_int_equal(mappings(), 1);
    assert_true(umbel_contains(f[2], "key1", 4));
    umbel_free(f[2]);
    assert_int_equal(mappings(), 0);
}

static void test_loaded_filters_borrow_nothing(void **state) {
    (void)state;
    cli_settings s = {.format = UMBEL_FMT_DCSO};
    umbel_filter *f = cli_filter_load(name, &s);
    assert_int_equal(mappings(), 0);
    assert_true(umbel_contains(f, "key1", 4));
    umbel_free(f);
}

/* ---- Compressed files; tests/cli/filters.bats has those that are refused ---- */

/* Writes the packed bytes to a file, and expects the command to find these in it. */
static void expect_bytes(const uint8_t *packed, size_t packed_len, const uint8_t *bytes,
                         size_t len) {
    static char paths[200][40]; /* what was read under a name is not read again */
    static size_t n;
    assert_true(n < 200);
    strcpy(paths[n], "/tmp/umbel-filter-XXXXXX");
    int fd = mkstemp(paths[n]);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, packed, packed_len), (ssize_t)packed_len);
    close(fd);
    const umbel_foreign any = {.format = UMBEL_FMT_ANY};
    cli_filter_bytes got = cli_filter_bytes_of(paths[n], &any, len);
    unlink(paths[n++]);
    assert_non_null(got.at);
    assert_false(got.piped);
    assert_int_equal(got.len, len);
    assert_memory_equal(got.at, bytes, len);
    free((uint8_t *)(uintptr_t)got.at);
}

static void gzipped_files_are_read(void **state) {
    (void)state;
    const char *paths[] = {"dcso/a.bloom", "dcso/c.bloom", "dcso/crlf.bloom"};
    for (size_t i = 0; i < 3; i++) {
        size_t len, gz_len;
        uint8_t *bytes = golden_file(paths[i], &len), *gz = gzip(bytes, len, 9, &gz_len);
        expect_bytes(gz, gz_len, bytes, len);
        free(bytes);
        free(gz);
    }
}

/* Bits and data of all lengths around those at which more memory is taken. */
static void all_lengths_are_read(void **state) {
    (void)state;
    const size_t lengths[] = {0, 1, 65000, 65535, 65536, 70000, 140000, 300000};
    enum { N = sizeof lengths / sizeof lengths[0] };
    for (size_t i = 0; i < N * N; i++) {
        umbel_filter *f = foreign_create(
            (umbel_foreign){.format = UMBEL_FMT_DCSO, .capacity = lengths[i / N] + 1, .fpr = 0.02});
        size_t data_len = lengths[i % N], len, gz_len;
        uint8_t *data = calloc(data_len + 1, 1);
        assert_non_null(data);
        for (size_t k = 0; k < data_len; k++) data[k] = (uint8_t)(k * k >> 7);
        assert_int_equal(umbel_set_data(f, data, data_len, NULL), UMBEL_OK);
        uint8_t *bytes = foreign_bytes(f, &len), *gz = gzip(bytes, len, 9, &gz_len);
        expect_bytes(gz, gz_len, bytes, len);
        umbel_free(f);
        free(data);
        free(bytes);
        free(gz);
    }
}

static void gzip_of_several_members(void **state) {
    (void)state;
    size_t len, first_len, second_len;
    uint8_t *bytes = golden_file("dcso/a.bloom", &len);
    uint8_t *first = gzip(bytes, 50, 9, &first_len),
            *second = gzip(bytes + 50, len - 50, 9, &second_len);
    uint8_t *both = malloc(first_len + second_len);
    assert_non_null(both);
    memcpy(both, first, first_len);
    memcpy(both + first_len, second, second_len);
    expect_bytes(both, first_len + second_len, bytes, len);
    free(bytes);
    free(first);
    free(second);
    free(both);
}

static void what_can_be_mapped_is_not_read(void **state) {
    (void)state;
    const umbel_foreign any = {.format = UMBEL_FMT_ANY};
    cli_filter_bytes got = cli_filter_bytes_of(name, &any, 0);
    assert_null(got.at);
    assert_true(got.fd >= 0);
    assert_int_equal(close(got.fd), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_loaded_filters_borrow_nothing),
        cmocka_unit_test(gzipped_files_are_read),
        cmocka_unit_test(all_lengths_are_read),
        cmocka_unit_test(gzip_of_several_members),
        cmocka_unit_test(what_can_be_mapped_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
