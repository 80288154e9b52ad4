/* SPDX-License-Identifier: MIT
 *
 * py_lookups.c - keys in, answers out: the methods of Filter that take keys
 */
#include <string.h>

#include "py_umbel.h"

/* ---- Where the answers of a batch go ------------------------------------------------------ */

typedef struct answers {
    PyObject *result; /* to be returned                                                          */
    Py_buffer view;   /* of what the caller gave; view.obj NULL: nothing                         */
    void *bytes;
} answers;

/* Room for n items of `width` bytes, 1 or 8: in `out`, or in a new object if that is None. */
static bool answers_open(umbelpy_state *state, PyObject *out, size_t n, size_t width, answers *to) {
    to->view.obj = NULL;
    if (n > PTRDIFF_MAX / width) return PyErr_NoMemory();
    size_t size = n * width;
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

/* The result, or NULL if something went wrong in between. */
static PyObject *answers_end(answers *to, bool ok) {
    if (to->view.obj) PyBuffer_Release(&to->view);
    if (!ok) Py_CLEAR(to->result);
    return to->result;
}

/* Records in the current exception how many keys of a batch were done, if it is one of ours. */
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

static umbelpy_filter *filter_of(PyObject *self) {
    return (umbelpy_filter *)self;
}

bool umbelpy_undamaged(PyObject *self) {
    umbel_diag diag = {0};
    umbel_err e = umbel_damage(filter_of(self)->filter, &diag);
    if (!e) return true;
    umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL);
    return false;
}

static umbelpy_use adding(const umbelpy_filter *filter) {
    return filter->concurrent ? UMBELPY_ADD : UMBELPY_WRITE;
}

/* ---- one key ------------------------------------------------------------------------------ */

/* Keys are read first: their owners may run code that uses this filter. */
int umbelpy_contains(PyObject *self, PyObject *object) {
    umbelpy_filter *filter = filter_of(self);
    if (PyUnicode_Check(object)) {
        Py_ssize_t len;
        const char *data = PyUnicode_AsUTF8AndSize(object, &len);
        if (!data) return -1;
        if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
        bool in = umbel_contains(filter->filter, data, (size_t)len);
        return umbelpy_undamaged(self) ? in : -1;
    }
    umbelpy_key key;
    if (!umbelpy_key_read(NULL, object, -1, &key)) return -1;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    int found = umbel_contains(filter->filter, key.key.data, key.key.len);
    umbelpy_key_end(&key);
    return umbelpy_undamaged(self) ? found : -1;
}

/* The arguments (key, *, type=None) of a method. */
static bool read_key(umbelpy_state *state, PyObject *const *args, Py_ssize_t n, PyObject *names,
                     umbelpy_key *key) {
    int type = -1;
    bool named = names && PyTuple_Size(names) == 1 &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "type") == 0;
    if (n != 1 || (names && PyTuple_Size(names) && !named)) {
        PyErr_SetString(PyExc_TypeError, "the arguments are a key and, by name, type");
        return false;
    }
    if (named) {
        type = umbelpy_type(state, args[1]);
        if (PyErr_Occurred()) return false;
    }
    return umbelpy_key_read(state, args[0], type, key);
}

static PyObject *add(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_filter *filter = filter_of(self);
    umbelpy_key key;
    umbel_diag diag = {0};
    bool was_new = false;
    if (!read_key(state, args, n, names, &key)) return NULL;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, adding(filter));
    umbel_err e = umbel_add(filter->filter, key.key.data, key.key.len, &was_new, &diag);
    umbelpy_key_end(&key);
    return e ? umbelpy_fail(state, e, &diag, NULL) : PyBool_FromLong(was_new);
}

static PyObject *contains(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    umbelpy_filter *filter = filter_of(self);
    umbelpy_key key;
    if (!read_key(umbelpy_state_of(self), args, n, names, &key)) return NULL;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    bool found = umbel_contains(filter->filter, key.key.data, key.key.len);
    umbelpy_key_end(&key);
    return umbelpy_undamaged(self) ? PyBool_FromLong(found) : NULL;
}

static PyObject *count(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    umbelpy_filter *filter = filter_of(self);
    umbelpy_key key;
    if (!read_key(umbelpy_state_of(self), args, n, names, &key)) return NULL;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    uint32_t times = umbel_count(filter->filter, key.key.data, key.key.len);
    umbelpy_key_end(&key);
    return umbelpy_undamaged(self) ? PyLong_FromUnsignedLong(times) : NULL;
}

static PyObject *remove_key(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_filter *filter = filter_of(self);
    umbelpy_key key;
    umbel_diag diag = {0};
    if (!read_key(state, args, n, names, &key)) return NULL;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_WRITE);
    umbel_err e = umbel_remove(filter->filter, key.key.data, key.key.len, &diag);
    umbelpy_key_end(&key);
    return e ? umbelpy_fail(state, e, &diag, NULL) : Py_NewRef(Py_None);
}

/* Whether the filter may have the key of a text: by the recipe, as `umbel check -e` makes it. */
static PyObject *has_text(PyObject *self, PyObject *text) {
    umbelpy_filter *filter = filter_of(self);
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_key key;
    umbel_diag diag = {0};
    uint8_t hit;
    if (!umbelpy_key_read(state, text, -1, &key)) return NULL;
    if (filter->gate.inside) umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    const umbel_lookup *lookup = umbelpy_lookup_of(self);
    umbel_err e = UMBEL_OK;
    if (lookup) e = umbel_lookup_texts(lookup, UMBEL_USE_KEY, &key.key, 1, &hit, NULL, &diag);
    umbelpy_key_end(&key);
    if (!lookup) return NULL;
    return e ? umbelpy_fail(state, e, &diag, NULL) : PyBool_FromLong(hit);
}

/* ---- many keys ---------------------------------------------------------------------------- */

typedef struct asking {
    umbel_filter *filter;
    const umbel_lookup *lookup; /* held, for texts */
    uint8_t *flags;             /* or NULL when adding */
    uint64_t *hashes;
    size_t done;
} asking;

static umbel_err work_contains(void *ctx, const umbel_key *keys, size_t n, size_t at,
                               umbel_diag *diag) {
    asking *a = ctx;
    umbel_contains_many(a->filter, keys, n, a->flags + at);
    return umbel_damage(a->filter, diag);
}

static umbel_err work_texts(void *ctx, const umbel_key *texts, size_t n, size_t at,
                            umbel_diag *diag) {
    asking *a = ctx;
    return umbel_lookup_texts(a->lookup, UMBEL_USE_KEY, texts, n, a->flags + at, NULL, diag);
}

static umbel_err work_add(void *ctx, const umbel_key *keys, size_t n, size_t at, umbel_diag *diag) {
    asking *a = ctx;
    size_t done = 0;
    umbel_err e = umbel_add_many(a->filter, keys, n, a->flags ? a->flags + at : NULL, &done, diag);
    a->done = at + done;
    return e;
}

static umbel_err work_hash(void *ctx, const umbel_key *keys, size_t n, size_t at,
                           umbel_diag *diag) {
    asking *a = ctx;
    return umbel_hash_many(a->filter, keys, n, a->hashes + at, diag);
}

static const umbelpy_field batch_fields[] = {
    {"keys", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"out", UMBELPY_OBJECT, UMBELPY_AT(path)},
    {"type", UMBELPY_TYPE, UMBELPY_AT(type)},
    {0},
};

static const umbelpy_field text_fields[] = {
    {"texts", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"out", UMBELPY_OBJECT, UMBELPY_AT(path)},
    {0},
};

/* A batch whose answers are flags, or hashes where width is 8. */
static PyObject *run_batch(PyObject *self, PyObject *args, PyObject *kwargs, umbelpy_use use,
                           umbelpy_work work, size_t width) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_request request;
    answers to = {0};
    asking a = {.filter = filter_of(self)->filter};
    const umbelpy_field *fields = work == work_texts ? text_fields : batch_fields;
    if (!umbelpy_request_read(state, &request, fields, 1, 1, args, kwargs)) return NULL;
    umbelpy_batch *batch =
        umbelpy_batch_open(state, request.object ? request.object : Py_None, request.type, true);
    if (!batch) return NULL;
    bool ok = answers_open(state, request.path, umbelpy_batch_size(batch), width, &to);
    if (ok && work == work_texts) ok = (a.lookup = umbelpy_lookup_of(self)) != NULL;
    if (ok) {
        if (a.lookup) umbel_lookup_hold(a.lookup); /* keys may be made by code that sets a recipe */
        a.flags = to.bytes;
        a.hashes = to.bytes;
        ok = umbelpy_batch_run(state, batch, filter_of(self), use, work, &a);
        if (!ok) umbelpy_say_done(state, a.done);
        umbel_lookup_free(a.lookup);
    }
    umbelpy_batch_close(batch);
    return answers_end(&to, ok);
}

static PyObject *contains_many(PyObject *self, PyObject *args, PyObject *kwargs) {
    return run_batch(self, args, kwargs, UMBELPY_LOOKUP, work_contains, 1);
}

static PyObject *has_texts(PyObject *self, PyObject *args, PyObject *kwargs) {
    return run_batch(self, args, kwargs, UMBELPY_LOOKUP, work_texts, 1);
}

static PyObject *add_many(PyObject *self, PyObject *args, PyObject *kwargs) {
    return run_batch(self, args, kwargs, UMBELPY_ADD, work_add, 1);
}

/* A new result is a memoryview of format "Q", which NumPy and array take as what it is. */
static PyObject *hash_many(PyObject *self, PyObject *args, PyObject *kwargs) {
    PyObject *bytes = run_batch(self, args, kwargs, UMBELPY_LOOKUP, work_hash, 8);
    PyObject *out = kwargs ? PyDict_GetItemString(kwargs, "out") : NULL;
    if (!bytes || (out && out != Py_None)) return bytes;
    PyObject *view = PyMemoryView_FromObject(bytes);
    Py_DECREF(bytes);
    PyObject *hashes = view ? PyObject_CallMethod(view, "cast", "s", "Q") : NULL;
    Py_XDECREF(view);
    return hashes;
}

static const umbelpy_field update_fields[] = {
    {"keys", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"type", UMBELPY_TYPE, UMBELPY_AT(type)},
    {0},
};

static PyObject *update(PyObject *self, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_request request;
    asking a = {.filter = filter_of(self)->filter};
    if (!umbelpy_request_read(state, &request, update_fields, 1, 1, args, kwargs)) return NULL;
    if (request.object && Py_TYPE(request.object) == Py_TYPE(self)) {
        if (umbelpy_merge(state, filter_of(self), filter_of(request.object))) return NULL;
        return Py_NewRef(Py_None);
    }
    PyObject *keys = request.object ? request.object : Py_None;
    umbelpy_batch *batch = umbelpy_batch_open(state, keys, request.type, false);
    if (!batch) return NULL;
    bool ok = umbelpy_batch_run(state, batch, filter_of(self), UMBELPY_ADD, work_add, &a);
    if (!ok) umbelpy_say_done(state, a.done);
    umbelpy_batch_close(batch);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* ---- hashes ------------------------------------------------------------------------------- */

static PyObject *hash_one(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbel_filter *filter = filter_of(self)->filter;
    umbelpy_key key;
    umbel_diag diag = {0};
    uint64_t hash = 0;
    if (!read_key(state, args, n, names, &key)) return NULL;
    umbel_err e = umbel_hash_many(filter, &key.key, 1, &hash, &diag);
    umbelpy_key_end(&key);
    return e ? umbelpy_fail(state, e, &diag, NULL) : PyLong_FromUnsignedLongLong(hash);
}

static bool view_hashes(PyObject *object, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) return false;
    const char *format = view->format ? view->format : "B";
    if (view->itemsize == 8 && strchr("QL", format[strspn(format, "@=<")])) return true;
    PyErr_Format(PyExc_TypeError, "hashes are unsigned 64-bit integers, not items of format '%s'",
                 format);
    PyBuffer_Release(view);
    return false;
}

static umbel_err ask_hashes(umbelpy_filter *filter, const Py_buffer *view, bool is_add, asking *a,
                            umbel_diag *diag) {
    umbelpy_use use = is_add ? adding(filter) : UMBELPY_LOOKUP;
    size_t n = (size_t)view->len / 8;
    umbel_err e = UMBEL_OK;
    umbelpy_gate_enter(&filter->gate, use);
    PyThreadState *thread = PyEval_SaveThread();
    if (is_add) {
        e = umbel_add_hashes(filter->filter, view->buf, n, a->flags, &a->done, diag);
    } else {
        umbel_contains_hashes(filter->filter, view->buf, n, a->flags);
        e = umbel_damage(filter->filter, diag);
    }
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&filter->gate, use);
    return e;
}

static const umbelpy_field hash_fields[] = {
    {"hashes", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"out", UMBELPY_OBJECT, UMBELPY_AT(path)},
    {0},
};

static PyObject *run_hashes(PyObject *self, PyObject *args, PyObject *kwargs, bool is_add) {
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_filter *filter = filter_of(self);
    umbelpy_request request;
    Py_buffer view;
    answers to = {0};
    asking a = {0};
    umbel_diag diag = {0};
    if (!umbelpy_request_read(state, &request, hash_fields, 1, 1, args, kwargs)) return NULL;
    umbel_info info;
    umbel_describe(filter->filter, &info);
    if (!info.takes_hashes) { /* its lookups would all say yes */
        return umbelpy_refuse(state, UMBEL_ENOTSUP, "", "filters of this kind take no hashes");
    }
    if (!view_hashes(request.object ? request.object : Py_None, &view)) return NULL;
    bool ok = answers_open(state, request.path, (size_t)view.len / 8, 1, &to);
    if (ok) {
        a.flags = to.bytes;
        umbel_err e = ask_hashes(filter, &view, is_add, &a, &diag);
        ok = !e;
        if (e) {
            umbelpy_fail(state, e, &diag, NULL);
            umbelpy_say_done(state, a.done);
        }
    }
    PyBuffer_Release(&view);
    return answers_end(&to, ok);
}

static PyObject *contains_hashes(PyObject *self, PyObject *args, PyObject *kwargs) {
    return run_hashes(self, args, kwargs, false);
}

static PyObject *add_hashes(PyObject *self, PyObject *args, PyObject *kwargs) {
    return run_hashes(self, args, kwargs, true);
}

/* ---- table -------------------------------------------------------------------------------- */

#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS
#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

PyMethodDef umbelpy_key_methods[] = {
    {"add", FAST(add),
     "add($self, key, /, *, type=None)\n--\n\nAdds a key.  True: it was certainly not in before."},
    {"contains", FAST(contains),
     "contains($self, key, /, *, type=None)\n--\n\nWhat `key in filter` says, for keys with a type "
     "as well."},
    {"has_text", has_text, METH_O,
     "has_text($self, text, /)\n--\n\nWhether the key of a text may be in: by the filter's recipe, "
     "as `umbel check -e`\nasks; of a domain name, its parents as well."},
    {"count", FAST(count),
     "count($self, key, /, *, type=None)\n--\n\nAn upper bound on how often it was added, 15 "
     "meaning 15 or more\n(counting filters); 1 or 0 for other kinds."},
    {"remove", FAST(remove_key),
     "remove($self, key, /, *, type=None)\n--\n\nCounting filters: takes out one added key; "
     "AbsentError, which\nis a KeyError, if it is certainly not in."},
    {"hash", FAST(hash_one), "hash($self, key, /, *, type=None)\n--\n\nThe 64-bit hash of a key."},
    {"update", NAMED(update),
     "update($self, /, keys, *, type=None)\n--\n\nAdds every key of a batch or an iterable, or "
     "another filter."},
    {"update_from", NAMED(umbelpy_update_from),
     "update_from($self, /, source, *, batch=65536, type=None, recipe=None)\n--\n\nAdds the keys "
     "of an endless or a large iterable, this many at a time, or the records of a file\nobject, by "
     "the filter's recipe or another.  Returns umbel.Lines: how many there were, how many\nwere new, "
     "how many had no key."},
    {"contains_many", NAMED(contains_many),
     "contains_many($self, /, keys, *, out=None, type=None)\n--\n\nOne byte per key, 1 or 0: as "
     "bytes, or in the\nwritable buffer given as out, which is returned then."},
    {"has_texts", NAMED(has_texts),
     "has_texts($self, /, texts, *, out=None)\n--\n\nWhat has_text says of each: one byte, 1 or 0, "
     "as contains_many has them."},
    {"add_many", NAMED(add_many),
     "add_many($self, /, keys, *, out=None, type=None)\n--\n\nAdds all keys; one byte per key says "
     "whether it\nwas new."},
    {"hash_many", NAMED(hash_many),
     "hash_many($self, /, keys, *, out=None, type=None)\n--\n\nThe keys' hashes as a memoryview of "
     "format 'Q'."},
    {"contains_hashes", NAMED(contains_hashes),
     "contains_hashes($self, /, hashes, *, out=None)\n--\n\nThe same as contains_many, from a "
     "buffer of uint64."},
    {"add_hashes", NAMED(add_hashes),
     "add_hashes($self, /, hashes, *, out=None)\n--\n\nThe same as add_many, from a buffer of "
     "uint64."},
    {0},
};
