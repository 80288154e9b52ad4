/* SPDX-License-Identifier: MIT
 *
 * sq_filters.c - a connection, and the filters that its queries use
 *
 * SQLite passes the same blob of 6 MB again for each row.  So a connection keeps the blobs that
 * were queried last: a copy, checked once, with a filter over it.  A blob is identified by its
 * length, its header and its end, which is a checksum over everything: reading more would take
 * longer than the lookup.  Anyone who can make two blobs with the same checksum can have one taken
 * for the other, as long as both are queried in one connection, so use a separate connection for
 * each filter from a stranger.
 */
#include "sq_umbel.h"

#ifndef SQLITE_CORE
SQLITE_EXTENSION_INIT3
#endif

#include <string.h>

enum { SQ_SLOTS = 8, SQ_SECRETS = 16, SQ_HEAD = 128, SQ_TAIL = 8, SQ_LINE = 64 };
static const size_t kept_bytes_max = 256u << 20;

typedef struct sq_kept {
    sq_asked asked;
    void *raw;
    uint8_t *bytes; /* on a cache line */
    size_t len;
    uint64_t used;
} sq_kept;

struct sq_connection {
    sqlite3 *db;
    int holders;
    uint64_t clock;
    sq_kept kept[SQ_SLOTS];
    int secrets;
    uint8_t secret[SQ_SECRETS][16];
};

struct sq_open {
    sq_asked asked;
    int holders;
};

const char sq_pointer[] = "umbel";
static const umbel_foreign sq_native = {.format = UMBEL_FMT_NATIVE};

/* ---- memory and secrets -------------------------------------------------------------------- */

static void *sq_allocate(void *unused, size_t size) {
    (void)unused;
    return sqlite3_malloc64(size);
}

static void sq_free(void *unused, void *ptr) {
    (void)unused;
    sqlite3_free(ptr);
}

static const umbel_alloc sq_memory = {.alloc = sq_allocate, .free = sq_free};

umbel_opts sq_opts(sq_connection *c) {
    /* Besides the bits a file holds a header, at most 1 MiB, and sums of 8 bytes per MiB. */
    int limit = sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1), more = 2 << 20;
    return (umbel_opts){.alloc = &sq_memory,
                        .max_bytes = limit > more ? (uint64_t)(limit - more) : 1};
}

umbel_err sq_add_secret(sq_connection *c, const uint8_t secret[16]) {
    if (c->secrets == SQ_SECRETS) return UMBEL_EFULL;
    memcpy(c->secret[c->secrets++], secret, 16);
    return UMBEL_OK;
}

const uint8_t *sq_secret(const sq_connection *c) {
    return c->secrets ? c->secret[c->secrets - 1] : NULL;
}

/* A filter knows the fingerprint of its secret: the connection's secrets are tried. */
static umbel_err sq_open_bytes(sq_connection *c, umbel_how how, const void *bytes, size_t len,
                               umbel_filter **out, umbel_diag *diag) {
    /* What is viewed has just been verified. */
    umbel_opts opts = {.alloc = &sq_memory, .unchecked = how == UMBEL_MAP};
    umbel_err e = umbel_decode(bytes, len, how, &sq_native, &opts, out, diag);
    for (int i = 0; e == UMBEL_ESECRET && i < c->secrets; i++) {
        opts.secret = c->secret[i];
        e = umbel_decode(bytes, len, how, &sq_native, &opts, out, diag);
    }
    return e;
}

umbel_err sq_decode(sq_connection *c, const void *bytes, size_t len, umbel_filter **out,
                    umbel_diag *diag) {
    return sq_open_bytes(c, UMBEL_LOAD, bytes, len, out, diag);
}

/* Whether a value can be a record of it. */
static umbel_err sq_applies(const umbel_recipe *recipe, umbel_diag *diag) {
    uint32_t traits = umbel_recipe_traits(recipe);
    if (!(traits & (UMBEL_RECIPE_HEADER | UMBEL_RECIPE_COLUMNS))) return UMBEL_OK;
    *diag = (umbel_diag){.field = "recipe",
                         .what = "for files with a header, which a value does not have"};
    return UMBEL_ENOTSUP;
}

umbel_err sq_recipe(const char *text, umbel_recipe **out, umbel_diag *diag) {
    umbel_recipe *recipe = NULL;
    umbel_err e = umbel_recipe_parse(text, &recipe, diag);
    if (!e) e = sq_applies(recipe, diag);
    if (e || umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE) {
        umbel_recipe_free(recipe);
    } else {
        *out = recipe;
    }
    return e;
}

/* The lookup of a filter that has just been opened. */
static umbel_err sq_begin_asking(sq_asked *asked, umbel_diag *diag) {
    umbel_err e = umbel_lookup_new(asked->filter, NULL, &asked->lookup, diag);
    if (e) return e;
    const umbel_recipe *recipe = umbel_lookup_recipe(asked->lookup);
    if (!(umbel_recipe_traits(recipe) & UMBEL_RECIPE_LINE)) asked->recipe = recipe;
    return sq_applies(recipe, diag);
}

static void sq_end(sq_asked *asked) {
    umbel_lookup_free(asked->lookup);
    umbel_free(asked->filter);
}

/* ---- blobs --------------------------------------------------------------------------------- */

static void sq_forget(sq_kept *k) {
    sq_end(&k->asked);
    sqlite3_free(k->raw);
    *k = (sq_kept){0};
}

static bool sq_is(const sq_kept *k, const uint8_t *bytes, size_t len) {
    return k->asked.filter && k->len == len &&
           memcmp(k->bytes + len - SQ_TAIL, bytes + len - SQ_TAIL, SQ_TAIL) == 0 &&
           memcmp(k->bytes, bytes, SQ_HEAD) == 0;
}

/* An empty slot, after the least recently used ones have made room. */
static sq_kept *sq_slot(sq_connection *c, size_t len) {
    for (;;) {
        sq_kept *oldest = NULL, *empty = NULL;
        size_t sum = len;
        for (int i = 0; i < SQ_SLOTS; i++) {
            sq_kept *k = &c->kept[i];
            sum += k->len;
            if (!k->asked.filter) empty = k;
            if (k->asked.filter && (!oldest || k->used < oldest->used)) oldest = k;
        }
        if (empty && (sum <= kept_bytes_max || !oldest)) return empty;
        sq_forget(oldest);
    }
}

static umbel_err sq_keep(sq_connection *c, const void *bytes, size_t len, sq_kept **out,
                         umbel_diag *diag) {
    umbel_err e = umbel_decode(bytes, len, UMBEL_VERIFY, &sq_native, NULL, NULL, diag);
    if (e) return e;
    sq_kept *k = sq_slot(c, len);
    k->raw = sqlite3_malloc64(len + SQ_LINE);
    if (!k->raw) return UMBEL_ENOMEM;
    k->bytes = (uint8_t *)(((uintptr_t)k->raw + SQ_LINE - 1) & ~(uintptr_t)(SQ_LINE - 1));
    k->len = len;
    memcpy(k->bytes, bytes, len);
    e = sq_open_bytes(c, UMBEL_MAP, k->bytes, len, &k->asked.filter, diag);
    if (!e) e = sq_begin_asking(&k->asked, diag);
    if (e) {
        sq_forget(k);
    } else {
        *out = k;
    }
    return e;
}

bool sq_is_null(sqlite3_value *filter) {
    return sqlite3_value_type(filter) == SQLITE_NULL && !sqlite3_value_pointer(filter, sq_pointer);
}

const sq_asked *sq_filter(sq_connection *c, sqlite3_value *value, umbel_err *e, umbel_diag *diag) {
    sq_open *open = sqlite3_value_pointer(value, sq_pointer);
    sq_kept *k = NULL;
    *e = UMBEL_OK;
    if (open) return &open->asked;
    if (sqlite3_value_type(value) != SQLITE_BLOB) {
        *e = UMBEL_EINVAL;
        *diag = (umbel_diag){
            .field = "filter",
            .what = "must be a blob, or what umbel_open or umbel_decode returns in the same query"};
        return NULL;
    }
    const void *bytes = sqlite3_value_blob(value);
    size_t len = (size_t)sqlite3_value_bytes(value);
    for (int i = 0; i < SQ_SLOTS && !k; i++) {
        if (sq_is(&c->kept[i], bytes, len)) k = &c->kept[i];
    }
    if (!k) *e = sq_keep(c, bytes, len, &k, diag);
    if (*e) return NULL;
    k->used = ++c->clock;
    return &k->asked;
}

/* ---- pointers ------------------------------------------------------------------------------ */

/* Takes ownership of the filter, also on failure. */
static sq_open *sq_opened(umbel_filter *filter, umbel_err *e, umbel_diag *diag) {
    sq_open *open = sqlite3_malloc64(sizeof *open);
    sq_asked asked = {.filter = filter};
    if (!*e) *e = open ? sq_begin_asking(&asked, diag) : UMBEL_ENOMEM;
    if (*e) {
        sq_end(&asked);
        sqlite3_free(open);
        return NULL;
    }
    *open = (sq_open){.asked = asked, .holders = 1};
    return open;
}

sq_open *sq_open_file(sq_connection *c, const char *path, umbel_err *e, umbel_diag *diag) {
    umbel_opts opts = {.alloc = &sq_memory};
    umbel_filter *filter = NULL;
    *e = umbel_file_open(path, UMBEL_MAP, NULL, &opts, &filter, diag);
    for (int i = 0; *e == UMBEL_ESECRET && i < c->secrets; i++) {
        opts.secret = c->secret[i];
        *e = umbel_file_open(path, UMBEL_MAP, NULL, &opts, &filter, diag);
    }
    return sq_opened(filter, e, diag);
}

sq_open *sq_open_blob(sq_connection *c, sqlite3_value *blob, umbel_err *e, umbel_diag *diag) {
    umbel_filter *filter = NULL;
    if (sqlite3_value_type(blob) != SQLITE_BLOB) {
        *diag = (umbel_diag){.field = "filter", .what = "must be a blob"};
        *e = UMBEL_EINVAL;
    } else {
        *e = sq_decode(c, sqlite3_value_blob(blob), (size_t)sqlite3_value_bytes(blob), &filter,
                       diag);
    }
    return sq_opened(filter, e, diag);
}

sq_open *sq_open_hold(sq_open *open) {
    open->holders++;
    return open;
}

void sq_open_release(void *held) {
    sq_open *open = held;
    if (--open->holders) return;
    sq_end(&open->asked);
    sqlite3_free(open);
}

/* ---- a connection -------------------------------------------------------------------------- */

sq_connection *sq_connection_new(sqlite3 *db) {
    sq_connection *c = sqlite3_malloc64(sizeof *c);
    if (c) {
        memset(c, 0, sizeof *c);
        c->db = db;
        c->holders = 1;
    }
    return c;
}

sq_connection *sq_connection_hold(sq_connection *c) {
    c->holders++;
    return c;
}

void sq_connection_release(void *held) {
    sq_connection *c = held;
    if (--c->holders) return;
    for (int i = 0; i < SQ_SLOTS; i++) sq_forget(&c->kept[i]);
    memset(c->secret, 0, sizeof c->secret);
    sqlite3_free(c);
}
