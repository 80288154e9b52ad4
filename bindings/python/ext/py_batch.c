/* SPDX-License-Identifier: MIT
 *
 * py_batch.c - many keys in one call, in every form that Python has for them
 *
 * Objects are gathered a piece at a time, so that their texts are still in the cache when they are
 * hashed.  Small pieces are worked on with the GIL: nothing can happen to the objects meanwhile, and
 * not counting references to them halves the memory that is written.  Large pieces, and those with
 * keys that ran Python code, hold references and release the GIL: the list may change under us.
 */
#include <stdlib.h>
#include <string.h>

#include "py_umbel.h"

enum {
    PIECE = 4096,         /* keys; their places and references stay in the second-level cache   */
    BULK_PIECE = 1 << 21, /* where the library sorts by place or uses threads                    */
    BULK_BYTES = 32 << 20,
    AHEAD = 16, /* objects; reading them takes far less time than waiting for their memory      */
    KEEP_GIL = 256, /* fewer keys than this are done before another thread has woken up          */
    SCRATCH = 8 << 20, /* bytes for keys that are not in the caller's memory as they are hashed   */
    SIGNALS = 1 << 22  /* keys after which Ctrl-C is noticed                                      */
};

struct umbelpy_batch {
    umbelpy_rows *parts; /* one after the other                                                  */
    size_t n_parts;
    bool is_rows;
    PyObject *objects; /* a list or tuple; NULL: rows or an iterator                             */
    PyObject *iterator;
    int type;
    size_t n; /* of objects and rows */

    umbel_key *keys; /* one piece */
    PyObject **held; /* what each of them belongs to ... */
    bool borrowed;   /* ... without a reference: the GIL must not be released */
    uint8_t *numbers;
    size_t cap, used;
    size_t before; /* objects of earlier pieces */
    bool bulk;
};

/* ---- opening ------------------------------------------------------------------------------ */

static bool open_objects(umbelpy_batch *batch, PyObject *keys, bool counted) {
    if (PyUnicode_Check(keys)) { /* its characters are not meant as keys */
        PyErr_SetString(PyExc_TypeError, "one key, where a batch of keys is expected");
        return false;
    }
    if (PyList_Check(keys) || PyTuple_Check(keys)) {
        batch->objects = Py_NewRef(keys);
    } else if (counted) {
        batch->objects = PySequence_List(keys);
    } else {
        batch->iterator = PyObject_GetIter(keys);
        return batch->iterator != NULL;
    }
    if (!batch->objects) return false;
    batch->n = (size_t)(PyList_Check(batch->objects) ? PyList_Size(batch->objects)
                                                     : PyTuple_Size(batch->objects));
    return true;
}

/* pandas' and polars' columns as NumPy's arrays; NULL with an exception.  Iterating over a table
 * would give the names of its columns, which are not meant as keys. */
static PyObject *column_of(PyObject *keys) {
    PyObject *array = PyObject_CallMethod(keys, "to_numpy", NULL);
    PyObject *ndim = array ? PyObject_GetAttrString(array, "ndim") : NULL;
    long dimensions = ndim ? PyLong_AsLong(ndim) : -1;
    Py_XDECREF(ndim);
    if (dimensions != 1) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "a table, where one column of keys is expected");
        }
        Py_CLEAR(array);
    }
    return array;
}

static int open_rows(umbelpy_state *state, umbelpy_batch *batch, PyObject *keys) {
    umbelpy_rows rows;
    int opened = umbelpy_rows_open(state, keys, batch->type, &rows);
    if (opened != 1) return opened;
    batch->parts = malloc(sizeof rows);
    if (!batch->parts) {
        umbelpy_rows_close(&rows);
        PyErr_NoMemory();
        return -1;
    }
    *batch->parts = rows;
    batch->n_parts = 1;
    return 1;
}

/* Opens keys in whatever form they are. */
static bool open_any(umbelpy_state *state, umbelpy_batch *batch, PyObject *keys, bool counted) {
    int opened = open_rows(state, batch, keys);
    if (opened == 0 && !PyObject_CheckBuffer(keys)) {
        opened = umbelpy_arrow_open(state, keys, batch->type, &batch->parts, &batch->n_parts);
    }
    if (opened == 0 && !PyObject_CheckBuffer(keys) && PyObject_HasAttrString(keys, "to_numpy")) {
        PyObject *array = column_of(keys);
        bool ok = array && open_any(state, batch, array, counted);
        Py_XDECREF(array);
        return ok;
    }
    if (opened == 0) return open_objects(batch, keys, counted);
    batch->is_rows = true;
    for (size_t i = 0; i < batch->n_parts; i++) batch->n += batch->parts[i].n;
    return opened > 0;
}

/* A TypeError about a key of a batch becomes a BadKeyError, whose index type checkers know. */
static void name_blame(umbelpy_state *state) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    bool blamed = type == PyExc_TypeError && PyObject_HasAttrString(value, "index");
    PyObject *better = blamed ? PyObject_CallFunction(state->bad_key, "O", value) : NULL;
    PyObject *place = better ? PyObject_GetAttrString(value, "index") : NULL;
    if (place && PyObject_SetAttrString(better, "index", place) == 0) {
        Py_DECREF(type);
        Py_DECREF(value);
        type = Py_NewRef(state->bad_key);
        value = Py_NewRef(better);
    }
    Py_XDECREF(place);
    Py_XDECREF(better);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
}

umbelpy_batch *umbelpy_batch_open(umbelpy_state *state, PyObject *keys, int type, bool counted) {
    umbelpy_batch *batch = calloc(1, sizeof *batch);
    if (!batch) return (void *)PyErr_NoMemory();
    batch->type = type;
    if (open_any(state, batch, keys, counted)) return batch;
    umbelpy_batch_close(batch);
    name_blame(state);
    return NULL;
}

void umbelpy_batch_limit(umbelpy_batch *batch, size_t piece) {
    batch->cap = piece;
}

size_t umbelpy_batch_size(const umbelpy_batch *batch) {
    return batch->n;
}

static void let_go(umbelpy_batch *batch) {
    for (size_t i = 0; i < batch->used && !batch->borrowed; i++) Py_DECREF(batch->held[i]);
    batch->used = 0;
}

void umbelpy_batch_close(umbelpy_batch *batch) {
    let_go(batch);
    for (size_t i = 0; i < batch->n_parts; i++) umbelpy_rows_close(&batch->parts[i]);
    free(batch->parts);
    Py_XDECREF(batch->objects);
    Py_XDECREF(batch->iterator);
    free(batch->keys);
    free(batch->held);
    free(batch->numbers);
    free(batch);
}

/* Memory for one piece. */
static bool make_room(umbelpy_batch *batch, umbelpy_filter *filter) {
    umbel_info info = {0};
    if (filter) {
        umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
        umbel_describe(filter->filter, &info);
    }
    batch->bulk = info.bytes > BULK_BYTES || (filter && filter->threads > 1);
    if (!batch->cap) batch->cap = batch->bulk ? BULK_PIECE : PIECE;
    if (!batch->iterator && batch->n < batch->cap) batch->cap = batch->n ? batch->n : 1;
    size_t scratch = !batch->is_rows && umbelpy_is_number(batch->type) ? 8 : 0;
    for (size_t i = 0; i < batch->n_parts; i++) {
        if (batch->parts[i].scratch > scratch) scratch = batch->parts[i].scratch;
    }
    if (scratch > SCRATCH / batch->cap && batch->is_rows) {
        batch->cap = SCRATCH / scratch ? SCRATCH / scratch : 1;
    }
    batch->keys = malloc(batch->cap * sizeof *batch->keys);
    bool ok = batch->keys != NULL;
    if (ok && !batch->is_rows) ok = (batch->held = malloc(batch->cap * sizeof *batch->held));
    if (ok && scratch) ok = (batch->numbers = malloc(scratch * batch->cap));
    if (!ok) PyErr_NoMemory();
    return ok;
}

/* ---- blame -------------------------------------------------------------------------------- */

void umbelpy_blame(size_t index) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *place = PyLong_FromSize_t(index);
    if (type == PyExc_TypeError || type == PyExc_OverflowError) {
        PyObject *text = PyUnicode_FromFormat("key %zu: %S", index, value);
        PyObject *better = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
        Py_XDECREF(text);
        if (better) {
            Py_DECREF(value);
            value = better;
        }
    } else {
        PyObject *note = PyObject_CallMethod(
            value, "add_note", "N", PyUnicode_FromFormat("in key %zu of the batch", index));
        Py_XDECREF(note);
    }
    if (place) PyObject_SetAttrString(value, "index", place);
    Py_XDECREF(place);
    PyErr_Restore(type, value, trace);
}

/* ---- gathering ---------------------------------------------------------------------------- */

/* A key that is neither str nor bytes, or that has a type. */
static bool gather_rare(umbelpy_state *state, umbelpy_batch *batch, PyObject *item) {
    umbel_key *to = &batch->keys[batch->used];
    umbelpy_key key;
    PyObject *held = NULL;
    Py_INCREF(item); /* reading it may run code that removes it from the list */
    if (umbelpy_is_number(batch->type)) {
        uint8_t *number = batch->numbers + 8 * batch->used;
        *to = (umbel_key){number, umbelpy_number(item, batch->type, number)};
        if (to->len) held = Py_NewRef(item);
    } else if (umbelpy_key_read(state, item, batch->type, &key)) {
        *to = key.key;
        held = Py_XNewRef(key.owned);
        if (!held) { /* a copy, so that a piece needs no thousands of open buffers */
            held = PyBytes_FromStringAndSize(key.key.data, (Py_ssize_t)key.key.len);
            if (held) to->data = PyBytes_AsString(held);
        }
        umbelpy_key_end(&key);
    }
    Py_DECREF(item);
    if (held) batch->held[batch->used++] = held;
    return held != NULL;
}

/* From here on Python code may run. */
static void hold_references(umbelpy_batch *batch) {
    for (size_t i = 0; i < batch->used && batch->borrowed; i++) Py_INCREF(batch->held[i]);
    batch->borrowed = false;
}

/* 1: gathered, without having run any Python code; 0: a rare one; -1: an exception. */
static int gather_plain(umbelpy_batch *batch, PyObject *item) {
    Py_ssize_t len = 0;
    const char *data;
    if (Py_TYPE(item) == &PyUnicode_Type) {
        data = PyUnicode_AsUTF8AndSize(item, &len);
        if (!data) return -1;
    } else if (Py_TYPE(item) == &PyBytes_Type) {
        data = PyBytes_AsString(item);
        len = PyBytes_Size(item);
    } else {
        return 0;
    }
    if (!batch->borrowed) Py_INCREF(item);
    batch->held[batch->used] = item;
    batch->keys[batch->used++] = (umbel_key){data, (size_t)len};
    return 1;
}

static bool gather(umbelpy_state *state, umbelpy_batch *batch, PyObject *item) {
    int gathered = batch->type <= UMBEL_TYPE_STRING ? gather_plain(batch, item) : 0;
    if (gathered > 0 || (gathered == 0 && gather_rare(state, batch, item))) return true;
    umbelpy_blame(batch->before + batch->used);
    return false;
}

static PyObject *item_at(const umbelpy_batch *batch, size_t i) {
    PyObject *item = PyList_Check(batch->objects) ? PyList_GetItem(batch->objects, (Py_ssize_t)i)
                                                  : PyTuple_GetItem(batch->objects, (Py_ssize_t)i);
    if (!item) PyErr_SetString(PyExc_RuntimeError, "the list became shorter during the call");
    return item;
}

/* Prefetches an object that will be read soon: its head and the start of its text. */
static void fetch(const PyObject *item) {
    __builtin_prefetch(item, 1);
    __builtin_prefetch((const char *)item + 64);
}

/* Gathers until something rare comes.  Up to there nothing can change the list, so all its places
 * are read first, and objects are fetched before they are needed: without that most of the time
 * would be spent waiting for memory. */
static bool gather_ahead(umbelpy_batch *batch, size_t at, size_t n) {
    PyObject **items = batch->held;
    bool is_list = PyList_Check(batch->objects);
    if (is_list && (size_t)PyList_Size(batch->objects) < at + n) return item_at(batch, at + n - 1);
    for (size_t i = 0; i < n; i++) {
        Py_ssize_t place = (Py_ssize_t)(at + i);
        items[i] = is_list ? PyList_GetItem(batch->objects, place)
                           : PyTuple_GetItem(batch->objects, place);
    }
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) fetch(items[i + AHEAD]);
        int gathered = gather_plain(batch, items[i]);
        if (gathered < 0) umbelpy_blame(batch->before + batch->used);
        if (gathered <= 0) return gathered == 0;
    }
    return true;
}

static bool gather_from_sequence(umbelpy_state *state, umbelpy_batch *batch, size_t at) {
    size_t n = batch->n - at < batch->cap ? batch->n - at : batch->cap;
    batch->borrowed = !batch->bulk;
    if (batch->type <= UMBEL_TYPE_STRING && !gather_ahead(batch, at, n)) return false;
    if (batch->used < n) hold_references(batch);
    while (batch->used < n) {
        PyObject *item = item_at(batch, at + batch->used);
        if (!item || !gather(state, batch, item)) return false;
    }
    return true;
}

static bool gather_from_iterator(umbelpy_state *state, umbelpy_batch *batch) {
    PyObject *item;
    while (batch->used < batch->cap && (item = PyIter_Next(batch->iterator))) {
        bool ok = gather(state, batch, item);
        Py_DECREF(item);
        if (!ok) return false;
    }
    return !PyErr_Occurred();
}

/* ---- working ------------------------------------------------------------------------------ */

typedef struct running {
    umbelpy_batch *batch;
    umbelpy_filter *filter;
    umbelpy_use use;
    umbelpy_work work;
    void *ctx;
    umbel_diag diag;
    size_t bad; /* the row that is not a text, if diag.what is `not_text` */
} running;

static const char not_text[] = "is not Unicode text";

/* Rows [at, end) of all parts. */
static umbel_err work_rows(running *r, size_t at, size_t end) {
    umbelpy_batch *batch = r->batch;
    umbel_err e = UMBEL_OK;
    size_t start = 0;
    for (size_t i = 0; !e && i < batch->n_parts; start += batch->parts[i++].n) {
        const umbelpy_rows *rows = &batch->parts[i];
        while (!e && at < end && at - start < rows->n) {
            size_t n = rows->n - (at - start), good;
            if (n > end - at) n = end - at;
            if (n > batch->cap) n = batch->cap;
            good = umbelpy_rows_keys(rows, at - start, n, batch->keys, batch->numbers);
            if (good < n) {
                r->bad = at + good;
                r->diag.what = not_text;
                return UMBEL_EINVAL;
            }
            e = r->work(r->ctx, batch->keys, n, at, &r->diag);
            at += n;
        }
    }
    return e;
}

/* Objects: what has been gathered.  Rows: those from at on. */
static umbel_err work_now(running *r, size_t at, size_t n) {
    umbelpy_batch *batch = r->batch;
    return batch->is_rows ? work_rows(r, at, at + n)
                          : r->work(r->ctx, batch->keys, n, at, &r->diag);
}

static umbel_err work_safely(running *r, size_t at, size_t n) {
    umbelpy_gate *gate = r->filter ? &r->filter->gate : NULL;
    if (r->batch->borrowed) return work_now(r, at, n);
    if (n < KEEP_GIL) {
        if (gate) umbelpy_gate_wait(gate, r->use);
        return work_now(r, at, n);
    }
    if (gate) umbelpy_gate_enter(gate, r->use);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = work_now(r, at, n);
    PyEval_RestoreThread(thread);
    if (gate) umbelpy_gate_leave(gate, r->use);
    return e;
}

static bool run_rows(umbelpy_state *state, running *r) {
    umbel_err e = UMBEL_OK;
    size_t left = r->batch->n;
    for (size_t at = 0, n; !e && left; at += n, left -= n) {
        n = left < SIGNALS ? left : SIGNALS;
        if (at && PyErr_CheckSignals()) return false;
        e = work_safely(r, at, n);
    }
    if (!e) return true;
    umbelpy_fail(state, e, &r->diag, NULL);
    if (r->diag.what == not_text) umbelpy_blame(r->bad);
    return false;
}

static bool run_objects(umbelpy_state *state, running *r) {
    umbelpy_batch *batch = r->batch;
    umbel_err e = UMBEL_OK;
    for (size_t at = 0, n = batch->cap; !e && n == batch->cap; at += n) {
        if (at) PyEval_RestoreThread(PyEval_SaveThread()); /* others may want the GIL */
        if (at && PyErr_CheckSignals()) return false;
        /* Waiting releases the GIL, so it comes before anything is borrowed. */
        if (r->filter) umbelpy_gate_wait(&r->filter->gate, r->use);
        batch->before = at;
        bool ok = batch->iterator ? gather_from_iterator(state, batch)
                                  : gather_from_sequence(state, batch, at);
        n = batch->used;
        if (ok && n) e = work_safely(r, at, n);
        let_go(batch);
        if (!ok) return false;
    }
    return !e || umbelpy_fail(state, e, &r->diag, NULL);
}

bool umbelpy_batch_run(umbelpy_state *state, umbelpy_batch *batch, umbelpy_filter *filter,
                       umbelpy_use use, umbelpy_work work, void *ctx) {
    running r = {.batch = batch, .filter = filter, .use = use, .work = work, .ctx = ctx};
    if (!make_room(batch, filter)) return false;
    if (use == UMBELPY_ADD && !filter->concurrent) r.use = UMBELPY_WRITE;
    bool ok = batch->is_rows ? run_rows(state, &r) : run_objects(state, &r);
    if (!ok) name_blame(state);
    return ok;
}
