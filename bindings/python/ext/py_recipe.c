/* SPDX-License-Identifier: MIT
 *
 * py_recipe.c - how records become keys: the filter's recipe, keys of records, lines in and out
 */
#include <string.h>

#include "py_umbel.h"

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

bool umbelpy_apply_recipe(umbelpy_state *state, umbel_filter *filter, PyObject *value) {
    umbel_diag diag = {0};
    PyObject *text = recipe_bytes(value);
    if (!text) return false;
    umbel_err e = umbel_set_recipe(filter, PyBytes_AsString(text), &diag);
    Py_DECREF(text);
    return !e || umbelpy_fail(state, e, &diag, NULL);
}

int umbelpy_set_recipe(PyObject *self, PyObject *value, void *unused) {
    (void)unused;
    umbelpy_gate_wait(&filter_of(self)->gate, UMBELPY_WRITE);
    if (!umbelpy_apply_recipe(umbelpy_state_of(self), filter_of(self)->filter, value)) return -1;
    umbel_lookup_free(filter_of(self)->lookup);
    filter_of(self)->lookup = NULL;
    return 0;
}

const umbel_lookup *umbelpy_lookup_of(PyObject *self) {
    umbelpy_filter *f = filter_of(self);
    umbel_diag diag = {0};
    umbel_err e = f->lookup ? UMBEL_OK : umbel_lookup_new(f->filter, NULL, &f->lookup, &diag);
    return e ? umbelpy_fail(umbelpy_state_of(self), e, &diag, NULL) : f->lookup;
}

/* ---- one record --------------------------------------------------------------------------- */

umbel_recipe *umbelpy_parse_recipe(umbelpy_state *state, PyObject *text) {
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
    static const char *const uses[] = {"record", "key", "digest", "host"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, uses[i]) == 0) return i;
    }
    umbelpy_refuse(state, UMBEL_EINVAL, "use", "record, key, digest or host");
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
    static char *names[] = {"recipe", "record", "use", "header", "lookup", NULL};
    umbelpy_state *state = PyModule_GetState(module);
    PyObject *text, *record, *header = NULL, *result = NULL;
    const char *use_name = "record";
    int lookup = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|$sOp:record_key", names, &text, &record,
                                     &use_name, &header, &lookup)) {
        return NULL;
    }
    int use = use_named(state, use_name);
    umbel_recipe *recipe = use < 0 ? NULL : umbelpy_parse_recipe(state, text);
    if (!recipe) return NULL;
    if (lookup) use |= UMBEL_USE_LOOKUP;
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

/* ---- whole texts and files ---------------------------------------------------------------- */

enum { READ = 1 << 20 }; /* bytes of a file at a time */

typedef struct lines {
    umbelpy_state *state;
    umbel_recipe *recipe;
    umbel_records *records;
    PyObject *file; /* borrowed; NULL: bytes, which were fed when it was opened                 */
    PyObject *unpacked; /* the file in place of one that is compressed                           */
    bool begun;         /* its first bytes were looked at                                        */
    bool ended;      /* of a file: nothing is left to be read                                    */
    umbel_key *keys; /* of one batch, without records that have none                             */
    uint8_t *flags;
    size_t cap;
    size_t seen, fresh, nothing, malformed;
} lines;

static void lines_close(lines *l) {
    Py_CLEAR(l->unpacked);
    umbel_records_free(l->records);
    umbel_recipe_free(l->recipe);
    PyMem_Free(l->keys);
    PyMem_Free(l->flags);
}

bool umbelpy_is_file(PyObject *object) {
    return !PyObject_CheckBuffer(object) && PyObject_HasAttrString(object, "read");
}

/* Reads on from a compressed file's contents, if these are its first bytes and Python can unpack
 * it; otherwise the records refuse it.  False with an exception. */
static bool unpack(lines *l, PyObject *data, umbel_key first, bool *unpacked) {
    *unpacked = false;
    umbel_input is =
        l->begun ? UMBEL_INPUT_LINES : umbel_input_look(first.data, first.len, '\n', NULL);
    l->begun |= first.len > 0;
    if (!umbel_input_packed(is) || PyUnicode_Check(data)) return true;
    PyObject *module = PyImport_ImportModule("umbel._unpack");
    PyObject *made = module ? PyObject_CallMethod(module, "unpacked", "sOO", umbel_input_name(is),
                                                  data, l->file ? l->file : Py_None)
                            : NULL;
    Py_XDECREF(module);
    *unpacked = made && made != Py_None;
    if (!*unpacked) {
        Py_XDECREF(made);
        return made != NULL;
    }
    l->file = l->unpacked = made;
    return true;
}

/* Feeds bytes-like data, or, from a file in text mode, a str. */
static bool feed(lines *l, PyObject *data, bool last) {
    umbel_diag diag = {0};
    umbelpy_key bytes;
    bool unpacked = false;
    if (!umbelpy_key_read(l->state, data, -1, &bytes)) return false;
    bool ok = unpack(l, data, bytes.key, &unpacked);
    if (ok && !unpacked) {
        if (l->file && !bytes.key.len) l->ended = last = true;
        umbel_err e = umbel_records_feed(l->records, bytes.key.data, bytes.key.len, last, &diag);
        if (e) ok = umbelpy_fail(l->state, e, &diag, NULL);
    }
    umbelpy_key_end(&bytes);
    return ok;
}

/* Says what cannot be seen in the lines but is part of their keys; false with an exception, where
 * warnings are errors. */
static bool lines_warn(const lines *l) {
    umbel_unseen unseen;
    umbel_records_unseen(l->records, &unseen);
    int failed = 0;
    if (unseen.marks) {
        failed = PyErr_WarnEx(PyExc_UserWarning,
                              "the first key begins with the file's byte-order mark "
                              "(open(..., encoding=\"utf-8-sig\") removes it)",
                              1);
    }
    if (!failed && unseen.returns) {
        failed = PyErr_WarnFormat(PyExc_UserWarning, 1,
                                  "lines that end in a carriage return, which is part of their "
                                  "keys: %llu (crlf in the recipe leaves it out)",
                                  (unsigned long long)unseen.returns);
    }
    if (!failed && unseen.nuls) {
        failed = PyErr_WarnEx(PyExc_UserWarning,
                              "the first lines have NULs, which are part of their keys", 1);
    }
    return !failed;
}

static bool lines_open(umbelpy_state *state, PyObject *source, PyObject *recipe,
                       umbel_recipe_use use, lines *l) {
    umbel_diag diag = {0};
    *l = (lines){.state = state, .recipe = umbelpy_parse_recipe(state, recipe)};
    if (!l->recipe) return false;
    if (umbelpy_is_file(source)) l->file = source;
    umbel_err e = umbel_records_new(l->recipe, use, '\n', &l->records, &diag);
    bool ok = !e || umbelpy_fail(state, e, &diag, NULL);
    if (ok && PyUnicode_Check(source)) {
        PyErr_SetString(PyExc_TypeError, "lines come as bytes, or from a file");
        ok = false;
    }
    if (ok && !l->file) ok = feed(l, source, true);
    if (!ok) lines_close(l);
    return ok;
}

static bool read_more(lines *l) {
    PyObject *piece = PyObject_CallMethod(l->file, "read", "i", (int)READ);
    bool ok = piece != NULL;
    if (ok && piece == Py_None) {
        PyErr_SetString(PyExc_BlockingIOError, "the file does not block and has nothing now");
        ok = false;
    }
    ok = ok && feed(l, piece, false) && !PyErr_CheckSignals();
    Py_XDECREF(piece);
    return ok;
}

/* The next batch; false at the end, and, with an exception, on failure. */
static bool lines_next(lines *l, umbel_records_batch *b) {
    umbel_diag diag = {0};
    do {
        umbel_err e = umbel_records_next(l->records, b, &diag);
        if (e) return umbelpy_fail(l->state, e, &diag, NULL);
        if (!b->n && (!l->file || l->ended)) return false;
        if (!b->n && !read_more(l)) return false;
    } while (!b->n);
    l->seen += b->n;
    l->nothing += b->nothing;
    l->malformed += b->malformed;
    return true;
}

static bool lines_room(lines *l, size_t n) {
    if (n <= l->cap) return true;
    PyMem_Free(l->keys);
    PyMem_Free(l->flags);
    l->keys = PyMem_Calloc(n, sizeof *l->keys);
    l->flags = PyMem_Calloc(n, 1);
    l->cap = l->keys && l->flags ? n : 0;
    return l->cap || PyErr_NoMemory();
}

/* The keys of a batch, into l->keys; returns how many, or, with an exception, 0. */
static size_t lines_keys(lines *l, const umbel_records_batch *b) {
    size_t n = 0;
    if (!lines_room(l, b->n)) return 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->states[i] == UMBEL_FOUND_KEY) l->keys[n++] = b->keys[i];
    }
    return n;
}

/* The arguments (data, *, recipe=None) of a method: None is the filter's own. */
static bool lines_args(PyObject *self, PyObject *args, PyObject *kwargs, umbel_recipe_use use,
                       lines *l) {
    static char *names[] = {"data", "recipe", NULL};
    PyObject *data, *text = NULL, *own = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O", names, &data, &text)) return false;
    if (!text || text == Py_None) text = own = umbelpy_get_recipe(self, NULL);
    bool ok = text && lines_open(umbelpy_state_of(self), data, text, use, l);
    Py_XDECREF(own);
    return ok;
}

static PyObject *add_all(umbelpy_filter *filter, lines *l) {
    umbel_records_batch b;
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    while (!e && lines_next(l, &b)) {
        size_t n = lines_keys(l, &b), done = 0;
        if (PyErr_Occurred()) break;
        umbelpy_gate_wait(&filter->gate, filter->concurrent ? UMBELPY_ADD : UMBELPY_WRITE);
        e = umbel_add_many(filter->filter, l->keys, n, l->flags, &done, &diag);
        for (size_t i = 0; i < done; i++) l->fresh += l->flags[i];
    }
    if (e) umbelpy_fail(l->state, e, &diag, NULL);
    bool ok = !PyErr_Occurred() && lines_warn(l);
    lines_close(l);
    if (!ok) return NULL;
    return umbelpy_lines(l->state, l->seen, l->fresh, l->nothing, l->malformed);
}

PyObject *umbelpy_add_lines(PyObject *self, PyObject *args, PyObject *kwargs) {
    lines l;
    return lines_args(self, args, kwargs, UMBEL_USE_RECORD, &l) ? add_all(filter_of(self), &l)
                                                                : NULL;
}

bool umbelpy_work_lines(umbelpy_state *state, PyObject *source, PyObject *recipe, umbelpy_work work,
                        void *ctx) {
    PyObject *text = recipe ? Py_NewRef(recipe) : PyUnicode_FromString("line");
    umbel_records_batch b;
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    lines l;
    bool ok = text && lines_open(state, source, text, UMBEL_USE_RECORD, &l);
    Py_XDECREF(text);
    if (!ok) return false;
    while (!e && lines_next(&l, &b)) {
        size_t n = lines_keys(&l, &b);
        if (PyErr_Occurred()) break;
        e = work(ctx, l.keys, n, l.seen, &diag);
    }
    if (e) umbelpy_fail(state, e, &diag, NULL);
    ok = !PyErr_Occurred() && lines_warn(&l);
    lines_close(&l);
    return ok;
}

/* Appends the records of a batch whose keys the filter may have. */
static bool find_batch(lines *l, const umbel_lookup *lookup, const umbel_records_batch *b,
                       PyObject *found) {
    umbel_diag diag = {0};
    if (!lines_room(l, b->n)) return false;
    umbel_err e = umbel_lookup_keys(lookup, b->keys, NULL, b->n, NULL, l->flags, NULL, &diag);
    bool ok = !e || umbelpy_fail(l->state, e, &diag, NULL);
    for (size_t i = 0; ok && i < b->n; i++) {
        if (!l->flags[i]) continue;
        PyObject *line =
            PyBytes_FromStringAndSize(b->records[i].data, (Py_ssize_t)b->records[i].len);
        ok = line && PyList_Append(found, line) == 0;
        Py_XDECREF(line);
    }
    return ok;
}

PyObject *umbelpy_find_lines(PyObject *self, PyObject *args, PyObject *kwargs) {
    umbelpy_filter *filter = filter_of(self);
    umbel_records_batch b;
    umbel_lookup *lookup = NULL;
    umbel_diag diag = {0};
    lines l;
    if (!lines_args(self, args, kwargs, UMBEL_USE_LOOKUP, &l)) return NULL;
    umbel_err e = umbel_lookup_new(filter->filter, umbel_recipe_text(l.recipe), &lookup, &diag);
    if (e) umbelpy_fail(l.state, e, &diag, NULL);
    PyObject *found = e ? NULL : PyList_New(0);
    bool ok = found != NULL;
    while (ok && lines_next(&l, &b)) {
        umbelpy_gate_wait(&filter->gate, UMBELPY_LOOKUP);
        ok = find_batch(&l, lookup, &b, found);
    }
    if (PyErr_Occurred() || !lines_warn(&l)) Py_CLEAR(found);
    umbel_lookup_free(lookup);
    lines_close(&l);
    return found;
}

/* ---- streams ------------------------------------------------------------------------------ */

static const umbelpy_field stream_fields[] = {
    {"source", UMBELPY_OBJECT, UMBELPY_AT(object)},
    {"batch", UMBELPY_U32, UMBELPY_AT(params.hashes)},
    {"type", UMBELPY_TYPE, UMBELPY_AT(type)},
    {"recipe", UMBELPY_OBJECT, UMBELPY_AT(recipe)},
    {0},
};

typedef struct streaming {
    umbel_filter *filter;
    uint8_t *flags; /* one per key of a piece */
    size_t seen, fresh;
} streaming;

static umbel_err add_piece(void *ctx, const umbel_key *keys, size_t n, size_t at,
                           umbel_diag *diag) {
    streaming *s = ctx;
    size_t done = 0;
    umbel_err e = umbel_add_many(s->filter, keys, n, s->flags, &done, diag);
    for (size_t i = 0; i < done; i++) s->fresh += s->flags[i];
    s->seen = at + done;
    return e;
}

static PyObject *add_keys(PyObject *self, PyObject *keys, int type, size_t piece) {
    umbelpy_state *state = umbelpy_state_of(self);
    streaming s = {.filter = filter_of(self)->filter, .flags = PyMem_Malloc(piece)};
    if (!s.flags) return PyErr_NoMemory();
    umbelpy_batch *batch = umbelpy_batch_open(state, keys, type, false);
    bool ok = batch != NULL;
    if (ok) {
        umbelpy_batch_limit(batch, piece);
        ok = umbelpy_batch_run(state, batch, filter_of(self), UMBELPY_ADD, add_piece, &s);
        umbelpy_batch_close(batch);
        if (!ok) umbelpy_say_done(state, s.seen);
    }
    PyMem_Free(s.flags);
    return ok ? umbelpy_lines(state, s.seen, s.fresh, 0, 0) : NULL;
}

PyObject *umbelpy_update_from(PyObject *self, PyObject *args, PyObject *kwargs) {
    enum { USUAL = 65536, MOST = 1 << 24 };
    umbelpy_state *state = umbelpy_state_of(self);
    umbelpy_request request;
    lines l;
    if (!umbelpy_request_read(state, &request, stream_fields, 1, 1, args, kwargs)) return NULL;
    PyObject *source = request.object ? request.object : Py_None;
    uint32_t piece = request.params.hashes ? request.params.hashes : USUAL;
    if (piece > MOST) return umbelpy_refuse(state, UMBEL_EINVAL, "batch", "at most 16777216 keys");
    if (!umbelpy_is_file(source)) {
        if (request.recipe) {
            return umbelpy_refuse(state, UMBEL_EINVAL, "recipe",
                                  "it is for files; an iterable has keys");
        }
        return add_keys(self, source, request.type, piece);
    }
    if (request.type >= 0) {
        return umbelpy_refuse(state, UMBEL_EINVAL, "type",
                              "a file's recipe says it, so leave out type=");
    }
    PyObject *text = request.recipe ? Py_NewRef(request.recipe) : umbelpy_get_recipe(self, NULL);
    bool ok = text && lines_open(state, source, text, UMBEL_USE_RECORD, &l);
    Py_XDECREF(text);
    return ok ? add_all(filter_of(self), &l) : NULL;
}
