/* SPDX-License-Identifier: MIT
 *
 * sq_umbel.h - what the files of the SQLite extension share
 *
 * The library decides everything about filters; these files turn SQLite's values into keys and
 * filters, and the library's errors into SQLite's.
 */
#ifndef UMBEL_SQ_UMBEL_H
#define UMBEL_SQ_UMBEL_H

#include <sqlite3ext.h>

#include "umbel.h"
#include "umbel_foreign.h"
#include "umbel_lookup.h"
#include "umbel_plan.h"

/* ---- sq_filters.c: a connection, and the filters that its queries use */

typedef struct sq_connection sq_connection;
sq_connection *sq_connection_new(sqlite3 *db);
sq_connection *sq_connection_hold(sq_connection *c);
void sq_connection_release(void *c); /* the last one frees it */

/* A filter that several values may hold: what umbel_open and umbel_decode return. */
typedef struct sq_open sq_open;
sq_open *sq_open_file(sq_connection *c, const char *path, umbel_err *e, umbel_diag *diag);
sq_open *sq_open_blob(sq_connection *c, sqlite3_value *blob, umbel_err *e, umbel_diag *diag);
sq_open *sq_open_hold(sq_open *open);
void sq_open_release(void *open);
extern const char sq_pointer[]; /* the type of such a pointer */

/* A filter, and how texts become its keys; NULL: a text is the key. */
typedef struct sq_asked {
    umbel_filter *filter;
    umbel_lookup *lookup;
    const umbel_recipe *recipe; /* the lookup's */
} sq_asked;

/* A pointer is NULL to those who do not know its type. */
bool sq_is_null(sqlite3_value *filter);

/* Parses a recipe; *out stays NULL where there is nothing to apply. */
umbel_err sq_recipe(const char *text, umbel_recipe **out, umbel_diag *diag);

/* The filter in a value: an open file, or a blob, decoded once however often it is queried.  NULL:
 * *e and *diag say why.  It lives until the connection's next call. */
const sq_asked *sq_filter(sq_connection *c, sqlite3_value *value, umbel_err *e, umbel_diag *diag);

/* umbel_decode with the connection's secrets and SQLite's memory. */
umbel_err sq_decode(sq_connection *c, const void *bytes, size_t len, umbel_filter **out,
                    umbel_diag *diag);
umbel_opts sq_opts(sq_connection *c); /* for new filters: not larger than a blob may be */
umbel_err sq_add_secret(sq_connection *c, const uint8_t secret[16]);
const uint8_t *sq_secret(const sq_connection *c); /* the latest; NULL: none */

/* ---- sq_functions.c */

void sq_fail(sqlite3_context *ctx, umbel_err e, const umbel_diag *diag);
int sq_define_functions(sqlite3 *db, sq_connection *c);

/* ---- sq_tables.c */

int sq_define_tables(sqlite3 *db, sq_connection *c);

#endif
