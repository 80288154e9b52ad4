/* SPDX-License-Identifier: MIT
 *
 * py_records.c - the library's structs as named tuples
 */
#include "py_umbel.h"

static PyStructSequence_Field info_fields[] = {
    {"kind", NULL},
    {"format", NULL},
    {"layout", NULL},
    {"kernel", NULL},
    {"seed", NULL},
    {"fingerprint", NULL},
    {"capacity", NULL},
    {"fpr", NULL},
    {"bits", NULL},
    {"bytes", NULL},
    {"keys_added", NULL},
    {"hashes", NULL},
    {"layers", NULL},
    {"generations", NULL},
    {"grows", NULL},
    {"frozen", NULL},
    {"concurrent", NULL},
    {"manual", NULL},
    {0},
};

static PyStructSequence_Field measurement_fields[] = {{"bits_set", NULL},
                                                      {"keys", NULL},
                                                      {"rate", NULL},
                                                      {"keys_error", NULL},
                                                      {"overfull", NULL},
                                                      {"room", NULL},
                                                      {0}};

enum {
    PLAN_KIND,
    PLAN_HASHES,
    PLAN_CAPACITY,
    PLAN_FPR,
    PLAN_BYTES,
    PLAN_BITS,
    PLAN_RATE,
    PLAN_BITS_PER_KEY,
    PLAN_BOUND,
    PLAN_GENERATIONS,
    PLAN_VERDICT,
    PLAN_WHY,
    PLAN_FIELDS
};

static PyStructSequence_Field plan_fields[] = {
    [PLAN_KIND] = {"kind", NULL},
    [PLAN_HASHES] = {"hashes", NULL},
    [PLAN_CAPACITY] = {"capacity", NULL},
    [PLAN_FPR] = {"fpr", NULL},
    [PLAN_BYTES] = {"bytes", NULL},
    [PLAN_BITS] = {"bits", NULL},
    [PLAN_RATE] = {"rate", NULL},
    [PLAN_BITS_PER_KEY] = {"bits_per_key", NULL},
    [PLAN_BOUND] = {"bound", NULL},
    [PLAN_GENERATIONS] = {"generations", NULL},
    [PLAN_VERDICT] = {"verdict", NULL},
    [PLAN_WHY] = {"why", NULL},
    [PLAN_FIELDS] = {0},
};

/* ---- filling ------------------------------------------------------------------------------ */

/* Takes the values; NULL among them is an exception. */
static PyObject *record(PyObject *type, PyObject *const *values, Py_ssize_t n) {
    PyObject *made = PyStructSequence_New((PyTypeObject *)type);
    bool ok = made != NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        ok = ok && values[i];
        if (made) {
            PyStructSequence_SetItem(made, i, values[i] ? values[i] : Py_NewRef(Py_None));
        } else {
            Py_XDECREF(values[i]);
        }
    }
    if (!ok) Py_CLEAR(made);
    return made;
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
    };
    return RECORD(state->measurement_type, values);
}

PyObject *umbelpy_plan(umbelpy_state *state, const umbel_plan *plan) {
    PyObject *values[PLAN_FIELDS] = {
        [PLAN_KIND] = text(umbel_kind_name(plan->kind)),
        [PLAN_HASHES] = whole(plan->hashes),
        [PLAN_CAPACITY] = whole(plan->capacity),
        [PLAN_FPR] = PyFloat_FromDouble(plan->fpr),
        [PLAN_BYTES] = whole(plan->bytes),
        [PLAN_BITS] = whole(plan->bits),
        [PLAN_RATE] = PyFloat_FromDouble(plan->rate),
        [PLAN_BITS_PER_KEY] = PyFloat_FromDouble(plan->bits_per_key),
        [PLAN_BOUND] = PyFloat_FromDouble(plan->bound),
        [PLAN_GENERATIONS] = whole(plan->generations),
        [PLAN_VERDICT] = text(umbel_verdict_name(plan->verdict)),
        [PLAN_WHY] = text(plan->why),
    };
    return RECORD(state->plan_type, values);
}

/* ---- Plan.rate_at ------------------------------------------------------------------------- */

static uint64_t number_at(PyObject *plan, int field) {
    return PyLong_AsUnsignedLongLong(PyStructSequence_GetItem(plan, field));
}

/* The library's struct again; the kind by its name. */
static PyObject *rate_at(PyObject *self, PyObject *keys) {
    umbel_plan plan = {0};
    const char *kind = PyUnicode_AsUTF8AndSize(PyStructSequence_GetItem(self, PLAN_KIND), NULL);
    if (!kind || !umbel_kind_named(kind, &plan.kind)) return NULL;
    plan.hashes = (uint32_t)number_at(self, PLAN_HASHES);
    plan.capacity = number_at(self, PLAN_CAPACITY);
    plan.fpr = PyFloat_AsDouble(PyStructSequence_GetItem(self, PLAN_FPR));
    plan.bytes = number_at(self, PLAN_BYTES);
    plan.bits = number_at(self, PLAN_BITS);
    plan.rate = PyFloat_AsDouble(PyStructSequence_GetItem(self, PLAN_RATE));
    plan.bits_per_key = PyFloat_AsDouble(PyStructSequence_GetItem(self, PLAN_BITS_PER_KEY));
    plan.generations = (uint32_t)number_at(self, PLAN_GENERATIONS);
    uint64_t n = PyLong_AsUnsignedLongLong(keys);
    if (PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(umbel_plan_rate(&plan, n));
}

static PyMethodDef rate_method = {"rate_at", rate_at, METH_O,
                                  "rate_at(keys)\n\nThe model's rate after this many keys."};

/* ---- types -------------------------------------------------------------------------------- */

static PyObject *make_type(PyObject *module, const char *name, const char *doc,
                           PyStructSequence_Field *fields, int n) {
    PyStructSequence_Desc desc = {.name = name, .doc = doc, .fields = fields, .n_in_sequence = n};
    PyObject *type = (PyObject *)PyStructSequence_NewType(&desc);
    if (type && PyModule_AddType(module, (PyTypeObject *)type)) Py_CLEAR(type);
    return type;
}

#define COUNT(fields) ((int)(sizeof(fields) / sizeof *(fields)) - 1)

bool umbelpy_records_add(PyObject *module, umbelpy_state *state) {
    state->info_type = make_type(module, "umbel.Info", "What a filter was made as.", info_fields,
                                 COUNT(info_fields));
    state->measurement_type = make_type(module, "umbel.Measurement", "What a filter's bits say.",
                                        measurement_fields, COUNT(measurement_fields));
    state->plan_type = make_type(module, "umbel.Plan", "Keys, rate and memory that go together.",
                                 plan_fields, COUNT(plan_fields));
    if (!state->info_type || !state->measurement_type || !state->plan_type) return false;
    PyObject *method = PyDescr_NewMethod((PyTypeObject *)state->plan_type, &rate_method);
    bool ok = method && PyObject_SetAttrString(state->plan_type, "rate_at", method) == 0;
    Py_XDECREF(method);
    return ok;
}
