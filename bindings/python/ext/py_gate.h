/* SPDX-License-Identifier: MIT
 *
 * py_gate.h - which calls may use a filter at the same time
 *
 * The library allows any number of readers or one writer.  Calls that keep the GIL cannot meet each
 * other; calls that release it pass through the gate, and all others check whether somebody is
 * inside.  The counts change with both the GIL and the mutex held, so that either is enough to read
 * them.
 */
#ifndef UMBELPY_GATE_H
#define UMBELPY_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum umbelpy_use {
    UMBELPY_LOOKUP, /* reads bits that concurrent adds may set meanwhile                         */
    UMBELPY_ADD,    /* adds to a concurrent filter; to others it is UMBELPY_WRITE                */
    UMBELPY_WHOLE,  /* reads all bits and needs them to stay: checksums, copies                  */
    UMBELPY_WRITE,
    UMBELPY_USES
} umbelpy_use;

typedef struct umbelpy_gate {
    uint32_t inside; /* the sum of users, read and changed with the GIL alone */
    uint32_t users[UMBELPY_USES];
    uint32_t writers_waiting;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} umbelpy_gate;

bool umbelpy_gate_make(umbelpy_gate *gate);
void umbelpy_gate_end(umbelpy_gate *gate);

/* Returns when this use would disturb nobody inside, which stays true while the GIL is held. */
void umbelpy_gate_wait(umbelpy_gate *gate, umbelpy_use use);

/* Goes inside, to release the GIL there.  enter_both enters two gates together or neither, so that
 * no order of calls can deadlock; they must differ. */
void umbelpy_gate_enter(umbelpy_gate *gate, umbelpy_use use);
void umbelpy_gate_enter_both(umbelpy_gate *gate, umbelpy_use use, umbelpy_gate *other,
                             umbelpy_use other_use);
void umbelpy_gate_leave(umbelpy_gate *gate, umbelpy_use use);

#endif
