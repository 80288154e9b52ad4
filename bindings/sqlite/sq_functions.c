/* SPDX-License-Identifier: MIT
 *
 * sq_functions.c - umbel(key, n, p), umbel_contains(filter, key) and their kin
 *
 * A text goes through the filter's recipe, usually "line": its UTF-8 bytes are the key.  An integer is
 * eight bytes, little-endian; a filter of integers has the recipe "line type=int64", through which '7'
 * is the key of 7, and every other filter refuses integers.  A blob is the key itself, in every filter; a
 * filter of blobs has the recipe "line type=bytea", as in PostgreSQL.
 * NULLs are not keys.
 */
#include "sq_umbel.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT3
#endif

#include <stdlib.h>
#include <string.h>

enum { SQ_BATCH = 256 };

#define SQ_NUMBERS "line type=int64"
#define SQ_BLOBS "line type=bytea"

void sq_fail(sqlite3_context *ctx, umbel_err e, const umbel_diag *diag) {
    char text[512];
    if (e == UMBEL_ENOMEM) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    umbel_explain(e, diag, text, sizeof text);
    if (e == UMBEL_ELIMIT && diag->need) {
        sqlite3_snprintf(sizeof text, text,
                         "the filter needs %llu bytes, more than a blob may have "
                         "(SQLITE_LIMIT_LENGTH); build a file and ask it through umbel_open",
                         (unsigned long long)diag->need);
    }
    sqlite3_result_error(ctx, text, -1);
    if (e == UMBEL_ELIMIT) sqlite3_result_error_code(ctx, SQLITE_TOOBIG);
}

static void sq_refuse(sqlite3_context *ctx, const char *field, const char *what) {
    umbel_diag diag = {.what = what};
    sqlite3_snprintf(sizeof diag.field, diag.field, "%s", field);
    sq_fail(ctx, UMBEL_EINVAL, &diag);
}

/* False: there is no key, because it is NULL or because it was refused. */
static bool sq_key(sqlite3_context *ctx, sqlite3_value *value, umbel_key *key, uint8_t number[8]) {
    switch (sqlite3_value_type(value)) {
    case SQLITE_TEXT: key->data = sqlite3_value_text(value); break;
    case SQLITE_BLOB: key->data = sqlite3_value_blob(value); break;
    case SQLITE_INTEGER: {
        uint64_t n = (uint64_t)sqlite3_value_int64(value);
        for (int i = 0; i < 8; i++) number[i] = (uint8_t)(n >> (8 * i));
        *key = (umbel_key){number, 8};
        return true;
    }
    case SQLITE_NULL: return false;
    default: sq_refuse(ctx, "key", "must be a text, a blob or an integer"); return false;
    }
    key->len = (size_t)sqlite3_value_bytes(value);
    if (!key->len) key->data = ""; /* NULL would be no key */
    return true;
}

static bool sq_takes_numbers(const umbel_recipe *recipe) {
    return recipe && strcmp(umbel_recipe_text(recipe), SQ_NUMBERS) == 0;
}

/* The key of a text; false: it has none.  The caller frees *scratch. */
static bool sq_apply(sqlite3_context *ctx, const umbel_recipe *recipe, umbel_recipe_use use,
                     umbel_key *key, void **scratch) {
    uint8_t state;
    *scratch = sqlite3_malloc64(umbel_recipe_room(recipe, 1, key->len) + 1);
    if (!*scratch) {
        sqlite3_result_error_nomem(ctx);
        return false;
    }
    if (umbel_recipe_apply(recipe, use, key, 1, *scratch, &state)) return true;
    if (state == UMBEL_FOUND_MALFORMED) {
        char what[128];
        sqlite3_snprintf(sizeof what, what, "not %s, as the filter's recipe needs it",
                         umbel_recipe_expects(recipe));
        sq_refuse(ctx, "key", what);
    }
    return false;
}

/* ---- lookups ------------------------------------------------------------------------------- */

typedef void (*sq_answer)(sqlite3_context *ctx, const sq_asked *asked, umbel_key key);

static void sq_ask(sqlite3_context *ctx, sqlite3_value **args, sq_answer answer) {
    umbel_err e;
    umbel_diag diag = {0};
    uint8_t number[8];
    umbel_key key;
    void *scratch = NULL;
    if (sq_is_null(args[0])) return;
    if (!sq_key(ctx, args[1], &key, number)) return;
    const sq_asked *asked = sq_filter(sqlite3_user_data(ctx), args[0], &e, &diag);
    if (!asked) {
        sq_fail(ctx, e, &diag);
    } else if (sqlite3_value_type(args[1]) == SQLITE_INTEGER && !sq_takes_numbers(asked->recipe)) {
        sq_refuse(ctx, "key", "an integer, but the filter's keys are not: CAST(key AS TEXT)");
    } else if (!asked->recipe || sqlite3_value_type(args[1]) != SQLITE_TEXT ||
               sq_apply(ctx, asked->recipe, UMBEL_USE_LOOKUP, &key, &scratch)) {
        answer(ctx, asked, key);
    }
    sqlite3_free(scratch);
}

static void sq_answer_contains(sqlite3_context *ctx, const sq_asked *asked, umbel_key key) {
    uint8_t found;
    umbel_diag diag = {0};
    umbel_err e = umbel_lookup_keys(asked->lookup, &key, NULL, 1, NULL, &found, NULL, &diag);
    if (e) {
        sq_fail(ctx, e, &diag);
    } else {
        sqlite3_result_int(ctx, found);
    }
}

static void sq_answer_count(sqlite3_context *ctx, const sq_asked *asked, umbel_key key) {
    umbel_diag diag = {0};
    uint32_t times = umbel_count(asked->filter, key.data, key.len);
    umbel_err e = umbel_damage(asked->filter, &diag);
    if (e) {
        sq_fail(ctx, e, &diag);
    } else {
        sqlite3_result_int(ctx, (int)times);
    }
}

static void sq_contains(sqlite3_context *ctx, int n, sqlite3_value **args) {
    (void)n;
    sq_ask(ctx, args, sq_answer_contains);
}

static void sq_count(sqlite3_context *ctx, int n, sqlite3_value **args) {
    (void)n;
    sq_ask(ctx, args, sq_answer_count);
}

/* The path is usually a constant, whose file stays open for the statement. */
static void sq_open_path(sqlite3_context *ctx, int n, sqlite3_value **args) {
    umbel_err e;
    umbel_diag diag = {0};
    sq_open *open = sqlite3_get_auxdata(ctx, 0);
    (void)n;
    if (!open) {
        const char *path = (const char *)sqlite3_value_text(args[0]);
        if (!path) return;
        open = sq_open_file(sqlite3_user_data(ctx), path, &e, &diag);
        if (!open) {
            sq_fail(ctx, e, &diag);
            return;
        }
        sqlite3_result_pointer(ctx, open, sq_pointer, sq_open_release);
        sqlite3_set_auxdata(ctx, 0, sq_open_hold(open), sq_open_release);
    } else {
        sqlite3_result_pointer(ctx, sq_open_hold(open), sq_pointer, sq_open_release);
    }
}

/* SQLite copies a blob for each row that a subquery gives it to, but not a pointer. */
static void sq_decoded(sqlite3_context *ctx, int n, sqlite3_value **args) {
    umbel_err e;
    umbel_diag diag = {0};
    sq_open *open = NULL;
    (void)n;
    if (sqlite3_value_type(args[0]) == SQLITE_NULL) return;
    open = sq_open_blob(sqlite3_user_data(ctx), args[0], &e, &diag);
    if (open) {
        sqlite3_result_pointer(ctx, open, sq_pointer, sq_open_release);
    } else {
        sq_fail(ctx, e, &diag);
    }
}

static void sq_take_secret(sqlite3_context *ctx, int n, sqlite3_value **args) {
    (void)n;
    if (sqlite3_value_type(args[0]) != SQLITE_BLOB || sqlite3_value_bytes(args[0]) != 16) {
        sq_refuse(ctx, "secret", "must be a blob of 16 bytes");
        return;
    }
    umbel_err e = sq_add_secret(sqlite3_user_data(ctx), sqlite3_value_blob(args[0]));
    if (e) sq_fail(ctx, e, NULL);
}

static void sq_version(sqlite3_context *ctx, int n, sqlite3_value **args) {
    (void)n;
    (void)args;
    sqlite3_result_text(ctx, umbel_version(), -1, SQLITE_STATIC);
}

/* ---- aggregates ---------------------------------------------------------------------------- */

typedef struct sq_build {
    umbel_filter *filter;
    umbel_builder *builder; /* kinds that are built once, from all keys */
    umbel_recipe *recipe;   /* NULL: a text is the key                  */
    bool begun, failed, by_hash;
    bool settled;   /* the recipe: it was given, or there was a key */
    size_t pending; /* hashes that wait, because a batch overlaps its cache misses */
    uint64_t *hashes;
} sq_build;

static void sq_stop(sqlite3_context *ctx, sq_build *b, umbel_err e, const umbel_diag *diag) {
    b->failed = true;
    sq_fail(ctx, e, diag);
}

static umbel_err sq_flush(sq_build *b, umbel_diag *diag) {
    umbel_err e = umbel_add_hashes(b->filter, b->hashes, b->pending, NULL, NULL, diag);
    b->pending = 0;
    return e;
}

static umbel_err sq_add(sq_build *b, umbel_key key, umbel_diag *diag) {
    if (b->builder) return umbel_builder_add(b->builder, &key, 1, diag);
    if (!b->by_hash) return umbel_add(b->filter, key.data, key.len, NULL, diag);
    umbel_err e = umbel_hash_many(b->filter, &key, 1, &b->hashes[b->pending++], diag);
    return !e && b->pending == SQ_BATCH ? sq_flush(b, diag) : e;
}

/* One option, NAME=VALUE. */
static bool sq_option(sq_connection *c, const char *text, umbel_params *p, umbel_opts *opts,
                      const char **recipe) {
    const char *value = strchr(text, '=');
    size_t name = value ? (size_t)(value - text) : strlen(text);
    char *end = NULL;
    if (name == 6 && strcmp(text, "secret") == 0) return (opts->secret = sq_secret(c)) != NULL;
    if (!value++) return false;
    if (name == 4 && strncmp(text, "kind", 4) == 0) return umbel_kind_named(value, &p->kind);
    if (name == 6 && strncmp(text, "recipe", 6) == 0) return (*recipe = value) != NULL;
    unsigned long long number = strtoull(value, &end, 0);
    if (*end || end == value || *value == '-') return false;
    if (name == 4 && strncmp(text, "seed", 4) == 0) {
        p->seed = number;
    } else if (name == 5 && strncmp(text, "bytes", 5) == 0) {
        p->bytes = number;
    } else if (name == 6 && strncmp(text, "hashes", 6) == 0 && number < UINT32_MAX) {
        p->hashes = (uint32_t)number;
    } else {
        return false;
    }
    return true;
}

static umbel_err sq_options(sq_connection *c, int n, sqlite3_value **args, umbel_params *p,
                            umbel_opts *opts, const char **recipe, umbel_diag *diag) {
    for (int i = 0; i < n; i++) {
        const char *text = (const char *)sqlite3_value_text(args[i]);
        if (text && sq_option(c, text, p, opts, recipe)) continue;
        diag->what = "unknown option or invalid value: kind=NAME, seed=N, bytes=N, hashes=N, or "
                     "secret after umbel_secret()";
        sqlite3_snprintf(sizeof diag->field, diag->field, "%s", text ? text : "NULL");
        return UMBEL_EINVAL;
    }
    return UMBEL_OK;
}

static umbel_err sq_whole(double number, const char *field, uint64_t *out, umbel_diag *diag) {
    if (number >= 0 && number < 9e18 && number == (double)(uint64_t)number) {
        *out = (uint64_t)number;
        return UMBEL_OK;
    }
    diag->what = "must be a whole number";
    sqlite3_snprintf(sizeof diag->field, diag->field, "%s", field);
    return UMBEL_EINVAL;
}

static umbel_err sq_settle(sq_build *b, const char *recipe, umbel_diag *diag) {
    b->settled = recipe != NULL;
    return recipe ? sq_recipe(recipe, &b->recipe, diag) : UMBEL_OK;
}

/* The first key of a filter without a recipe decides what the others are. */
static umbel_err sq_settle_by(sq_build *b, int type, umbel_diag *diag) {
    umbel_err e = UMBEL_OK;
    bool integer = type == SQLITE_INTEGER;
    if (!b->settled && integer) e = sq_recipe(SQ_NUMBERS, &b->recipe, diag);
    if (!b->settled && type == SQLITE_BLOB) e = sq_recipe(SQ_BLOBS, &b->recipe, diag);
    b->settled = true;
    if (!e && integer && !sq_takes_numbers(b->recipe)) {
        diag->what = "an integer, but the filter's other keys are not: CAST(key AS TEXT)";
        sqlite3_snprintf(sizeof diag->field, diag->field, "key");
        e = UMBEL_EINVAL;
    }
    return e;
}

/* umbel(key, capacity, fpr, option...) */
static umbel_err sq_begin(sqlite3_context *ctx, sq_build *b, int n, sqlite3_value **args,
                          umbel_diag *diag) {
    sq_connection *c = sqlite3_user_data(ctx);
    umbel_params p = {.fpr = sqlite3_value_double(args[2])};
    umbel_opts opts = sq_opts(c);
    const char *recipe = NULL;
    umbel_err e = sq_whole(sqlite3_value_double(args[1]), "capacity", &p.capacity, diag);
    if (!e) e = sq_options(c, n - 3, args + 3, &p, &opts, &recipe, diag);
    if (!e) e = umbel_create(&p, &opts, &b->filter, diag);
    if (e == UMBEL_ENOTSUP) diag->what = "is built once, from all the keys: umbel_build(key, fpr)";
    if (!e) e = sq_settle(b, recipe, diag);
    if (e) return e;
    umbel_info info;
    umbel_describe(b->filter, &info);
    b->by_hash = info.takes_hashes;
    if (b->by_hash) b->hashes = sqlite3_malloc64(SQ_BATCH * sizeof *b->hashes);
    return b->by_hash && !b->hashes ? UMBEL_ENOMEM : UMBEL_OK;
}

/* umbel_build(key, fpr, option...): all keys are counted first. */
static umbel_err sq_begin_builder(sqlite3_context *ctx, sq_build *b, int n, sqlite3_value **args,
                                  umbel_diag *diag) {
    sq_connection *c = sqlite3_user_data(ctx);
    umbel_params p = {.kind = UMBEL_KIND_STATIC, .fpr = sqlite3_value_double(args[1])};
    umbel_opts opts = sq_opts(c);
    const char *recipe = NULL;
    umbel_err e = sq_options(c, n - 2, args + 2, &p, &opts, &recipe, diag);
    if (!e) e = sq_settle(b, recipe, diag);
    return e ? e : umbel_builder_new(&p, &opts, &b->builder, diag);
}

typedef umbel_err (*sq_beginning)(sqlite3_context *, sq_build *, int, sqlite3_value **,
                                  umbel_diag *);

static void sq_step(sqlite3_context *ctx, int n, sqlite3_value **args, int needed,
                    sq_beginning begin) {
    sq_build *b = sqlite3_aggregate_context(ctx, sizeof *b);
    uint8_t number[8];
    umbel_key key;
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    void *scratch = NULL;
    if (!b) {
        sqlite3_result_error_nomem(ctx);
    } else if (n < needed) {
        b->failed = true;
        sq_refuse(ctx, "arguments",
                  needed == 3 ? "umbel(key, capacity, fpr, option...)"
                              : "umbel_build(key, fpr, option...)");
    } else if (!b->failed) {
        if (!b->begun) e = begin(ctx, b, n, args, &diag);
        b->begun = true;
        bool given = !e && sq_key(ctx, args[0], &key, number);
        if (given) e = sq_settle_by(b, sqlite3_value_type(args[0]), &diag);
        if (e) given = false;
        if (given && b->recipe && sqlite3_value_type(args[0]) == SQLITE_TEXT) {
            given = sq_apply(ctx, b->recipe, UMBEL_USE_RECORD, &key, &scratch);
        }
        if (given) e = sq_add(b, key, &diag);
        sqlite3_free(scratch);
        if (e) sq_stop(ctx, b, e, &diag);
    }
}

static void sq_agg_step(sqlite3_context *ctx, int n, sqlite3_value **args) {
    sq_step(ctx, n, args, 3, sq_begin);
}

static void sq_build_step(sqlite3_context *ctx, int n, sqlite3_value **args) {
    sq_step(ctx, n, args, 2, sq_begin_builder);
}

static void sq_union_step(sqlite3_context *ctx, int n, sqlite3_value **args) {
    sq_build *b = sqlite3_aggregate_context(ctx, sizeof *b);
    sq_connection *c = sqlite3_user_data(ctx);
    umbel_filter *from = NULL;
    umbel_diag diag = {0};
    (void)n;
    if (!b || b->failed || sqlite3_value_type(args[0]) == SQLITE_NULL) return;
    if (sqlite3_value_type(args[0]) != SQLITE_BLOB) {
        b->failed = true;
        sq_refuse(ctx, "filter", "must be a blob");
        return;
    }
    b->begun = true;
    umbel_err e = sq_decode(c, sqlite3_value_blob(args[0]), (size_t)sqlite3_value_bytes(args[0]),
                            &from, &diag);
    if (!e && !b->filter) {
        b->filter = from;
        return;
    }
    if (!e) e = umbel_merge(b->filter, from, &diag);
    umbel_free(from);
    if (e) sq_stop(ctx, b, e, &diag);
}

static void sq_result(sqlite3_context *ctx, const umbel_filter *filter) {
    umbel_diag diag = {0};
    uint64_t size = umbel_encoded_size(filter, UMBEL_FMT_NATIVE);
    void *bytes = sqlite3_malloc64(size);
    umbel_err e = bytes ? umbel_encode(filter, UMBEL_FMT_NATIVE, bytes, size, &diag) : UMBEL_ENOMEM;
    if (e) {
        sqlite3_free(bytes);
        sq_fail(ctx, e, &diag);
    } else {
        sqlite3_result_blob64(ctx, bytes, size, sqlite3_free);
    }
}

static void sq_final(sqlite3_context *ctx) {
    sq_build *b = sqlite3_aggregate_context(ctx, 0);
    umbel_diag diag = {0};
    umbel_err e = UMBEL_OK;
    if (!b) return; /* no rows: NULL */
    if (!b->failed && b->pending) e = sq_flush(b, &diag);
    if (!b->failed && b->builder) e = umbel_builder_finish(b->builder, &b->filter, &diag);
    if (!e && !b->failed && b->filter && b->recipe) {
        e = umbel_set_recipe(b->filter, umbel_recipe_text(b->recipe), &diag);
    }
    if (e) sq_stop(ctx, b, e, &diag);
    if (!b->failed && b->filter) sq_result(ctx, b->filter);
    umbel_builder_free(b->builder);
    umbel_free(b->filter);
    umbel_recipe_free(b->recipe);
    sqlite3_free(b->hashes);
}

/* ---- their names --------------------------------------------------------------------------- */

typedef struct sq_function {
    const char *name;
    int args, flags;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
} sq_function;

/* Functions that open files or take secrets are for the program's own SQL, not for triggers and
 * views of a stranger's database. */
static const sq_function sq_functions[] = {
    {"umbel", -1, SQLITE_INNOCUOUS, NULL, sq_agg_step},
    {"umbel_build", -1, SQLITE_INNOCUOUS, NULL, sq_build_step},
    {"umbel_union", 1, SQLITE_INNOCUOUS, NULL, sq_union_step},
    {"umbel_contains", 2, SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, sq_contains, NULL},
    {"umbel_count", 2, SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, sq_count, NULL},
    {"umbel_decode", 1, SQLITE_INNOCUOUS, sq_decoded, NULL},
    {"umbel_open", 1, SQLITE_DIRECTONLY, sq_open_path, NULL},
    {"umbel_secret", 1, SQLITE_DIRECTONLY, sq_take_secret, NULL},
    {"umbel_version", 0, SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC, sq_version, NULL},
};

int sq_define_functions(sqlite3 *db, sq_connection *c) {
    int status = SQLITE_OK;
    for (size_t i = 0; i < sizeof sq_functions / sizeof *sq_functions && status == SQLITE_OK; i++) {
        const sq_function *f = &sq_functions[i];
        status = sqlite3_create_function_v2(db, f->name, f->args, SQLITE_UTF8 | f->flags,
                                            sq_connection_hold(c), f->call, f->step,
                                            f->step ? sq_final : NULL, sq_connection_release);
    }
    return status;
}
