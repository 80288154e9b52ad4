/* SPDX-License-Identifier: MIT
 *
 * table.h - what the readers of all systems share: the handle, places, faults
 *
 * A reader's open function walks the file once, adds a place for each filter and a fault for each
 * problem, and fails only when nothing can be read at all.  Filters themselves are made through
 * umbel.h on request: a place takes only about a hundred bytes.
 */
#ifndef UMBELI_TABLE_H
#define UMBELI_TABLE_H

#include "core/memory.h"
#include "umbel_table.h"

typedef struct umbeli_place {
    umbel_table_place seen;
    const uint8_t *bytes; /* of the filter: seen.len of them */
    uint32_t column;      /* index, for comparisons */
} umbeli_place;

typedef struct umbeli_fault {
    umbel_err err;
    umbel_diag diag;
} umbeli_fault;

typedef struct umbeli_table_ops {
    umbel_table_system system;
    const char *name;

    /* True when the end (or start) of the bytes can only be this system's. */
    bool (*recognise)(const uint8_t *bytes, size_t len);

    /* Walks the file.  t->own owns what it allocates; close is called even when it fails. */
    umbel_err (*open)(umbel_table *t, const umbel_table_hints *hints, umbel_diag *diag);
    void (*close)(umbel_table *t);

    umbel_err (*filter)(const umbel_table *t, const umbeli_place *p, umbel_filter **out,
                        umbel_diag *diag);

    /* `may` is never NULL and all zero; `answer` is all zero on entry. */
    umbel_err (*check)(const umbel_table *t, const char *column, const void *key, size_t len,
                       uint8_t *may, umbel_table_answer *answer, umbel_diag *diag);

    /* How values of a column are read; `type` as given by the caller, or NULL.  NULL for tables
     * without columns. */
    umbel_err (*key)(const umbel_table *t, const char *column, const char *type, umbel_key text,
                     uint8_t *key, size_t cap, size_t *key_len, umbel_diag *diag);

    /* The i-th fact that the file states about itself; NULL: there are none. */
    bool (*fact)(const umbel_table *t, size_t i, umbel_table_fact *fact);
} umbeli_table_ops;

extern const umbeli_table_ops umbeli_sstable_ops, umbeli_part_ops, umbeli_columns_ops,
    umbeli_rocks_ops;

struct umbel_table {
    const umbeli_table_ops *ops;
    const uint8_t *bytes;
    size_t len;
    void *mapped; /* the same bytes if umbel_table_open mapped them; otherwise NULL */
    umbeli_settings settings;
    uint64_t held; /* bytes held: decompressed, lists, names; at most settings.max_bytes */

    umbeli_place *places;
    size_t count, cap;
    umbeli_fault *faults;
    size_t nfaults;

    void *own; /* of the reader */
};

enum { UMBELI_MAX_FAULTS = 100 };

/* UMBEL_ENOMEM, or UMBEL_ELIMIT if more would be held than settings.max_bytes. */
umbel_err umbeli_table_add(umbel_table *t, const umbeli_place *place);

/* Notes what is wrong and lets the reader continue; faults after the hundredth are dropped. */
umbel_err umbeli_table_note(umbel_table *t, umbel_err err, uint64_t offset, const char *what);
umbel_err umbeli_table_note_diag(umbel_table *t, umbel_err err, const umbel_diag *why);

/* For a part whose loss leaves the rest readable: notes err, unless it is UMBEL_OK or
 * UMBEL_ENOMEM, which it returns. */
umbel_err umbeli_table_note_loss(umbel_table *t, umbel_err err, const umbel_diag *why);

/* The options with which views of filters are made; and a view of the place's bytes. */
umbel_opts umbeli_table_opts(const umbel_table *t);
umbel_err umbeli_table_view(const umbel_table *t, const umbeli_place *p, const umbel_foreign *as,
                            umbel_filter **out, umbel_diag *diag);

/* Queries the filter of one place for one key; without a filter it may have the key unless it is
 * empty. */
umbel_err umbeli_table_ask_place(const umbel_table *t, const umbeli_place *p, const void *key,
                                 size_t len, uint8_t *may, umbel_diag *diag);

/* Queries the filters of all places of this column for one key and fills `may`; places without a
 * filter may have it unless they are empty. */
umbel_err umbeli_table_ask(const umbel_table *t, uint32_t column, const void *key, size_t len,
                           uint8_t *may, umbel_diag *diag);

/* Grows an array of `size`-byte elements so that one more fits. */
umbel_err umbeli_array_grow(const umbeli_settings *m, void **array, size_t size, size_t count,
                            size_t *cap);

/* umbeli_array_grow for an array whose bytes count as held, unless it is short. */
enum { UMBELI_SHORT_LIST = 64 << 10 };
umbel_err umbeli_table_grow(umbel_table *t, void **array, size_t size, size_t count, size_t *cap);
uint64_t umbeli_list_bytes(size_t cap, size_t size);

#endif
