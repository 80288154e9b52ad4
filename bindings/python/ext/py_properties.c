/* SPDX-License-Identifier: MIT
 *
 * py_properties.c - what is known about a filter, and what travels with it
 */
#include <string.h>

#include "py_umbel.h"

static umbelpy_filter *filter_of(PyObject *self) {
    return (umbelpy_filter *)self;
}

static PyObject *get_info(PyObject *self, void *unused) {
    (void)unused;
    umbel_info info;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_LOOKUP);
    umbel_describe(filter_of(self)->filter, &info);
    return umbelpy_info(umbelpy_state_of(self), &info);
}

static PyObject *get_keys_estimated(PyObject *self, void *unused) {
    (void)unused;
    umbel_measurement now;
    umbel_info info;
    umbelpy_measure(filter_of(self), &info, &now);
    return PyFloat_FromDouble(now.keys);
}

static PyObject *get_takes_hashes(PyObject *self, void *unused) {
    (void)unused;
    umbel_info info;
    umbel_describe(filter_of(self)->filter, &info);
    return PyBool_FromLong(info.takes_hashes);
}

/* ---- metadata ----------------------------------------------------------------------------- */

/* Files hold any bytes except NUL. */
static PyObject *text_of(const char *bytes) {
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "surrogateescape");
}

/* A read-only copy, so that nobody takes it for the filter's own. */
static PyObject *get_meta(PyObject *self, void *unused) {
    (void)unused;
    PyObject *entries = PyDict_New(), *shown = NULL;
    const char *name, *value;
    bool ok = entries != NULL;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_LOOKUP);
    for (size_t i = 0; ok && umbel_meta_at(filter_of(self)->filter, i, &name, &value); i++) {
        PyObject *key = text_of(name), *text = text_of(value);
        ok = key && text && PyDict_SetItem(entries, key, text) == 0;
        Py_XDECREF(key);
        Py_XDECREF(text);
    }
    if (ok) shown = PyDictProxy_New(entries);
    Py_XDECREF(entries);
    return shown;
}

/* The bytes of a text; NULL with an exception, also if there is a NUL among them. */
static PyObject *text_bytes(PyObject *text) {
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "metadata is str");
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (bytes && strlen(PyBytes_AsString(bytes)) != (size_t)PyBytes_Size(bytes)) {
        PyErr_SetString(PyExc_ValueError, "metadata cannot hold a NUL");
        Py_CLEAR(bytes);
    }
    return bytes;
}

static PyObject *set_meta(PyObject *self, PyObject *args) {
    PyObject *name, *value;
    umbel_diag diag = {0};
    if (!PyArg_ParseTuple(args, "OO:set_meta", &name, &value)) return NULL;
    PyObject *key = text_bytes(name);
    if (!key) return NULL;
    PyObject *text = value == Py_None ? NULL : text_bytes(value);
    umbel_err e = UMBEL_OK;
    if (!PyErr_Occurred()) {
        umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_WRITE);
        e = umbel_set_meta(filter_of(self)->filter, PyBytes_AsString(key),
                           text ? PyBytes_AsString(text) : NULL, &diag);
    }
    Py_DECREF(key);
    Py_XDECREF(text);
    if (PyErr_Occurred()) return NULL;
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : Py_NewRef(Py_None);
}

/* ---- what only some systems have ---------------------------------------------------------- */

static PyObject *get_data(PyObject *self, void *unused) {
    (void)unused;
    size_t len = 0;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_LOOKUP);
    const void *data = umbel_get_data(filter_of(self)->filter, &len);
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
}

static int set_data(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    Py_buffer view = {0};
    umbel_diag diag = {0};
    if (value && PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)) return -1;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_WRITE);
    umbel_err e = umbel_set_data(filter_of(self)->filter, view.buf, (size_t)view.len, &diag);
    if (value) PyBuffer_Release(&view);
    if (e) umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL);
    return e ? -1 : 0;
}

static PyObject *text(PyObject *self, PyObject *unused) {
    (void)unused;
    char shown[128];
    umbel_diag diag = {0};
    umbel_err e = umbel_text(filter_of(self)->filter, shown, sizeof shown, &diag);
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : PyUnicode_FromString(shown);
}

/* ---- tables ------------------------------------------------------------------------------- */

PyMethodDef umbelpy_property_methods[] = {
    {"set_meta", set_meta, METH_VARARGS,
     "set_meta($self, name, value, /)\n--\n\nText that native files keep with the filter; None removes it."},
    {"add_lines", (PyCFunction)(void (*)(void))umbelpy_add_lines, METH_VARARGS | METH_KEYWORDS,
     "add_lines($self, /, data, *, recipe=None)\n--\n\nAdds the keys of all records of a file's "
     "bytes, or of a file object, by the filter's recipe\nor another.  Returns umbel.Lines."},
    {"find_lines", (PyCFunction)(void (*)(void))umbelpy_find_lines, METH_VARARGS | METH_KEYWORDS,
     "find_lines($self, /, data, *, recipe=None)\n--\n\nThe records of a file's bytes, or of a "
     "file object, whose keys may be in the filter."},
    {"text", text, METH_NOARGS,
     "text($self, /)\n--\n\nWhat the filter's own system prints for it: gocrc32."},
    {0},
};

PyGetSetDef umbelpy_properties[] = {
    {"info", get_info, NULL, "What the filter was made as: umbel.Info.", NULL},
    {"keys_estimated", get_keys_estimated, NULL,
     "Distinct keys in it, estimated from all its bits; infinite when every bit is set.", NULL},
    {"takes_hashes", get_takes_hashes, NULL, "Whether it has the methods with hashes.", NULL},
    {"meta", get_meta, NULL, "The metadata, as a mapping that cannot be changed.", NULL},
    {"recipe", umbelpy_get_recipe, umbelpy_set_recipe, "How records became keys, as text.", NULL},
    {"data", get_data, set_data, "What a dcso file carries after its filter.", NULL},
    {0},
};
