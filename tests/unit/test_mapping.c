/* SPDX-License-Identifier: MIT
 *
 * test_mapping.c - files mapped for reading, what cannot be, and that nothing stays mapped
 */
#define _DEFAULT_SOURCE /* mkdtemp, mkfifo, mincore */
#include "cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/filter.h"
#include "core/mapping.h"

static char folder[] = "/tmp/umbel-mapping-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static void write_file(const void *bytes, size_t len) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static bool is_mapped(void *bytes) {
    unsigned char resident;
    return mincore(bytes, 1, &resident) == 0;
}

static void test_bytes(void **state) {
    (void)state;
    umbeli_mapping m = {0};
    write_file("twelve bytes", 12);
    errno = 7;
    assert_ok(umbeli_mapping_open(path, &m, NULL));
    umbeli_mapping_sequential(&m);
    assert_int_equal(m.len, 12);
    assert_memory_equal(m.bytes, "twelve bytes", 12);
    assert_true(is_mapped(m.bytes));
    umbeli_mapping_close(m.bytes, m.len);
    assert_int_equal(errno, 7);
    assert_false(is_mapped(m.bytes));
    unlink(path);
}

static void test_empty_file(void **state) {
    (void)state;
    umbeli_mapping m = {(void *)path, 1};
    write_file("", 0);
    assert_ok(umbeli_mapping_open(path, &m, NULL));
    assert_null(m.bytes);
    assert_int_equal(m.len, 0);
    umbeli_mapping_sequential(&m);
    umbeli_mapping_close(m.bytes, m.len);
    unlink(path);
}

static void refused(const char *name, int sys) {
    umbeli_mapping m = {0};
    umbel_diag diag = {0};
    errno = 7;
    assert_int_equal(umbeli_mapping_open(name, &m, &diag), UMBEL_EIO);
    assert_int_equal(errno, 7);
    assert_int_equal(diag.sys, sys);
    assert_non_null(diag.what);
    assert_null(m.bytes);
    assert_int_equal(m.len, 0);
    assert_int_equal(umbeli_mapping_open(name, &m, NULL), UMBEL_EIO);
}

static void test_what_is_no_file(void **state) {
    (void)state;
    refused(path, ENOENT);
    refused(folder, EISDIR);
    refused("/dev/null", ENODEV);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(path, ENODEV); /* and does not wait for a writer */
    unlink(path);
}

/* What a view borrows goes with it. */
static void test_views_unmap(void **state) {
    (void)state;
    umbel_filter *f = NULL, *view = NULL;
    assert_ok(umbel_create(&(umbel_params){.capacity = 1000, .fpr = 0.01}, NULL, &f, NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    assert_ok(umbel_file_open(path, UMBEL_MAP, NULL, NULL, &view, NULL));
    void *mapping = view->mapping;
    assert_true(view->mapping_len > 0 && is_mapped(mapping));
    umbel_free(view);
    assert_false(is_mapped(mapping));
    umbel_free(f);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_empty_file),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_views_unmap),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
