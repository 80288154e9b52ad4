/* SPDX-License-Identifier: MIT
 *
 * py_umbel.h - what the files of the Python extension share
 *
 * The limited API of CPython 3.11: one file for this and all later releases.  Functions that fail
 * have set an exception and return NULL, false or -1.
 */
#ifndef UMBELPY_H
#define UMBELPY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdbool.h>

#include "py_gate.h"
#include "umbel.h"
#include "umbel_experimental.h"
#include "umbel_foreign.h"
#include "umbel_lookup.h"
#include "umbel_plan.h"
#include "umbel_records.h"

enum { UMBELPY_ERRORS = UMBEL_EUNSIGNED + 1 };

/* One per interpreter. */
typedef struct umbelpy_state {
    PyObject *filter_type;
    PyObject *info_type, *measurement_type, *plan_type, *lines_type;
    PyObject *error;                  /* umbel.Error                                             */
    PyObject *errors[UMBELPY_ERRORS]; /* its subclasses by umbel_err; [UMBEL_OK] is NULL         */
    PyObject *bad_key;                /* BadKeyError, a TypeError                                */
    PyObject *missing, *denied;       /* FileError for ENOENT, and for EACCES and EPERM          */
} umbelpy_state;

typedef struct umbelpy_filter {
    PyObject_HEAD umbel_filter *filter;
    umbel_lookup *lookup; /* by its recipe; NULL until it is needed                          */
    umbelpy_gate gate;
    Py_buffer ground; /* what Filter.view lies on; ground.obj NULL otherwise                     */
    umbel_foreign as; /* how its bytes are decoded again                                         */
    uint32_t threads;
    bool concurrent;
    bool is_mapped; /* its bits are a file's */
} umbelpy_filter;

/* The state of a Filter's module. */
umbelpy_state *umbelpy_state_of(PyObject *self);

/* ---- Errors ------------------------------------------------------------------------------- */

bool umbelpy_errors_add(PyObject *module, umbelpy_state *state);

/* Sets the exception for a failure and returns NULL, which is false as well.  path (optional) is
 * the file's. */
void *umbelpy_fail(umbelpy_state *state, umbel_err err, const umbel_diag *diag, PyObject *path);

/* umbelpy_fail for what the extension itself refuses. */
void *umbelpy_refuse(umbelpy_state *state, umbel_err err, const char *field, const char *what);

/* ---- Arguments ---------------------------------------------------------------------------- */

/* Everything that a call can ask for; each call fills in the part that it names. */
typedef struct umbelpy_request {
    umbel_params params;
    umbel_foreign foreign;
    umbel_opts opts;
    PyObject *object, *path, *recipe; /* borrowed                                                */
    PyObject *never;                  /* borrowed: good keys                                     */
    Py_buffer secret;  /* secret.obj NULL: none                                            */
    PyObject *tmp;     /* opts.tmp as bytes                                                */
    int type;          /* of the keys; -1: not given                                       */
    uint64_t universe; /* of a plan                                                        */
} umbelpy_request;

typedef enum umbelpy_how {
    UMBELPY_U32,
    UMBELPY_U64,
    UMBELPY_RATE,
    UMBELPY_FLAG,
    UMBELPY_KIND,
    UMBELPY_FORMAT,
    UMBELPY_VARIANT,
    UMBELPY_TYPE,
    UMBELPY_SECRET,
    UMBELPY_FOLDER,
    UMBELPY_OBJECT
} umbelpy_how;

typedef struct umbelpy_field {
    const char *name;
    umbelpy_how how;
    size_t offset; /* in umbelpy_request */
} umbelpy_field;

#define UMBELPY_AT(field) offsetof(umbelpy_request, field)

/* Reads the arguments of a call.  The first `positional` fields may be given without their names,
 * the first `required` must be given; None counts as not given.  A field without a name ends the
 * table.  Call umbelpy_request_end in any case. */
bool umbelpy_request_read(umbelpy_state *state, umbelpy_request *request,
                          const umbelpy_field *fields, int positional, int required, PyObject *args,
                          PyObject *kwargs);
void umbelpy_request_end(umbelpy_request *request);

/* The keywords of calls that read bytes, as signatures have them. */
#define UMBELPY_HOW_IT_WAS_MADE                                                 \
    "capacity=None, fpr=None, variant=None, bytes=None, seed=0, hashes=None,\n" \
    "bits_per_key=None, expansion=None, nonscaling=False"

/* What `as` says beyond zero, as keyword arguments for Filter.from_bytes. */
PyObject *umbelpy_foreign_kwargs(const umbel_foreign *as);

/* The number behind a name given as str; -1 on failure. */
int umbelpy_kind(umbelpy_state *state, PyObject *name);
int umbelpy_format(umbelpy_state *state, PyObject *name); /* None: UMBEL_FMT_ANY                 */
int umbelpy_type(umbelpy_state *state, PyObject *name);   /* None: -1 without an exception       */

/* ---- Keys --------------------------------------------------------------------------------- */

/* A key and what keeps its bytes where they are. */
typedef struct umbelpy_key {
    umbel_key key;
    PyObject *owned; /* or NULL */
    Py_buffer view;  /* only its obj is set when there is none */
    uint8_t number[8];
} umbelpy_key;

/* The key in a str (as UTF-8), in something bytes-like or, with a type, in a number.  The object
 * has to outlive *key. */
bool umbelpy_key_read(umbelpy_state *state, PyObject *object, int type, umbelpy_key *key);
void umbelpy_key_end(umbelpy_key *key);

/* The bytes of a number of such a type; returns how many, 0 on failure. */
size_t umbelpy_number(PyObject *object, int type, uint8_t number[8]);
bool umbelpy_is_number(int type);

/* A type whose keys are not the bytes of the text that denotes them: utf16, and those of SQL. */
bool umbelpy_is_spelled(int type);

/* Raises a TypeError that says what can be a key and that this cannot. */
void umbelpy_no_key(PyObject *object, int type);

/* ---- Batches ------------------------------------------------------------------------------ */

/* Works on n keys, those from place `at` on, without the GIL. */
typedef umbel_err (*umbelpy_work)(void *ctx, const umbel_key *keys, size_t n, size_t at,
                                  umbel_diag *diag);

typedef struct umbelpy_batch umbelpy_batch;

/* Opens what was given as a batch of keys.  counted: umbelpy_batch_size is wanted, so that other
 * iterables are gathered into a list first. */
umbelpy_batch *umbelpy_batch_open(umbelpy_state *state, PyObject *keys, int type, bool counted);
size_t umbelpy_batch_size(const umbelpy_batch *batch);
void umbelpy_batch_limit(umbelpy_batch *batch, size_t piece); /* keys of one call of the work    */
void umbelpy_batch_close(umbelpy_batch *batch);

/* Works through it, in pieces.  filter NULL: nothing has to be locked.  On failure of the work the
 * exception is set. */
bool umbelpy_batch_run(umbelpy_state *state, umbelpy_batch *batch, umbelpy_filter *filter,
                       umbelpy_use use, umbelpy_work work, void *ctx);

/* Records in the current exception which key of a batch it is about: in its message, or as a note,
 * and as the attribute `index`. */
void umbelpy_blame(size_t index);

/* Keys that lie in buffers: no object per key, no GIL. */
typedef struct umbelpy_rows {
    Py_buffer views[2]; /* what keeps data and offsets in place; obj NULL: nothing               */
    struct umbelpy_chunk *chunk; /* likewise, for Arrow's                                        */
    const char *data;
    const char *offsets; /* NULL: rows of one width                                              */
    uint64_t last;       /* no key given by offsets ends after this                              */
    size_t n;
    size_t width;      /* of a row, or of an offset                                              */
    size_t scratch;    /* bytes per key that umbelpy_rows_keys needs                             */
    Py_ssize_t stride; /* from row to row                                                        */
    bool is_padded;    /* NULs at the end of a row do not belong to the key                      */
    bool is_swapped;   /* the key is the row's bytes in the other order                          */
    bool is_wide;      /* UTF-32: the key is the text in UTF-8                                   */
} umbelpy_rows;

/* 1: opened; 0: not such a batch, but perhaps one of objects; -1: an exception. */
int umbelpy_rows_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows *rows);
void umbelpy_rows_close(umbelpy_rows *rows);

/* The offsets never fall, and none is below 0; *end is the last. */
bool umbelpy_offsets_hold(const umbelpy_rows *rows, uint64_t *end);

/* Whether items of a letter (struct's) and a size can be keys of this numeric type; if so they
 * become rows. */
bool umbelpy_rows_number(umbelpy_rows *rows, char letter, size_t size, int type);

/* The keys of rows [at, at + n); returns how many there are before one that is not a text. */
size_t umbelpy_rows_keys(const umbelpy_rows *rows, size_t at, size_t n, umbel_key *keys,
                         uint8_t *scratch);

/* Arrow's C data interface: __arrow_c_array__ and __arrow_c_stream__.  Appends to an array of rows
 * that begins as NULL; results as of umbelpy_rows_open. */
int umbelpy_arrow_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows **parts,
                       size_t *n);
void umbelpy_chunk_free(struct umbelpy_chunk *chunk);

/* ---- Parts of the module ------------------------------------------------------------------ */

bool umbelpy_records_add(PyObject *module, umbelpy_state *state);
PyObject *umbelpy_info(umbelpy_state *state, const umbel_info *info);
PyObject *umbelpy_measurement(umbelpy_state *state, const umbel_info *info,
                              const umbel_measurement *now);
PyObject *umbelpy_plan(umbelpy_state *state, const umbel_plan *plan, PyObject *args,
                       PyObject *kwargs);
PyObject *umbelpy_record_again(PyObject *module, PyObject *args);
PyObject *umbelpy_lines(umbelpy_state *state, uint64_t records, uint64_t fresh, uint64_t missing,
                        uint64_t malformed);

/* A new Filter that owns `filter`, which is freed on failure. */
umbelpy_filter *umbelpy_wrap(umbelpy_state *state, umbel_filter *filter, const umbel_foreign *as,
                             uint32_t threads);

bool umbelpy_filter_add(PyObject *module, umbelpy_state *state);

/* Lookups by the filter's own recipe; NULL with an exception if it is not understood. */
const umbel_lookup *umbelpy_lookup_of(PyObject *self);
PyObject *umbelpy_get_recipe(PyObject *self, void *unused);
int umbelpy_set_recipe(PyObject *self, PyObject *value, void *unused);
PyObject *umbelpy_update_from(PyObject *self, PyObject *args, PyObject *kwargs);
void umbelpy_say_done(umbelpy_state *state, size_t done);
bool umbelpy_is_file(PyObject *object);
bool umbelpy_work_lines(umbelpy_state *state, PyObject *source, PyObject *recipe, umbelpy_work work,
                        void *ctx);
bool umbelpy_apply_recipe(umbelpy_state *state, umbel_filter *filter, PyObject *text);
umbel_recipe *umbelpy_parse_recipe(umbelpy_state *state, PyObject *text);
PyObject *umbelpy_add_lines(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *umbelpy_find_lines(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *umbelpy_record_key(PyObject *module, PyObject *args, PyObject *kwargs);

PyObject *umbelpy_build(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *umbelpy_verify(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *umbelpy_verify_file(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *umbelpy_restore(PyObject *module, PyObject *args);

extern PyMethodDef umbelpy_key_methods[], umbelpy_set_methods[], umbelpy_file_methods[],
    umbelpy_property_methods[];
extern PyGetSetDef umbelpy_properties[];
PyObject *umbelpy_or(PyObject *a, PyObject *b);
PyObject *umbelpy_and(PyObject *a, PyObject *b);
PyObject *umbelpy_in_place_or(PyObject *a, PyObject *b);
PyObject *umbelpy_in_place_and(PyObject *a, PyObject *b);
PyObject *umbelpy_compare(PyObject *a, PyObject *b, int op);
int umbelpy_contains(PyObject *self, PyObject *key);

/* Whether what a lookup said counts; false: it met damage, and an exception is set. */
bool umbelpy_undamaged(PyObject *self);
Py_ssize_t umbelpy_length(PyObject *self);
void umbelpy_measure(umbelpy_filter *filter, umbel_info *info, umbel_measurement *now);
int umbelpy_merge(umbelpy_state *state, umbelpy_filter *into, umbelpy_filter *from);

#endif
