/* SPDX-License-Identifier: MIT
 *
 * py_module.c - the module: its functions and its state, one per interpreter
 */

#include "py_umbel.h"

/* ---- plan --------------------------------------------------------------------------------- */

static const umbelpy_field plan_fields[] = {
    {"capacity", UMBELPY_U64, UMBELPY_AT(foreign.capacity)},
    {"fpr", UMBELPY_RATE, UMBELPY_AT(foreign.fpr)},
    {"bytes", UMBELPY_U64, UMBELPY_AT(foreign.bytes)},
    {"kind", UMBELPY_KIND, UMBELPY_AT(params.kind)},
    {"hashes", UMBELPY_U32, UMBELPY_AT(foreign.hashes)},
    {"generations", UMBELPY_U32, UMBELPY_AT(params.window.generations)},
    {"format", UMBELPY_FORMAT, UMBELPY_AT(foreign.format)},
    {"variant", UMBELPY_VARIANT, UMBELPY_AT(foreign.variant)},
    {"seed", UMBELPY_U64, UMBELPY_AT(foreign.seed)},
    {"bits_per_key", UMBELPY_U32, UMBELPY_AT(foreign.bits_per_key)},
    {"expansion", UMBELPY_U32, UMBELPY_AT(foreign.expansion)},
    {"nonscaling", UMBELPY_FLAG, UMBELPY_AT(foreign.nonscaling)},
    {"universe", UMBELPY_U64, UMBELPY_AT(universe)},
    {0},
};

static PyObject *plan(PyObject *module, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyModule_GetState(module);
    umbelpy_request r;
    umbel_diag diag = {0};
    if (!umbelpy_request_read(state, &r, plan_fields, 2, 0, args, kwargs)) return NULL;
    umbel_plan solved = {
        .kind = r.params.kind,
        .hashes = r.foreign.hashes,
        .capacity = r.foreign.capacity,
        .fpr = r.foreign.fpr,
        .bytes = r.foreign.bytes,
        .generations = r.params.window.generations,
        .universe = r.universe,
    };
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = r.foreign.format > UMBEL_FMT_NATIVE
                      ? umbel_plan_foreign(&r.foreign, &solved, &diag)
                      : umbel_plan_solve(&solved, &diag);
    PyEval_RestoreThread(thread);
    return e ? umbelpy_fail(state, e, &diag, NULL) : umbelpy_plan(state, &solved, args, kwargs);
}

/* ---- keys --------------------------------------------------------------------------------- */

static PyObject *typed(PyObject *module, PyObject *args) {
    umbelpy_state *state = PyModule_GetState(module);
    PyObject *value, *name;
    umbelpy_key key;
    if (!PyArg_ParseTuple(args, "OO:typed", &value, &name)) return NULL;
    int type = umbelpy_type(state, name);
    if (PyErr_Occurred() || !umbelpy_key_read(state, value, type, &key)) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(key.key.data, (Py_ssize_t)key.key.len);
    umbelpy_key_end(&key);
    return bytes;
}

static PyObject *mix(PyObject *module, PyObject *value) {
    (void)module;
    uint64_t number = PyLong_AsUnsignedLongLong(value);
    return PyErr_Occurred() ? NULL : PyLong_FromUnsignedLongLong(umbel_mix(number));
}

static PyObject *clickhouse_tokens(PyObject *module, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"text", "ngram", NULL};
    PyObject *text, *tokens = NULL;
    unsigned int ngram = 0;
    umbelpy_key whole;
    umbel_key token;
    size_t pos = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|I:clickhouse_tokens", names, &text, &ngram) ||
        !umbelpy_key_read(PyModule_GetState(module), text, -1, &whole)) {
        return NULL;
    }
    tokens = PyList_New(0);
    while (tokens && umbel_clickhouse_token(whole.key.data, whole.key.len, ngram, &pos, &token)) {
        PyObject *bytes = PyBytes_FromStringAndSize(token.data, (Py_ssize_t)token.len);
        if (!bytes || PyList_Append(tokens, bytes)) Py_CLEAR(tokens);
        Py_XDECREF(bytes);
    }
    umbelpy_key_end(&whole);
    return tokens;
}

/* ---- names -------------------------------------------------------------------------------- */

static const char *kind_name(int i) {
    return umbel_kind_name((umbel_kind)i);
}

static const char *format_name(int i) {
    return umbel_format_name((umbel_format)(i + UMBEL_FMT_NATIVE));
}

static const char *type_name(int i) {
    return umbel_type_name((umbel_type)i);
}

static const char *verdict_name(int i) {
    return umbel_verdict_name((umbel_verdict)i);
}

static const char *error_name(int i) {
    return umbel_err_name((umbel_err)i);
}

static const char *variant_name(int i) {
    return umbel_variant_name(UMBEL_FMT_ANY, UINT32_C(1) << i);
}

static bool add_names(PyObject *module, const char *name, const char *(*name_of)(int)) {
    PyObject *list = PyList_New(0), *names = NULL;
    bool ok = list != NULL;
    for (int i = 0; ok && name_of(i); i++) {
        PyObject *text = PyUnicode_FromString(name_of(i));
        ok = text && PyList_Append(list, text) == 0;
        Py_XDECREF(text);
    }
    if (ok) names = PyList_AsTuple(list);
    ok = names && PyModule_AddObjectRef(module, name, names) == 0;
    Py_XDECREF(names);
    Py_XDECREF(list);
    return ok;
}

/* ---- module ------------------------------------------------------------------------------- */

#define NAMED(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
    {"build", NAMED(umbelpy_build),
     "build($module, /, keys, fpr=None, *, kind=\"static\", type=None, capacity=None, bytes=None,\n"
     "      hashes=None, seed=0, never=None, secret=None, tmp=None, threads=None,\n"
     "      max_bytes=None, recipe=None)\n--\n\n"
     "A filter from all its keys: the only way to a static one.  keys: a batch, an iterable, or a\n"
     "file object, whose records become keys by the recipe.  never: good keys that it must not find\n"
     "unless they are among the keys; info.exceptions says how many it would have."},
    {"plan", NAMED(plan),
     "plan($module, /, capacity=None, fpr=None, *, bytes=None, kind=\"auto\", hashes=None,\n"
     "     generations=None, format=None, variant=None, seed=0, bits_per_key=None,\n"
     "     expansion=None, nonscaling=False, universe=None)\n--\n\nWhat is possible: two of capacity, fpr and bytes give the third; so does capacity with universe,\n"
     "the number of known keys about which an exact filter is never wrong."},
    {"typed", typed, METH_VARARGS,
     "typed($module, value, type, /)\n--\n\nThe bytes that other systems hash for a value: umbel.TYPES."},
    {"mix", mix, METH_O,
     "mix($module, number, /)\n--\n\nA uniform 64-bit hash from an integer, for the methods with hashes."},
    {"clickhouse_tokens", NAMED(clickhouse_tokens),
     "clickhouse_tokens($module, /, text, ngram=0)\n--\n\nThe words, or the ngrams, that ClickHouse's indexes "
     "hash."},
    {"verify", NAMED(umbelpy_verify),
     "verify($module, /, data, format=None, *, " UMBELPY_HOW_IT_WAS_MADE
     ")\n--\n\nChecks all that Filter.from_bytes checks; needs no "
     "secret."},
    {"record_key", NAMED(umbelpy_record_key),
     "record_key($module, /, recipe, record, *, use='record', header=None, lookup=False)\n--\n\nHow a record becomes a key: the "
     "pair (state, key), where state is 'key', 'nothing' or 'malformed'.\nuse='key': it is a key "
     "already; use='digest': the part is a digest already; use='host': it is a host from DNS or mail.\n"
     "lookup=True: the key is looked up, not added; a text that is not a domain name has that of a parent."},
    {"verify_file", NAMED(umbelpy_verify_file),
     "verify_file($module, /, path, format=None, *, " UMBELPY_HOW_IT_WAS_MADE
     ")\n--\n\nThe same for a file."},
    {"_restore", umbelpy_restore, METH_VARARGS, NULL},
    {"_record", umbelpy_record_again, METH_VARARGS, NULL},
    {0},
};

static int execute(PyObject *module) {
    umbelpy_state *state = PyModule_GetState(module);
    bool ok = umbelpy_errors_add(module, state) && umbelpy_records_add(module, state) &&
              umbelpy_filter_add(module, state) && add_names(module, "KINDS", kind_name) &&
              add_names(module, "FORMATS", format_name) && add_names(module, "TYPES", type_name) &&
              add_names(module, "VERDICTS", verdict_name) &&
              add_names(module, "ERRORS", error_name) &&
              add_names(module, "VARIANTS", variant_name) &&
              !PyModule_AddStringConstant(module, "__version__", umbel_version());
    return ok ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    PyObject **references = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof(umbelpy_state) / sizeof(PyObject *); i++) Py_VISIT(references[i]);
    return 0;
}

static int clear(PyObject *module) {
    PyObject **references = PyModule_GetState(module);
    for (size_t i = 0; i < sizeof(umbelpy_state) / sizeof(PyObject *); i++) {
        Py_CLEAR(references[i]);
    }
    return 0;
}

static void end(void *module) {
    clear(module);
}

PyMODINIT_FUNC PyInit__umbel(void) {
    /* Nothing is shared between interpreters, so each may have its own GIL.  The slot exists since
     * 3.12 (Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED); 3.11 would refuse
     * it. */
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}, {0, NULL}};
    static PyModuleDef definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "umbel._umbel",
        .m_doc = "Bloom filters and their kin: the extension behind umbel.",
        .m_size = sizeof(umbelpy_state),
        .m_methods = functions,
        .m_slots = slots,
        .m_traverse = traverse,
        .m_clear = clear,
        .m_free = end,
    };
    if (Py_Version >= 0x030C0000) slots[1] = (PyModuleDef_Slot){3, (void *)2};
    return PyModuleDef_Init(&definition);
}
