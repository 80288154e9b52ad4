/* SPDX-License-Identifier: MIT
 *
 * py_rows.h - batches of keys that lie in buffers: no object per key, no GIL
 */
#ifndef UMBELPY_ROWS_H
#define UMBELPY_ROWS_H

#include "py_umbel.h"

typedef struct umbelpy_rows {
    Py_buffer data, offsets; /* offsets.obj NULL: rows of one width                              */
    size_t n;
    size_t width;      /* of a row, or of an offset                                              */
    Py_ssize_t stride; /* from row to row                                                        */
    bool is_padded;    /* NULs at the end of a row do not belong to the key                      */
    bool is_swapped;   /* the key is the row's bytes in the other order                          */
} umbelpy_rows;

/* 1: opened; 0: not such a batch, but perhaps one of objects; -1: an exception. */
int umbelpy_rows_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows *rows);
void umbelpy_rows_close(umbelpy_rows *rows);

/* The keys of rows [at, at + n).  scratch has 8 bytes per key. */
void umbelpy_rows_keys(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys,
                       uint8_t *scratch);

#endif
