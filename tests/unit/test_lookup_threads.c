/* SPDX-License-Identifier: MIT
 *
 * test_lookup_threads.c - many threads ask while the owner of a source replaces its file
 * labels: threads
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "any_filter.h"
#include "native_file.h"
#include "umbel_lookup.h"

enum { READERS = 3, FILES = 60, NAMES = 300 };

/* Readers take what the owner has published last. */
typedef struct board {
    pthread_mutex_t lock;
    const umbel_lookup *now; /* held */
    atomic_bool ended;
    atomic_ulong asked, wrong;
} board;

/* File number i has these names, and those of no other file but for the one that all have. */
static void save(const char *path, int i) {
    char names[3][40];
    umbel_key keys[3];
    umbel_filter *f = NULL;
    snprintf(names[0], sizeof names[0], "always.example");
    snprintf(names[1], sizeof names[1], "only%d.example", i);
    snprintf(names[2], sizeof names[2], "twin%d.example", i);
    for (int k = 0; k < 3; k++) keys[k] = (umbel_key){names[k], strlen(names[k])};
    umbel_params params = {.kind = UMBEL_KIND_TIGHT, .fpr = 1e-9};
    assert_ok(build_from(&params, NULL, keys, 3, &f, NULL));
    assert_ok(umbel_set_recipe(f, "domain", NULL));
    assert_ok(umbel_file_save(f, UMBEL_FMT_NATIVE, path, NULL));
    umbel_free(f);
}

/* A lookup is one file: whatever has taken its place, its answers belong together. */
static void ask(board *b, const umbel_lookup *l) {
    static const char capital[] = "WWW.Always.Example.";
    char names[NAMES][40];
    umbel_key keys[NAMES];
    uint8_t hit[NAMES];
    int only = 0, twins = 0;
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "www.%s%d.example", i % 2 ? "only" : "twin", i / 2);
        keys[i] = (umbel_key){names[i], strlen(names[i])};
    }
    keys[NAMES - 1] = (umbel_key){capital, sizeof capital - 1};
    unsigned long wrong = umbel_lookup_texts(l, UMBEL_USE_KEY, keys, NAMES, hit, NULL, NULL) != 0;
    for (int i = 0; i < NAMES - 1; i++) {
        only += i % 2 && hit[i];
        twins += i % 2 == 0 && hit[i] && (i == NAMES - 2 || hit[i + 1]);
    }
    wrong += !hit[NAMES - 1] || only != 1 || twins != 1;
    atomic_fetch_add(&b->asked, 1);
    atomic_fetch_add(&b->wrong, wrong);
}

static void *reader(void *ctx) {
    board *b = ctx;
    do {
        pthread_mutex_lock(&b->lock);
        const umbel_lookup *l = b->now;
        umbel_lookup_hold(l);
        pthread_mutex_unlock(&b->lock);
        ask(b, l);
        umbel_lookup_free(l);
    } while (!atomic_load(&b->ended));
    return NULL;
}

static void publish(board *b, const umbel_lookup *l) {
    umbel_lookup_hold(l);
    pthread_mutex_lock(&b->lock);
    const umbel_lookup *old = b->now;
    b->now = l;
    pthread_mutex_unlock(&b->lock);
    umbel_lookup_free(old);
}

static void test_replaced_while_asked(void **state) {
    (void)state;
    char path[] = "/tmp/umbel-lookups-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    board b = {.lock = PTHREAD_MUTEX_INITIALIZER};
    umbel_source *s = NULL;
    save(path, 0);
    assert_ok(umbel_source_open(path, NULL, &s, NULL));
    publish(&b, umbel_source_now(s));
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, reader, &b), 0);
    }
    for (int i = 1; i <= FILES; i++) {
        if (i % 7 == 0) { /* a file of nonsense changes nothing */
            file_put(path, "nonsense", 8);
            assert_int_equal(umbel_source_refresh(s, NULL), UMBEL_EUNKNOWN);
        }
        save(path, i);
        assert_ok(umbel_source_refresh(s, NULL));
        publish(&b, umbel_source_now(s));
    }
    umbel_source_close(s);
    atomic_store(&b.ended, true);
    for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
    assert_true(atomic_load(&b.asked) >= READERS);
    assert_int_equal(atomic_load(&b.wrong), 0);
    umbel_lookup_free(b.now);
    pthread_mutex_destroy(&b.lock);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replaced_while_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
