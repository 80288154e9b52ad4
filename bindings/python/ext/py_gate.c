/* SPDX-License-Identifier: MIT */
#include "py_gate.h"

#include "py_umbel.h"

static const bool clash[UMBELPY_USES][UMBELPY_USES] = {
    [UMBELPY_LOOKUP] = {[UMBELPY_WRITE] = true},
    [UMBELPY_ADD] = {[UMBELPY_WHOLE] = true, [UMBELPY_WRITE] = true},
    [UMBELPY_WHOLE] = {[UMBELPY_ADD] = true, [UMBELPY_WRITE] = true},
    [UMBELPY_WRITE] = {true, true, true, true},
};

bool umbelpy_gate_make(umbelpy_gate *gate) {
    if (pthread_mutex_init(&gate->mutex, NULL)) return false;
    if (!pthread_cond_init(&gate->changed, NULL)) return true;
    pthread_mutex_destroy(&gate->mutex);
    return false;
}

void umbelpy_gate_end(umbelpy_gate *gate) {
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

static bool is_free(const umbelpy_gate *gate, umbelpy_use use) {
    for (int other = 0; other < UMBELPY_USES; other++) {
        if (clash[use][other] && gate->users[other]) return false;
    }
    return true;
}

/* Changes a count, and wakes everybody to check again. */
static void count(umbelpy_gate *gate, uint32_t *what, uint32_t change) {
    pthread_mutex_lock(&gate->mutex);
    *what += change;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* Batches of lookups that always overlap would keep writers out forever, so they let waiting
 * writers go first. */
static bool is_open(const umbelpy_gate *gate, umbelpy_use use, bool polite) {
    return is_free(gate, use) && !(polite && gate->writers_waiting);
}

static void wait_until_open(umbelpy_gate *gate, umbelpy_use use, bool polite) {
    while (!is_open(gate, use, polite)) { /* check again, because others wake up too */
        PyThreadState *thread = PyEval_SaveThread();
        pthread_mutex_lock(&gate->mutex);
        while (!is_open(gate, use, polite)) pthread_cond_wait(&gate->changed, &gate->mutex);
        pthread_mutex_unlock(&gate->mutex);
        PyEval_RestoreThread(thread);
    }
}

void umbelpy_gate_wait(umbelpy_gate *gate, umbelpy_use use) {
    if (is_free(gate, use)) return;
    if (use == UMBELPY_WRITE) count(gate, &gate->writers_waiting, 1);
    wait_until_open(gate, use, false);
    if (use == UMBELPY_WRITE) count(gate, &gate->writers_waiting, (uint32_t)-1);
}

static void go_in(umbelpy_gate *gate, umbelpy_use use) {
    gate->inside++;
    count(gate, &gate->users[use], 1);
}

void umbelpy_gate_enter(umbelpy_gate *gate, umbelpy_use use) {
    if (use == UMBELPY_LOOKUP) {
        wait_until_open(gate, use, true);
    } else {
        umbelpy_gate_wait(gate, use);
    }
    go_in(gate, use);
}

void umbelpy_gate_enter_both(umbelpy_gate *gate, umbelpy_use use, umbelpy_gate *other,
                             umbelpy_use other_use) {
    while (!is_free(gate, use) || !is_free(other, other_use)) {
        umbelpy_gate_wait(gate, use);
        umbelpy_gate_wait(other, other_use);
    }
    go_in(gate, use);
    go_in(other, other_use);
}

void umbelpy_gate_leave(umbelpy_gate *gate, umbelpy_use use) {
    gate->inside--;
    count(gate, &gate->users[use], (uint32_t)-1);
}
