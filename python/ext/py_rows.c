/* SPDX-License-Identifier: MIT */
#include "py_umbel.h"

#include <string.h>

/* The letter of a buffer's format without the sign for its byte order; 0 if it has several items,
 * or numbers in the byte order of other machines. */
static char letter_of(const Py_buffer *view) {
    static const uint16_t one = 1;
    bool is_little = *(const uint8_t *)&one == 1;
    const char *format = view->format ? view->format : "B";
    if (*format == (is_little ? '<' : '>') || *format == '=' || *format == '@') format++;
    while (*format >= '0' && *format <= '9') format++;
    return format[0] && !format[1] ? format[0] : 0;
}

static bool is_whole_number(const Py_buffer *view) {
    char letter = letter_of(view);
    return letter && strchr("bBhHiIlLqQ", letter);
}

/* ---- (data, offsets): Arrow's strings ------------------------------------------------------ */

static bool is_offsets(PyObject *object, Py_buffer *view) {
    if (!PyObject_CheckBuffer(object)) return false;
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) {
        PyErr_Clear();
        return false;
    }
    char letter = letter_of(view);
    if (view->ndim == 1 && letter && strchr("ilq", letter)) return true;
    PyBuffer_Release(view);
    return false;
}

static int64_t offset_at(const umbelpy_rows *rows, size_t i) {
    const char *offsets = rows->offsets.buf;
    if (rows->width == 8) {
        int64_t wide;
        memcpy(&wide, offsets + 8 * i, 8);
        return wide;
    }
    int32_t narrow;
    memcpy(&narrow, offsets + 4 * i, 4);
    return narrow;
}

/* Every key lies within the data. */
static bool offsets_hold(const umbelpy_rows *rows) {
    int64_t last = offset_at(rows, 0);
    if (last < 0) return false;
    for (size_t i = 1; i <= rows->n; i++) {
        int64_t next = offset_at(rows, i);
        if (next < last) return false;
        last = next;
    }
    return last <= rows->data.len;
}

static int open_arrow(umbelpy_state *state, PyObject *pair, umbelpy_rows *rows) {
    if (!is_offsets(PyTuple_GetItem(pair, 1), &rows->offsets)) return 0;
    PyObject *data = PyTuple_GetItem(pair, 0);
    rows->width = (size_t)rows->offsets.itemsize;
    size_t offsets = (size_t)rows->offsets.len / rows->width;
    rows->n = offsets ? offsets - 1 : 0;
    bool ok = PyObject_GetBuffer(data, &rows->data, PyBUF_SIMPLE) == 0;
    if (ok && offsets && !offsets_hold(rows)) {
        umbelpy_refuse(state, UMBEL_EINVAL, "offsets", "they fall, or pass the end of the data");
        ok = false;
    }
    if (!ok) umbelpy_rows_close(rows);
    return ok ? 1 : -1;
}

/* ---- arrays ------------------------------------------------------------------------------- */

static bool matches(const Py_buffer *view, int type) {
    static const char *const letters[] = {
        [UMBEL_TYPE_INT8] = "b",    [UMBEL_TYPE_INT16] = "h",     [UMBEL_TYPE_INT32] = "il",
        [UMBEL_TYPE_INT64] = "lq",  [UMBEL_TYPE_UINT8] = "B",     [UMBEL_TYPE_UINT16] = "H",
        [UMBEL_TYPE_UINT32] = "IL", [UMBEL_TYPE_UINT64] = "LQ",   [UMBEL_TYPE_FLOAT] = "f",
        [UMBEL_TYPE_DOUBLE] = "d",  [UMBEL_TYPE_UINT32BE] = "IL",
    };
    static const uint8_t sizes[] = {
        [UMBEL_TYPE_INT8] = 1,   [UMBEL_TYPE_INT16] = 2,    [UMBEL_TYPE_INT32] = 4,
        [UMBEL_TYPE_INT64] = 8,  [UMBEL_TYPE_UINT8] = 1,    [UMBEL_TYPE_UINT16] = 2,
        [UMBEL_TYPE_UINT32] = 4, [UMBEL_TYPE_UINT64] = 8,   [UMBEL_TYPE_FLOAT] = 4,
        [UMBEL_TYPE_DOUBLE] = 8, [UMBEL_TYPE_UINT32BE] = 4,
    };
    char letter = letter_of(view);
    return letter && strchr(letters[type], letter) && view->itemsize == sizes[type];
}

static int open_numbers(umbelpy_rows *rows, int type) {
    static const uint16_t one = 1;
    bool is_little = *(const uint8_t *)&one == 1;
    if (rows->data.ndim != 1 || !matches(&rows->data, type)) {
        PyErr_Format(PyExc_TypeError, "keys of type %s cannot be read from items of format '%s'",
                     umbel_type_name((umbel_type)type), rows->data.format);
        return -1;
    }
    rows->is_swapped = is_little == (type == UMBEL_TYPE_UINT32BE);
    return 1;
}

/* 1, 0 and -1 as in umbelpy_rows_open. */
static int classify(umbelpy_rows *rows, int type) {
    const Py_buffer *view = &rows->data;
    char letter = letter_of(view);
    if (letter == 'O') return 0;
    if (umbelpy_is_number(type)) return open_numbers(rows, type);
    if (type != UMBEL_TYPE_UTF16 && view->ndim == 1 && (letter == 's' || letter == 'x')) {
        rows->is_padded = letter == 's';
        return 1;
    }
    if (type != UMBEL_TYPE_UTF16 && view->ndim == 2 && view->itemsize == 1 && letter &&
        strchr("Bbc", letter) && (view->strides[1] == 1 || view->shape[1] <= 1)) {
        rows->width = (size_t)view->shape[1];
        return 1;
    }
    if (view->ndim == 1 && view->itemsize == 1 && letter && strchr("Bbc", letter)) {
        PyErr_SetString(PyExc_TypeError, "one key, where a batch of keys is expected");
    } else if (is_whole_number(view) || (letter && strchr("fd", letter))) {
        PyErr_Format(PyExc_TypeError,
                     "numbers have no bytes of their own: name their type, as in type=\"int64\" "
                     "(the items have format '%s')",
                     view->format);
    } else {
        PyErr_Format(PyExc_TypeError, "a buffer with items of format '%s' holds no keys",
                     view->format ? view->format : "B");
    }
    return -1;
}

static int open_array(PyObject *keys, int type, umbelpy_rows *rows) {
    if (PyObject_GetBuffer(keys, &rows->data, PyBUF_FORMAT | PyBUF_STRIDES)) {
        rows->data.obj = NULL;
        return -1;
    }
    rows->width = (size_t)rows->data.itemsize;
    int opened = rows->data.ndim >= 1 ? 1 : 0;
    if (opened == 1) opened = classify(rows, type);
    if (opened == 1) {
        rows->n = (size_t)rows->data.shape[0];
        rows->stride = rows->data.strides[0];
    } else {
        umbelpy_rows_close(rows);
    }
    return opened;
}

int umbelpy_rows_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows *rows) {
    *rows = (umbelpy_rows){0};
    if (PyTuple_Check(keys)) {
        bool pair = PyTuple_Size(keys) == 2 && !umbelpy_is_number(type) && type != UMBEL_TYPE_UTF16;
        return pair ? open_arrow(state, keys, rows) : 0;
    }
    return PyObject_CheckBuffer(keys) ? open_array(keys, type, rows) : 0;
}

void umbelpy_rows_close(umbelpy_rows *rows) {
    if (rows->data.obj) PyBuffer_Release(&rows->data);
    if (rows->offsets.obj) PyBuffer_Release(&rows->offsets);
}

/* ---- keys --------------------------------------------------------------------------------- */

static void arrow_keys(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys) {
    const char *data = rows->data.buf;
    uint64_t last = (uint64_t)rows->data.len, from = (uint64_t)offset_at(rows, at);
    for (size_t i = 0; i < n; i++) {
        /* They were in order, and the caller's memory may have changed since. */
        uint64_t to = (uint64_t)offset_at(rows, at + i + 1);
        if (to > last) to = last;
        if (from > to) from = to;
        keys[i] = (umbel_key){data + from, (size_t)(to - from)};
        from = to;
    }
}

static void swap(const char *row, size_t width, uint8_t *swapped) {
    for (size_t i = 0; i < width; i++) swapped[i] = (uint8_t)row[width - 1 - i];
}

void umbelpy_rows_keys(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys,
                       uint8_t *scratch) {
    if (rows->offsets.obj) {
        arrow_keys(rows, at, n, keys);
        return;
    }
    const char *row = (const char *)rows->data.buf + (Py_ssize_t)at * rows->stride;
    for (size_t i = 0; i < n; i++, row += rows->stride) {
        size_t len = rows->width;
        while (rows->is_padded && len && !row[len - 1]) len--;
        keys[i] = (umbel_key){row, len};
        if (!rows->is_swapped) continue;
        swap(row, len, scratch + 8 * i);
        keys[i].data = scratch + 8 * i;
    }
}
