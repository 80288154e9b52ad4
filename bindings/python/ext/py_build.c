/* SPDX-License-Identifier: MIT
 *
 * py_build.c - filters built from all their keys, as static ones have to be
 */
#include "py_umbel.h"

static const umbelpy_field build_fields[] = {
    {"keys", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"fpr", UMBELPY_RATE, UMBELPY_AT(params.fpr)},
    {"kind", UMBELPY_KIND, UMBELPY_AT(params.kind)},
    {"type", UMBELPY_TYPE, UMBELPY_AT(type)},
    {"capacity", UMBELPY_U64, UMBELPY_AT(params.capacity)},
    {"bytes", UMBELPY_U64, UMBELPY_AT(params.bytes)},
    {"hashes", UMBELPY_U32, UMBELPY_AT(params.hashes)},
    {"seed", UMBELPY_U64, UMBELPY_AT(params.seed)},
    {"never", UMBELPY_OBJECT, UMBELPY_AT(never)},
    {"secret", UMBELPY_SECRET, 0},
    {"tmp", UMBELPY_FOLDER, 0},
    {"threads", UMBELPY_U32, UMBELPY_AT(opts.threads)},
    {"max_bytes", UMBELPY_U64, UMBELPY_AT(opts.max_bytes)},
    {"recipe", UMBELPY_OBJECT, UMBELPY_AT(recipe)},
    {0},
};

static umbel_err work_build(void *ctx, const umbel_key *keys, size_t n, size_t at,
                            umbel_diag *diag) {
    (void)at;
    return umbel_builder_add(ctx, keys, n, diag);
}

typedef struct telling {
    umbel_builder *builder;
    umbel_recipe *recipe; /* by which they will be looked up */
} telling;

static umbel_err work_tell(void *ctx, const umbel_key *keys, size_t n, size_t at,
                           umbel_diag *diag) {
    const telling *t = ctx;
    (void)at;
    return umbel_builder_never_lookups(t->builder, t->recipe, keys, n, diag);
}

/* Tells the builder of all good keys, if any were given. */
static bool tell_good(umbelpy_state *state, const umbelpy_request *request,
                      umbel_builder *builder) {
    if (!request->never) return true;
    PyObject *text = request->recipe ? Py_NewRef(request->recipe) : PyUnicode_FromString("line");
    telling t = {builder, text ? umbelpy_parse_recipe(state, text) : NULL};
    umbelpy_batch *good =
        t.recipe ? umbelpy_batch_open(state, request->never, request->type, false) : NULL;
    bool ok = good && umbelpy_batch_run(state, good, NULL, UMBELPY_WRITE, work_tell, &t);
    if (good) umbelpy_batch_close(good);
    umbel_recipe_free(t.recipe);
    Py_XDECREF(text);
    return ok;
}

static umbel_err finish(umbel_builder *builder, umbel_filter **filter, umbel_diag *diag) {
    PyThreadState *thread = PyEval_SaveThread();
    umbel_err e = umbel_builder_finish(builder, filter, diag);
    PyEval_RestoreThread(thread);
    return e;
}

/* The filter, or NULL with an exception.  batch NULL: from the records of a file. */
static PyObject *build_from(umbelpy_state *state, umbelpy_batch *batch, umbelpy_request *request) {
    umbel_builder *b = NULL;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_builder_new(&request->params, &request->opts, &b, &diag);
    if (e) return umbelpy_fail(state, e, &diag, NULL);
    bool ok = tell_good(state, request, b);
    if (ok) {
        ok = batch ? umbelpy_batch_run(state, batch, NULL, UMBELPY_WRITE, work_build, b)
                   : umbelpy_work_lines(state, request->object, request->recipe, work_build, b);
    }
    if (ok) e = finish(b, &filter, &diag);
    umbel_builder_free(b);
    if (!ok) return NULL;
    if (e) return umbelpy_fail(state, e, &diag, NULL);
    if (request->recipe && !umbelpy_apply_recipe(state, filter, request->recipe)) {
        umbel_free(filter);
        return NULL;
    }
    return (PyObject *)umbelpy_wrap(state, filter, NULL, request->opts.threads);
}

/* counted: the kind needs to know how many keys will come. */
static PyObject *build_batch(umbelpy_state *state, umbelpy_request *request, bool counted) {
    umbel_params *params = &request->params;
    PyObject *keys = request->object ? request->object : Py_None, *made = NULL;
    umbelpy_batch *batch = umbelpy_batch_open(state, keys, request->type, counted);
    if (!batch) return NULL;
    if (counted && !(params->fpr != 0 && params->bytes)) {
        params->capacity = umbelpy_batch_size(batch);
        if (!params->capacity) params->capacity = 1;
    }
    made = build_from(state, batch, request);
    umbelpy_batch_close(batch);
    return made;
}

PyObject *umbelpy_build(PyObject *module, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyModule_GetState(module);
    umbelpy_request request;
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, build_fields, 2, 1, args, kwargs)) {
        umbel_params *params = &request.params;
        if (params->kind == UMBEL_KIND_AUTO) params->kind = UMBEL_KIND_STATIC;
        umbel_traits traits;
        umbel_kind_traits(params->kind, &traits);
        bool follows = traits.universe; /* the rate, from the numbers of keys and good keys */
        if (params->fpr == 0 && params->bytes == 0 && !follows) params->fpr = 0.01;
        bool counted = !traits.built_once && !params->capacity;
        if (!request.object || !umbelpy_is_file(request.object)) {
            made = build_batch(state, &request, counted);
        } else if (counted && !(params->fpr != 0 && params->bytes)) {
            umbelpy_refuse(state, UMBEL_EINVAL, "capacity",
                           "a file does not say how many keys it has; give it, or use a kind that "
                           "counts them: static, tight");
        } else {
            made = build_from(state, NULL, &request);
        }
    }
    umbelpy_request_end(&request);
    return made;
}
