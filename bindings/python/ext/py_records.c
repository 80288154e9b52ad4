/* SPDX-License-Identifier: MIT
 *
 * py_records.c - the library's structs as objects with named fields
 *
 * They are not tuples: a struct may get another field without breaking anybody's unpacking.  Only
 * the library fills them, so that Plan.rate_at gets plans that were solved.
 */
#include <string.h>

#include "py_umbel.h"

typedef struct umbelpy_record {
    PyObject_HEAD PyObject *values; /* a tuple, in the order of the type's fields                */
    umbel_plan plan;                /* of a Plan ... */
    PyObject *asked;                /* ... the arguments that it came from, as (args, kwargs)    */
} umbelpy_record;

static PyObject *get_field(PyObject *self, void *place) {
    PyObject *value =
        PyTuple_GetItem(((umbelpy_record *)self)->values, (Py_ssize_t)(uintptr_t)place);
    return Py_XNewRef(value);
}

#define FIELD(place, name, doc) \
    { name, get_field, NULL, doc, (void *)(uintptr_t)(place) }

static PyGetSetDef info_fields[] = {
    FIELD(0, "kind", "One of umbel.KINDS."),
    FIELD(1, "format", "Whose hashing and sizing it follows: one of umbel.FORMATS."),
    FIELD(2, "layout", "How keys become bits, such as \"blocked/xxh3\"."),
    FIELD(3, "kernel", "The code that this CPU runs."),
    FIELD(4, "seed", "Filters merge only if their seeds are equal."),
    FIELD(5, "fingerprint", "Tells secrets apart; 0: no secret."),
    FIELD(6, "capacity", "Keys planned for; 0: unknown."),
    FIELD(7, "fpr", "False-positive rate promised at capacity; 0: none."),
    FIELD(8, "bits", "Size of the bit array, in bits."),
    FIELD(9, "bytes", "Size of the bit array, in bytes."),
    FIELD(10, "keys_added", "Adds that changed the filter, less removes."),
    FIELD(11, "hashes", "Probes per key."),
    FIELD(12, "layers", "How many filters a lookup may have to search."),
    FIELD(13, "generations", "Of a window; otherwise 0."),
    FIELD(14, "grows", "Opens another layer instead of passing its rate."),
    FIELD(15, "frozen", "Read-only."),
    FIELD(16, "concurrent", "Threads may add at the same time."),
    FIELD(17, "manual", "Only advance() moves the window on."),
    FIELD(18, "exceptions", "Keys that would be found by mistake, and are not."),
    FIELD(19, "outdated", "Keys were added after the exceptions were found."),
    FIELD(20, "universe", "Exact: known keys that are not in it, and never found."),
    {0},
};

static PyGetSetDef measurement_fields[] = {
    FIELD(0, "bits_set", "How many bits keys have set."),
    FIELD(1, "keys", "Distinct keys, estimated; infinite when every bit is set."),
    FIELD(2, "rate", "How often a key that was never added is found, now."),
    FIELD(3, "keys_error", "One standard deviation of keys."),
    FIELD(4, "overfull", "More keys than planned, or a live rate above the promise."),
    FIELD(5, "room", "Keys that can still be added within the promise."),
    FIELD(6, "beyond_plan", "Overfull because of its keys, not only because of its rate."),
    {0},
};

static PyGetSetDef plan_fields[] = {
    FIELD(0, "kind", "The kind chosen."),
    FIELD(1, "hashes", "Probes per key."),
    FIELD(2, "capacity", "Keys."),
    FIELD(3, "fpr", "The false-positive rate that can be promised."),
    FIELD(4, "bytes", "Memory for the bits."),
    FIELD(5, "bits", "Size of the bit array, in bits."),
    FIELD(6, "rate", "The mean rate at capacity, over all such filters."),
    FIELD(7, "bits_per_key", "Bits per key."),
    FIELD(8, "bound", "The rate below which no filter of this size can be."),
    FIELD(9, "generations", "Of a window; otherwise 0."),
    FIELD(10, "verdict", "One of umbel.VERDICTS."),
    FIELD(11, "why", "Why this kind was chosen."),
    {0},
};

static PyGetSetDef lines_fields[] = {
    FIELD(0, "records", "Lines, records of CSV or JSON texts."),
    FIELD(1, "new", "Keys that were certainly not in before."),
    FIELD(2, "missing", "Records that do not have the part that the recipe names."),
    FIELD(3, "malformed", "Records that could not be read."),
    {0},
};

/* ---- filling ------------------------------------------------------------------------------ */

/* Takes ownership of the values; a NULL among them means an exception. */
static PyObject *record(PyObject *type, PyObject *const *values, Py_ssize_t n) {
    allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    umbelpy_record *made = (umbelpy_record *)alloc((PyTypeObject *)type, 0);
    bool ok = made && (made->values = PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; i++) {
        if (ok && values[i]) {
            PyTuple_SetItem(made->values, i, values[i]);
        } else {
            Py_XDECREF(values[i]);
            ok = false;
        }
    }
    if (!ok) Py_CLEAR(made);
    return (PyObject *)made;
}

static PyObject *whole(uint64_t number) {
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *text(const char *bytes) {
    return bytes ? PyUnicode_FromString(bytes) : Py_NewRef(Py_None);
}

#define RECORD(type, values) record(type, values, (Py_ssize_t)(sizeof(values) / sizeof *(values)))

PyObject *umbelpy_info(umbelpy_state *state, const umbel_info *info) {
    PyObject *values[] = {
        text(umbel_kind_name(info->kind)),
        text(umbel_format_name(info->format)),
        text(info->layout),
        text(info->kernel),
        whole(info->seed),
        whole(info->fingerprint),
        whole(info->capacity),
        PyFloat_FromDouble(info->fpr),
        whole(info->bits),
        whole(info->bytes),
        whole(info->keys_added),
        whole(info->hashes),
        whole(info->layers),
        whole(info->generations),
        PyBool_FromLong(info->grows),
        PyBool_FromLong(info->frozen),
        PyBool_FromLong(info->concurrent),
        PyBool_FromLong(info->manual),
        whole(info->exceptions),
        PyBool_FromLong(info->outdated),
        whole(info->universe),
    };
    return RECORD(state->info_type, values);
}

PyObject *umbelpy_measurement(umbelpy_state *state, const umbel_info *info,
                              const umbel_measurement *now) {
    umbel_health health;
    umbel_judge(info, now, &health);
    PyObject *values[] = {
        whole(now->bits_set),
        PyFloat_FromDouble(now->keys),
        PyFloat_FromDouble(now->rate),
        PyFloat_FromDouble(now->keys_error),
        PyBool_FromLong(health.overfull),
        whole(health.room),
        PyBool_FromLong(health.beyond_plan),
    };
    return RECORD(state->measurement_type, values);
}

PyObject *umbelpy_plan(umbelpy_state *state, const umbel_plan *plan, PyObject *args,
                       PyObject *kwargs) {
    PyObject *values[] = {
        text(umbel_kind_name(plan->kind)),
        whole(plan->hashes),
        whole(plan->capacity),
        PyFloat_FromDouble(plan->fpr),
        whole(plan->bytes),
        whole(plan->bits),
        PyFloat_FromDouble(plan->rate),
        PyFloat_FromDouble(plan->bits_per_key),
        PyFloat_FromDouble(plan->bound),
        whole(plan->generations),
        text(umbel_verdict_name(plan->verdict)),
        text(plan->why),
    };
    PyObject *made = RECORD(state->plan_type, values);
    if (!made) return NULL;
    umbelpy_record *solved = (umbelpy_record *)made;
    solved->plan = *plan;
    solved->asked = kwargs ? PyTuple_Pack(2, args, kwargs) : Py_BuildValue("(O{})", args);
    if (!solved->asked) Py_CLEAR(made);
    return made;
}

PyObject *umbelpy_lines(umbelpy_state *state, uint64_t records, uint64_t fresh, uint64_t missing,
                        uint64_t malformed) {
    PyObject *values[] = {whole(records), whole(fresh), whole(missing), whole(malformed)};
    return RECORD(state->lines_type, values);
}

/* ---- methods ------------------------------------------------------------------------------ */

static PyObject *rate_at(PyObject *self, PyObject *keys) {
    uint64_t n = PyLong_AsUnsignedLongLong(keys);
    if (PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(umbel_plan_rate(&((umbelpy_record *)self)->plan, n));
}

/* {name: value}, in the order of the fields. */
static PyObject *as_dict(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *fields = PyDict_New(), *values = ((umbelpy_record *)self)->values;
    const PyGetSetDef *field = PyType_GetSlot(Py_TYPE(self), Py_tp_getset);
    for (Py_ssize_t i = 0; fields && field[i].name; i++) {
        if (PyDict_SetItemString(fields, field[i].name, PyTuple_GetItem(values, i))) {
            Py_CLEAR(fields);
        }
    }
    return fields;
}

/* A plan is solved again, so that only a valid plan comes out; the others are restored as they
 * are. */
static PyObject *reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    umbelpy_record *is = (umbelpy_record *)self;
    PyObject *module = PyType_GetModule(Py_TYPE(self)), *name = PyType_GetName(Py_TYPE(self));
    PyObject *restore = PyObject_GetAttrString(module, "_record"), *reduced = NULL;
    if (restore && name) {
        reduced = Py_BuildValue("O(OO)", restore, name, is->asked ? is->asked : is->values);
    }
    Py_XDECREF(restore);
    Py_XDECREF(name);
    return reduced;
}

PyObject *umbelpy_record_again(PyObject *module, PyObject *args) {
    umbelpy_state *state = PyModule_GetState(module);
    const char *name;
    PyObject *values, *copies[32];
    if (!PyArg_ParseTuple(args, "sO!:_record", &name, &PyTuple_Type, &values)) return NULL;
    Py_ssize_t n = PyTuple_Size(values);
    if (strcmp(name, "Plan") == 0) {
        PyObject *plan = PyObject_GetAttrString(module, "plan");
        bool ok = plan && n == 2 && PyTuple_Check(PyTuple_GetItem(values, 0)) &&
                  PyDict_Check(PyTuple_GetItem(values, 1));
        PyObject *made =
            ok ? PyObject_Call(plan, PyTuple_GetItem(values, 0), PyTuple_GetItem(values, 1)) : NULL;
        Py_XDECREF(plan);
        if (!made && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "not a pickled Plan");
        return made;
    }
    PyObject *type = strcmp(name, "Info") == 0          ? state->info_type
                     : strcmp(name, "Measurement") == 0 ? state->measurement_type
                     : strcmp(name, "Lines") == 0       ? state->lines_type
                                                        : NULL;
    Py_ssize_t fields = 0;
    const PyGetSetDef *field =
        type ? PyType_GetSlot((PyTypeObject *)type, Py_tp_getset) : info_fields;
    while (field[fields].name) fields++;
    if (!type || n != fields) {
        PyErr_SetString(PyExc_ValueError, "not a pickled record of this version");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) copies[i] = Py_NewRef(PyTuple_GetItem(values, i));
    return record(type, copies, n);
}

#define AS_DICT \
    { "asdict", as_dict, METH_NOARGS, "asdict($self, /)\n--\n\nThe fields as a dict." }

#define REDUCE \
    { "__reduce__", reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\nFor pickle." }

static PyMethodDef plain_methods[] = {AS_DICT, REDUCE, {0}};
static PyMethodDef plan_methods[] = {
    {"rate_at", rate_at, METH_O,
     "rate_at($self, keys, /)\n--\n\nThe model's rate after this many keys."},
    AS_DICT,
    REDUCE,
    {0},
};

/* "umbel.Info(kind='blocked', ...)" */
static PyObject *show(PyObject *self) {
    PyObject *name = PyType_GetQualName(Py_TYPE(self)), *values = ((umbelpy_record *)self)->values;
    PyObject *shown = name ? PyUnicode_FromFormat("umbel.%U(", name) : NULL;
    const PyGetSetDef *field = PyType_GetSlot(Py_TYPE(self), Py_tp_getset);
    for (Py_ssize_t i = 0; shown && field[i].name; i++) {
        PyObject *longer = PyUnicode_FromFormat("%U%s%s=%R", shown, i ? ", " : "", field[i].name,
                                                PyTuple_GetItem(values, i));
        Py_DECREF(shown);
        shown = longer;
    }
    PyObject *closed = shown ? PyUnicode_FromFormat("%U)", shown) : NULL;
    Py_XDECREF(shown);
    Py_XDECREF(name);
    return closed;
}

static PyObject *compare(PyObject *a, PyObject *b, int op) {
    if (Py_TYPE(a) != Py_TYPE(b) || (op != Py_EQ && op != Py_NE)) {
        return Py_NewRef(Py_NotImplemented);
    }
    return PyObject_RichCompare(((umbelpy_record *)a)->values, ((umbelpy_record *)b)->values, op);
}

static Py_hash_t hash(PyObject *self) {
    return PyObject_Hash(((umbelpy_record *)self)->values);
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_CLEAR(((umbelpy_record *)self)->values);
    Py_CLEAR(((umbelpy_record *)self)->asked);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- types -------------------------------------------------------------------------------- */

static PyObject *make_type(PyObject *module, const char *name, const char *doc, PyGetSetDef *fields,
                           PyMethodDef *methods) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)doc},     {Py_tp_dealloc, dealloc},
        {Py_tp_repr, show},           {Py_tp_hash, hash},
        {Py_tp_richcompare, compare}, {Py_tp_getset, fields},
        {Py_tp_methods, methods},     {0, NULL},
    };
    PyType_Spec spec = {
        .name = name,
        .basicsize = sizeof(umbelpy_record),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (type && PyModule_AddType(module, (PyTypeObject *)type)) Py_CLEAR(type);
    return type;
}

bool umbelpy_records_add(PyObject *module, umbelpy_state *state) {
    state->info_type = make_type(module, "umbel.Info", "What a filter was made as: Filter.info.",
                                 info_fields, plain_methods);
    state->measurement_type =
        make_type(module, "umbel.Measurement", "What a filter's bits say: Filter.measure().",
                  measurement_fields, plain_methods);
    state->plan_type =
        make_type(module, "umbel.Plan", "Keys, rate and memory that go together: umbel.plan().",
                  plan_fields, plan_methods);
    state->lines_type =
        make_type(module, "umbel.Lines", "What became of a file's records: Filter.add_lines().",
                  lines_fields, plain_methods);
    return state->info_type && state->measurement_type && state->plan_type && state->lines_type;
}
