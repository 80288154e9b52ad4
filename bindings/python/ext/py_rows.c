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
        view->obj = NULL;
        return false;
    }
    char letter = letter_of(view);
    if (view->ndim == 1 && letter && strchr("ilq", letter)) return true;
    PyBuffer_Release(view);
    return false;
}

static int64_t offset_at(const umbelpy_rows *rows, size_t i) {
    if (rows->width == 8) {
        int64_t wide;
        memcpy(&wide, rows->offsets + 8 * i, 8);
        return wide;
    }
    int32_t narrow;
    memcpy(&narrow, rows->offsets + 4 * i, 4);
    return narrow;
}

bool umbelpy_offsets_hold(const umbelpy_rows *rows, uint64_t *end) {
    int64_t last = offset_at(rows, 0);
    if (last < 0) return false;
    for (size_t i = 1; i <= rows->n; i++) {
        int64_t next = offset_at(rows, i);
        if (next < last) return false;
        last = next;
    }
    *end = (uint64_t)last;
    return true;
}

static int open_pair(umbelpy_state *state, PyObject *pair, umbelpy_rows *rows) {
    Py_buffer *data = &rows->views[0], *offsets = &rows->views[1];
    if (!is_offsets(PyTuple_GetItem(pair, 1), offsets)) return 0;
    rows->width = (size_t)offsets->itemsize;
    size_t count = (size_t)offsets->len / rows->width;
    rows->n = count ? count - 1 : 0;
    rows->offsets = offsets->buf;
    bool ok = PyObject_GetBuffer(PyTuple_GetItem(pair, 0), data, PyBUF_SIMPLE) == 0;
    if (ok) {
        rows->data = data->buf;
        rows->last = (uint64_t)data->len;
    } else {
        data->obj = NULL;
    }
    uint64_t end = 0;
    if (ok && count && (!umbelpy_offsets_hold(rows, &end) || end > rows->last)) {
        umbelpy_refuse(state, UMBEL_EINVAL, "offsets", "they fall, or pass the end of the data");
        ok = false;
    }
    if (!ok) umbelpy_rows_close(rows);
    return ok ? 1 : -1;
}

/* ---- arrays ------------------------------------------------------------------------------- */

bool umbelpy_rows_number(umbelpy_rows *rows, char letter, size_t size, int type) {
    static const uint16_t one = 1;
    bool is_little = *(const uint8_t *)&one == 1;
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
    if (!letter || !strchr(letters[type], letter) || size != sizes[type]) return false;
    rows->width = size;
    rows->is_swapped = is_little == (type == UMBEL_TYPE_UINT32BE);
    if (rows->is_swapped) rows->scratch = size;
    return true;
}

static int open_numbers(umbelpy_rows *rows, int type) {
    const Py_buffer *view = &rows->views[0];
    if (view->ndim == 1 &&
        umbelpy_rows_number(rows, letter_of(view), (size_t)view->itemsize, type)) {
        return 1;
    }
    PyErr_Format(
        PyExc_TypeError,
        "keys of type %s cannot be read from items of format '%s' (NumPy's astype converts)",
        umbel_type_name((umbel_type)type), view->format ? view->format : "B");
    return -1;
}

/* 1, 0 and -1 as in umbelpy_rows_open. */
static int classify(umbelpy_rows *rows, int type) {
    const Py_buffer *view = &rows->views[0];
    char letter = letter_of(view);
    if (letter == 'O') return 0;
    if (umbelpy_is_number(type)) return open_numbers(rows, type);
    if (letter == 'w' && view->ndim == 1) { /* NumPy's U */
        if (umbelpy_is_spelled(type)) return 0;
        rows->is_wide = true;
        rows->scratch = rows->width; /* no code point takes more than 4 bytes in UTF-8 either */
        return 1;
    }
    if (!umbelpy_is_spelled(type) && view->ndim == 1 && (letter == 's' || letter == 'x')) {
        rows->is_padded = letter == 's';
        return 1;
    }
    if (!umbelpy_is_spelled(type) && view->ndim == 2 && view->itemsize == 1 && letter &&
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
    Py_buffer *view = &rows->views[0];
    if (PyObject_GetBuffer(keys, view, PyBUF_FORMAT | PyBUF_STRIDES)) {
        view->obj = NULL;
        return -1;
    }
    rows->width = (size_t)view->itemsize;
    int opened = view->ndim >= 1 ? classify(rows, type) : 0;
    if (opened == 1) {
        rows->data = view->buf;
        rows->n = (size_t)view->shape[0];
        rows->stride = view->strides[0];
    } else {
        umbelpy_rows_close(rows);
    }
    return opened;
}

int umbelpy_rows_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows *rows) {
    *rows = (umbelpy_rows){0};
    if (PyTuple_Check(keys)) {
        bool pair =
            PyTuple_Size(keys) == 2 && !umbelpy_is_number(type) && !umbelpy_is_spelled(type);
        return pair ? open_pair(state, keys, rows) : 0;
    }
    return PyObject_CheckBuffer(keys) ? open_array(keys, type, rows) : 0;
}

void umbelpy_rows_close(umbelpy_rows *rows) {
    for (int i = 0; i < 2; i++) {
        if (rows->views[i].obj) PyBuffer_Release(&rows->views[i]);
    }
    if (rows->chunk) umbelpy_chunk_free(rows->chunk);
    rows->chunk = NULL;
}

/* ---- keys --------------------------------------------------------------------------------- */

static void keys_by_offsets(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys) {
    uint64_t from = (uint64_t)offset_at(rows, at);
    for (size_t i = 0; i < n; i++) {
        /* The offsets were in order, but the caller's memory may have changed since. */
        uint64_t to = (uint64_t)offset_at(rows, at + i + 1);
        if (to > rows->last) to = rows->last;
        if (from > to) from = to;
        keys[i] = (umbel_key){rows->data + from, (size_t)(to - from)};
        from = to;
    }
}

static void swap(const char *row, size_t width, uint8_t *swapped) {
    for (size_t i = 0; i < width; i++) swapped[i] = (uint8_t)row[width - 1 - i];
}

/* One code point as UTF-8; returns where the next one goes, NULL if it is not a code point. */
static uint8_t *put_utf8(uint8_t *to, uint32_t c) {
    if (c < 0x80) {
        *to++ = (uint8_t)c;
        return to;
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return NULL;
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t leads[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (uint8_t)(leads[more] | c >> 6 * more);
    while (more--) *to++ = (uint8_t)(0x80 | (c >> 6 * more & 0x3F));
    return to;
}

/* A row of UTF-32 as UTF-8, in a place that has as many bytes; false: not a text. */
static bool narrow(const char *row, size_t width, uint8_t *place, umbel_key *key) {
    uint8_t *to = place, *end = place;
    for (size_t i = 0; i + 4 <= width; i += 4) {
        uint32_t c;
        memcpy(&c, row + i, 4);
        to = put_utf8(to, c);
        if (!to) return false;
        if (c) end = to; /* NULs at the end are padding */
    }
    *key = (umbel_key){place, (size_t)(end - place)};
    return true;
}

size_t umbelpy_rows_keys(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys,
                         uint8_t *scratch) {
    if (rows->offsets) {
        keys_by_offsets(rows, at, n, keys);
        return n;
    }
    const char *row = rows->data + (Py_ssize_t)at * rows->stride;
    for (size_t i = 0; i < n; i++, row += rows->stride, scratch += rows->scratch) {
        size_t len = rows->width;
        if (rows->is_wide) {
            if (!narrow(row, len, scratch, &keys[i])) return i;
            continue;
        }
        while (rows->is_padded && len && !row[len - 1]) len--;
        keys[i] = (umbel_key){row, len};
        if (!rows->is_swapped) continue;
        swap(row, len, scratch);
        keys[i].data = scratch;
    }
    return n;
}
