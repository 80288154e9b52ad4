/* SPDX-License-Identifier: MIT
 *
 * wasm_lines.c - recipes, and lines of text into filters and out of them: the page's batches
 *
 * The page reads a file in pieces.  Each call takes one piece; a recipe says what a line's key is,
 * and umbel_records does the rest.  Results are in `numbers`, as in wasm_exports.c.
 */
#include <stdlib.h>
#include <string.h>

#include "umbel_lookup.h"
#include "umbel_records.h"
#include "wasm_exports.h"

/* ---- Recipes ---- */

EXPORT("get_recipe") void wasm_get_recipe(const umbel_filter *f) {
    const char *text = umbel_get_recipe(f);
    wasm_put_text(text);
}

EXPORT("set_recipe") int wasm_set_recipe(umbel_filter *f, const char *text) {
    umbel_diag diag = {0};
    wasm_forget_lookup(f);
    return wasm_ok(umbel_set_recipe(f, text, &diag), &diag);
}

EXPORT("recipe") umbel_recipe *wasm_recipe(const char *text) {
    umbel_diag diag = {0};
    umbel_recipe *recipe = NULL;
    return wasm_ok(umbel_recipe_parse(text, &recipe, &diag), &diag) ? recipe : NULL;
}

EXPORT_API("recipe_bind")
umbel_recipe *wasm_recipe_bind(const umbel_recipe *recipe, const uint8_t *header, size_t len) {
    umbel_diag diag = {0};
    umbel_recipe *bound = NULL;
    return wasm_ok(umbel_recipe_bind(recipe, header, len, &bound, &diag), &diag) ? bound : NULL;
}

EXPORT("recipe_free") void wasm_recipe_free(umbel_recipe *recipe) {
    umbel_recipe_free(recipe);
}

EXPORT_API("recipe_text") void wasm_recipe_text(const umbel_recipe *recipe) {
    wasm_put_text(umbel_recipe_text(recipe));
}

EXPORT_API("recipe_traits") uint32_t wasm_recipe_traits(const umbel_recipe *recipe) {
    return umbel_recipe_traits(recipe);
}

EXPORT("recipe_expects") void wasm_recipe_expects(const umbel_recipe *recipe) {
    const char *text = umbel_recipe_expects(recipe);
    wasm_put_text(text ? text : "");
}

/* Bytes of scratch that recipe_apply needs. */
EXPORT("recipe_room") size_t wasm_recipe_room(const umbel_recipe *recipe, size_t len) {
    return umbel_recipe_room(recipe, 1, len);
}

/* The umbel_found of one record; numbers: where its key is, and its length. */
EXPORT("recipe_apply")
int wasm_recipe_apply(const umbel_recipe *recipe, int use, const uint8_t *record, size_t len,
                      uint8_t *scratch) {
    umbel_key key = {record, len};
    uint8_t state = UMBEL_FOUND_NOTHING;
    (void)umbel_recipe_apply(recipe, (umbel_recipe_use)use, &key, 1, scratch, &state);
    wasm_put_numbers((const double[]){(double)(uintptr_t)key.data, (double)key.len}, 2);
    return state;
}

/* The key at which a lookup ends: it, or the first parent that may be in the filter, as an offset
 * into it; -1: none may; -2: it failed. */
EXPORT("recipe_hit")
int wasm_recipe_hit(const umbel_recipe *recipe, const umbel_filter *f, const uint8_t *key,
                    size_t len) {
    umbel_key asked = {key, len}, where = {NULL, 0};
    umbel_diag diag = {0};
    umbel_lookup *lookup = NULL;
    uint8_t hit = 0;
    umbel_err e = umbel_lookup_new(f, umbel_recipe_text(recipe), &lookup, &diag);
    if (!e) e = umbel_lookup_keys(lookup, &asked, NULL, 1, NULL, &hit, &where, &diag);
    umbel_lookup_free(lookup);
    if (!wasm_ok(e, &diag)) return -2;
    return hit ? (int)((const uint8_t *)where.data - key) : -1;
}

/* ---- Lines ---- */

/* The umbel_input of a file that begins with these bytes; text: its name; the error: its refusal. */
EXPORT("input") int wasm_input(const uint8_t *bytes, size_t len) {
    umbel_diag diag = {0};
    umbel_input is = umbel_input_look(bytes, len, '\n', NULL);
    wasm_put_text(umbel_input_name(is));
    (void)wasm_ok(umbel_input_refuse(is, &diag), &diag);
    return (int)is;
}

/* numbers: what umbel_unseen has, of all files so far. */
EXPORT("records_unseen") void wasm_records_unseen(const umbel_records *records) {
    umbel_unseen u;
    umbel_records_unseen(records, &u);
    wasm_put_numbers((const double[]){(double)u.returns, (double)u.marks, (double)u.nuls}, 3);
}

EXPORT("count_lines") uint32_t wasm_count_lines(const uint8_t *bytes, size_t len) {
    uint32_t n = 0;
    for (size_t i = 0; i < len; i++) n += bytes[i] == '\n';
    return n;
}

EXPORT("records") umbel_records *wasm_records(const umbel_recipe *recipe, int use) {
    umbel_diag diag = {0};
    umbel_records *records = NULL;
    umbel_err e = umbel_records_new(recipe, (umbel_recipe_use)use, '\n', &records, &diag);
    return wasm_ok(e, &diag) ? records : NULL;
}

EXPORT("records_free") void wasm_records_free(umbel_records *records) {
    umbel_records_free(records);
}

/* The totals over all records of a piece. */
typedef struct tally {
    double records, nothing, malformed, hits;
} tally;

static void count(tally *t, const umbel_records_batch *b) {
    t->records += (double)b->n;
    t->nothing += (double)b->nothing;
    t->malformed += (double)b->malformed;
}

enum { KEYS = 4096 }; /* of a batch */
static umbel_key with_key[KEYS];
static uint8_t hits[KEYS];

/* The keys of a batch that has records without one. */
static size_t only_keys(const umbel_records_batch *b) {
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->states[i] == UMBEL_FOUND_KEY) with_key[n++] = b->keys[i];
    }
    return n;
}

/* Adds the records of a piece to the builder or, with good 1, tells it of them as good keys; 0: it
 * failed.  numbers: records, those without the part, malformed ones. */
EXPORT("build_lines")
int wasm_build_lines(umbel_builder *builder, int good, umbel_records *records, const uint8_t *bytes,
                     size_t len, int last) {
    umbel_diag diag = {0};
    umbel_records_batch b = {0};
    tally t = {0};
    umbel_err e = umbel_records_feed(records, bytes, len, last != 0, &diag);
    while (!e && !(e = umbel_records_next(records, &b, &diag)) && b.n) {
        size_t n = only_keys(&b);
        e = good ? umbel_builder_never(builder, with_key, n, &diag)
                 : umbel_builder_add(builder, with_key, n, &diag);
        count(&t, &b);
    }
    wasm_put_numbers((const double[]){t.records, t.nothing, t.malformed}, 3);
    return wasm_ok(e, &diag);
}

/* Output that grows. */
typedef struct output {
    uint8_t *bytes;
    size_t len, room;
} output;

static output found;

static bool put_line(umbel_key line) {
    size_t need = found.len + line.len + 1;
    if (need > found.room) {
        uint8_t *bigger = realloc(found.bytes, 2 * need);
        if (!bigger) return false;
        found.bytes = bigger;
        found.room = 2 * need;
    }
    if (line.len) memcpy(found.bytes + found.len, line.data, line.len);
    found.len = need;
    found.bytes[need - 1] = '\n';
    return true;
}

static umbel_err ask(const umbel_lookup *lookup, const umbel_records_batch *b, tally *t,
                     umbel_diag *diag) {
    umbel_err e = umbel_lookup_keys(lookup, b->keys, NULL, b->n, NULL, hits, NULL, diag);
    for (size_t i = 0; !e && i < b->n; i++) {
        if (!hits[i]) continue;
        if (!put_line(b->records[i])) return UMBEL_ENOMEM;
        t->hits++;
    }
    return e;
}

/* The records of a piece that may be in the filter; 0: it failed.  numbers: where they are, their
 * bytes, records, those without the part, malformed ones, hits.  A header comes first, once. */
EXPORT("match_lines")
int wasm_match_lines(const umbel_filter *f, const umbel_recipe *recipe, umbel_records *records,
                     const uint8_t *bytes, size_t len, int last) {
    umbel_diag diag = {0};
    umbel_records_batch b = {0};
    tally t = {0};
    found.len = 0;
    bool headed = umbel_records_header(records).data != NULL;
    umbel_lookup *lookup = NULL;
    umbel_err e = umbel_lookup_new(f, umbel_recipe_text(recipe), &lookup, &diag);
    if (!e) e = umbel_records_feed(records, bytes, len, last != 0, &diag);
    while (!e && !(e = umbel_records_next(records, &b, &diag))) {
        umbel_key header = umbel_records_header(records);
        if (header.data && !headed && !put_line(header)) e = UMBEL_ENOMEM;
        headed = headed || header.data;
        if (!b.n) break;
        if (!e) e = ask(lookup, &b, &t, &diag);
        count(&t, &b);
    }
    umbel_lookup_free(lookup);
    const double all[] = {(double)(uintptr_t)found.bytes,
                          (double)found.len,
                          t.records,
                          t.nothing,
                          t.malformed,
                          t.hits};
    wasm_put_numbers(all, 6);
    return wasm_ok(e, &diag);
}
