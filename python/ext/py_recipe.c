/* SPDX-License-Identifier: MIT
 *
 * py_recipe.c - how records become keys: the filter's recipe, keys of records, lines in and out
 */
#include <string.h>

#include "py_umbel.h"
#include "umbel_recipe.h"

static umbelpy_filter *filter_of(PyObject *self) {
    return (umbelpy_filter *)self;
}

/* ---- the property ------------------------------------------------------------------------- */

PyObject *umbelpy_get_recipe(PyObject *self, void *unused) {
    (void)unused;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_LOOKUP);
    const char *text = umbel_get_recipe(filter_of(self)->filter);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* The text of a recipe as bytes; NULL with an exception. */
static PyObject *recipe_bytes(PyObject *text) {
    if (!text || !PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a recipe is a str");
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (bytes && strlen(PyBytes_AsString(bytes)) != (size_t)PyBytes_Size(bytes)) {
        PyErr_SetString(PyExc_ValueError, "a recipe holds no NUL");
        Py_CLEAR(bytes);
    }
    return bytes;
}

int umbelpy_set_recipe(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    umbel_diag diag = {0};
    PyObject *text = recipe_bytes(value);
    if (!text) return -1;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_WRITE);
    umbel_err e = umbel_set_recipe(filter_of(self)->filter, PyBytes_AsString(text), &diag);
    Py_DECREF(text);
    if (e) umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL);
    return e ? -1 : 0;
}

/* ---- one record --------------------------------------------------------------------------- */

static umbel_recipe *parse(umbelpy_state *state, PyObject *text) {
    umbel_recipe *recipe = NULL;
    umbel_diag diag = {0};
    PyObject *bytes = recipe_bytes(text);
    if (!bytes) return NULL;
    umbel_err e = umbel_recipe_parse(PyBytes_AsString(bytes), &recipe, &diag);
    Py_DECREF(bytes);
    if (e) umbelpy_fail(state, e, &diag, NULL);
    return recipe;
}

static int use_named(umbelpy_state *state, const char *name) {
    static const char *const uses[] = {"record", "key", "digest"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, uses[i]) == 0) return i;
    }
    umbelpy_refuse(state, UMBEL_EINVAL, "use", "record, key or digest");
    return -1;
}

static PyObject *key_of(const umbel_recipe *recipe, int use, umbel_key record) {
    static const char *const states[] = {"key", "nothing", "malformed"};
    uint8_t found = UMBEL_FOUND_NOTHING;
    void *scratch = PyMem_Malloc(umbel_recipe_room(recipe, 1, record.len) + 1);
    if (!scratch) return PyErr_NoMemory();
    umbel_recipe_apply(recipe, (umbel_recipe_use)use, &record, 1, scratch, &found);
    PyObject *result = found ? Py_BuildValue("(sO)", states[found], Py_None)
                             : Py_BuildValue("(sy#)", states[0], record.data ? record.data : "",
                                             (Py_ssize_t)record.len);
    PyMem_Free(scratch);
    return result;
}

PyObject *umbelpy_record_key(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"recipe", "record", "use", "header", NULL};
    umbelpy_state *state = PyModule_GetState(module);
    PyObject *text, *record, *header = NULL, *result = NULL;
    const char *use_name = "record";
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$sO:record_key", names, &text, &record,
                                     &use_name, &header)) {
        return NULL;
    }
    int use = use_named(state, use_name);
    umbel_recipe *recipe = use < 0 ? NULL : parse(state, text);
    if (!recipe) return NULL;
    umbelpy_key key, head = {0};
    bool ok = true;
    if (header && header != Py_None) {
        umbel_recipe *bound = NULL;
        umbel_diag diag = {0};
        ok = umbelpy_key_read(state, header, -1, &head);
        if (ok) {
            umbel_err e = umbel_recipe_bind(recipe, head.key.data, head.key.len, &bound, &diag);
            umbelpy_key_end(&head);
            if (e) umbelpy_fail(state, e, &diag, NULL);
            ok = !e;
        }
        if (bound) {
            umbel_recipe_free(recipe);
            recipe = bound;
        }
    }
    if (ok && umbelpy_key_read(state, record, -1, &key)) {
        result = key_of(recipe, use, key.key);
        umbelpy_key_end(&key);
    }
    umbel_recipe_free(recipe);
    return result;
}

/* ---- whole texts -------------------------------------------------------------------------- */

typedef struct lines {
    umbelpy_state *state;
    umbel_recipe *recipe;
    umbel_records *records;
    Py_buffer data;
    size_t seen, nothing, malformed;
} lines;

static void lines_close(lines *l) {
    umbel_records_free(l->records);
    umbel_recipe_free(l->recipe);
    if (l->data.obj) PyBuffer_Release(&l->data);
}

/* The arguments (data, *, recipe=None): None is the filter's own. */
static bool lines_open(PyObject *self, PyObject *args, PyObject *kwargs, lines *l) {
    static char *names[] = {"data", "recipe", NULL};
    PyObject *data, *text = NULL, *own = NULL;
    umbel_diag diag = {0};
    *l = (lines){.state = umbelpy_state_of(self)};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O", names, &data, &text)) return false;
    if (PyUnicode_Check(data)) {
        PyErr_SetString(PyExc_TypeError, "lines come as bytes");
        return false;
    }
    if (!text || text == Py_None) text = own = umbelpy_get_recipe(self, NULL);
    l->recipe = text ? parse(l->state, text) : NULL;
    Py_XDECREF(own);
    if (!l->recipe) return false;
    umbel_err e = UMBEL_OK;
    bool ok = PyObject_GetBuffer(data, &l->data, PyBUF_SIMPLE) == 0;
    if (ok) e = umbel_records_new(l->recipe, UMBEL_USE_RECORD, '\n', &l->records, &diag);
    if (ok && !e) {
        e = umbel_records_feed(l->records, l->data.buf, (size_t)l->data.len, true, &diag);
    }
    if (e) umbelpy_fail(l->state, e, &diag, NULL);
    if (ok && !e) return true;
    lines_close(l);
    return false;
}

/* The next batch; false at the end, and, with an exception, on failure. */
static bool lines_next(lines *l, umbel_records_batch *b) {
    umbel_diag diag = {0};
    umbel_err e = umbel_records_next(l->records, b, &diag);
    if (e) umbelpy_fail(l->state, e, &diag, NULL);
    l->seen += b->n;
    l->nothing += b->nothing;
    l->malformed += b->malformed;
    return !e && b->n;
}

PyObject *umbelpy_add_lines(PyObject *self, PyObject *args, PyObject *kwargs) {
    umbelpy_filter *filter = filter_of(self);
    umbel_records_batch b;
    umbel_diag diag = {0};
    size_t fresh = 0;
    lines l;
    if (!lines_open(self, args, kwargs, &l)) return NULL;
    umbelpy_gate_wait(&filter->gate, filter->concurrent ? UMBELPY_ADD : UMBELPY_WRITE);
    while (lines_next(&l, &b)) {
        umbel_err e = UMBEL_OK;
        for (size_t i = 0; !e && i < b.n; i++) {
            bool was_new = false;
            if (b.states[i] != UMBEL_FOUND_KEY) continue;
            e = umbel_add(filter->filter, b.keys[i].data, b.keys[i].len, &was_new, &diag);
            fresh += was_new;
        }
        if (e) {
            umbelpy_fail(l.state, e, &diag, NULL);
            break;
        }
    }
    lines_close(&l);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("(nnnn)", (Py_ssize_t)l.seen, (Py_ssize_t)fresh, (Py_ssize_t)l.nothing,
                         (Py_ssize_t)l.malformed);
}

/* The key, or a parent of it. */
static bool may_hold(const umbel_filter *f, const umbel_recipe *recipe, umbel_key key) {
    do {
        if (umbel_contains(f, key.data, key.len)) return true;
    } while (umbel_recipe_next(recipe, &key));
    return false;
}

PyObject *umbelpy_find_lines(PyObject *self, PyObject *args, PyObject *kwargs) {
    umbelpy_filter *filter = filter_of(self);
    umbel_records_batch b;
    lines l;
    if (!lines_open(self, args, kwargs, &l)) return NULL;
    PyObject *found = PyList_New(0);
    bool ok = found != NULL;
    umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    while (ok && lines_next(&l, &b)) {
        for (size_t i = 0; ok && i < b.n; i++) {
            if (b.states[i] != UMBEL_FOUND_KEY) continue;
            if (!may_hold(filter->filter, l.recipe, b.keys[i])) continue;
            PyObject *line =
                PyBytes_FromStringAndSize(b.records[i].data, (Py_ssize_t)b.records[i].len);
            ok = line && PyList_Append(found, line) == 0;
            Py_XDECREF(line);
        }
    }
    lines_close(&l);
    if (PyErr_Occurred()) Py_CLEAR(found);
    return found;
}
