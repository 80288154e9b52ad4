/* SPDX-License-Identifier: MIT
 *
 * py_answers.h - where the answers of a batch go
 */
#ifndef UMBELPY_ANSWERS_H
#define UMBELPY_ANSWERS_H

#include "py_umbel.h"

typedef struct umbelpy_answers {
    PyObject *result; /* to be returned                                                          */
    Py_buffer view;   /* of what the caller gave; view.obj NULL: nothing                         */
    void *bytes;
} umbelpy_answers;

/* Room for n items of `width` bytes, 1 or 8: in `out`, or in a new object if that is None. */
bool umbelpy_answers_open(umbelpy_state *state, PyObject *out, size_t n, size_t width,
                          umbelpy_answers *to);

/* The result, or NULL if something went wrong in between. */
PyObject *umbelpy_answers_end(umbelpy_answers *to, bool ok);

/* Tells the exception that is set how many keys of a batch were done, if it is one of ours. */
void umbelpy_say_done(umbelpy_state *state, size_t done);

#endif
