/* SPDX-License-Identifier: MIT
 *
 * py_build.c - filters from all their keys at once, as static ones have to be made
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
    {"secret", UMBELPY_SECRET, 0},
    {"tmp", UMBELPY_FOLDER, 0},
    {"threads", UMBELPY_U32, UMBELPY_AT(opts.threads)},
    {"max_bytes", UMBELPY_U64, UMBELPY_AT(opts.max_bytes)},
    {0},
};

static umbel_err work_build(void *ctx, const umbel_key *keys, size_t n, size_t at,
                            umbel_diag *diag) {
    (void)at;
    return umbel_builder_add(ctx, keys, n, diag);
}

/* The filter, or NULL with an exception. */
static PyObject *build_from(umbelpy_state *state, umbelpy_batch *batch, umbelpy_request *request) {
    umbel_builder *builder = NULL;
    umbel_filter *filter = NULL;
    umbel_diag diag = {0};
    umbel_err e = umbel_builder_new(&request->params, &request->opts, &builder, &diag);
    if (e) return umbelpy_fail(state, e, &diag, NULL);
    bool ok = umbelpy_batch_run(state, batch, NULL, UMBELPY_WRITE, work_build, builder);
    if (ok) {
        PyThreadState *thread = PyEval_SaveThread();
        e = umbel_builder_finish(builder, &filter, &diag);
        PyEval_RestoreThread(thread);
    }
    umbel_builder_free(builder);
    if (!ok) return NULL;
    return e ? umbelpy_fail(state, e, &diag, NULL)
             : (void *)umbelpy_wrap(state, filter, NULL, request->opts.threads);
}

PyObject *umbelpy_build(PyObject *module, PyObject *args, PyObject *kwargs) {
    umbelpy_state *state = PyModule_GetState(module);
    umbelpy_request request;
    PyObject *made = NULL;
    if (umbelpy_request_read(state, &request, build_fields, 2, 1, args, kwargs)) {
        umbel_params *params = &request.params;
        if (params->kind == UMBEL_KIND_AUTO) params->kind = UMBEL_KIND_STATIC;
        if (params->fpr == 0 && params->bytes == 0) params->fpr = 0.01;
        request.opts.secret = NULL;
        PyObject *keys = request.object ? request.object : Py_None;
        umbel_traits traits;
        umbel_kind_traits(params->kind, &traits);
        bool counted =
            !traits.built_once && !params->capacity; /* else nobody asks how many there are */
        umbelpy_batch *batch = umbelpy_batch_open(state, keys, request.type, counted);
        if (batch && counted && !(params->fpr != 0 && params->bytes)) {
            params->capacity = umbelpy_batch_size(batch);
            if (!params->capacity) params->capacity = 1;
        }
        if (batch) {
            made = build_from(state, batch, &request);
            umbelpy_batch_close(batch);
        }
    }
    umbelpy_request_end(&request);
    return made;
}
