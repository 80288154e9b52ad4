/* SPDX-License-Identifier: MIT
 *
 * test_damaged_threads.c - threads that check the pieces of one view while they look keys up
 * labels: threads
 */
#include "cases.h"

#include <pthread.h>
#include <stdlib.h>

#include "kind/checked_pieces.h"
#include "kind_check.h"
#include "subjects.h"

enum { THREADS = 4, KEYS = 40000 };

typedef struct asker {
    const umbel_filter *filter;
    uint64_t from, missing, unsaid;
    pthread_t thread;
} asker;

/* Every other round in batches, which check more than a key does. */
static void *ask(void *arg) {
    enum { ROUNDS = 200, BATCH = 8 };
    asker *a = arg;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t numbers[BATCH];
        umbel_key keys[BATCH];
        uint8_t hit[BATCH];
        for (size_t i = 0; i < BATCH; i++) {
            numbers[i] = check_key(1, a->from + BATCH * round + i);
            keys[i] = (umbel_key){&numbers[i], sizeof *numbers};
            hit[i] = round % 2 ? umbel_contains(a->filter, &numbers[i], sizeof *numbers) : 1;
        }
        if (round % 2 == 0) umbel_contains_many(a->filter, keys, BATCH, hit);
        for (size_t i = 0; i < BATCH; i++) a->missing += !hit[i];
    }
    a->unsaid = umbel_damage(a->filter, NULL) == UMBEL_OK;
    return NULL;
}

/* Nothing is missing, and who got an answer from a damaged piece can ask why. */
static void ask_together(const uint8_t *bytes, size_t len, bool damaged) {
    asker askers[THREADS];
    umbel_filter *f = NULL;
    assert_ok(umbel_decode(bytes, len, UMBEL_MAP, NULL, NULL, &f, NULL));
    for (uint64_t t = 0; t < THREADS; t++) {
        askers[t] = (asker){.filter = f, .from = KEYS / THREADS * t};
        assert_int_equal(pthread_create(&askers[t].thread, NULL, ask, &askers[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(askers[t].thread, NULL);
        assert_int_equal(askers[t].missing, 0);
        assert_int_equal(askers[t].unsaid, !damaged);
    }
    assert_int_equal(umbeli_pieces_checked(f), 8);
    umbel_free(f);
}

static void test_threads(void **state) {
    (void)state;
    const umbel_kind kinds[] = {UMBEL_KIND_BLOCKED, UMBEL_KIND_CLASSIC, UMBEL_KIND_COUNTING};
    for (size_t kind = 0; kind < 3; kind++) {
        umbel_params params = {.kind = kinds[kind], .bytes = 8 * UMBELI_PIECE};
        if (kinds[kind] == UMBEL_KIND_CLASSIC) params.hashes = 5;
        umbel_filter *f = check_create(params);
        check_add(f, 1, 0, KEYS);
        size_t len;
        uint8_t *bytes = bytes_of(f, &len);
        umbel_free(f);
        for (int round = 0; round < 4; round++) ask_together(bytes, len, false);
        for (size_t i = 0; i < UMBELI_PIECE; i++) bytes[4096 + 2 * UMBELI_PIECE + i] = 0;
        for (int round = 0; round < 4; round++) ask_together(bytes, len, true);
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
