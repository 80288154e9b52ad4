/* SPDX-License-Identifier: MIT
 *
 * py_args.c - arguments by name into the library's structs
 */
#include <math.h>
#include <string.h>

#include "py_umbel.h"

/* ---- names -------------------------------------------------------------------------------- */

/* The text of a str; "?", which is not a name of anything, if it contains a NUL. */
static const char *name_text(PyObject *name, const char *field) {
    Py_ssize_t len;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "%s must be str, not %R", field, Py_TYPE(name));
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, &len);
    return text && strlen(text) != (size_t)len ? "?" : text;
}

int umbelpy_kind(umbelpy_state *state, PyObject *name) {
    const char *text = name_text(name, "kind");
    umbel_kind kind;
    if (!text) return -1;
    if (umbel_kind_named(text, &kind)) return (int)kind;
    umbelpy_refuse(state, UMBEL_EINVAL, "kind", "no such kind; umbel.KINDS has them all");
    return -1;
}

int umbelpy_format(umbelpy_state *state, PyObject *name) {
    if (name == Py_None) return UMBEL_FMT_ANY;
    const char *text = name_text(name, "format");
    umbel_format format;
    if (!text) return -1;
    if (umbel_format_named(text, &format)) return (int)format;
    umbelpy_refuse(state, UMBEL_EINVAL, "format", "no such format; umbel.FORMATS has them all");
    return -1;
}

int umbelpy_type(umbelpy_state *state, PyObject *name) {
    if (name == Py_None) return -1;
    const char *text = name_text(name, "type");
    umbel_type type;
    if (!text) return -1;
    if (umbel_type_named(text, &type)) return (int)type;
    umbelpy_refuse(state, UMBEL_EINVAL, "type", "no such type; umbel.TYPES has them all");
    return -1;
}

static bool add_variant(umbelpy_state *state, PyObject *name, uint32_t *bits) {
    const char *text = name_text(name, "variant");
    if (!text) return false;
    uint32_t more;
    if (!umbel_variant_named(UMBEL_FMT_ANY, text, &more)) {
        return umbelpy_refuse(state, UMBEL_EINVAL, "variant",
                              "no such variant; umbel.VARIANTS has them all");
    }
    *bits |= more;
    return true;
}

/* One name, or several. */
static bool read_variant(umbelpy_state *state, PyObject *value, uint32_t *bits) {
    *bits = 0;
    if (PyUnicode_Check(value)) return add_variant(state, value, bits);
    PyObject *iterator = PyObject_GetIter(value), *name;
    if (!iterator) return false;
    bool ok = true;
    while (ok && (name = PyIter_Next(iterator))) {
        ok = add_variant(state, name, bits);
        Py_DECREF(name);
    }
    Py_DECREF(iterator);
    return ok && !PyErr_Occurred();
}

static PyObject *variant_names(uint32_t bits) {
    PyObject *names = PyList_New(0);
    for (uint32_t bit = 1; names && bit && bit <= bits; bit <<= 1) {
        if (!(bits & bit)) continue;
        PyObject *name = PyUnicode_FromString(umbel_variant_name(UMBEL_FMT_ANY, bit));
        if (!name || PyList_Append(names, name)) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool read_number(umbelpy_state *state, const char *name, PyObject *value, uint64_t max,
                        uint64_t *number) {
    /* 1e6 is as good as 1_000_000; 1.5 is refused. */
    double real = PyFloat_Check(value) ? PyFloat_AsDouble(value) : 0;
    if (real != floor(real) || isinf(real)) {
        return umbelpy_refuse(state, UMBEL_EINVAL, name, "not a whole number");
    }
    PyObject *whole = PyFloat_Check(value) ? PyNumber_Long(value) : PyNumber_Index(value);
    if (!whole) {
        PyErr_Format(PyExc_TypeError, "%s must be int, not %R", name, Py_TYPE(value));
        return false;
    }
    *number = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
    if (!PyErr_Occurred() && *number <= max) return true;
    PyErr_Clear();
    return umbelpy_refuse(state, UMBEL_EINVAL, name, "out of range");
}

static bool read_secret(umbelpy_state *state, PyObject *value, umbelpy_request *request) {
    if (request->secret.obj) PyBuffer_Release(&request->secret);
    if (PyObject_GetBuffer(value, &request->secret, PyBUF_SIMPLE)) return false;
    if (request->secret.len != 16) {
        return umbelpy_refuse(state, UMBEL_EINVAL, "secret", "not 16 bytes");
    }
    request->opts.secret = request->secret.buf;
    return true;
}

static bool read_folder(PyObject *value, umbelpy_request *request) {
    Py_CLEAR(request->tmp);
    if (!PyUnicode_FSConverter(value, &request->tmp)) return false;
    request->opts.tmp = PyBytes_AsString(request->tmp);
    return request->opts.tmp != NULL;
}

static bool read_value(umbelpy_state *state, umbelpy_request *request, const umbelpy_field *field,
                       PyObject *value) {
    void *to = (char *)request + field->offset;
    uint64_t number = 0;
    int code;
    if (value == Py_None) return true;
    switch (field->how) {
    case UMBELPY_U64: return read_number(state, field->name, value, UINT64_MAX, to);
    case UMBELPY_U32:
        if (!read_number(state, field->name, value, UINT32_MAX, &number)) return false;
        *(uint32_t *)to = (uint32_t)number;
        return true;
    case UMBELPY_RATE:
        *(double *)to = PyFloat_AsDouble(value);
        if (PyErr_Occurred()) return false;
        /* To the library 0 means "not given", which nobody who writes it means. */
        if (*(double *)to > 0 && *(double *)to < 1) return true;
        return umbelpy_refuse(state, UMBEL_EINVAL, field->name, "not between 0 and 1");
    case UMBELPY_FLAG:
        code = PyObject_IsTrue(value);
        *(bool *)to = code > 0;
        return code >= 0;
    case UMBELPY_KIND:
        code = umbelpy_kind(state, value);
        if (code >= 0) *(umbel_kind *)to = (umbel_kind)code;
        return code >= 0;
    case UMBELPY_FORMAT:
        code = umbelpy_format(state, value);
        if (code >= 0) *(umbel_format *)to = (umbel_format)code;
        return code >= 0;
    case UMBELPY_TYPE: return (*(int *)to = umbelpy_type(state, value)) >= 0;
    case UMBELPY_VARIANT: return read_variant(state, value, to);
    case UMBELPY_SECRET: return read_secret(state, value, request);
    case UMBELPY_FOLDER: return read_folder(value, request);
    case UMBELPY_OBJECT: *(PyObject **)to = value; return true;
    }
    return true;
}

/* ---- whole calls -------------------------------------------------------------------------- */

static const umbelpy_field *field_named(const umbelpy_field *fields, PyObject *name) {
    for (const umbelpy_field *field = fields; field->name; field++) {
        if (PyUnicode_CompareWithASCIIString(name, field->name) == 0) return field;
    }
    PyErr_Format(PyExc_TypeError, "there is no argument called %R", name);
    return NULL;
}

static bool read_keywords(umbelpy_state *state, umbelpy_request *request,
                          const umbelpy_field *fields, Py_ssize_t given, PyObject *kwargs) {
    Py_ssize_t pos = 0;
    PyObject *name, *value;
    while (kwargs && PyDict_Next(kwargs, &pos, &name, &value)) {
        const umbelpy_field *field = field_named(fields, name);
        if (!field) return false;
        if (field - fields < given) {
            PyErr_Format(PyExc_TypeError, "%s was given twice", field->name);
            return false;
        }
        if (!read_value(state, request, field, value)) return false;
    }
    return true;
}

bool umbelpy_request_read(umbelpy_state *state, umbelpy_request *request,
                          const umbelpy_field *fields, int positional, int required, PyObject *args,
                          PyObject *kwargs) {
    *request = (umbelpy_request){.type = -1};
    Py_ssize_t given = PyTuple_Size(args);
    if (given > positional) {
        PyErr_Format(PyExc_TypeError, "at most %d arguments without a name, not %zd", positional,
                     given);
        return false;
    }
    for (Py_ssize_t i = 0; i < given; i++) {
        if (!read_value(state, request, &fields[i], PyTuple_GetItem(args, i))) return false;
    }
    for (Py_ssize_t i = given; i < required; i++) {
        PyObject *name = PyUnicode_FromString(fields[i].name);
        int there = name && kwargs ? PyDict_Contains(kwargs, name) : 0;
        Py_XDECREF(name);
        if (there > 0) continue;
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s is missing", fields[i].name);
        return false;
    }
    return read_keywords(state, request, fields, given, kwargs);
}

void umbelpy_request_end(umbelpy_request *request) {
    if (request->secret.obj) PyBuffer_Release(&request->secret);
    Py_CLEAR(request->tmp);
}

/* ---- back again --------------------------------------------------------------------------- */

static bool put(PyObject *kwargs, const char *name, PyObject *value) {
    bool ok = value && PyDict_SetItemString(kwargs, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

PyObject *umbelpy_foreign_kwargs(const umbel_foreign *as) {
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"capacity", as->capacity},
        {"bytes", as->bytes},
        {"seed", as->seed},
        {"hashes", as->hashes},
        {"expansion", as->expansion},
        {"bits_per_key", as->bits_per_key},
        {"nonscaling", as->nonscaling},
    };
    PyObject *kwargs = PyDict_New();
    bool ok = kwargs && put(kwargs, "format", PyUnicode_FromString(umbel_format_name(as->format)));
    for (size_t i = 0; ok && i < sizeof numbers / sizeof *numbers; i++) {
        if (!numbers[i].value) continue;
        ok = put(kwargs, numbers[i].name, PyLong_FromUnsignedLongLong(numbers[i].value));
    }
    if (ok && as->fpr != 0) ok = put(kwargs, "fpr", PyFloat_FromDouble(as->fpr));
    if (ok && as->variant) ok = put(kwargs, "variant", variant_names(as->variant));
    if (!ok) Py_CLEAR(kwargs);
    return kwargs;
}
