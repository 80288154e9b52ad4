/* SPDX-License-Identifier: MIT */
#include "py_answers.h"

bool umbelpy_answers_open(umbelpy_state *state, PyObject *out, size_t n, size_t width,
                          umbelpy_answers *to) {
    size_t size = n * width;
    to->view.obj = NULL;
    if (!out || out == Py_None) {
        to->result = width == 1 ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size)
                                : PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
        if (!to->result) return false;
        to->bytes = width == 1 ? PyBytes_AsString(to->result) : PyByteArray_AsString(to->result);
        return true;
    }
    if (PyObject_GetBuffer(out, &to->view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return false;
    bool plain = to->view.itemsize == 1 || (size_t)to->view.itemsize == width;
    if (!plain || (size_t)to->view.len != size) {
        PyBuffer_Release(&to->view);
        return umbelpy_refuse(state, UMBEL_ESPACE, "out",
                              width == 1 ? "it needs one byte per key"
                                         : "it needs eight bytes per key");
    }
    to->result = Py_NewRef(out);
    to->bytes = to->view.buf;
    return true;
}

PyObject *umbelpy_answers_end(umbelpy_answers *to, bool ok) {
    if (to->view.obj) PyBuffer_Release(&to->view);
    if (!ok) Py_CLEAR(to->result);
    return to->result;
}

void umbelpy_say_done(umbelpy_state *state, size_t done) {
    PyObject *type, *value, *trace;
    if (!PyErr_ExceptionMatches(state->error)) return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *number = PyLong_FromSize_t(done);
    if (number) PyObject_SetAttrString(value, "done", number);
    Py_XDECREF(number);
    PyErr_Restore(type, value, trace);
}
