/* SPDX-License-Identifier: MIT
 *
 * py_keys.c - one key from one object
 */
#include <string.h>

#include "py_umbel.h"

void umbelpy_no_key(PyObject *object, int type) {
    if (type >= 0) {
        PyErr_Format(PyExc_TypeError, "a key of type %s cannot be made from %R",
                     umbel_type_name((umbel_type)type), Py_TYPE(object));
    } else if (PyFloat_Check(object) && PyFloat_AsDouble(object) != PyFloat_AsDouble(object)) {
        PyErr_SetString(PyExc_TypeError, "nan is not a key: drop missing values first");
    } else if (PyLong_Check(object) || PyFloat_Check(object)) {
        PyErr_Format(
            PyExc_TypeError,
            "a number has no fixed byte representation: name its type, as in type=\"int64\" or "
            "umbel.typed(%R, \"int64\")",
            object);
    } else {
        PyErr_Format(PyExc_TypeError, "a key is str or bytes-like, not %R", Py_TYPE(object));
    }
}

/* ---- numbers ------------------------------------------------------------------------------ */

static const struct {
    uint8_t size;
    bool is_signed, is_real, is_big_endian;
} numbers[] = {
    [UMBEL_TYPE_INT8] = {1, true, false, false},     [UMBEL_TYPE_INT16] = {2, true, false, false},
    [UMBEL_TYPE_INT32] = {4, true, false, false},    [UMBEL_TYPE_INT64] = {8, true, false, false},
    [UMBEL_TYPE_UINT8] = {1, false, false, false},   [UMBEL_TYPE_UINT16] = {2, false, false, false},
    [UMBEL_TYPE_UINT32] = {4, false, false, false},  [UMBEL_TYPE_UINT64] = {8, false, false, false},
    [UMBEL_TYPE_FLOAT] = {4, true, true, false},     [UMBEL_TYPE_DOUBLE] = {8, true, true, false},
    [UMBEL_TYPE_UINT32BE] = {4, false, false, true},
};

bool umbelpy_is_number(int type) {
    return type >= UMBEL_TYPE_INT8 && type <= UMBEL_TYPE_UINT32BE;
}

bool umbelpy_is_spelled(int type) {
    return type == UMBEL_TYPE_UTF16 || type >= UMBEL_TYPE_UUID;
}

static void put_bytes(uint64_t word, size_t size, bool is_big_endian, uint8_t *bytes) {
    for (size_t i = 0; i < size; i++) {
        bytes[is_big_endian ? size - 1 - i : i] = (uint8_t)(word >> 8 * i);
    }
}

static bool real_word(PyObject *object, size_t size, uint64_t *word) {
    double wide = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) return false;
    if (size == 8) {
        memcpy(word, &wide, 8);
    } else {
        float narrow = (float)wide;
        uint32_t half;
        memcpy(&half, &narrow, 4);
        *word = half;
    }
    return true;
}

static bool whole_word(PyObject *object, int type, uint64_t *word) {
    PyObject *whole = PyNumber_Index(object);
    if (!whole) return false;
    unsigned bits = 8u * numbers[type].size;
    bool fits;
    if (numbers[type].is_signed) {
        long long value = PyLong_AsLongLong(whole);
        long long max = (long long)(UINT64_MAX >> (65 - bits));
        fits = value >= -max - 1 && value <= max;
        *word = (uint64_t)value;
    } else {
        *word = PyLong_AsUnsignedLongLong(whole);
        fits = *word <= UINT64_MAX >> (64 - bits);
    }
    Py_DECREF(whole);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
    if (PyErr_Occurred() || !fits) {
        PyErr_Format(PyExc_OverflowError, "%R is out of range for %s", object,
                     umbel_type_name((umbel_type)type));
        return false;
    }
    return true;
}

size_t umbelpy_number(PyObject *object, int type, uint8_t number[8]) {
    uint64_t word;
    size_t size = numbers[type].size;
    bool is_real = numbers[type].is_real;
    if (!(is_real ? PyNumber_Check(object) : PyIndex_Check(object))) {
        umbelpy_no_key(object, type);
        return 0;
    }
    if (!(is_real ? real_word(object, size, &word) : whole_word(object, type, &word))) return 0;
    put_bytes(word, size, numbers[type].is_big_endian, number);
    return size;
}

/* ---- texts and bytes ---------------------------------------------------------------------- */

/* Buffers of single bytes in one row.  A NumPy number also has a buffer, but is not one. */
static bool view_bytes(PyObject *object, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) {
        view->obj = NULL;
        return false;
    }
    const char *format = view->format ? view->format : "B";
    if (view->ndim == 1 && view->itemsize == 1 && strchr("Bbc", *format)) return true;
    PyBuffer_Release(view);
    PyErr_Format(PyExc_TypeError, "a key is bytes, not items of format '%s' in %R", format,
                 Py_TYPE(object));
    return false;
}

static bool read_plain(PyObject *object, umbelpy_key *key) {
    Py_ssize_t len = 0;
    if (PyUnicode_Check(object)) {
        key->key.data = PyUnicode_AsUTF8AndSize(object, &len);
        key->key.len = (size_t)len;
        return key->key.data != NULL;
    }
    if (PyBytes_Check(object)) {
        key->key = (umbel_key){PyBytes_AsString(object), (size_t)PyBytes_Size(object)};
        return true;
    }
    if (!PyObject_CheckBuffer(object)) return umbelpy_no_key(object, -1), false;
    if (!view_bytes(object, &key->view)) return false;
    key->key = (umbel_key){key->view.buf, (size_t)key->view.len};
    return true;
}

/* The text that was read becomes the bytes that it denotes. */
static bool convert(umbelpy_state *state, int type, umbelpy_key *key) {
    umbel_diag diag = {0};
    if (key->key.len > PTRDIFF_MAX / 2 - 16) return PyErr_NoMemory();
    size_t cap = 2 * key->key.len + 16, len = 0;
    PyObject *wide = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)cap);
    if (!wide) return false;
    char *bytes = PyBytes_AsString(wide);
    umbel_err e =
        umbel_typed_key((umbel_type)type, key->key.data, key->key.len, bytes, cap, &len, &diag);
    if (e) {
        Py_DECREF(wide);
        return umbelpy_fail(state, e, &diag, NULL);
    }
    key->owned = wide;
    key->key = (umbel_key){bytes, len};
    return true;
}

bool umbelpy_key_read(umbelpy_state *state, PyObject *object, int type, umbelpy_key *key) {
    key->owned = NULL;
    key->view.obj = NULL;
    if (umbelpy_is_number(type)) {
        key->key = (umbel_key){key->number, umbelpy_number(object, type, key->number)};
        return key->key.len != 0;
    }
    PyObject *spelled = NULL; /* a uuid.UUID, date or Decimal is written as its text */
    if (type >= UMBEL_TYPE_UUID && type != UMBEL_TYPE_BYTEA && !PyUnicode_Check(object) &&
        !PyBytes_Check(object)) {
        object = spelled = PyObject_Str(object);
        if (!spelled) return false;
    }
    bool ok = read_plain(object, key) && (!umbelpy_is_spelled(type) || convert(state, type, key));
    Py_XDECREF(spelled);
    if (!ok) umbelpy_key_end(key);
    return ok;
}

void umbelpy_key_end(umbelpy_key *key) {
    Py_CLEAR(key->owned);
    if (key->view.obj) PyBuffer_Release(&key->view);
}
