/* SPDX-License-Identifier: MIT
 *
 * py_files.c - filters from and to bytes, files and pickles
 */
#include <stdint.h>

#include "py_umbel.h"

/* ---- reading ------------------------------------------------------------------------------ */

#define SOURCE(name) \
    { name, UMBELPY_OBJECT, UMBELPY_AT(object) }
#define HOW_IT_WAS_MADE                                                  \
    {"format", UMBELPY_FORMAT, UMBELPY_AT(foreign.format)},              \
        {"capacity", UMBELPY_U64, UMBELPY_AT(foreign.capacity)},         \
        {"fpr", UMBELPY_RATE, UMBELPY_AT(foreign.fpr)},                  \
        {"variant", UMBELPY_VARIANT, UMBELPY_AT(foreign.variant)},       \
        {"bytes", UMBELPY_U64, UMBELPY_AT(foreign.bytes)},               \
        {"seed", UMBELPY_U64, UMBELPY_AT(foreign.seed)},                 \
        {"hashes", UMBELPY_U32, UMBELPY_AT(foreign.hashes)},             \
        {"bits_per_key", UMBELPY_U32, UMBELPY_AT(foreign.bits_per_key)}, \
        {"expansion", UMBELPY_U32, UMBELPY_AT(foreign.expansion)}, {     \
        "nonscaling", UMBELPY_FLAG, UMBELPY_AT(foreign.nonscaling)       \
    }
#define OPTIONS                                                                               \
    {"secret", UMBELPY_SECRET, 0}, {"concurrent", UMBELPY_FLAG, UMBELPY_AT(opts.concurrent)}, \
        {"threads", UMBELPY_U32, UMBELPY_AT(opts.threads)}, {                                 \
        "max_bytes", UMBELPY_U64, UMBELPY_AT(opts.max_bytes)                                  \
    }

static const umbelpy_field data_fields[] = {SOURCE("data"), HOW_IT_WAS_MADE, OPTIONS, {0}};
static const umbelpy_field path_fields[] = {SOURCE("path"), HOW_IT_WAS_MADE, OPTIONS, {0}};
static const umbelpy_field verify_data_fields[] = {SOURCE("data"), HOW_IT_WAS_MADE, {0}};
static const umbelpy_field verify_path_fields[] = {SOURCE("path"), HOW_IT_WAS_MADE, {0}};

/* Keeps the buffer if the filter lies on it. */
static PyObject *decode(umbelpy_state *state, umbelpy_request *request, umbel_how how) {
    Py_buffer view;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    if (PyObject_GetBuffer(request->object ? request->object : Py_None, &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_decode(view.buf, (size_t)view.len, how, &request->foreign, &request->opts,
                               &filter, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_filter *made =
        e ? umbelpy_fail(state, e, &diag, NULL)
          : umbelpy_wrap(state, filter, &request->foreign, request->opts.threads);
    if (made && how == UMBEL_MAP) {
        made->ground = view;
    } else {
        PyBuffer_Release(&view);
    }
    return (PyObject *)made;
}

static PyObject *read_bytes(PyObject *type, PyObject *args, PyObject *kwargs, umbel_how how) {
    umbelpy_state *state = PyType_GetModuleState((PyTypeObject *)type);
    umbelpy_request request;
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, data_fields, 2, 1, args, kwargs)) {
        made = decode(state, &request, how);
    }
    umbelpy_request_end(&request);
    return made;
}

static PyObject *from_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
    return read_bytes(type, args, kwargs, UMBEL_LOAD);
}

static PyObject *view_bytes(PyObject *type, PyObject *args, PyObject *kwargs) {
    return read_bytes(type, args, kwargs, UMBEL_MAP);
}

static PyObject *open_path(umbelpy_state *state, umbelpy_request *request, umbel_how how) {
    PyObject *path = NULL;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    if (!PyUnicode_FSConverter(request->object ? request->object : Py_None, &path)) return NULL;
    const char *name = PyBytes_AsString(path);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_file_open(name, how, &request->foreign, &request->opts, &filter, &diag);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    if (e) return umbelpy_fail(state, e, &diag, request->object);
    umbelpy_filter *made = umbelpy_wrap(state, filter, &request->foreign, request->opts.threads);
    if (made) made->is_mapped = how == UMBEL_MAP;
    return (PyObject *)made;
}

static PyObject *read_file(PyObject *type, PyObject *args, PyObject *kwargs, umbel_how how) {
    umbelpy_state *state = PyType_GetModuleState((PyTypeObject *)type);
    umbelpy_request request;
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, path_fields, 2, 1, args, kwargs)) {
        made = open_path(state, &request, how);
    }
    umbelpy_request_end(&request);
    return made;
}

static PyObject *open_file(PyObject *type, PyObject *args, PyObject *kwargs) {
    return read_file(type, args, kwargs, UMBEL_MAP);
}

static PyObject *load_file(PyObject *type, PyObject *args, PyObject *kwargs) {
    return read_file(type, args, kwargs, UMBEL_LOAD);
}

/* ---- checking ----------------------------------------------------------------------------- */

PyObject *umbelpy_verify(PyObject *module, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyModule_GetState(module);
    umbelpy_request request;
    Py_buffer view;
    umbel_diag diag = {0};
    if (!umbelpy_request_read(state, &request, verify_data_fields, 2, 1, args, kwargs)) return NULL;
    if (PyObject_GetBuffer(request.object ? request.object : Py_None, &view, PyBUF_SIMPLE)) {
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e =
        umbel_decode(view.buf, (size_t)view.len, UMBEL_VERIFY, &request.foreign, NULL, NULL, &diag);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    return e ? umbelpy_fail(state, e, &diag, NULL) : Py_NewRef(Py_None);
}

PyObject *umbelpy_verify_file(PyObject *module, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyModule_GetState(module);
    umbelpy_request request;
    PyObject *path = NULL;
    umbel_diag diag = {0};
    if (!umbelpy_request_read(state, &request, verify_path_fields, 2, 1, args, kwargs) ||
        !PyUnicode_FSConverter(request.object ? request.object : Py_None, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_file_open(name, UMBEL_VERIFY, &request.foreign, NULL, NULL, &diag);
    PyEval_RestoreThread(thread);
    Py_DECREF(path);
    if (e) return umbelpy_fail(state, e, &diag, request.object);
    if (diag.what && PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "%R: %s%s%s", request.object,
                                      diag.field, *diag.field ? ": " : "", diag.what) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* ---- writing ------------------------------------------------------------------------------ */

static PyObject *encode(umbelpy_state *state, umbelpy_filter *self, umbel_format format) {
    umbel_diag diag = {0};
    umbel_err e = UMBEL_ENOMEM;
    umbelpy_gate_enter(&self->gate, UMBELPY_WHOLE);
    uint64_t size = umbel_encoded_size(self->filter, format);
    PyObject *bytes =
        size <= PTRDIFF_MAX ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size) : PyErr_NoMemory();
    if (bytes) {
        char *to = PyBytes_AsString(bytes);
        PyThreadState *thread = PyEval_SaveThread();
        e = umbel_encode(self->filter, format, to, (size_t)size, &diag);
        PyEval_RestoreThread(thread);
    }
    umbelpy_gate_leave(&self->gate, UMBELPY_WHOLE);
    if (!bytes || !e) return bytes;
    Py_DECREF(bytes);
    return umbelpy_fail(state, e, &diag, NULL);
}

static const umbelpy_field format_fields[] = {
    {"format", UMBELPY_FORMAT, UMBELPY_AT(foreign.format)},
    {0},
};

static PyObject *to_bytes(PyObject *self, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_request request;
    if (!umbelpy_request_read(state, &request, format_fields, 1, 0, args, kwargs)) return NULL;
    return encode(state, (umbelpy_filter *)self, request.foreign.format);
}

static const umbelpy_field save_fields[] = {
    SOURCE("path"),
    {"format", UMBELPY_FORMAT, UMBELPY_AT(foreign.format)},
    {0},
};

static PyObject *save(PyObject *object, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = umbelpy_state_of(object);
    umbelpy_filter *self = (umbelpy_filter *)object;
    umbelpy_request request;
    PyObject *path = NULL;
    umbel_diag diag = {0};
    if (!umbelpy_request_read(state, &request, save_fields, 2, 1, args, kwargs) ||
        !PyUnicode_FSConverter(request.object ? request.object : Py_None, &path)) {
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    umbelpy_gate_enter(&self->gate, UMBELPY_WHOLE);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_file_save(self->filter, request.foreign.format, name, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&self->gate, UMBELPY_WHOLE);
    Py_DECREF(path);
    return e ? umbelpy_fail(state, e, &diag, request.object) : Py_NewRef(Py_None);
}

/* ---- pickles ------------------------------------------------------------------------------ */

static bool add_flag(PyObject *kwargs, const char *name, uint32_t number) {
    if (!number) return true;
    PyObject *value = PyLong_FromUnsignedLong(number);
    bool ok = value && PyDict_SetItemString(kwargs, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

/* The function _restore, the filter's bytes, and how to read them. */
static PyObject *reduce(PyObject *object, PyObject *unused) {
    (void)unused;
    umbelpy_state *state = umbelpy_state_of(object);
    umbelpy_filter *self = (umbelpy_filter *)object;
    umbel_info info;
    umbelpy_gate_wait(&self->gate, UMBELPY_LOOKUP);
    umbel_describe(self->filter, &info);
    if (info.fingerprint) {
        return umbelpy_refuse(state, UMBEL_ESECRET, "secret",
                              "it is never pickled: use to_bytes and from_bytes(..., secret=...)");
    }
    PyObject *module = PyType_GetModule(Py_TYPE(object));
    PyObject *restore = PyObject_GetAttrString(module, "_restore");
    PyObject *bytes = restore ? encode(state, self, UMBEL_FMT_ANY) : NULL;
    PyObject *kwargs = bytes ? umbelpy_foreign_kwargs(&self->as) : NULL;
    PyObject *reduced = NULL;
    if (kwargs && add_flag(kwargs, "concurrent", self->concurrent) &&
        add_flag(kwargs, "threads", self->threads)) {
        reduced = Py_BuildValue("O(OO)", restore, bytes, kwargs);
    }
    Py_XDECREF(restore);
    Py_XDECREF(bytes);
    Py_XDECREF(kwargs);
    return reduced;
}

PyObject *umbelpy_restore(PyObject *module, PyObject *args) {
    umbelpy_state *state = PyModule_GetState(module);
    PyObject *bytes, *kwargs;
    if (!PyArg_ParseTuple(args, "OO!:_restore", &bytes, &PyDict_Type, &kwargs)) return NULL;
    PyObject *only = PyTuple_Pack(1, bytes);
    PyObject *made = only ? from_bytes(state->filter_type, only, kwargs) : NULL;
    Py_XDECREF(only);
    return made;
}

/* ---- table -------------------------------------------------------------------------------- */

#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
#define MAKER(function) \
    (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS | METH_CLASS

#define READER(name, source)                                                     \
    name "($type, /, " source ", format=None, *, " UMBELPY_HOW_IT_WAS_MADE ",\n" \
         "secret=None, concurrent=False, threads=None, max_bytes=None)\n--\n\n"

PyMethodDef umbelpy_file_methods[] = {
    {"from_bytes", MAKER(from_bytes),
     READER("from_bytes", "data") "A filter from untrusted bytes.  Formats that do not say enough\n"
                                  "about themselves take what Filter.foreign was given."},
    {"view", MAKER(view_bytes),
     READER("view",
            "data") "The same without copying: read-only, over the buffer, which it keeps.\n"
                    "Damage among the bits goes unseen; umbel.verify sees it."},
    {"open", MAKER(open_file),
     READER("open", "path") "Maps a file: read-only, immediately at any size, shared between\n"
                            "processes.  Deltas beside it (PATH.deltas) are not read."},
    {"load", MAKER(load_file),
     READER("load", "path") "Reads a file, checksums included: a writable filter.  Deltas\n"
                            "beside it (PATH.deltas) are not read."},
    {"to_bytes", NAMED(to_bytes),
     "to_bytes($self, /, format=None)\n--\n\nThe bytes of a file, in the filter's own format unless "
     "another is\nnamed that can hold it."},
    {"save", NAMED(save),
     "save($self, /, path, format=None)\n--\n\nReplaces the file atomically: after a crash there "
     "is the old one or\nthe new one."},
    {"__reduce__", reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nFor pickle."},
    {0},
};
