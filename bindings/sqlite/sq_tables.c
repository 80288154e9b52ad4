/* SPDX-License-Identifier: MIT
 *
 * sq_tables.c - umbel_info(filter) and umbel_plan(n, p): tables of one row, and the extension's entry
 */
#include "sq_umbel.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT1
#endif

#include <string.h>

enum { SQ_COLUMNS = 13 };

/* A row as it is computed: a column has a text, or a number. */
typedef struct sq_cell {
    enum { SQ_NULL, SQ_TEXT, SQ_INTEGER, SQ_REAL } type;
    const char *text; /* lives as long as the extension, unless ... */
    char *owned;      /* ... it is this                              */
    int64_t integer;
    double real;
} sq_cell;

/* The parameters are hidden columns after the others. */
typedef struct sq_function_table {
    const char *name, *schema;
    int columns, parameters, required;
    umbel_err (*row)(sq_connection *c, sqlite3_value **given, sq_cell *cells, umbel_diag *diag);
} sq_function_table;

static sq_cell sq_text(const char *text) {
    return (sq_cell){.type = SQ_TEXT, .text = text};
}

static sq_cell sq_integer(uint64_t n) {
    return (sq_cell){.type = SQ_INTEGER, .integer = (int64_t)n};
}

static sq_cell sq_real(double n) {
    return (sq_cell){.type = SQ_REAL, .real = n};
}

static umbel_err sq_info_row(sq_connection *c, sqlite3_value **given, sq_cell *cells,
                             umbel_diag *diag) {
    umbel_info info;
    umbel_measurement now;
    umbel_err e;
    if (sq_is_null(given[0])) return UMBEL_OK; /* a row of NULLs, as in PostgreSQL */
    const sq_asked *asked = sq_filter(c, given[0], &e, diag);
    if (!asked) return e;
    const umbel_filter *filter = asked->filter;
    umbel_describe(filter, &info);
    umbel_measure(filter, &now);
    cells[0] = sq_text(umbel_kind_name(info.kind));
    cells[1] = sq_text(info.layout);
    /* A copy: another query may evict the filter before the column is read. */
    cells[12].owned = sqlite3_mprintf("%s", umbel_get_recipe(filter));
    if (!cells[12].owned) return UMBEL_ENOMEM;
    cells[12].type = SQ_TEXT;
    cells[12].text = cells[12].owned;
    if (info.capacity) cells[2] = sq_integer(info.capacity);
    if (info.fpr > 0) cells[3] = sq_real(info.fpr);
    cells[4] = sq_real(now.keys);
    cells[5] = sq_real(now.keys_error);
    cells[6] = sq_real(now.rate);
    cells[7] = sq_integer(info.bytes);
    cells[8] = sq_integer(info.hashes);
    cells[9] = sq_integer(info.layers);
    cells[10] = sq_integer(info.seed);
    if (info.fingerprint) cells[11] = sq_integer(info.fingerprint);
    return UMBEL_OK;
}

static umbel_err sq_plan_row(sq_connection *c, sqlite3_value **given, sq_cell *cells,
                             umbel_diag *diag) {
    umbel_plan plan = {0};
    double n = given[0] ? sqlite3_value_double(given[0]) : 0;
    double bytes = given[2] ? sqlite3_value_double(given[2]) : 0;
    const char *kind = given[3] ? (const char *)sqlite3_value_text(given[3]) : NULL;
    (void)c;
    if (given[1]) plan.fpr = sqlite3_value_double(given[1]);
    if (!(n >= 0 && n < 9e18 && bytes >= 0 && bytes < 9e18)) {
        diag->what = "capacity and bytes must be positive numbers";
        return UMBEL_EINVAL;
    }
    plan.capacity = (uint64_t)n;
    plan.bytes = (uint64_t)bytes;
    if (kind && !umbel_kind_named(kind, &plan.kind)) {
        diag->what = "there is no such kind";
        return UMBEL_EINVAL;
    }
    umbel_err e = umbel_plan_solve(&plan, diag);
    if (e) return e;
    cells[0] = sq_text(umbel_kind_name(plan.kind));
    cells[1] = sq_integer(plan.capacity);
    cells[2] = sq_real(plan.fpr);
    cells[3] = sq_integer(plan.bytes);
    cells[4] = sq_real(plan.bits_per_key);
    cells[5] = sq_integer(plan.hashes);
    cells[6] = sq_text(plan.why);
    return UMBEL_OK;
}

static const sq_function_table sq_function_tables[] = {
    {"umbel_info",
     "CREATE TABLE x(kind, layout, capacity, fpr, keys, keys_error, rate, bytes, hashes, layers, seed, "
     "secret_fingerprint, recipe, filter HIDDEN)",
     13, 1, 1, sq_info_row},
    {"umbel_plan",
     "CREATE TABLE x(kind, capacity, fpr, bytes, bits_per_key, hashes, why, n HIDDEN, p HIDDEN, "
     "room HIDDEN, wanted HIDDEN)",
     7, 4, 0, sq_plan_row},
};

/* ---- virtual tables ------------------------------------------------------------------ */

typedef struct sq_module {
    const sq_function_table *about;
    sq_connection *connection;
} sq_module;

typedef struct sq_table {
    sqlite3_vtab base;
    const sq_module *module;
} sq_table;

typedef struct sq_cursor {
    sqlite3_vtab_cursor base;
    bool ended;
    sq_cell cells[SQ_COLUMNS];
} sq_cursor;

static int sq_connect(sqlite3 *db, void *module, int argc, const char *const *argv,
                      sqlite3_vtab **out, char **error) {
    (void)argc;
    (void)argv;
    (void)error;
    sq_table *t = sqlite3_malloc64(sizeof *t);
    if (!t) return SQLITE_NOMEM;
    *t = (sq_table){.module = module};
    *out = &t->base;
    int status = sqlite3_declare_vtab(db, t->module->about->schema);
    if (status == SQLITE_OK) status = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    return status;
}

static int sq_disconnect(sqlite3_vtab *t) {
    sqlite3_free(t);
    return SQLITE_OK;
}

/* Parameters come in any order; idxNum says which are given. */
static int sq_best_index(sqlite3_vtab *t, sqlite3_index_info *info) {
    const sq_function_table *about = ((sq_table *)t)->module->about;
    int place[8] = {0}, given = 0, unusable = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int parameter = info->aConstraint[i].iColumn - about->columns;
        if (parameter < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!info->aConstraint[i].usable) {
            unusable |= 1 << parameter;
        } else {
            place[parameter] = i + 1;
            given |= 1 << parameter;
        }
    }
    if (unusable & ~given) return SQLITE_CONSTRAINT;
    for (int p = 0, n = 0; p < about->parameters; p++) {
        if (!place[p]) continue;
        info->aConstraintUsage[place[p] - 1].argvIndex = ++n;
        info->aConstraintUsage[place[p] - 1].omit = 1;
    }
    info->idxNum = given;
    info->estimatedCost = 10;
    info->estimatedRows = 1;
    return SQLITE_OK;
}

static int sq_cursor_open(sqlite3_vtab *t, sqlite3_vtab_cursor **out) {
    sq_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    (void)t;
    if (!cursor) return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    *out = &cursor->base;
    return SQLITE_OK;
}

static void sq_cursor_clear(sq_cursor *cursor) {
    for (int i = 0; i < SQ_COLUMNS; i++) sqlite3_free(cursor->cells[i].owned);
    memset(cursor->cells, 0, sizeof cursor->cells);
}

static int sq_cursor_close(sqlite3_vtab_cursor *cursor) {
    sq_cursor_clear((sq_cursor *)cursor);
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int sq_cursor_filter(sqlite3_vtab_cursor *base, int idx, const char *text, int argc,
                            sqlite3_value **argv) {
    sq_cursor *cursor = (sq_cursor *)base;
    const sq_module *module = ((sq_table *)base->pVtab)->module;
    sqlite3_value *given[8] = {0};
    char message[512];
    umbel_diag diag = {0};
    umbel_err e = UMBEL_EINVAL;
    (void)text;
    (void)argc;
    for (int p = 0, n = 0; p < module->about->parameters; p++) {
        if (idx >> p & 1) given[p] = argv[n++];
    }
    sq_cursor_clear(cursor);
    cursor->ended = false;
    diag.what = "a parameter is missing";
    if (module->about->required == 0 || given[0]) {
        diag.what = NULL;
        e = module->about->row(module->connection, given, cursor->cells, &diag);
    }
    if (!e) return SQLITE_OK;
    sqlite3_free(base->pVtab->zErrMsg);
    base->pVtab->zErrMsg = sqlite3_mprintf("%s", umbel_explain(e, &diag, message, sizeof message));
    return e == UMBEL_ENOMEM ? SQLITE_NOMEM : SQLITE_ERROR;
}

static int sq_cursor_next(sqlite3_vtab_cursor *cursor) {
    ((sq_cursor *)cursor)->ended = true;
    return SQLITE_OK;
}

static int sq_cursor_eof(sqlite3_vtab_cursor *cursor) {
    return ((sq_cursor *)cursor)->ended;
}

static int sq_cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int column) {
    if (column >= ((sq_table *)cursor->pVtab)->module->about->columns) return SQLITE_OK;
    const sq_cell *cell = &((sq_cursor *)cursor)->cells[column];
    switch (cell->type) {
    case SQ_TEXT: sqlite3_result_text(ctx, cell->text, -1, SQLITE_TRANSIENT); break;
    case SQ_INTEGER: sqlite3_result_int64(ctx, cell->integer); break;
    case SQ_REAL: sqlite3_result_double(ctx, cell->real); break;
    default: break;
    }
    return SQLITE_OK;
}

static int sq_cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid) {
    (void)cursor;
    *rowid = 1;
    return SQLITE_OK;
}

static const sqlite3_module sq_methods = {
    .xConnect = sq_connect,
    .xBestIndex = sq_best_index,
    .xDisconnect = sq_disconnect,
    .xOpen = sq_cursor_open,
    .xClose = sq_cursor_close,
    .xFilter = sq_cursor_filter,
    .xNext = sq_cursor_next,
    .xEof = sq_cursor_eof,
    .xColumn = sq_cursor_column,
    .xRowid = sq_cursor_rowid,
};

static void sq_module_free(void *module) {
    sq_connection_release(((sq_module *)module)->connection);
    sqlite3_free(module);
}

int sq_define_tables(sqlite3 *db, sq_connection *c) {
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof sq_function_tables / sizeof *sq_function_tables && !status; i++) {
        sq_module *module = sqlite3_malloc64(sizeof *module);
        if (!module) return SQLITE_NOMEM;
        *module = (sq_module){&sq_function_tables[i], sq_connection_hold(c)};
        status =
            sqlite3_create_module_v2(db, module->about->name, &sq_methods, module, sq_module_free);
    }
    return status;
}

__attribute__((visibility("default"))) int sqlite3_umbel_init(sqlite3 *db, char **error,
                                                              const sqlite3_api_routines *api) {
    (void)error;
    (void)api;
#ifndef SQLITE_CORE
    SQLITE_EXTENSION_INIT2(api);
#endif
    sq_connection *c = sq_connection_new(db);
    if (!c) return SQLITE_NOMEM;
    int status = sq_define_functions(db, c);
    if (status == SQLITE_OK) status = sq_define_tables(db, c);
    sq_connection_release(c);
    return status;
}
