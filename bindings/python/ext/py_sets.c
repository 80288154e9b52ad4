/* SPDX-License-Identifier: MIT
 *
 * py_sets.c - whole filters: united, compared, copied, emptied
 */
#include "py_umbel.h"

static umbelpy_filter *filter_of(PyObject *self) {
    return (umbelpy_filter *)self;
}

/* ---- copies ------------------------------------------------------------------------------- */

typedef umbel_err (*making)(const umbel_filter *filter, umbel_filter **out, umbel_diag *diag);

static umbelpy_filter *make_from(umbelpy_filter *self, making make) {
    umbelpy_state *state = umbelpy_state_of((PyObject *)self);
    umbel_filter *made = NULL;
    umbel_diag diag = {0};
    umbelpy_gate_enter(&self->gate, UMBELPY_WHOLE);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = make(self->filter, &made, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&self->gate, UMBELPY_WHOLE);
    if (e) return umbelpy_fail(state, e, &diag, NULL);
    return umbelpy_wrap(state, made, &self->as, self->threads);
}

static PyObject *copy(PyObject *self, PyObject *unused) {
    (void)unused;
    return (PyObject *)make_from(filter_of(self), umbel_copy);
}

static PyObject *snapshot(PyObject *self, PyObject *unused) {
    (void)unused;
    return (PyObject *)make_from(filter_of(self), umbel_snapshot);
}

/* ---- two filters -------------------------------------------------------------------------- */

typedef umbel_err (*joining)(umbel_filter *into, const umbel_filter *with, umbel_diag *diag);

static int join(umbelpy_state *state, umbelpy_filter *into, umbelpy_filter *with, joining how) {
    umbel_diag diag = {0};
    if (into == with) { /* one gate cannot be entered twice */
        with = make_from(with, umbel_copy);
        if (!with) return -1;
    } else {
        Py_INCREF((PyObject *)with);
    }
    umbelpy_gate_enter_both(&into->gate, UMBELPY_WRITE, &with->gate, UMBELPY_WHOLE);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = how(into->filter, with->filter, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&with->gate, UMBELPY_WHOLE);
    umbelpy_gate_leave(&into->gate, UMBELPY_WRITE);
    Py_DECREF(with);
    if (!e) return 0;
    umbelpy_fail(state, e, &diag, NULL);
    return -1;
}

int umbelpy_merge(umbelpy_state *state, umbelpy_filter *into, umbelpy_filter *from) {
    return join(state, into, from, umbel_merge);
}

/* A new filter from two, or the first one changed. */
static PyObject *operate(PyObject *a, PyObject *b, joining how, bool in_place) {
    if (Py_TYPE(a) != Py_TYPE(b)) return Py_NewRef(Py_NotImplemented);
    umbelpy_filter *into =
        in_place ? (umbelpy_filter *)Py_NewRef(a) : make_from(filter_of(a), umbel_copy);
    if (into && join(umbelpy_state_of(a), into, filter_of(b), how)) Py_CLEAR(into);
    return (PyObject *)into;
}

PyObject *umbelpy_or(PyObject *a, PyObject *b) {
    return operate(a, b, umbel_merge, false);
}

PyObject *umbelpy_and(PyObject *a, PyObject *b) {
    return operate(a, b, umbel_intersect, false);
}

PyObject *umbelpy_in_place_or(PyObject *a, PyObject *b) {
    return operate(a, b, umbel_merge, true);
}

PyObject *umbelpy_in_place_and(PyObject *a, PyObject *b) {
    return operate(a, b, umbel_intersect, true);
}

/* One of the others of union() or intersection(): a filter, or, for a union, a batch of keys. */
static bool join_one(PyObject *into, PyObject *other, joining how) {
    if (Py_TYPE(other) == Py_TYPE(into)) {
        return join(umbelpy_state_of(into), filter_of(into), filter_of(other), how) == 0;
    }
    if (how != umbel_merge) {
        PyErr_Format(PyExc_TypeError, "only filters can be intersected, not %R", Py_TYPE(other));
        return false;
    }
    PyObject *done = PyObject_CallMethod(into, "update", "O", other);
    Py_XDECREF(done);
    return done != NULL;
}

static PyObject *join_copy(PyObject *self, PyObject *others, joining how) {
    PyObject *into = (PyObject *)make_from(filter_of(self), umbel_copy);
    Py_ssize_t n = PyTuple_Size(others);
    for (Py_ssize_t i = 0; into && i < n; i++) {
        if (!join_one(into, PyTuple_GetItem(others, i), how)) Py_CLEAR(into);
    }
    return into;
}

static PyObject *join_all(PyObject *self, PyObject *others) {
    return join_copy(self, others, umbel_merge);
}

static PyObject *intersect_all(PyObject *self, PyObject *others) {
    return join_copy(self, others, umbel_intersect);
}

static PyObject *intersect_here(PyObject *self, PyObject *others) {
    Py_ssize_t n = PyTuple_Size(others);
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!join_one(self, PyTuple_GetItem(others, i), umbel_intersect)) return NULL;
    }
    return Py_NewRef(Py_None);
}

/* ---- comparing ---------------------------------------------------------------------------- */

typedef struct comparison {
    umbelpy_filter *a, *b;
    bool same, within; /* a == b, a <= b */
    umbel_diag diag;
} comparison;

static umbel_err compare_bits(comparison *c, bool subset) {
    umbel_err e = UMBEL_OK;
    if (c->a != c->b) {
        umbelpy_gate_enter_both(&c->a->gate, UMBELPY_WHOLE, &c->b->gate, UMBELPY_WHOLE);
    } else {
        umbelpy_gate_enter(&c->a->gate, UMBELPY_WHOLE);
    }
    PyThreadState *thread = PyEval_SaveThread();
    if (subset) e = umbel_is_subset(c->a->filter, c->b->filter, &c->within, &c->diag);
    c->same = umbel_equal(c->a->filter, c->b->filter);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&c->a->gate, UMBELPY_WHOLE);
    if (c->a != c->b) umbelpy_gate_leave(&c->b->gate, UMBELPY_WHOLE);
    return e;
}

PyObject *umbelpy_compare(PyObject *a, PyObject *b, int op) {
    if (Py_TYPE(a) != Py_TYPE(b)) return Py_NewRef(Py_NotImplemented);
    bool turned = op == Py_GE || op == Py_GT;
    comparison c = {.a = filter_of(turned ? b : a), .b = filter_of(turned ? a : b)};
    umbel_err e = compare_bits(&c, op != Py_EQ && op != Py_NE);
    if (e) return umbelpy_fail(umbelpy_state_of(a), e, &c.diag, NULL);
    bool yes = op == Py_EQ                  ? c.same
               : op == Py_NE                ? !c.same
               : op == Py_LE || op == Py_GE ? c.within
                                            : c.within && !c.same;
    return PyBool_FromLong(yes);
}

/* What the operator says, and a TypeError where that would be left to the other side. */
static PyObject *compare_by_name(PyObject *self, PyObject *other, int op) {
    PyObject *answer = umbelpy_compare(self, other, op);
    if (answer != Py_NotImplemented) return answer;
    Py_DECREF(answer);
    PyErr_Format(PyExc_TypeError, "only a filter can be compared with a filter, not %R",
                 Py_TYPE(other));
    return NULL;
}

static PyObject *is_subset(PyObject *self, PyObject *other) {
    return compare_by_name(self, other, Py_LE);
}

static PyObject *is_superset(PyObject *self, PyObject *other) {
    return compare_by_name(self, other, Py_GE);
}

/* ---- one filter --------------------------------------------------------------------------- */

static PyObject *clear(PyObject *self, PyObject *unused) {
    (void)unused;
    umbelpy_filter *filter = filter_of(self);
    umbel_diag diag = {0};
    umbelpy_gate_enter(&filter->gate, UMBELPY_WRITE);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_clear(filter->filter, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&filter->gate, UMBELPY_WRITE);
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : Py_NewRef(Py_None);
}

static PyObject *advance(PyObject *self, PyObject *unused) {
    (void)unused;
    umbelpy_filter *filter = filter_of(self);
    umbel_diag diag = {0};
    umbelpy_gate_wait(&filter->gate, UMBELPY_WRITE);
    umbel_err e = umbel_advance(filter->filter, &diag);
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : Py_NewRef(Py_None);
}

static PyObject *fold(PyObject *self, PyObject *rate) {
    umbelpy_filter *filter = filter_of(self);
    umbel_diag diag = {0};
    double fpr = PyFloat_AsDouble(rate);
    if (PyErr_Occurred()) return NULL;
    umbelpy_gate_enter(&filter->gate, UMBELPY_WRITE);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_fold(filter->filter, fpr, &diag);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&filter->gate, UMBELPY_WRITE);
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : Py_NewRef(Py_None);
}

void umbelpy_measure(umbelpy_filter *filter, umbel_info *info, umbel_measurement *now) {
    umbelpy_gate_enter(&filter->gate, UMBELPY_LOOKUP);
    PyThreadState *thread = PyEval_SaveThread();
    umbel_describe(filter->filter, info);
    umbel_measure(filter->filter, now);
    PyEval_RestoreThread(thread);
    umbelpy_gate_leave(&filter->gate, UMBELPY_LOOKUP);
}

static PyObject *measure(PyObject *self, PyObject *unused) {
    (void)unused;
    umbel_info info;
    umbel_measurement now;
    umbelpy_measure(filter_of(self), &info, &now);
    return umbelpy_measurement(umbelpy_state_of(self), &info, &now);
}

Py_ssize_t umbelpy_length(PyObject *self) {
    umbel_info info;
    umbel_measurement now;
    umbelpy_measure(filter_of(self), &info, &now);
    if (now.keys < (double)PTRDIFF_MAX) return (Py_ssize_t)(now.keys + 0.5);
    PyErr_SetString(PyExc_OverflowError, "every bit is set: any number of keys may be in it");
    return -1;
}

PyMethodDef umbelpy_set_methods[] = {
    {"union", join_all, METH_VARARGS,
     "union($self, /, *others)\n--\n\nA new filter with the keys of this and of all others, which "
     "are filters or batches of keys."},
    {"intersection", intersect_all, METH_VARARGS,
     "intersection($self, /, *others)\n--\n\nA new filter that finds at least the keys common to "
     "this and all other filters."},
    {"intersection_update", intersect_here, METH_VARARGS,
     "intersection_update($self, /, *others)\n--\n\nKeeps what is common with all other filters: "
     "&=."},
    {"issubset", is_subset, METH_O,
     "issubset($self, other, /)\n--\n\nWhether every bit of this filter is set in the other: true "
     "if all keys are in it, and hardly ever otherwise."},
    {"issuperset", is_superset, METH_O,
     "issuperset($self, other, /)\n--\n\nThe same the other way round."},
    {"copy", copy, METH_NOARGS, "copy($self, /)\n--\n\nAn independent, writable copy."},
    {"__copy__", copy, METH_NOARGS, "__copy__($self, /)\n--\n\nFor copy.copy."},
    {"__deepcopy__", copy, METH_O, "__deepcopy__($self, memo, /)\n--\n\nFor copy.deepcopy."},
    {"snapshot", snapshot, METH_NOARGS,
     "snapshot($self, /)\n--\n\nThe blocked filter with the keys of a counting one, a quarter of "
     "its size."},
    {"clear", clear, METH_NOARGS, "clear($self, /)\n--\n\nForgets every key."},
    {"advance", advance, METH_NOARGS,
     "advance($self, /)\n--\n\nMoves a window on by one generation, which forgets the oldest."},
    {"fold", fold, METH_O,
     "fold($self, fpr, /)\n--\n\nDivides the size by the largest whole number that divides it and "
     "leaves the live rate at or below fpr."},
    {"measure", measure, METH_NOARGS,
     "measure($self, /)\n--\n\nReads all bits: bits_set, keys (distinct, estimated), rate (live) "
     "and what they mean."},
    {0},
};
