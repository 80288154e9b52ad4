/* SPDX-License-Identifier: MIT
 *
 * test_concurrent.c - many threads on one `concurrent` filter, and batches over threads
 *
 * labels: threads
 */
#include "any_filter.h"
#include "cases.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "random_keys.h"
#include "subjects.h"

enum { THREADS = 4, N = 20000 };

typedef struct stage {
    umbel_filter *f;
    key_set set;
    _Atomic size_t acknowledged; /* keys below it are in, according to the thread that added them */
    _Atomic uint64_t fresh[N];   /* how many threads saw the key as new */
    _Atomic bool done;
    _Atomic uint64_t lost;
} stage;

typedef struct worker {
    stage *on;
    size_t number;
    pthread_t thread;
} worker;

static stage shared;

static void stage_open(void) {
    shared.f = subject_create(subject_called("blocked, atomic"),
                              (umbel_params){.capacity = N, .fpr = 0.001}, NULL);
    shared.set = random_keys(N, 1);
    atomic_store(&shared.acknowledged, 0);
    atomic_store(&shared.done, false);
    atomic_store(&shared.lost, 0);
    for (size_t i = 0; i < N; i++) atomic_store(&shared.fresh[i], 0);
}

static void stage_close(void) {
    free_keys(&shared.set);
    umbel_free(shared.f);
}

static void run_all(void *(*work)(void *)) {
    worker workers[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        workers[t] = (worker){.on = &shared, .number = t};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, work, &workers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) pthread_join(workers[t].thread, NULL);
}

static void assert_as_sequential(void) {
    umbel_filter *one = subject_create(subject_called("blocked, generic"),
                                       (umbel_params){.capacity = N, .fpr = 0.001}, NULL);
    assert_ok(umbel_add_many(one, shared.set.keys, N, NULL, NULL, NULL));
    assert_true(umbel_equal(one, shared.f));
    umbel_free(one);
}

/* All threads add all keys, each from a different start, so that they collide. */
static void *add_everything(void *arg) {
    const worker *w = arg;
    stage *s = w->on;
    for (size_t i = 0; i < N; i++) {
        size_t k = w->number % 2 ? N - 1 - i : i;
        bool was_new = false;
        umbel_add(s->f, s->set.keys[k].data, s->set.keys[k].len, &was_new, NULL);
        if (was_new) atomic_fetch_add_explicit(&s->fresh[k], 1, memory_order_relaxed);
        if (!umbel_contains(s->f, s->set.keys[k].data, s->set.keys[k].len)) {
            atomic_fetch_add(&s->lost, 1);
        }
    }
    return NULL;
}

static void test_same_keys_at_once(void **state) {
    (void)state;
    stage_open();
    run_all(add_everything);
    assert_int_equal(shared.lost, 0);
    assert_as_sequential();
    /* A key that no thread saw as new must have had all its bits set by others: a false positive,
     * of which there are few at this rate. */
    uint64_t unseen = 0, seen = 0;
    for (size_t i = 0; i < N; i++) {
        unseen += shared.fresh[i] == 0;
        seen += shared.fresh[i];
    }
    assert_true(unseen < N / 500);
    assert_int_equal(keys_added(shared.f), seen);
    stage_close();
}

/* One key, many threads, an empty filter: at least one must see it as new. */
static void *add_one(void *arg) {
    stage *s = ((worker *)arg)->on;
    size_t k = atomic_load(&s->acknowledged);
    bool was_new = false;
    umbel_add(s->f, s->set.keys[k].data, s->set.keys[k].len, &was_new, NULL);
    if (was_new) atomic_fetch_add(&s->fresh[k], 1);
    return NULL;
}

static void test_somebody_sees_it_as_new(void **state) {
    (void)state;
    stage_open();
    for (size_t k = 0; k < 200; k++) {
        assert_ok(umbel_clear(shared.f, NULL));
        atomic_store(&shared.acknowledged, k);
        run_all(add_one);
        assert_true(shared.fresh[k] >= 1 && shared.fresh[k] <= THREADS);
    }
    stage_close();
}

/* Thread 0 adds in order and publishes its progress; the others must find all keys up to there. */
static void *add_or_look(void *arg) {
    const worker *w = arg;
    stage *s = w->on;
    if (w->number == 0) {
        for (size_t i = 0; i < N; i++) {
            umbel_add(s->f, s->set.keys[i].data, s->set.keys[i].len, NULL, NULL);
            atomic_store_explicit(&s->acknowledged, i + 1, memory_order_release);
        }
        atomic_store(&s->done, true);
        return NULL;
    }
    uint8_t hit[64];
    while (!atomic_load(&s->done)) {
        size_t known = atomic_load_explicit(&s->acknowledged, memory_order_acquire);
        size_t from = known > 64 ? known - 64 : 0;
        umbel_contains_many(s->f, s->set.keys + from, known - from, hit);
        for (size_t i = 0; i < known - from; i++) {
            if (!hit[i]) atomic_fetch_add(&s->lost, 1);
        }
    }
    return NULL;
}

static void test_readers_see_what_was_acknowledged(void **state) {
    (void)state;
    stage_open();
    run_all(add_or_look);
    assert_int_equal(shared.lost, 0);
    assert_as_sequential();
    stage_close();
}

/* Every thread adds its own batches, alternating keys and hashes. */
static void *add_batches(void *arg) {
    const worker *w = arg;
    stage *s = w->on;
    size_t each = N / THREADS, from = w->number * each;
    umbel_add_many(s->f, s->set.keys + from, each / 2, NULL, NULL, NULL);
    key_set rest = {.keys = s->set.keys + from + each / 2, .n = each - each / 2};
    uint64_t *hashes = hashes_of(s->f, &rest);
    umbel_add_hashes(s->f, hashes, rest.n, NULL, NULL, NULL);
    free(hashes);
    return NULL;
}

static void test_batches_at_once(void **state) {
    (void)state;
    stage_open();
    run_all(add_batches);
    assert_as_sequential();
    assert_true(keys_added(shared.f) > N - N / 500);
    stage_close();
}

/* Every thread adds its own keys, and all of them those of a last part, one by one. */
static void *add_share(void *arg) {
    const worker *w = arg;
    stage *s = w->on;
    size_t shared_from = s->set.n - s->set.n / 10;
    for (size_t i = 0; i < s->set.n; i++) {
        if (i < shared_from && i % THREADS != w->number) continue;
        umbel_add(s->f, s->set.keys[i].data, s->set.keys[i].len, NULL, NULL);
    }
    return NULL;
}

/* The same ones whatever the seed: of others, one set in four hundred is further off by chance. */
static key_set numbers(size_t n) {
    key_set set = {.keys = calloc(n + 1, sizeof *set.keys), .n = n, .bytes = malloc(8 * n + 8)};
    assert_true(set.keys && set.bytes);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = umbel_mix(i);
        set.keys[i] = (umbel_key){memcpy(set.bytes + 8 * i, &number, 8), 8};
    }
    return set;
}

/* Within three standard errors, or the rounding of a count, from empty to 4 times the plan. */
static void test_keys(void **state) {
    (void)state;
    static const double fills[] = {0, 0.001, 0.1, 0.5, 1, 2, 4}, rates[] = {0.3, 0.01, 1e-4};
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subjects[i].concurrent || !subject_runs(&subjects[i])) continue;
        for (size_t p = 0; p < 3; p++) {
            for (size_t x = 0; x < 7; x++) {
                umbel_params params = {.capacity = N / 2, .fpr = rates[p]};
                size_t n = (size_t)(fills[x] * N / 2);
                shared.f = subject_create(&subjects[i], params, NULL);
                shared.set = numbers(n);
                run_all(add_share);
                umbel_measurement now = measured(shared.f);
                print_message("# %s, %g, %zu keys: said %.1f give or take %.1f\n", subjects[i].name,
                              rates[p], n, now.keys, now.keys_error);
                assert_true(fabs(now.keys - (double)n) <= 3 * now.keys_error + 1);
                stage_close();
            }
        }
    }
}

/* Readers of one filter share it without a lock, whatever the kind. */
static void *look(void *arg) {
    const worker *w = arg;
    stage *s = w->on;
    umbel_info info;
    for (size_t i = 0; i < N; i++) {
        if (!umbel_contains(s->f, s->set.keys[i].data, s->set.keys[i].len)) {
            atomic_fetch_add(&s->lost, 1);
        }
    }
    umbel_describe(s->f, &info);
    (void)measured(s->f);
    return NULL;
}

static void test_readers(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        if (!subject_runs(&subjects[i])) continue;
        stage_open();
        umbel_free(shared.f);
        shared.f = subject_create(&subjects[i], (umbel_params){.capacity = N, .fpr = 0.01}, NULL);
        assert_ok(umbel_add_many(shared.f, shared.set.keys, N, NULL, NULL, NULL));
        run_all(look);
        assert_int_equal(shared.lost, 0);
        stage_close();
    }
}

/* A million keys over threads through the API: the same bytes and answers as sequentially. */
static void test_parallel_batch(void **state) {
    (void)state;
    enum { MANY = 1024 * 1024 + 17, SLICE = 65536 };
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 17 << 20};
    umbel_filter *one = NULL, *parallel = NULL;
    umbel_opts opts = {.threads = 3};
    assert_ok(umbel_create(&params, NULL, &one, NULL));
    assert_ok(umbel_create(&params, &opts, &parallel, NULL));
    key_set set = random_keys(MANY, 2);
    uint8_t *want = malloc(MANY), *got = malloc(MANY);
    assert_true(want && got);
    for (size_t i = 0; i < MANY; i += SLICE) {
        size_t n = MANY - i < SLICE ? MANY - i : SLICE;
        assert_ok(umbel_add_many(one, set.keys + i, n, want + i, NULL, NULL));
    }
    assert_ok(umbel_add_many(parallel, set.keys, MANY, got, NULL, NULL));
    assert_memory_equal(want, got, MANY);
    assert_same_bytes(one, parallel);
    umbel_contains_many(parallel, set.keys, MANY, got);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(got[i], 1);
    free(want);
    free(got);
    free_keys(&set);
    umbel_free(one);
    umbel_free(parallel);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_keys_at_once),
        cmocka_unit_test(test_somebody_sees_it_as_new),
        cmocka_unit_test(test_readers_see_what_was_acknowledged),
        cmocka_unit_test(test_batches_at_once),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_parallel_batch),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
