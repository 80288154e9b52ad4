/* SPDX-License-Identifier: MIT
 *
 * py_arrow.c - keys from Arrow's arrays, tables of one column and streams of them, without pyarrow
 *
 * The C data interface is a few structs in capsules, which pyarrow, polars, DuckDB and newer pandas
 * hand out.  What a struct points to is trusted, as the interface offers no way to check it; what
 * it says about itself is checked.
 */
#include <stdlib.h>
#include <string.h>

#include "py_umbel.h"

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
} arrow_array;

typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, arrow_schema *);
    int (*get_next)(struct arrow_stream *, arrow_array *);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
} arrow_stream;

/* What the rows of an array lie on. */
typedef struct umbelpy_chunk {
    arrow_array array;
} umbelpy_chunk;

/* Producers may run Python code, which must not see an exception of ours. */
void umbelpy_chunk_free(umbelpy_chunk *chunk) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (chunk->array.release) chunk->array.release(&chunk->array);
    PyErr_Restore(type, value, trace);
    free(chunk);
}

/* ---- one array ---------------------------------------------------------------------------- */

/* An array, or the only column of a table, and what contains it. */
typedef struct column {
    const char *format;
    const arrow_array *array;
    size_t at, n; /* its rows */
} column;

static int refuse(const char *format, const char *what) {
    PyErr_Format(PyExc_TypeError, "Arrow's format '%s' %s", format, what);
    return -1;
}

static bool is_null(const arrow_array *array, size_t i) {
    const uint8_t *valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return array->null_count != 0 && valid && !(valid[i / 8] >> i % 8 & 1);
}

/* A null is not a key, not even the empty one. */
static int find_null(const arrow_array *array, size_t at, size_t n, size_t before) {
    for (size_t i = 0; i < n; i++) {
        if (!is_null(array, at + i)) continue;
        PyErr_SetString(PyExc_TypeError, "null is not a key: drop nulls first");
        umbelpy_blame(before + i);
        return -1;
    }
    return 0;
}

static int descend(const arrow_schema *schema, const arrow_array *array, size_t before,
                   column *to) {
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 32 ||
        array->offset > INT64_MAX / 32) {
        return refuse(schema->format, "has a length or offset that cannot be");
    }
    size_t at = (size_t)array->offset, n = (size_t)array->length;
    *to = (column){schema->format, array, at, n};
    if (strcmp(schema->format, "+s") == 0) {
        if (schema->n_children != 1 || array->n_children != 1) {
            return refuse("+s", "is a table: name one column of keys");
        }
        if (find_null(array, at, n, before)) return -1;
        const arrow_array *child = array->children[0];
        if (child->offset < 0 || child->offset > INT64_MAX / 32 ||
            child->length < array->offset + array->length) {
            return refuse("+s", "has a column that is shorter than the table");
        }
        *to = (column){schema->children[0]->format, child, at + (size_t)child->offset, n};
        schema = schema->children[0];
    }
    if (schema->dictionary) return refuse(to->format, "is a dictionary: decode it first");
    return find_null(to->array, to->at, n, before);
}

/* The format's letter as the struct module has it, and the size of an item; 0: not a number. */
static char number_letter(const char *format, size_t *size) {
    static const char arrow[] = "cCsSiIlLfg", letters[] = "bBhHiIqQfd";
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    const char *found = format[0] && !format[1] ? strchr(arrow, format[0]) : NULL;
    if (!found) return 0;
    *size = sizes[found - arrow];
    return letters[found - arrow];
}

static int open_numbers(const column *c, int type, umbelpy_rows *rows) {
    size_t size = 0;
    char letter = number_letter(c->format, &size);
    if (!letter || c->array->n_buffers != 2 || !umbelpy_rows_number(rows, letter, size, type)) {
        PyErr_Format(PyExc_TypeError, "keys of type %s cannot be read from Arrow's format '%s'",
                     umbel_type_name((umbel_type)type), c->format);
        return -1;
    }
    rows->data = (const char *)c->array->buffers[1] + c->at * size;
    rows->stride = (Py_ssize_t)size;
    return 1;
}

static int open_fixed(const column *c, umbelpy_rows *rows) {
    char *end;
    unsigned long width = strtoul(c->format + 2, &end, 10);
    if (*end || end == c->format + 2 || width > INT32_MAX || c->array->n_buffers != 2) {
        return refuse(c->format, "is not valid");
    }
    rows->width = width;
    rows->stride = (Py_ssize_t)width;
    if (width && c->at > PTRDIFF_MAX / width) return refuse(c->format, "is not valid");
    rows->data = (const char *)c->array->buffers[1] + c->at * width;
    return 1;
}

static int open_texts(const column *c, umbelpy_rows *rows) {
    static const char none[8] = "";
    if (c->array->n_buffers != 3) return refuse(c->format, "is not valid");
    rows->width = strchr("UZ", c->format[0]) ? 8 : 4;
    const char *offsets = c->array->buffers[1];
    if (!offsets && c->n) return refuse(c->format, "is not valid");
    rows->offsets = offsets ? offsets + c->at * rows->width : none;
    rows->data = c->array->buffers[2];
    /* The interface does not say how long the data is: it extends to the last offset. */
    if (c->n && !umbelpy_offsets_hold(rows, &rows->last)) {
        return refuse(c->format, "has offsets that fall");
    }
    return 1;
}

static int open_array(const arrow_schema *schema, const arrow_array *array, int type, size_t before,
                      umbelpy_rows *rows) {
    column c;
    if (descend(schema, array, before, &c)) return -1;
    rows->n = c.n;
    if (umbelpy_is_number(type)) return open_numbers(&c, type, rows);
    if (!umbelpy_is_spelled(type)) {
        if (strncmp(c.format, "w:", 2) == 0) return open_fixed(&c, rows);
        if (c.format[0] && !c.format[1] && strchr("uUzZ", c.format[0])) return open_texts(&c, rows);
    }
    size_t size;
    if (strcmp(c.format, "n") == 0 && c.n) {
        PyErr_SetString(PyExc_TypeError, "null is not a key: drop nulls first");
        umbelpy_blame(before);
        return -1;
    }
    return refuse(c.format, umbelpy_is_spelled(type) ? "must be a list for keys of this type"
                            : number_letter(c.format, &size)
                                ? "has numbers: name their type, as in type=\"int64\""
                                : "holds no keys: cast it to string or binary");
}

/* ---- capsules ----------------------------------------------------------------------------- */

/* Takes ownership of what *array holds, and appends its rows. */
static int append(const arrow_schema *schema, arrow_array *array, int type, umbelpy_rows **parts,
                  size_t *n, size_t *before) {
    umbelpy_chunk *chunk = malloc(sizeof *chunk);
    umbelpy_rows *longer = chunk ? realloc(*parts, (*n + 1) * sizeof **parts) : NULL;
    if (!longer) {
        free(chunk);
        if (array->release) array->release(array);
        PyErr_NoMemory();
        return -1;
    }
    *parts = longer;
    chunk->array = *array;
    array->release = NULL;
    umbelpy_rows *rows = &longer[(*n)++];
    *rows = (umbelpy_rows){.chunk = chunk};
    if (open_array(schema, &chunk->array, type, *before, rows) < 0) return -1;
    *before += rows->n;
    return 1;
}

static int read_array(PyObject *pair, int type, umbelpy_rows **parts, size_t *n) {
    size_t before = 0;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ did not return two capsules");
        return -1;
    }
    arrow_schema *schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    arrow_array *array =
        schema ? PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array") : NULL;
    if (!array) return -1;
    if (!schema->release || !array->release) return refuse("", "was released before");
    return append(schema, array, type, parts, n, &before);
}

static int stream_error(arrow_stream *stream) {
    const char *what = stream->get_last_error(stream);
    PyErr_Format(PyExc_RuntimeError, "the Arrow stream failed: %s",
                 what ? what : "it gives no reason");
    return -1;
}

static int read_stream(PyObject *capsule, int type, umbelpy_rows **parts, size_t *n) {
    arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    arrow_schema schema = {0};
    size_t before = 0;
    if (!stream) return -1;
    if (!stream->release) return refuse("", "was released before");
    if (stream->get_schema(stream, &schema)) return stream_error(stream);
    int result = 1;
    while (result > 0) {
        arrow_array array = {0};
        if (stream->get_next(stream, &array)) {
            result = stream_error(stream);
        } else if (!array.release) {
            break;
        } else {
            result = append(&schema, &array, type, parts, n, &before);
        }
    }
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (schema.release) schema.release(&schema);
    PyErr_Restore(kind, value, trace);
    return result;
}

int umbelpy_arrow_open(umbelpy_state *state, PyObject *keys, int type, umbelpy_rows **parts,
                       size_t *n) {
    (void)state;
    bool is_array = PyObject_HasAttrString(keys, "__arrow_c_array__");
    if (!is_array && !PyObject_HasAttrString(keys, "__arrow_c_stream__")) return 0;
    PyObject *given =
        PyObject_CallMethod(keys, is_array ? "__arrow_c_array__" : "__arrow_c_stream__", NULL);
    if (!given) return -1;
    int result = is_array ? read_array(given, type, parts, n) : read_stream(given, type, parts, n);
    Py_DECREF(given);
    return result;
}
