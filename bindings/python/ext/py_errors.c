/* SPDX-License-Identifier: MIT
 *
 * py_errors.c - the library's errors as exceptions that carry its sentence
 */
#include <errno.h>
#include <string.h>

#include "py_umbel.h"

typedef struct error_class {
    const char *name, *doc;
    PyObject **also; /* the built-in exception that it also is, or NULL */
} error_class;

static const error_class classes[UMBELPY_ERRORS] = {
    [UMBEL_EINVAL] = {"umbel.InvalidError",
                      "A parameter is out of range, or parameters contradict each other.",
                      &PyExc_ValueError},
    [UMBEL_ENOMEM] = {"umbel.OutOfMemoryError", "Out of memory.", &PyExc_MemoryError},
    [UMBEL_ELIMIT] = {"umbel.LimitError",
                      "Above max_bytes; need is the limit that would do, where known.", NULL},
    [UMBEL_ECORRUPT] = {"umbel.CorruptError", "The bytes are not a valid filter of that format.",
                        &PyExc_ValueError},
    [UMBEL_EVERSION] = {"umbel.VersionError",
                        "The file is of a version, or has an option, that is unknown here.",
                        &PyExc_ValueError},
    [UMBEL_ESPACE] = {"umbel.SpaceError", "The output buffer has another size.", &PyExc_ValueError},
    [UMBEL_EFULL] = {"umbel.FullError", "The filter has reached its limit and may not grow.", NULL},
    [UMBEL_EFROZEN] = {"umbel.FrozenError",
                       "The filter is read-only: a view, a mapped file or a static kind.", NULL},
    [UMBEL_EMISMATCH] = {"umbel.MismatchError",
                         "The filters differ in kind, hash, seed, secret or size.",
                         &PyExc_ValueError},
    [UMBEL_ENOTSUP] = {"umbel.UnsupportedError", "This kind or format does not have the operation.",
                       NULL},
    [UMBEL_EABSENT] = {"umbel.AbsentError", "The key to remove is certainly not in the filter.",
                       &PyExc_KeyError},
    [UMBEL_EIO] = {"umbel.FileError", "The operating system refused.", &PyExc_OSError},
    [UMBEL_ESECRET] = {"umbel.SecretError",
                       "Wrong secret; or one is needed, or given where none is needed.",
                       &PyExc_ValueError},
    [UMBEL_EUNKNOWN] = {"umbel.UnknownFormatError", "Format not recognised; specify one.",
                        &PyExc_ValueError},
    [UMBEL_EUNSYNCED] = {"umbel.UnsyncedError",
                         "Saved and in place, but a power cut may bring the old file back.",
                         &PyExc_OSError},
    [UMBEL_EUNSIGNED] = {"umbel.UnsignedError", "Not signed as required.", &PyExc_ValueError},
};

/* The class, with attributes that its instances have until others are set. */
static PyObject *make_class(PyObject *module, const char *name, const char *doc, PyObject *first,
                            PyObject *second, PyObject *attributes) {
    PyObject *bases = second ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(name, doc, bases, attributes) : NULL;
    Py_XDECREF(bases);
    if (made && PyModule_AddObjectRef(module, strrchr(name, '.') + 1, made)) Py_CLEAR(made);
    return made;
}

static PyObject *class_for(PyObject *module, PyObject *error, umbel_err err) {
    const error_class *is = &classes[err];
    PyObject *attributes = Py_BuildValue("{s:s}", "code", umbel_err_name(err)), *text = NULL,
             *made = NULL;
    bool ok = attributes != NULL;
    if (ok && is->also == &PyExc_KeyError) { /* KeyError's own str() quotes the sentence */
        text = PyObject_GetAttrString(PyExc_Exception, "__str__");
        ok = text && PyDict_SetItemString(attributes, "__str__", text) == 0;
    }
    if (ok) {
        made =
            make_class(module, is->name, is->doc, error, is->also ? *is->also : NULL, attributes);
    }
    Py_XDECREF(text);
    Py_XDECREF(attributes);
    return made;
}

bool umbelpy_errors_add(PyObject *module, umbelpy_state *state) {
    PyObject *attributes = Py_BuildValue("{s:s,s:s,s:i,s:i,s:i,s:O}", "code", "", "field", "",
                                         "offset", 0, "need", 0, "done", 0, "index", Py_None);
    if (!attributes) return false;
    state->error = make_class(
        module, "umbel.Error",
        "What the library refuses.  code is its name for it, field the parameter or the field of\n"
        "the file at fault, offset where in the bytes, done how many keys of the batch are in,\n"
        "index the place of the key at fault, or None.",
        PyExc_Exception, NULL, attributes);
    Py_DECREF(attributes);
    if (!state->error) return false;
    for (int err = UMBEL_OK + 1; err < UMBELPY_ERRORS; err++) {
        state->errors[err] = class_for(module, state->error, (umbel_err)err);
        if (!state->errors[err]) return false;
    }
    PyObject *file = state->errors[UMBEL_EIO];
    state->missing = make_class(module, "umbel.FileMissingError", "There is no such file.", file,
                                PyExc_FileNotFoundError, NULL);
    state->denied =
        make_class(module, "umbel.FileDeniedError", "The file may not be used in this way.", file,
                   PyExc_PermissionError, NULL);
    /* Always set, so that type checkers may take it for a number. */
    attributes = Py_BuildValue("{s:i}", "index", 0);
    if (!attributes) return false;
    state->bad_key = make_class(module, "umbel.BadKeyError",
                                "Something in a batch is not a key; index is its place.",
                                state->error, PyExc_TypeError, attributes);
    Py_DECREF(attributes);
    return state->missing && state->denied && state->bad_key;
}

static bool set_number(PyObject *exception, const char *name, uint64_t number) {
    if (number == 0) return true; /* as the class has it */
    PyObject *value = PyLong_FromUnsignedLongLong(number);
    bool ok = value && PyObject_SetAttrString(exception, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

static bool set_field(PyObject *exception, const char *field) {
    if (!field[0]) return true;
    PyObject *value = PyUnicode_DecodeUTF8(field, (Py_ssize_t)strlen(field), "replace");
    bool ok = value && PyObject_SetAttrString(exception, "field", value) == 0;
    Py_XDECREF(value);
    return ok;
}

static PyObject *make_file_error(umbelpy_state *state, umbel_err err, const umbel_diag *diag,
                                 const char *text, PyObject *path) {
    PyObject *type = err == UMBEL_EUNSYNCED                      ? state->errors[err]
                     : diag->sys == ENOENT                       ? state->missing
                     : diag->sys == EACCES || diag->sys == EPERM ? state->denied
                                                                 : state->errors[UMBEL_EIO];
    return PyObject_CallFunction(type, "isO", diag->sys, text, path ? path : Py_None);
}

void *umbelpy_fail(umbelpy_state *state, umbel_err err, const umbel_diag *diag, PyObject *path) {
    char text[512];
    umbel_explain(err, diag, text, sizeof text);
    if (err <= UMBEL_OK || (int)err >= UMBELPY_ERRORS) {
        PyErr_SetString(state->error, text);
        return NULL;
    }
    PyObject *type = state->errors[err];
    PyObject *exception = (err == UMBEL_EIO || err == UMBEL_EUNSYNCED) && diag
                              ? make_file_error(state, err, diag, text, path)
                              : PyObject_CallFunction(type, "s", text);
    if (!exception) return NULL;
    bool ok = !diag ||
              (set_field(exception, diag->field) && set_number(exception, "offset", diag->offset) &&
               set_number(exception, "need", diag->need));
    if (ok) PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}

void *umbelpy_refuse(umbelpy_state *state, umbel_err err, const char *field, const char *what) {
    umbel_diag diag = {.what = what};
    size_t len = strlen(field);
    memcpy(diag.field, field, len < sizeof diag.field ? len : sizeof diag.field - 1);
    return umbelpy_fail(state, err, &diag, NULL);
}
