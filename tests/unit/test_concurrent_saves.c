/* SPDX-License-Identifier: MIT
 *
 * test_concurrent_saves.c - several threads save one file while others map and load it
 *
 * labels: threads
 */
#define _DEFAULT_SOURCE /* mkdtemp, flock, usleep */
#include "cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "random_keys.h"

/* Every version has its own keys and none of the others': a reader sees one of them, complete. */
enum { VERSIONS = 3, KEYS = 300, READERS = 2, SAVES = 60, PER_READ = 40 };

static char folder[64], path[128], lock_file[128];
static key_set sets[VERSIONS];
static umbel_filter *filters[VERSIONS];
static _Atomic unsigned savers_left;
static _Atomic uint64_t wrong, failed, reads;
static _Atomic bool released;

static int open_stage(void **state) {
    random_start(state);
    strcpy(folder, "/tmp/umbel-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/a.umb", folder);
    snprintf(lock_file, sizeof lock_file, "%s/a.umb.umbel-lock", folder);
    for (size_t v = 0; v < VERSIONS; v++) {
        umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .capacity = KEYS, .fpr = 1e-9};
        sets[v] = random_keys(KEYS, v + 1);
        if (umbel_create(&params, NULL, &filters[v], NULL)) return -1;
        if (umbel_add_many(filters[v], sets[v].keys, KEYS, NULL, NULL, NULL)) return -1;
    }
    return umbel_file_save(filters[0], UMBEL_FMT_NATIVE, path, NULL) ? -1 : 0;
}

static int close_stage(void **state) {
    (void)state;
    for (size_t v = 0; v < VERSIONS; v++) {
        free_keys(&sets[v]);
        umbel_free(filters[v]);
    }
    return unlink(path) || rmdir(folder);
}

static size_t files_in_folder(void) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));) n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Which version a filter is; VERSIONS if it is none of them, or a mixture. */
static size_t version_of(const umbel_filter *f) {
    uint8_t hit[KEYS];
    size_t found = VERSIONS;
    for (size_t v = 0; v < VERSIONS; v++) {
        size_t hits = 0;
        umbel_contains_many(f, sets[v].keys, KEYS, hit);
        for (size_t i = 0; i < KEYS; i++) hits += hit[i];
        if (hits == 0) continue;
        if (hits != KEYS || found != VERSIONS) return VERSIONS;
        found = v;
    }
    return found;
}

static void *save_often(void *arg) {
    const size_t v = *(const size_t *)arg;
    for (size_t i = 0; i < SAVES; i++) {
        if (umbel_file_save(filters[v], UMBEL_FMT_NATIVE, path, NULL)) atomic_fetch_add(&failed, 1);
    }
    atomic_fetch_sub(&savers_left, 1);
    return NULL;
}

/* Queries one mapping many times while the file is replaced under it. */
static void *read_often(void *arg) {
    const bool map = *(const size_t *)arg % 2 == 0;
    while (atomic_load(&savers_left) > 0) {
        umbel_filter *f = NULL;
        umbel_err e = umbel_file_open(path, map ? UMBEL_MAP : UMBEL_LOAD, NULL, NULL, &f, NULL);
        if (e) {
            atomic_fetch_add(&failed, 1);
            continue;
        }
        size_t first = version_of(f);
        for (size_t i = 0; i < PER_READ; i++) {
            size_t now = version_of(f);
            if (now != first || now == VERSIONS) atomic_fetch_add(&wrong, 1);
        }
        umbel_free(f);
        atomic_fetch_add(&reads, 1);
    }
    return NULL;
}

static void test_old_or_new(void **state) {
    (void)state;
    pthread_t savers[VERSIONS], readers[READERS];
    size_t numbers[VERSIONS] = {0, 1, 2};
    atomic_store(&savers_left, VERSIONS);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&readers[i], NULL, read_often, &numbers[i]), 0);
    }
    for (size_t i = 0; i < VERSIONS; i++) {
        assert_int_equal(pthread_create(&savers[i], NULL, save_often, &numbers[i]), 0);
    }
    for (size_t i = 0; i < VERSIONS; i++) pthread_join(savers[i], NULL);
    for (size_t i = 0; i < READERS; i++) pthread_join(readers[i], NULL);
    print_message("# %d saves, %d reads\n", VERSIONS * SAVES, (int)reads);
    assert_int_equal(failed, 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(files_in_folder(), 1);
    assert_ok(umbel_file_open(path, UMBEL_VERIFY, NULL, NULL, NULL, NULL));
}

static void *save_once(void *arg) {
    (void)arg;
    if (umbel_file_save(filters[1], UMBEL_FMT_NATIVE, path, NULL)) atomic_fetch_add(&failed, 1);
    if (!atomic_load(&released)) atomic_fetch_add(&wrong, 1);
    return NULL;
}

/* A save waits for whoever holds the lock, and then has it. */
static void test_turns(void **state) {
    (void)state;
    int fd = open(lock_file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    pthread_t saver;
    assert_int_equal(pthread_create(&saver, NULL, save_once, NULL), 0);
    usleep(50000); /* time to get it wrong */
    assert_int_equal(write(fd, "mine", 4), 4);
    assert_int_equal(access(lock_file, F_OK), 0);
    atomic_store(&released, true);
    close(fd);
    pthread_join(saver, NULL);
    assert_int_equal(failed, 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(files_in_folder(), 1);
}

/* An update keeps others away from before its first save until it ends; who waits for it need not
 * wait for ever. */
static void test_updates(void **state) {
    (void)state;
    umbel_update *mine = NULL, *theirs = NULL;
    umbel_diag diag = {0};
    assert_ok(umbel_update_begin(path, 0, &mine, &diag));
    assert_null(diag.what);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(umbel_update_begin(path, i * 0.01, &theirs, &diag), UMBEL_EIO);
        assert_int_equal(diag.sys, EWOULDBLOCK);
        assert_null(theirs);
        assert_ok(umbel_update_save(mine, filters[i], UMBEL_FMT_NATIVE, &diag));
        assert_int_equal(files_in_folder(), 2); /* the filter and the lock */
    }
    umbel_update_end(mine);
    assert_int_equal(files_in_folder(), 1);
    assert_ok(umbel_update_begin(path, 0, &theirs, &diag));
    umbel_update_end(theirs);
    umbel_update_end(NULL);
    assert_int_equal(files_in_folder(), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old_or_new),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_updates),
    };
    return cmocka_run_group_tests(tests, open_stage, close_stage);
}
