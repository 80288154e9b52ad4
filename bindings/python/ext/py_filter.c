/* SPDX-License-Identifier: MIT
 *
 * py_filter.c - the type Filter: making, showing and ending its objects
 */
#include <stdio.h>

#include "py_umbel.h"

umbelpy_state *umbelpy_state_of(PyObject *self) {
    return PyType_GetModuleState(Py_TYPE(self));
}

/* ---- life --------------------------------------------------------------------------------- */

umbelpy_filter *umbelpy_wrap(umbelpy_state *state, umbel_filter *filter, const umbel_foreign *as,
                             uint32_t threads) {
    PyTypeObject *type = (PyTypeObject *)state->filter_type;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    umbelpy_filter *self = (umbelpy_filter *)alloc(type, 0); /* zeroed */
    if (self && !umbelpy_gate_make(&self->gate)) {
        PyObject_GC_UnTrack(self);
        PyObject_GC_Del(self);
        Py_DECREF(type);
        self = (umbelpy_filter *)PyErr_NoMemory();
    }
    if (!self) {
        umbel_free(filter);
        return NULL;
    }
    umbel_info info;
    umbel_describe(filter, &info);
    self->filter = filter;
    if (as) self->as = *as;
    self->as.format = info.format;
    self->threads = threads;
    self->concurrent = info.concurrent;
    return self;
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((umbelpy_filter *)self)->ground.obj);
    return 0;
}

/* No tp_clear: the filter lies on the buffer until it ends, and what gave the buffer breaks any
 * cycle itself. */
static void dealloc(PyObject *self) {
    umbelpy_filter *filter = (umbelpy_filter *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    umbel_lookup_free(filter->lookup);
    umbel_free(filter->filter);
    umbelpy_gate_end(&filter->gate);
    if (filter->ground.obj) PyBuffer_Release(&filter->ground);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static const umbelpy_field make_fields[] = {
    {"capacity", UMBELPY_U64, UMBELPY_AT(params.capacity)},
    {"fpr", UMBELPY_RATE, UMBELPY_AT(params.fpr)},
    {"kind", UMBELPY_KIND, UMBELPY_AT(params.kind)},
    {"seed", UMBELPY_U64, UMBELPY_AT(params.seed)},
    {"secret", UMBELPY_SECRET, 0},
    {"concurrent", UMBELPY_FLAG, UMBELPY_AT(params.concurrent)},
    {"bytes", UMBELPY_U64, UMBELPY_AT(params.bytes)},
    {"hashes", UMBELPY_U32, UMBELPY_AT(params.hashes)},
    {"expansion", UMBELPY_U32, UMBELPY_AT(params.scalable.expansion)},
    {"max_layers", UMBELPY_U32, UMBELPY_AT(params.scalable.max_layers)},
    {"generations", UMBELPY_U32, UMBELPY_AT(params.window.generations)},
    {"manual", UMBELPY_FLAG, UMBELPY_AT(params.window.manual)},
    {"threads", UMBELPY_U32, UMBELPY_AT(opts.threads)},
    {"max_bytes", UMBELPY_U64, UMBELPY_AT(opts.max_bytes)},
    {"recipe", UMBELPY_OBJECT, UMBELPY_AT(recipe)},
    {0},
};

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyType_GetModuleState(type);
    umbelpy_request request;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, make_fields, 2, 0, args, kwargs)) {
        if (request.params.fpr == 0 && request.params.bytes == 0) request.params.fpr = 0.01;
        PyThreadState *thread = PyEval_SaveThread(); /* planning takes about a millisecond */
        umbel_err e = umbel_create(&request.params, &request.opts, &filter, &diag);
        PyEval_RestoreThread(thread);
        if (e == UMBEL_ENOTSUP) {
            umbelpy_refuse(state, e, "kind",
                           "is built once, from all the keys: umbel.build(keys, fpr, kind=...)");
        } else if (e) {
            umbelpy_fail(state, e, &diag, NULL);
        } else if (request.recipe && !umbelpy_apply_recipe(state, filter, request.recipe)) {
            umbel_free(filter);
        } else {
            made = (PyObject *)umbelpy_wrap(state, filter, NULL, request.opts.threads);
        }
    }
    umbelpy_request_end(&request);
    return made;
}

static const umbelpy_field foreign_fields[] = {
    {"format", UMBELPY_FORMAT, UMBELPY_AT(foreign.format)},
    {"capacity", UMBELPY_U64, UMBELPY_AT(foreign.capacity)},
    {"fpr", UMBELPY_RATE, UMBELPY_AT(foreign.fpr)},
    {"variant", UMBELPY_VARIANT, UMBELPY_AT(foreign.variant)},
    {"bytes", UMBELPY_U64, UMBELPY_AT(foreign.bytes)},
    {"seed", UMBELPY_U64, UMBELPY_AT(foreign.seed)},
    {"hashes", UMBELPY_U32, UMBELPY_AT(foreign.hashes)},
    {"bits_per_key", UMBELPY_U32, UMBELPY_AT(foreign.bits_per_key)},
    {"expansion", UMBELPY_U32, UMBELPY_AT(foreign.expansion)},
    {"nonscaling", UMBELPY_FLAG, UMBELPY_AT(foreign.nonscaling)},
    {"concurrent", UMBELPY_FLAG, UMBELPY_AT(opts.concurrent)},
    {"threads", UMBELPY_U32, UMBELPY_AT(opts.threads)},
    {"max_bytes", UMBELPY_U64, UMBELPY_AT(opts.max_bytes)},
    {0},
};

static PyObject *make_foreign(PyObject *type, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyType_GetModuleState((PyTypeObject *)type);
    umbelpy_request request;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, foreign_fields, 3, 1, args, kwargs)) {
        umbel_err e = umbel_create_foreign(&request.foreign, &request.opts, &filter, &diag);
        made = e ? umbelpy_fail(state, e, &diag, NULL)
                 : (void *)umbelpy_wrap(state, filter, &request.foreign, request.opts.threads);
    }
    umbelpy_request_end(&request);
    return made;
}

/* ---- showing ------------------------------------------------------------------------------ */

static PyObject *show(PyObject *self) {
    umbelpy_filter *filter = (umbelpy_filter *)self;
    umbel_info info;
    char promise[96] = "", text[320];
    umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    umbel_describe(filter->filter, &info);
    if (info.capacity && info.fpr > 0) {
        snprintf(promise, sizeof promise, ", %llu keys at %g", (unsigned long long)info.capacity,
                 info.fpr);
    }
    snprintf(text, sizeof text, "<umbel.Filter %s %s%s, %llu bytes, %llu added%s%s",
             umbel_format_name(info.format), umbel_kind_name(info.kind), promise,
             (unsigned long long)info.bytes, (unsigned long long)info.keys_added,
             info.fingerprint ? ", with a secret" : "", info.frozen ? ", read-only" : "");
    /* Its methods take keys; the recipe is how a text becomes one. */
    PyObject *recipe = umbelpy_get_recipe(self, NULL), *shown = NULL;
    if (recipe && PyUnicode_CompareWithASCIIString(recipe, "line") == 0) {
        shown = PyUnicode_FromFormat("%s>", text);
    } else if (recipe) {
        shown = PyUnicode_FromFormat("%s, recipe %R>", text, recipe);
    }
    Py_XDECREF(recipe);
    return shown;
}

static int is_not_empty(PyObject *self) {
    umbelpy_filter *filter = (umbelpy_filter *)self;
    umbelpy_gate_enter(&filter->gate, UMBELPY_LOOKUP);
    PyThreadState *thread = PyEval_SaveThread();
    bool empty = umbel_is_empty(filter->filter);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&filter->gate, UMBELPY_LOOKUP);
    return !empty;
}

/* ---- type --------------------------------------------------------------------------------- */

/* Its own memory: neither a buffer that a view lies on, nor a mapped file. */
static PyObject *size_of(PyObject *self, PyObject *unused) {
    (void)unused;
    umbelpy_filter *filter = (umbelpy_filter *)self;
    umbel_info info;
    umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
    umbel_describe(filter->filter, &info);
    uint64_t borrowed = filter->ground.obj || filter->is_mapped ? info.bytes : 0;
    return PyLong_FromUnsignedLongLong(sizeof *filter + info.bytes - borrowed);
}

static PyMethodDef own_methods[] = {
    {"foreign", (PyCFunction)(void (*)(void))make_foreign,
     METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "foreign($type, /, format, capacity=None, fpr=None, *, variant=None, bytes=None, seed=0,\n"
     "        hashes=None, bits_per_key=None, expansion=None, nonscaling=False,\n"
     "        concurrent=False, threads=None, max_bytes=None)\n--\n\n"
     "An empty filter of another system, made as that system does it."},
    {"__sizeof__", size_of, METH_NOARGS,
     "__sizeof__($self, /)\n--\n\nBytes of memory, the bits included."},
    {0},
};

static const char filter_doc[] =
    "Filter(capacity=None, fpr=None, *, kind=\"auto\", seed=0, secret=None, concurrent=False,\n"
    "       bytes=None, hashes=None, expansion=None, max_layers=None, generations=None,\n"
    "       manual=False, threads=None, max_bytes=None, recipe=None)\n--\n\n"
    "A Bloom filter for this many keys whose false-positive rate stays at or below fpr (0.01,\n"
    "unless bytes is given) until they are in.  Keys are str or bytes-like.  A \"not in\" is\n"
    "never wrong.";

/* One table for the type from those of the files. */
static PyMethodDef *all_methods(void) {
    static PyMethodDef all[64];
    static PyMethodDef *const tables[] = {own_methods, umbelpy_key_methods, umbelpy_set_methods,
                                          umbelpy_file_methods, umbelpy_property_methods};
    size_t n = 0;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const PyMethodDef *method = tables[t]; method->ml_name; method++) all[n++] = *method;
    }
    return all;
}

bool umbelpy_filter_add(PyObject *module, umbelpy_state *state) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)filter_doc},
        {Py_tp_new, make},
        {Py_tp_dealloc, dealloc},
        {Py_tp_traverse, traverse},
        {Py_tp_repr, show},
        {Py_tp_hash, PyObject_HashNotImplemented},
        {Py_tp_richcompare, umbelpy_compare},
        {Py_tp_methods, all_methods()},
        {Py_tp_getset, umbelpy_properties},
        {Py_sq_contains, umbelpy_contains},
        {Py_sq_length, umbelpy_length},
        {Py_nb_bool, is_not_empty},
        {Py_nb_or, umbelpy_or},
        {Py_nb_and, umbelpy_and},
        {Py_nb_inplace_or, umbelpy_in_place_or},
        {Py_nb_inplace_and, umbelpy_in_place_and},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "umbel.Filter",
        .basicsize = sizeof(umbelpy_filter),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    state->filter_type = PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->filter_type && !PyModule_AddType(module, (PyTypeObject *)state->filter_type);
}
