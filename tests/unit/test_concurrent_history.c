/* SPDX-License-Identifier: MIT
 *
 * test_concurrent_history.c - no acknowledged add is missed by a later contains in another thread
 *
 * Writers add, each its own keys, in every possible way, and then publish their progress (release).
 * Readers observe it (acquire) and query in every possible way.  What was published to a reader, or
 * was once found, is in from then on, for every thread.
 *
 * labels: threads
 */
#define _DEFAULT_SOURCE /* sched_yield */
#include "cases.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/cpu.h"
#include "random_keys.h"

enum { WRITERS = 3, READERS = 3, KEYS = 30000, BATCH = 50 };

typedef struct log {
    key_set set;
    uint64_t *hashes;
    _Atomic size_t acknowledged; /* keys below it are in */
    _Atomic size_t seen;         /* a reader saw all keys below it */
} log;

static umbel_filter *f;
static log logs[WRITERS];
static _Atomic unsigned writing, waiting;
static _Atomic uint64_t missed, asked;

typedef struct worker {
    pthread_t thread;
    size_t number;
    uint64_t random;
} worker;

static uint64_t next_random(worker *w) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    return w->random ^= w->random << 17;
}

static void start_together(void) {
    atomic_fetch_sub(&waiting, 1);
    while (atomic_load(&waiting)) sched_yield();
}

static size_t add_some(log *l, size_t at, uint64_t how) {
    size_t n = KEYS - at < BATCH ? KEYS - at : BATCH;
    switch (how % 3) {
    case 0: umbel_add(f, l->set.keys[at].data, l->set.keys[at].len, NULL, NULL); return 1;
    case 1: umbel_add_many(f, l->set.keys + at, n, NULL, NULL, NULL); return n;
    default: umbel_add_hashes(f, l->hashes + at, n, NULL, NULL, NULL); return n;
    }
}

/* On a busy machine a writer could otherwise finish before a reader has begun. */
static void let_readers_ask(void) {
    uint64_t before = atomic_load(&asked);
    while (atomic_load(&asked) == before) sched_yield();
}

static void *write_log(void *arg) {
    worker *w = arg;
    log *l = &logs[w->number];
    start_together();
    for (size_t at = 0, pause = 0; at < KEYS;) {
        at += add_some(l, at, next_random(w));
        atomic_store_explicit(&l->acknowledged, at, memory_order_release);
        if (at < pause) continue;
        let_readers_ask();
        pause = at + KEYS / 30;
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

/* Keys [from, from + n) must be in. */
static void ask(const log *l, size_t from, size_t n, uint64_t how) {
    uint8_t hit[BATCH];
    memset(hit, 0, sizeof hit);
    if (how % 3 == 0) {
        for (size_t i = 0; i < n; i++) {
            hit[i] = umbel_contains(f, l->set.keys[from + i].data, l->set.keys[from + i].len);
        }
    } else if (how % 3 == 1) {
        umbel_contains_many(f, l->set.keys + from, n, hit);
    } else {
        umbel_contains_hashes(f, l->hashes + from, n, hit);
    }
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) hits += hit[i];
    atomic_fetch_add_explicit(&asked, n, memory_order_relaxed);
    if (hits < n) atomic_fetch_add(&missed, n - hits);
}

/* The most recently published keys are the likeliest to be missed. */
static void *read_logs(void *arg) {
    worker *w = arg;
    start_together();
    while (atomic_load(&writing)) {
        uint64_t r = next_random(w);
        log *l = &logs[r % WRITERS];
        size_t known = atomic_load_explicit(&l->acknowledged, memory_order_acquire);
        size_t seen = atomic_load_explicit(&l->seen, memory_order_acquire);
        if (seen > known) known = seen;
        size_t n = known < BATCH ? known : BATCH;
        size_t from = r >> 8 & 1 ? known - n : (size_t)((r >> 16) % (known - n + 1));
        ask(l, from, n, r >> 40);
        atomic_store_explicit(&l->seen, known, memory_order_release);
    }
    return NULL;
}

static void open_history(umbel_params params) {
    params.kind = UMBEL_KIND_BLOCKED;
    params.concurrent = true;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    for (size_t i = 0; i < WRITERS; i++) {
        logs[i].set = random_keys(KEYS, i + 1);
        logs[i].hashes = hashes_of(f, &logs[i].set);
        atomic_store(&logs[i].acknowledged, 0);
        atomic_store(&logs[i].seen, 0);
    }
    atomic_store(&missed, 0);
    atomic_store(&asked, 0);
    atomic_store(&writing, WRITERS);
    atomic_store(&waiting, WRITERS + READERS);
}

/* At the end all are in, with the bits that a single thread would have set. */
static void close_history(umbel_params params) {
    umbel_filter *one = NULL;
    params.kind = UMBEL_KIND_BLOCKED;
    assert_ok(umbel_create(&params, NULL, &one, NULL));
    for (size_t i = 0; i < WRITERS; i++) {
        for (size_t at = 0; at < KEYS; at += BATCH) ask(&logs[i], at, BATCH, at);
        assert_ok(umbel_add_many(one, logs[i].set.keys, KEYS, NULL, NULL, NULL));
        free_keys(&logs[i].set);
        free(logs[i].hashes);
    }
    assert_int_equal(missed, 0);
    assert_true(umbel_equal(one, f));
    umbel_free(one);
    umbel_free(f);
}

static void run_history(umbel_params params) {
    worker workers[WRITERS + READERS];
    open_history(params);
    for (size_t i = 0; i < WRITERS + READERS; i++) {
        workers[i].number = i;
        workers[i].random = random_word() | 1;
        int e = pthread_create(&workers[i].thread, NULL, i < WRITERS ? write_log : read_logs,
                               &workers[i]);
        assert_int_equal(e, 0);
    }
    for (size_t i = 0; i < WRITERS + READERS; i++) pthread_join(workers[i].thread, NULL);
    print_message("# %llu answers\n", (unsigned long long)asked);
    close_history(params);
}

static void test_roomy(void **state) {
    (void)state;
    run_history((umbel_params){.capacity = WRITERS * KEYS, .fpr = 1e-6});
}

/* Few blocks, so that writers collide in every one of them. */
static void test_crowded(void **state) {
    (void)state;
    run_history((umbel_params){.bytes = 64 * 1024});
}

/* ---- the same word at the same moment ------------------------------------------------------- */

enum { ROUNDS = 4000, A_ROUND = 20, SPINS = 2000 };

static _Atomic unsigned round_now, round_done;

/* Spins first: all threads must start at the same moment. */
static void await_round(unsigned number) {
    for (unsigned spins = 0; atomic_load(&round_now) < number; spins++) {
        if (spins > SPINS) sched_yield();
    }
}

static void *add_in_rounds(void *arg) {
    const worker *w = arg;
    for (unsigned r = 1; r <= ROUNDS; r++) {
        const umbel_key *keys = logs[w->number].set.keys + r % (KEYS / A_ROUND) * A_ROUND;
        await_round(r);
        for (size_t i = 0; i < A_ROUND; i++) umbel_add(f, keys[i].data, keys[i].len, NULL, NULL);
        atomic_fetch_add(&round_done, 1);
    }
    return NULL;
}

/* A filter of a few words, cleared again and again: an add that clears another's bits is detected
 * at the end of its round. */
static void test_same_words(void **state) {
    (void)state;
    worker workers[WRITERS];
    open_history((umbel_params){.bytes = 256});
    atomic_store(&round_now, 0);
    atomic_store(&round_done, 0);
    for (size_t i = 0; i < WRITERS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, add_in_rounds, &workers[i]), 0);
    }
    for (unsigned r = 1; r <= ROUNDS; r++) {
        atomic_store(&round_now, r);
        while (atomic_load(&round_done) < r * WRITERS) sched_yield();
        for (size_t i = 0; i < WRITERS; i++) {
            ask(&logs[i], r % (KEYS / A_ROUND) * A_ROUND, A_ROUND, r);
        }
        assert_ok(umbel_clear(f, NULL));
    }
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(workers[i].thread, NULL);
        free_keys(&logs[i].set);
        free(logs[i].hashes);
    }
    assert_int_equal(missed, 0);
    umbel_free(f);
}

/* ---- batches of a million ----------------------------------------------------------------- */

enum { MILLION = 1 << 20, HALVES = 2 };

static key_set million;

static void *add_half(void *arg) {
    const worker *w = arg;
    start_together();
    /* The halves overlap, so that both write the same blocks with the same and other keys. */
    umbel_add_many(f, million.keys + w->number * (MILLION / 8), MILLION, NULL, NULL, NULL);
    return NULL;
}

/* Large batches of several simultaneous callers, each with its own threads. */
static void test_batches_at_once(void **state) {
    (void)state;
    umbel_params params = {.kind = UMBEL_KIND_BLOCKED, .bytes = 17 << 20, .concurrent = true};
    umbel_opts opts = {.threads = 2};
    assert_ok(umbel_create(&params, &opts, &f, NULL));
    million = random_keys(MILLION + MILLION / 8, 9);
    worker workers[HALVES];
    atomic_store(&waiting, HALVES);
    for (size_t i = 0; i < HALVES; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, add_half, &workers[i]), 0);
    }
    for (size_t i = 0; i < HALVES; i++) pthread_join(workers[i].thread, NULL);
    umbel_filter *one = NULL;
    params.concurrent = false;
    assert_ok(umbel_create(&params, NULL, &one, NULL));
    for (size_t at = 0; at < million.n; at += 65536) {
        size_t n = million.n - at < 65536 ? million.n - at : 65536;
        assert_ok(umbel_add_many(one, million.keys + at, n, NULL, NULL, NULL));
    }
    assert_true(umbel_equal(one, f));
    free_keys(&million);
    umbel_free(one);
    umbel_free(f);
}

/* ---- every way to write, at the same time ---- */

enum { WAYS = 4, EACH = 40000, OFTEN = 5 };

static key_set ways[WAYS];
static umbel_filter *others; /* has the keys of the last way */

static void *write_in_a_way(void *arg) {
    const worker *w = arg;
    const key_set *set = &ways[w->number];
    start_together();
    for (size_t i = 0; w->number == 0 && i < EACH; i++) {
        umbel_add(f, set->keys[i].data, set->keys[i].len, NULL, NULL);
    }
    if (w->number == 1) umbel_add_many(f, set->keys, EACH, NULL, NULL, NULL);
    if (w->number == 2) {
        uint64_t *hashes = hashes_of(f, set);
        umbel_add_hashes(f, hashes, EACH, NULL, NULL, NULL);
        free(hashes);
    }
    if (w->number == 3) umbel_merge(f, others, NULL);
    return NULL;
}

/* Single keys, batches and a merge into one filter lose nothing of each other's. */
static void write_at_once(umbel_params params, uint32_t cpu) {
    umbel_filter *one = NULL;
    worker workers[WAYS];
    params.concurrent = true;
    umbeli_cpu_limit(cpu);
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    umbeli_cpu_limit(UINT32_MAX);
    params.concurrent = false;
    assert_ok(umbel_create(&params, NULL, &one, NULL));
    assert_ok(umbel_create(&params, NULL, &others, NULL));
    for (size_t i = 0; i < WAYS; i++) ways[i] = random_keys(EACH, 20 + i);
    for (size_t i = 0; i < WAYS; i++) {
        assert_ok(umbel_add_many(one, ways[i].keys, EACH, NULL, NULL, NULL));
    }
    assert_ok(umbel_add_many(others, ways[WAYS - 1].keys, EACH, NULL, NULL, NULL));
    for (size_t turn = 0; turn < OFTEN; turn++) {
        assert_ok(umbel_clear(f, NULL));
        atomic_store(&waiting, WAYS);
        for (size_t i = 0; i < WAYS; i++) {
            workers[i].number = i;
            assert_int_equal(pthread_create(&workers[i].thread, NULL, write_in_a_way, &workers[i]),
                             0);
        }
        for (size_t i = 0; i < WAYS; i++) pthread_join(workers[i].thread, NULL);
        assert_true(umbel_equal(one, f));
    }
    for (size_t i = 0; i < WAYS; i++) free_keys(&ways[i]);
    umbel_free(others);
    umbel_free(one);
    umbel_free(f);
}

static void test_every_writer(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1 << 16, 9 << 20};
    for (size_t i = 0; i < 2; i++) { /* ThreadSanitizer sees only what kernels for any CPU do */
        write_at_once((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = sizes[i]}, UINT32_MAX);
        write_at_once((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = sizes[i]}, 0);
        write_at_once((umbel_params){.kind = UMBEL_KIND_LINE, .bytes = sizes[i]}, UINT32_MAX);
        write_at_once((umbel_params){.kind = UMBEL_KIND_LINE, .bytes = sizes[i]}, 0);
    }
}

/* A batch answers as it does on a plain filter, whatever order its keys are added in. */
static void answers_as_plain(umbel_params params) {
    enum { N = 50000 };
    umbel_filter *plain = NULL;
    static uint64_t hashes[N];
    static uint8_t want[N], got[N];
    for (size_t i = 0; i < N; i++) { /* each key about twice */
        hashes[i] = (uint64_t)(i * 7919 % 24593) * UINT64_C(0x9e3779b97f4a7c15);
    }
    assert_ok(umbel_create(&params, NULL, &plain, NULL));
    params.concurrent = true;
    assert_ok(umbel_create(&params, NULL, &f, NULL));
    assert_ok(umbel_add_hashes(plain, hashes, N, want, NULL, NULL));
    assert_ok(umbel_add_hashes(f, hashes, N, got, NULL, NULL));
    assert_memory_equal(want, got, N);
    assert_true(umbel_equal(plain, f));
    umbel_info info[2];
    umbel_describe(plain, &info[0]);
    umbel_describe(f, &info[1]);
    assert_int_equal(info[0].keys_added, info[1].keys_added);
    umbel_free(plain);
    umbel_free(f);
}

static void test_answers(void **state) {
    (void)state;
    for (uint64_t bytes = 1 << 8; bytes <= 16 << 20; bytes *= 16) {
        answers_as_plain((umbel_params){.kind = UMBEL_KIND_BLOCKED, .bytes = bytes});
        answers_as_plain((umbel_params){.kind = UMBEL_KIND_LINE, .bytes = bytes});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roomy),        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_same_words),   cmocka_unit_test(test_batches_at_once),
        cmocka_unit_test(test_every_writer), cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, random_start, NULL);
}
